"""One structured record of every change that was asked for through the console."""

from __future__ import annotations

import json
import logging
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from qless_core.errors import NotPermitted, QlessError
from qless_web import trail
from qless_web.console import current
from qless_web.request_id import request_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

log = logging.getLogger("qless.audit")


@dataclass(slots=True)
class Record:
    """What became of one change; written when all is known.

    Attributes:
        action: the name of the action.
        on: what it was done to, as `{"queue": "mail"}`.
        outcome: `done`, `refused` (not allowed), `asked` (what would be done was not what had been
            shown, so the question was asked anew) or `failed`, as long as nothing better is known.
        counts: how many jobs were done and how many left out, by reason.
        why: what a refusal or an error said.
        note: what whoever asked said about it.

    """

    action: str
    on: Mapping[str, str]
    outcome: Literal["done", "refused", "asked", "failed"] = "failed"
    counts: Mapping[str, int] = field(default_factory=dict)
    why: str = ""
    note: str = ""


@contextmanager
def recorded(action: str, on: Mapping[str, str]) -> Iterator[Record]:
    """Record what is done within, whatever becomes of it.

    Who asked is the name of a token of the API, or what something in front of the console says
    (`REMOTE_USER`), and the address that the request came from.

    Args:
        action: its name.
        on: what it is done to.

    Returns:
        The record, to be filled in; an error of the queue is filled in here.

    """
    clock = current().client.clock
    record, began = Record(action, on), clock.monotonic()
    try:
        yield record
    except QlessError as error:
        record.why = str(error)
        raise
    finally:
        _write(record, (clock.monotonic() - began) * 1000)


def _write(record: Record, took_ms: float) -> None:
    """Write one line of JSON to the logger `qless.audit`."""
    line: dict[str, object] = {
        "action": record.action,
        "user": current().identity.title or None,
        "from": current().identity.address or None,
        "on": dict(record.on),
        "outcome": record.outcome,
        "counts": dict(record.counts),
        "took_ms": round(took_ms, 1),
        "request": request_id(),
    }
    if record.why:
        line["why"] = record.why
    if record.note:
        line["note"] = record.note
    log.info("%s", json.dumps(line, ensure_ascii=True))
    if record.outcome != "asked" and not current().settings.read_only:
        _store(record)


def _store(record: Record) -> None:
    """Add it to the audit in Redis, where that can be; the log has it in any case."""
    here = current()
    entry = trail.Entry(
        action=record.action,
        who=here.identity.title,
        address=here.identity.address,
        on=record.on,
        outcome=record.outcome,
        counts=record.counts,
        why=record.why,
        note=record.note,
        request=request_id(),
    )
    settings = here.settings
    try:
        trail.write(here.client, entry, days=settings.audit_days, most=settings.audit_size)
    except NotPermitted:
        return  # a console whose user may only read, which each of its pages says
    except QlessError as error:
        log.warning("the audit in Redis misses request %s: %s", request_id(), error)
