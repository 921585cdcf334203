"""Names too long for an address: known there by a digest, and found again among what there is.

Names that merely resemble a word are found here too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from qless_core.reads.beginnings import beginning, listed_first
from qless_core.reads.plan import Call, Read, Scope, call, read, together

if TYPE_CHECKING:
    from collections.abc import Callable

    from qless_core.keys import Keys

_BYTES = 20
_DIGEST = re.compile(rf"[0-9a-f]{{{2 * _BYTES}}}")

#: Tags and workers that are looked at: the most used, and those seen last.
LOOKED_AT = 10_000

#: Names of each kind that resemble a word, at most.
SIMILAR = 20


class NameDigest(str):
    """The digest of a name, where an address has no room for the name itself."""

    __slots__ = ()

    @classmethod
    def of(cls, name: str) -> NameDigest:
        """Digest a name."""
        raw = name.encode(errors="surrogatepass")
        return cls(blake2b(raw, digest_size=_BYTES).hexdigest())

    @classmethod
    def read(cls, text: str) -> NameDigest | None:
        """Read a digest from an address; None when the text is none."""
        return cls(text) if _DIGEST.fullmatch(text) else None


def _groups(keys: Keys) -> Call:
    return call("smembers", keys.failures)


def _queues(keys: Keys) -> Call:
    return call("zrange", keys.queues, 0, -1)


def _workers(keys: Keys) -> Call:
    return call("zrevrange", keys.workers, 0, LOOKED_AT - 1)


def _tags(keys: Keys) -> Call:
    return call("zrevrange", keys.tags, 0, LOOKED_AT - 1)


#: Where the names of each kind are, by the name of the argument that addresses give them.
KINDS: dict[str, Callable[[Keys], Call]] = {
    "queue": _queues,
    "group": _groups,
    "worker": _workers,
    "tag": _tags,
}


@read
def resolve(scope: Scope, kind: str, digest: NameDigest) -> Read[str | None]:
    """Find the name of a digest.

    Args:
        scope: given by `run`.
        kind: queue, group, worker or tag; or jid, of the jobs that pages show first.
        digest: from an address.

    Returns:
        The name, or None when nothing of that kind has such a name.

    """
    if kind == "jid":
        lists = yield from listed_first(scope)
        found = [jid for jids in lists for jid in jids or ()]
    else:
        (found,) = yield [KINDS[kind](scope.keys)]
    return next((name for name in found or () if NameDigest.of(name) == digest), None)


@read
def queue_names(scope: Scope) -> Read[tuple[str, ...]]:
    """List the names of all queues, in the order in which they were first seen."""
    (found,) = yield [_queues(scope.keys)]
    return tuple(found or ())


@dataclass(frozen=True, slots=True)
class Similar:
    """Names that contain a word, whatever its case, shortest first, at most `SIMILAR` each."""

    queues: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    workers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    #: Jobs whose jid begins with the word, each with its class.
    jobs: tuple[tuple[str, str], ...] = ()


@read
def similar(scope: Scope, word: str) -> Read[Similar]:
    """Find queues, groups, workers and tags whose name contains a word, and jobs that begin so."""
    # A list shortens a jid so, and it is copied with the mark.
    jid = word.removesuffix("…")
    found, jobs = yield from together([_named(scope), beginning(jid)(scope)])
    queues, groups, workers, tags = (_containing(word, names or ()) for names in found)
    return Similar(queues, groups, workers, tags, jobs)


def _named(scope: Scope) -> Read[list[Any]]:
    keys = scope.keys
    return (yield [_queues(keys), _groups(keys), _workers(keys), _tags(keys)])


def _containing(word: str, names: list[str] | set[str] | tuple[()]) -> tuple[str, ...]:
    folded = word.casefold()
    if not folded:
        return ()
    fit = (name for name in names if folded in name.casefold())
    return tuple(sorted(fit, key=lambda name: (len(name), name))[:SIMILAR])
