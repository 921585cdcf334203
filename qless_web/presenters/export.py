"""What an export says of each job or queue, and how: a line of JSON or of CSV. Pure."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from qless_core.reads.rows import RecurringRow
from qless_web.formatting import iso, tilde
from qless_web.presenters.page import Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Media types by format.
FORMATS = {"ndjson": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}

#: Columns of jobs, of recurring jobs, and of queues.
JOB = (
    *("jid", "klass", "queue", "state", "worker", "priority", "tags", "retries", "remaining"),
    *("time", "at", "expires", "failure_group", "failure_message", "failed_at"),
    "spawned_from_jid",
)
RECURRING = (
    *("jid", "klass", "queue", "interval", "cron", "timezone", "next_run", "last_run", "paused"),
    *("count", "backlog", "priority", "retries", "tags"),
)
QUEUE = (
    *("name", "waiting", "running", "stalled", "scheduled", "depends", "throttled", "recurring"),
    "paused",
)
WORKER = ("name", "last_seen", "running", "stalled", "queues", "gone")

#: Those that hold moments, epoch seconds: CSV writes them as people do.
_MOMENTS = frozenset({"time", "at", "expires", "failed_at", "next_run", "last_run", "last_seen"})

#: Texts that begin so are formulas to spreadsheets.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

#: The lists that can be exported, by the endpoint of their page.
_LISTS = {
    "failures.group": "exports.group",
    "tags.show": "exports.tag",
    "completed.index": "exports.everywhere",
    "tracked.index": "exports.everywhere",
    "scheduled.index": "exports.everywhere",
    "recurring.index": "exports.everywhere",
    "failures.index": "exports.everywhere",
    "queues.index": "exports.everywhere",
    "workers.index": "exports.everywhere",
}
_KINDS = {"failures": "failed"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its values by column, and the data of the job where it comes along."""

    values: Mapping[str, Any]
    data: str | None = None


def link(shown: Link) -> Link | None:
    """Give where a list that is shown can be had as a whole; None where it cannot.

    >>> link(Link("failures.group", {"group": "boom"})).endpoint
    'exports.group'
    """
    if shown.endpoint == "queues.show":
        tab = shown.values.get("tab")
        queue = shown.values["queue"]
        return Link("exports.queue", {"queue": queue, "state": tab}) if tab else None
    endpoint = _LISTS.get(shown.endpoint)
    if endpoint is None:
        return None
    if endpoint == "exports.everywhere":
        name = shown.endpoint.partition(".")[0]
        return Link(endpoint, {"kind": _KINDS.get(name, name)})
    name = "group" if endpoint == "exports.group" else "tag"
    return Link(endpoint, {name: shown.values[name]})


def line(row: Any, columns: Sequence[str], data: str | None = None) -> Line:  # noqa: ANN401 - a row of any list
    """Give what is said of a row."""
    known = {each.name for each in fields(row)}
    return Line({name: getattr(row, name) for name in columns if name in known}, data)


def columns_of(row: object) -> tuple[str, ...]:
    """Give the columns of a row of jobs."""
    return RECURRING if isinstance(row, RecurringRow) else JOB


def filename(parts: Iterable[str], kind: str) -> str:
    """Name the file: letters, digits and dashes alone.

    >>> filename(["qless", "failed", "a/b"], "csv")
    'qless-failed-a~2Fb.csv'
    """
    return f"{'-'.join(tilde(part) for part in parts if part)[:150]}.{kind}"


# -- JSON


def ndjson(lines: Iterable[Line], columns: Sequence[str], *, with_data: bool) -> bytes:
    """Write lines of JSON; data as it is, where it is JSON."""
    out = []
    for each in lines:
        parts = [f"{json.dumps(name)}:{json.dumps(each.values.get(name))}" for name in columns]
        if with_data:
            parts.append(f'"data":{_data(each.data)}')
        out.append("{" + ",".join(parts) + "}\n")
    return "".join(out).encode(errors="backslashreplace")


def _data(text: str | None) -> str:
    """Write data in one line: an end of line in JSON is a blank, but for those in texts."""
    if text is None:
        return "null"
    try:
        text.encode()
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_no_word)
    except (ValueError, RecursionError):
        return json.dumps(text)
    return text.replace("\r", " ").replace("\n", " ")


def _no_word(word: str) -> None:
    raise ValueError(word)


# -- CSV


def csv_head(columns: Sequence[str], *, with_data: bool) -> bytes:
    """Write the line of headings."""
    return _csv([[*columns, *(["data"] if with_data else [])]])


def csv_lines(lines: Iterable[Line], columns: Sequence[str], *, with_data: bool) -> bytes:
    """Write lines of CSV, of which no cell is a formula to a spreadsheet."""
    return _csv(
        [
            *(_cell(name, each.values.get(name)) for name in columns),
            *([_text(each.data or "")] if with_data else []),
        ]
        for each in lines
    )


def _csv(rows: Iterable[Iterable[str]]) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue().encode(errors="backslashreplace")


def _cell(name: str, value: Any) -> str:  # noqa: ANN401 - of any column
    if value is None or name in _MOMENTS:
        return iso(value)
    match value:
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return str(value)
        case tuple():
            return _text(json.dumps(value, ensure_ascii=False)) if value else ""
        case _:
            return _text(str(value))


def _text(text: str) -> str:
    """Put a quote before what a spreadsheet would compute.

    >>> _text("=1+1"), _text("plain")
    ("'=1+1", 'plain')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
