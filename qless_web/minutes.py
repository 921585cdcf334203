"""How many jobs completed and failed in each minute of a day: kept in Redis, and read from there.

Queues count by day only. So a console notes once a minute how far those counts have come (see
`live/counting.py`), in one hash for each hour under `web:`. A field is a queue, or all of them; its
value holds sixty places with commas between: nothing, `12` completed, or `12/3` with failures.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from qless_core.options import as_whole
from qless_core.reads.plan import Read, Scope, call, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qless_core.keys import Keys

#: Minutes that are kept, and those of the small charts.
DAY, HOUR = 1_440, 60

#: Queues whose counts are looked at, the newest ones; those that an hour has a field for, the
#: busiest ones; and characters of a name: so the size of all this has an end.
MOST_COUNTED, MOST_KEPT, LONGEST_NAME = 1_000, 100, 200

#: Seconds that an hour is kept after its last minute, and the last counts after theirs.
HOUR_KEPT_S, LAST_KEPT_S = 25 * 3_600, 180

#: The fields of all queues together, and of there being queues that the hour has no field for;
#: those of queues begin with another letter.
_ALL: Final = "all"
_MORE: Final = "more"
_PLACE = re.compile(r"([0-9]{1,12})(?:/([0-9]{1,12}))?", re.ASCII)


class Minute(NamedTuple):
    """What was done in a minute."""

    completed: int
    failures: int


class Minutes(NamedTuple):
    """What was done in minutes that follow one another; None where nobody counted.

    Minutes are numbered from the epoch, as epoch seconds are; `end` is the one after the last.
    """

    end: int
    counts: tuple[Minute | None, ...]

    @property
    def start(self) -> int:
        """The number of the first minute."""
        return self.end - len(self.counts)

    @property
    def completed(self) -> int:
        """Sum of the completed jobs."""
        return sum(each.completed for each in self.counts if each)

    @property
    def failures(self) -> int:
        """Sum of the failures."""
        return sum(each.failures for each in self.counts if each)

    @property
    def missed(self) -> int:
        """How many minutes nobody counted."""
        return self.counts.count(None)


@dataclass(frozen=True, slots=True)
class LastHour:
    """The last hour of every queue, as it is stored."""

    rows: dict[int, dict[str, str]]
    now: float

    def of(self, queue: str) -> Minutes:
        """Give that of one queue."""
        return _cut(self.rows, queue, self.now, HOUR)


#: Fields of the counts at the end of a minute, by queue.
Totals = dict[str, Minute]


class Noted(NamedTuple):
    """What is to be written down: fields of the hour, and the counts to compare with next time."""

    fields: dict[str, str]
    last: str


def hour_key(keys: Keys, hour: int) -> str:
    """Name the hash of an hour, numbered from the epoch."""
    return keys.web(f"minutes:{hour}")


def last_key(keys: Keys) -> str:
    """Name the text with the counts at the end of the last minute that was noted."""
    return keys.web("minutes:last")


def turn_key(keys: Keys, minute: int) -> str:
    """Name the text that says who notes a minute."""
    return keys.web(f"minutes:turn:{minute}")


# Reading


@read
def of_day(scope: Scope, queue: str | None = None, *, minutes: int = DAY) -> Read[Minutes]:
    """Give the minutes up to now of a queue, or of all of them.

    Args:
        scope: given by `run`.
        queue: its name; None is all queues.
        minutes: how many, at most a day.

    """
    yield []  # the time comes with the first batch
    hours = _hours(scope.now, minutes)
    names = [_ALL] if queue is None else [_ALL, _MORE, _field(queue)]
    found = yield [
        call("hget", hour_key(scope.keys, hour), name) for hour in hours for name in names
    ]
    values = iter(found)
    rows = {hour: {name: next(values) for name in names} for hour in hours}
    return _cut(rows, queue, scope.now, minutes)


@read
def of_hour(scope: Scope) -> Read[LastHour]:
    """Read the last hour of all queues."""
    yield []  # as above
    hours = _hours(scope.now, HOUR)
    found = yield [call("hgetall", hour_key(scope.keys, hour)) for hour in hours]
    rows = {hour: row or {} for hour, row in zip(hours, found, strict=True)}
    return LastHour(rows, scope.now)


def _hours(now: float, minutes: int) -> range:
    end = int(now) // 60
    # One more than was asked for: the last one may not be noted yet.
    return range((end - minutes - 1) // HOUR, (end - 1) // HOUR + 1)


def _cut(
    rows: Mapping[int, Mapping[str, str | None]], queue: str | None, now: float, minutes: int
) -> Minutes:
    """Take the minutes before now out of the fields of hours that follow one another."""
    counts = [each for row in rows.values() for each in _places_of(row, queue)]
    known = [each for row in rows.values() for each in places(row.get(_ALL))]
    first = min(rows) * HOUR
    end = int(now) // 60
    # The minute that has just ended is being noted: that is no gap.
    if known[end - 1 - first] is None:
        end -= 1
    return Minutes(end, tuple(counts[end - minutes - first : end - first]))


def _places_of(row: Mapping[str, str | None], queue: str | None) -> list[Minute | None]:
    """Give the minutes of an hour: where only the whole is known, a queue did nothing."""
    known = places(row.get(_ALL))
    if queue is None:
        return known
    text = row.get(_field(queue))
    if len(queue) > LONGEST_NAME or (text is None and row.get(_MORE)):
        return [None] * HOUR
    own = places(text)
    return [
        None if whole is None else each or Minute(0, 0)
        for whole, each in zip(known, own, strict=True)
    ]


def places(text: str | None) -> list[Minute | None]:
    """Read the sixty places of a field.

    >>> places("12,,1/3")[:4]
    [Minute(completed=12, failures=0), None, Minute(completed=1, failures=3), None]
    """
    parts = (text or "").split(",")[:HOUR]
    found = [_PLACE.fullmatch(part) if part else None for part in parts]
    read = [Minute(int(each[1]), int(each[2] or 0)) if each else None for each in found]
    return read + [None] * (HOUR - len(read))


# Noting


def hour_of(counts: Mapping[str, Sequence[Minute]], known: int) -> dict[str, str]:
    """Write the fields of an hour whose first minutes are known, from those of each queue."""
    idle = Minute(0, 0)
    whole = [
        Minute(sum(e.completed for e in each), sum(e.failures for e in each))
        for each in zip(*counts.values(), strict=True)
    ] or [idle] * known
    fields = {_field(name): row(each) for name, each in counts.items()}
    return {_ALL: row(whole), **fields} if known else {}


@read
def totals(scope: Scope, minute: int) -> Read[Totals]:
    """Read how many jobs of each queue completed and failed so far on the day of a minute."""
    keys = scope.keys
    day = minute * 60 // 86_400 * 86_400
    (names,) = yield [call("zrevrange", keys.queues, 0, MOST_COUNTED - 1)]
    names = [name for name in names or () if len(name) <= LONGEST_NAME]
    replies = yield [
        each
        for name in names
        for each in (
            call("hget", keys.run(day, name), "total"),
            call("hget", keys.stats(day, name), "failures"),
        )
    ]
    numbers = [max(0, as_whole(each) or 0) for each in replies]
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return {name: Minute(*pair) for name, pair in zip(names, pairs, strict=True)}


@read
def noted(scope: Scope, minute: int) -> Read[tuple[str | None, dict[str, str]]]:
    """Read what was noted last, and the hour of a minute as it is."""
    last, fields = yield [
        call("get", last_key(scope.keys)),
        call("hgetall", hour_key(scope.keys, minute // HOUR)),
    ]
    return last, fields or {}


def note(minute: int, now: Totals, last: str | None, fields: Mapping[str, str]) -> Noted:
    """Say what to write down at the end of a minute.

    Args:
        minute: the one that has ended.
        now: the counts of its day, at its end.
        last: what was noted before, as `Noted.last`.
        fields: the hour as it is.

    """
    before = _before(minute, last)
    # A queue may be forgotten and come back with its counts.
    counts = {name: each for name, each in now.items() if any(each)}
    counts |= {name: each for name, each in (before or {}).items() if name not in counts}
    kept = dict(list(counts.items())[:MOST_COUNTED])
    text = json.dumps({"minute": minute, "counts": kept}, separators=(",", ":"))
    if before is None:
        return Noted({}, text)
    done = {name: _since(each, before.get(name)) for name, each in now.items()}
    busiest = _busiest(done, fields)
    whole = Minute(sum(e.completed for e in done.values()), sum(e.failures for e in done.values()))
    values = {_ALL: whole} | {_field(name): done[name] for name in busiest}
    at = minute % HOUR
    written = {name: _with(fields.get(name), at, each) for name, each in values.items()}
    if len(now) >= MOST_COUNTED or len(busiest) < sum(1 for each in done.values() if any(each)):
        written[_MORE] = "1"
    return Noted(written, text)


def _before(minute: int, last: str | None) -> dict[str, Minute] | None:
    """Give the counts at the beginning of a minute; None where nobody noted them."""
    if minute % DAY == 0:
        return {}  # all begin at 0 with the day
    try:
        found = json.loads(last or "")
        if found["minute"] != minute - 1:
            return None
        return {name: Minute(*map(int, each)) for name, each in found["counts"].items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _since(now: Minute, before: Minute | None) -> Minute:
    before = before or Minute(0, 0)
    return Minute(max(0, now.completed - before.completed), max(0, now.failures - before.failures))


def _busiest(done: Totals, fields: Mapping[str, str]) -> list[str]:
    """Give the queues to write: those that have a field, then the busiest while there is room."""
    busy = sorted((name for name in done if any(done[name])), key=lambda name: -sum(done[name]))
    old = [name for name in busy if _field(name) in fields]
    room = MOST_KEPT - sum(1 for name in fields if name not in {_ALL, _MORE})
    new = [name for name in busy if _field(name) not in fields]
    return [*old, *new[: max(0, room)]]


def _with(text: str | None, at: int, value: Minute) -> str:
    return row(value if index == at else each for index, each in enumerate(places(text)))


def row(counts: Iterable[Minute | None]) -> str:
    """Write the places of a field."""
    return ",".join(_word(each) for each in counts).rstrip(",")


def _word(minute: Minute | None) -> str:
    if minute is None:
        return ""
    return f"{minute.completed}/{minute.failures}" if minute.failures else str(minute.completed)


def _field(queue: str) -> str:
    return f"q:{queue}"
