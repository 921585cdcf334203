"""What became of each job of an operation: read in parts, to show and to download."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Final, NamedTuple

from qless_core import wire
from qless_core.reads.plan import Read, Scope, read
from qless_web.operations import operation as store
from qless_web.sending import call, send

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qless_core.client import Client
    from qless_core.reads.plan import Call
    from qless_web.operations.operation import Operation

#: Chunks that one round trip reads.
_AT_ONCE: Final = 10


class Told(NamedTuple):
    """What became of one job: `reason` is "" where it was done."""

    jid: str
    reason: str
    when: float


class _Chunk(NamedTuple):
    start: int
    number: int
    when: float
    left: Mapping[str, str]


def entries(client: Client, operation: Operation) -> Iterator[Told]:
    """Give what became of each job that an operation has come to, in its order.

    Raises:
        QlessError: Redis could not be asked.

    """
    key = store.report_key(client.keys, operation.id)
    (form,) = send(client, call("hget", store.hash_key(client.keys, operation.id), "form"))
    start = 0
    while True:
        (texts,) = send(client, call("lrange", key, start, start + _AT_ONCE - 1))
        if not texts:
            return
        start += len(texts)
        chunks = [_chunk(text) for text in texts]
        found = send(client, *(_named(client, operation, chunk) for chunk in chunks))
        for chunk, names in zip(chunks, found, strict=True):
            yield from _told(operation, str(form or ""), chunk, names or ())


def _named(client: Client, operation: Operation, chunk: _Chunk) -> Call:
    first, last = span(operation, chunk.start, chunk.number)
    return call("lrange", store.list_key(client.keys, operation.id), first, last)


def span(operation: Operation, start: int, count: int) -> tuple[int, int]:
    """Say where in its list the jobs of an operation stand, from one on."""
    if operation.action == "undo":
        return start, start + count - 1
    return -(start + count), -(start + 1)


def _told(operation: Operation, form: str, chunk: _Chunk, names: Sequence[str]) -> Iterator[Told]:
    ordered = names if operation.action == "undo" else list(reversed(names))
    for at, entry in enumerate(ordered):
        yield Told(jid_of(form, entry), chunk.left.get(str(at), ""), chunk.when)


def jid_of(form: str, entry: str) -> str:
    """Give the jid of an entry of a list."""
    if form == "group":
        return entry
    return entry.partition(":")[2] if form == "picked" else entry[1:]


def _chunk(text: str) -> _Chunk:
    found = wire.loads(text)
    return _Chunk(int(found["from"]), int(found["count"]), float(found["when"]), found["left"])


@read
def left(scope: Scope, operation: str, most: int) -> Read[list[Told]]:
    """Read a few of the jobs that were left alone, the latest chunks first."""
    if not store.is_id(operation):
        yield []
        return []
    texts, (form, action) = yield [
        call("lrange", store.report_key(scope.keys, operation), -50, -1),
        call("hmget", store.hash_key(scope.keys, operation), "form", "action"),
    ]
    chunks = [chunk for chunk in map(_chunk, reversed(texts or ())) if chunk.left][:most]
    wanted = [
        (chunk, int(at), reason) for chunk in chunks for at, reason in sorted(chunk.left.items())
    ][:most]
    names = yield [
        call(
            "lindex",
            store.list_key(scope.keys, operation),
            chunk.start + at if action == "undo" else -(chunk.start + at + 1),
        )
        for chunk, at, _ in wanted
    ]
    return [
        Told(jid_of(str(form or ""), name or ""), reason, chunk.when)
        for (chunk, _, reason), name in zip(wanted, names, strict=True)
    ]


def ndjson(told: Iterator[Told]) -> Iterator[str]:
    """Write a report as a line of JSON for each job."""
    for each in told:
        outcome = "left" if each.reason else "done"
        line = {"jid": each.jid, "outcome": outcome, "reason": each.reason, "when": each.when}
        yield json.dumps(line) + "\n"


def csv_lines(told: Iterator[Told]) -> Iterator[str]:
    """Write a report as CSV with a head; what a spreadsheet would take for a formula is quoted."""
    yield _row("jid", "outcome", "reason", "when")
    for each in told:
        outcome = "left" if each.reason else "done"
        yield _row(_plain(each.jid), outcome, each.reason, f"{each.when:.0f}")


def _plain(text: str) -> str:
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text


def _row(*cells: str) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue().encode(errors="replace").decode()
