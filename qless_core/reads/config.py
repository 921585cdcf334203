"""Server-side options as stored."""

from __future__ import annotations

from qless_core.reads.plan import Read, Scope, call, read


@read
def settings(scope: Scope) -> Read[dict[str, str]]:
    """Give the options that were set, by name; those that are not there have their default."""
    (found,) = yield [call("hgetall", scope.keys.config)]
    return dict(found or {})
