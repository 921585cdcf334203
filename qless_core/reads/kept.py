"""What pages ask of each of many queues, kept until the server says that it changed.

To count a thousand queues takes Redis some thirty milliseconds, ten times as much as a hundred.
Here only what changed is counted again, so that a page is as exact as one that asks for everything.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Generator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from weakref import WeakSet

from redis import exceptions

from qless_core.clock import REAL
from qless_core.reads.tracking import Command, Tracking

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redis import Redis

    from qless_core.keys import Keys

T = TypeVar("T")

#: Yields batches of commands, is sent their answers in order (None for a key of a foreign type),
#: and returns what it found, and until when that holds though nothing changes (epoch seconds).
Keeping = Generator[Sequence[Command], list[Any], tuple[T, float]]
#: Reads something of one name, at a time in epoch seconds.
Kind = Callable[["Keys", float, str], Keeping[T]]

#: As many names are few: each page asks for everything.
FEW: Final = 100

#: As many that changed are read again by each page that comes; of more only those that were last
#: read so many seconds ago, or before this process changed something: they change all the time.
MANY: Final = 150
YOUNG_S: Final = 0.5

#: Seconds of silence after which the server is asked whether it is there.
SILENCE_S: Final = 1.0

#: Seconds that a server is left alone which could not be asked so, and one that does not tell.
REST_S: Final = 1.0
REFUSED_S: Final = 60.0


class Kept:
    """What one process keeps. Threads share it; one at a time looks what has changed.

    Args:
        redis: whose server to ask.
        keys: the names of its keys.

    """

    def __init__(self, redis: Redis, keys: Keys) -> None:
        self._redis = redis
        self._keys = keys
        self.begin_anew()
        _all.add(self)

    def begin_anew(self) -> None:
        """Know nothing, in a forked child: the connection is the parent's, the lock may be held."""
        self._lock = Lock()
        self._tracking: Tracking | None = None
        self._entries: dict[Any, dict[str, _Entry]] = {}
        self._by_key: dict[str, set[_Entry]] = {}
        self._heard_at = self._rests_until = self._doubted_at = -math.inf

    def of(self, kind: Kind[T], names: Sequence[str], now: float) -> dict[str, T] | None:
        """Give what a kind of read finds of each name; None where each page must ask by itself.

        Args:
            kind: what to read. The same function each time: by it is known what was read.
            names: all names that there are of that kind.
            now: epoch seconds of the page.

        """
        with self._lock:
            if REAL.monotonic() < self._rests_until:
                return None
            try:
                return cast("dict[str, T]", self._found(kind, names, now))
            except (exceptions.RedisError, OSError) as error:
                refused = isinstance(error, exceptions.ResponseError)
                self._drop(REFUSED_S if refused else REST_S)
                return None
            except BaseException:
                # Answers may be left to read, which the next page would take for its own.
                self._drop(0.0)
                raise

    def doubt(self) -> None:
        """Have each page that comes from now on see what has been changed by now."""
        self._doubted_at = REAL.monotonic()

    def close(self) -> None:
        """Let the connection go; the next page makes another one."""
        with self._lock:
            self._drop(0.0)

    def _found(self, kind: Kind[Any], names: Sequence[str], now: float) -> dict[str, Any]:
        began, doubted_at = REAL.monotonic(), self._doubted_at
        self._hear(began, doubted_at)
        entries = self._entries.setdefault(kind, {})
        if len(entries) > 2 * len(names) + FEW:
            self._forget(entries, set(names))
        due = [name for name in names if name not in entries or entries[name].is_due(now)]
        if len(due) > MANY:
            old = max(began - YOUNG_S, doubted_at)
            due = [name for name in due if name not in entries or entries[name].read_at <= old]
        if due:
            self._read(kind, entries, due, now)
        return {name: entries[name].value for name in names}

    def _hear(self, began: float, doubted_at: float) -> None:
        """Hear what changed; ask for it where it may not have been told yet, or nothing was."""
        tracking = self._tracking
        if tracking is not None and tracking.leads_astray:
            self._drop(0.0)
            tracking = None
        if tracking is None:
            tracking = self._tracking = Tracking(self._redis)
        elif doubted_at >= self._heard_at or began - self._heard_at > SILENCE_S:
            tracking.ask((("PING",),))
        else:
            tracking.listen()
            self._take_in(tracking)
            return
        self._heard_at = began
        self._take_in(tracking)

    def _take_in(self, tracking: Tracking) -> None:
        """Note which entries are to be read again."""
        if tracking.all_changed:
            for entries in self._entries.values():
                for entry in entries.values():
                    entry.until = -math.inf
        for key in tracking.changed:
            for entry in self._by_key.get(key, ()):
                entry.until = -math.inf
        tracking.changed.clear()
        tracking.all_changed = False

    def _read(
        self, kind: Kind[Any], entries: dict[str, _Entry], names: Iterable[str], now: float
    ) -> None:
        """Read some names, side by side, and keep what is found."""
        tracking = cast("Tracking", self._tracking)
        began = REAL.monotonic()
        makings = {name: kind(self._keys, now, name) for name in names}
        asked: dict[str, Sequence[Command]] = {name: next(each) for name, each in makings.items()}
        read: dict[str, list[str]] = {name: [] for name in makings}
        while asked:
            answers = iter(tracking.ask([each for some in asked.values() for each in some]))
            following: dict[str, Sequence[Command]] = {}
            for name, some in asked.items():
                read[name] += [str(each[1]) for each in some]
                replies = [_checked(next(answers)) for _ in some]
                try:
                    following[name] = makings[name].send(replies)
                except StopIteration as stop:
                    value, until = stop.value
                    self._keep(entries, name, _Entry(value, until, began, tuple(read[name])))
            asked = following
        self._heard_at = began
        # What was told meanwhile is of what was read, or of what was read before: both are due.
        self._take_in(tracking)

    def _keep(self, entries: dict[str, _Entry], name: str, entry: _Entry) -> None:
        if (before := entries.get(name)) is not None:
            self._unlink(before)
        entries[name] = entry
        for key in entry.keys:
            self._by_key.setdefault(key, set()).add(entry)

    def _unlink(self, entry: _Entry) -> None:
        for key in entry.keys:
            those = self._by_key.get(key, set())
            those.discard(entry)
            if not those:
                self._by_key.pop(key, None)

    def _forget(self, entries: dict[str, _Entry], names: set[str]) -> None:
        """Forget names that are there no more."""
        for name in entries.keys() - names:
            self._unlink(entries.pop(name))

    def _drop(self, rest_s: float) -> None:
        """Let the connection go, and with it all that it would have told of."""
        tracking, self._tracking = self._tracking, None
        self._entries.clear()
        self._by_key.clear()
        self._rests_until = REAL.monotonic() + rest_s
        if tracking is not None:
            tracking.close()  # last: whatever it raises, what it told of is forgotten


#: Those that there are, for a forked child.
_all: WeakSet[Kept] = WeakSet()


def _begin_anew() -> None:
    for kept in list(_all):
        kept.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


class _Entry:
    """What was found of a name, until when it holds (epoch seconds), when it was read, and where.

    It was read at a monotonic second, and its keys are those that it was read from.
    """

    __slots__ = ("keys", "read_at", "until", "value")

    def __init__(self, value: Any, until: float, read_at: float, keys: tuple[str, ...]) -> None:  # noqa: ANN401 - whatever is kept
        self.value = value
        self.until = until
        self.read_at = read_at
        self.keys = keys

    def is_due(self, now: float) -> bool:
        """Say whether it is to be read again."""
        return self.until <= now


def _checked(answer: Any) -> Any:  # noqa: ANN401 - what Redis answers
    if isinstance(answer, Exception):
        if str(answer).startswith("WRONGTYPE"):
            return None  # a key of a foreign type is bad data, not a reason to lose the page
        raise answer
    return answer
