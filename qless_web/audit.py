"""One structured record of every change that was asked for through the console."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

log = logging.getLogger("qless.audit")


def record(  # noqa: PLR0913 - one record has these fields
    *,
    action: str,
    user: str | None,
    source: str | None,
    on: Mapping[str, str],
    outcome: str,
    counts: Mapping[str, int],
    took_ms: float,
    why: str = "",
) -> None:
    """Write one line of JSON to the logger `qless.audit`.

    Args:
        action: the name of the action.
        user: who asked, where something in front of the console says so.
        source: the address that the request came from.
        on: what it was done to, as `{"queue": "mail"}`.
        outcome: `done`, `refused` (not allowed) or `failed`.
        counts: how many jobs were done and how many left out, by reason.
        took_ms: milliseconds from the request to the answer of Redis.
        why: what a refusal or an error said.

    """
    line: dict[str, object] = {
        "action": action,
        "user": user,
        "from": source,
        "on": dict(on),
        "outcome": outcome,
        "counts": dict(counts),
        "took_ms": round(took_ms, 1),
    }
    if why:
        line["why"] = why
    log.info("%s", json.dumps(line, ensure_ascii=True))
