"""How reads share round trips: each is a generator of batches, and all batches go out together."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import redis.exceptions

from qless_core.errors import BadArgument, QlessError, RedisUnavailable
from qless_core.reads.kept import FEW
from qless_core.server_errors import errors_of_server

if TYPE_CHECKING:
    from redis import Redis

    from qless_core.keys import Keys
    from qless_core.reads.kept import Kept, Kind

P = ParamSpec("P")
T = TypeVar("T")


class Call(NamedTuple):
    """One Redis command: the client's method and what it is called with."""

    method: str
    args: tuple[Any, ...]
    options: dict[str, Any]
    may_fail: bool


#: A read yields batches of calls, is sent their replies in order, and returns what it found.
Read = Generator[Sequence[Call], list[Any], T]


@dataclass(slots=True)
class Scope:
    """What every read of one page shares."""

    keys: Keys
    #: Epoch seconds. Known after the first batch: before it, only a clock that was set knows.
    now: float
    #: What the process keeps of many queues; None where it keeps nothing.
    kept: Kept | None = None

    def of_many(self, kind: Kind[T], names: Sequence[str]) -> dict[str, T] | None:
        """Give what is kept of each name; None where a page has to ask, as there are few of them.

        Not before the second batch: it goes by the time.
        """
        if self.kept is None or len(names) <= FEW:
            return None
        return self.kept.of(kind, names, self.now)


#: A read with its arguments bound, ready to be run in a scope.
Plan = Callable[[Scope], Read[T]]


@dataclass(frozen=True, slots=True)
class Slice:
    """Which part of a list: how many to skip, and how many to give at most."""

    offset: int = 0
    count: int = 25

    @property
    def last(self) -> int:
        """Give the rank of the last item, as ZRANGE and LRANGE count."""
        return self.offset + self.count - 1

    def of(self, items: Sequence[T]) -> Sequence[T]:
        """Cut this part out of what is already here."""
        return items[self.offset : self.offset + self.count]


def read(
    function: Callable[Concatenate[Scope, P], Read[T]],
) -> Callable[P, Plan[T]]:
    """Turn a generator that takes a scope first into one that is called without it."""

    @functools.wraps(function)
    def bind(*args: P.args, **kwargs: P.kwargs) -> Plan[T]:
        return lambda scope: function(scope, *args, **kwargs)

    return bind


def call(method: str, *args: Any, **options: Any) -> Call:  # noqa: ANN401 - as redis-py takes them
    """Name one command to send: `call("zrange", key, 0, -1, withscores=True)`."""
    return Call(method, args, options, may_fail=False)


def attempt(method: str, *args: Any) -> Call:  # noqa: ANN401 - as redis-py takes them
    """Name one command whose refusal is an answer too: it comes back as the exception."""
    return Call(method, args, {}, may_fail=True)


def run(
    client: Redis,
    keys: Keys,
    plans: Sequence[Plan[Any]],
    *,
    now: float | None = None,
    kept: Kept | None = None,
) -> tuple[Scope, list[Any]]:
    """Run reads side by side, one pipeline for each round of batches.

    Args:
        client: where to send them.
        keys: the key names of the namespace.
        plans: the reads.
        now: a fixed time (epoch seconds); None asks the server within the first round.
        kept: what the process keeps of that server and namespace.

    Returns:
        The scope, with the time all reads saw, and what each read found, in order.

    Raises:
        BadArgument: a name holds half a character, which stands for no bytes.
        ClusterNeedsTag: the server is a cluster, and the namespace holds no hash tag.
        NotPermitted: the server does not let this user read.
        RedisUnavailable: the server is gone, or refuses a command that it must allow.

    """
    scope = Scope(keys, now if now is not None else 0.0, kept)
    whole = together([plan(scope) for plan in plans])
    asks_time = now is None
    replies: list[Any] | None = None
    while True:
        try:
            calls = list(next(whole) if replies is None else whole.send(replies))
        except StopIteration as stop:
            return scope, stop.value
        if asks_time:
            calls.append(call("time"))
        replies = _send(client, keys, calls)
        if asks_time:
            seconds, micros = replies.pop()
            scope.now = int(seconds) + int(micros) / 1e6
            asks_time = False


def together(reads: Sequence[Read[Any]]) -> Read[list[Any]]:
    """Run reads side by side as one, in as many batches as the longest; give what each found."""
    results: list[Any] = [None] * len(reads)
    replies: dict[int, list[Any]] = {}
    waiting = dict(enumerate(reads))
    while True:
        batches: dict[int, Sequence[Call]] = {}
        for index in list(waiting):
            try:
                batches[index] = (
                    waiting[index].send(replies[index])
                    if index in replies
                    else next(waiting[index])
                )
            except StopIteration as stop:
                results[index] = stop.value
                del waiting[index]
        if not batches:
            return results
        answers = yield [each for batch in batches.values() for each in batch]
        replies = {}
        for index, batch in batches.items():
            replies[index], answers = answers[: len(batch)], answers[len(batch) :]


def _send(client: Redis, keys: Keys, calls: Sequence[Call]) -> list[Any]:
    if not calls:
        return []
    try:
        answers = _answers(client, calls)
        if any(isinstance(answer, redis.exceptions.MovedError) for answer in answers):
            # The client knows by now where the primary is.
            answers = _answers(client, calls)
    except redis.exceptions.DataError as error:
        raise BadArgument(str(error)) from error
    except redis.exceptions.RedisError as error:
        raise _translated(error, keys) from error
    return [
        _checked(each, answer, keys) if isinstance(answer, Exception) else answer
        for each, answer in zip(calls, answers, strict=True)
    ]


def _answers(client: Redis, calls: Sequence[Call]) -> list[Any]:
    with client.pipeline(transaction=False) as pipeline:
        for each in calls:
            getattr(pipeline, each.method)(*each.args, **each.options)
        answers: list[Any] = pipeline.execute(raise_on_error=False)
    return answers


def _checked(asked: Call, error: Exception, keys: Keys) -> Exception | None:
    if asked.may_fail:
        return error
    if str(error).startswith("WRONGTYPE"):
        return None  # a key of a foreign type is bad data, not a reason to lose the page
    raise _translated(error, keys) from error


def _translated(error: Exception, keys: Keys) -> QlessError:
    return errors_of_server(error, keys.namespace) or RedisUnavailable(str(error))
