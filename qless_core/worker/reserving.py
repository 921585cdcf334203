"""Which queues the next job comes from, and in which order they are asked."""

from __future__ import annotations

import random
import re
from fnmatch import translate
from typing import TYPE_CHECKING, Any, Final

from qless_core import wire
from qless_core.clock import REAL
from qless_core.errors import BadArgument
from qless_core.queue import Queue
from qless_core.reads.names import queue_names
from qless_core.reads.plan import run
from qless_core.reserver import Reserver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from qless_core.client import Client

    #: Puts the names of queues in order, knowing the one that gave the last job.
    Order = Callable[[Sequence[str], str | None], Sequence[str]]

#: What makes a pattern of a name.
_WILD: Final = re.compile(r"[*?\[]")
#: Seconds after which patterns are looked up anew, at the soonest.
PATTERNS_S: Final = 3.0
#: The most queues that one call may ask.
MOST_QUEUES: Final = 1000


class Ordered:
    """Asks the queues in their order: a later one waits for all before it."""

    def __repr__(self) -> str:
        return "Ordered()"

    def __call__(self, names: Sequence[str], last: str | None) -> Sequence[str]:  # noqa: ARG002 - an order
        """Put the names in order."""
        return names


class RoundRobin:
    """Asks the queues in turn, from the one behind that which gave the last job."""

    def __repr__(self) -> str:
        return "RoundRobin()"

    def __call__(self, names: Sequence[str], last: str | None) -> Sequence[str]:
        """Put the names in order."""
        if last not in names:
            return names
        start = names.index(last) + 1
        return [*names[start:], *names[:start]]


class Shuffled:
    """Asks the queues in another order each time, any as likely as any other."""

    def __repr__(self) -> str:
        return "Shuffled()"

    def __call__(self, names: Sequence[str], last: str | None) -> Sequence[str]:  # noqa: ARG002 - an order
        """Put the names in order."""
        return random.sample(names, len(names))


class Weighted:
    """Asks the queues in another order each time, one of twice the weight twice as often first.

    Args:
        weights: numbers above 0 by name; 1 for a queue that is not among them.

    Raises:
        BadArgument: a weight is no number above 0.

    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        for name, weight in weights.items():
            if not weight > 0:
                problem = f"the weight of queue {name!r} must be a number above 0, got {weight!r}"
                raise BadArgument(problem)
        self._weights = dict(weights)

    def __repr__(self) -> str:
        return f"Weighted({self._weights!r})"

    def __call__(self, names: Sequence[str], last: str | None) -> Sequence[str]:  # noqa: ARG002 - an order
        """Put the names in order."""
        # The one with the least of such times comes first as often as its weight says.
        return sorted(names, key=lambda name: random.expovariate(self._weights.get(name, 1)))


def order_of(order: Order | type[Order]) -> Order:
    """Give the order that is meant, where its class may be given, too."""
    return order() if isinstance(order, type) else order


def names_of(queues: str | Queue | Iterable[str | Queue]) -> tuple[str, ...]:
    """Name the queues that a worker is given, patterns as they are.

    Raises:
        BadArgument: there is none, or more than one call may ask, or one is no name.

    """
    given = [queues] if isinstance(queues, str | Queue) else queues
    names: tuple[Any, ...] = tuple(
        dict.fromkeys(queue.name if isinstance(queue, Queue) else queue for queue in given)
    )
    if not names:
        problem = "a worker needs at least one queue"
        raise BadArgument(problem)
    if len(names) > MOST_QUEUES:
        problem = f"a worker asks at most {MOST_QUEUES} queues, got {len(names)}: use patterns"
        raise BadArgument(problem)
    for name in names:
        if not isinstance(name, str) or not name or wire.clean(name) != name:
            problem = f"the name of a queue must be text of UTF-8, and not empty, got {name!r}"
            raise BadArgument(problem)
    return names


class Source:
    """The queues of a worker, as one thread of it asks them.

    Args:
        client: whose queues.
        names: their names, or patterns with `*`, `?` and `[…]`: all queues that fit, in the order
            in which they were first seen, at the place of the pattern. A queue of just that name
            is meant, too.
        order: in which they are asked.

    """

    def __init__(self, client: Client, names: Sequence[str], order: Order | type[Order]) -> None:
        self._client = client
        self._given = tuple(names)
        self._order = order_of(order)
        self._keeps_order = isinstance(self._order, Ordered)
        self._patterns = [name for name in names if is_pattern(name)]
        self._look_at = 0.0
        self._reserver: Reserver | None = None
        #: The queue that gave the last job.
        self.last: str | None = None

    def __repr__(self) -> str:
        return f"<Source of {', '.join(map(repr, self._given))} by {self._order!r}>"

    @property
    def has_patterns(self) -> bool:
        """Whether new queues may come to belong to it."""
        return bool(self._patterns)

    def reserver(self) -> Reserver | None:
        """Give what takes jobs of the queues as they are now, in order; None when there is none.

        Raises:
            RedisUnavailable: patterns cannot be looked up.

        """
        if self._patterns and REAL.monotonic() >= self._look_at:
            self._look()
        elif self._reserver is None and not self._patterns:
            self._reserver = Reserver(self._client, self._given)
        reserver = self._reserver
        if reserver is None:
            return None
        if reserver.is_stopped:
            reserver = self._reserver = Reserver(self._client, reserver.queues)
        if not self._keeps_order:
            reserver.queues = tuple(self._order(reserver.queues_as_given, self.last))
        return reserver

    def prepare(self) -> None:
        """Make what takes jobs ahead, where Redis need not be asked for the queues."""
        if not self._patterns:
            self.reserver()

    def wake(self) -> None:
        """Let a thread go on that waits for a job; the next one waits anew. Any thread may."""
        reserver = self._reserver
        if reserver is not None:
            reserver.stop()

    def _look(self) -> None:
        """Look which queues fit the patterns."""
        _, (there,) = run(self._client.redis, self._client.keys, [queue_names()], now=0.0)
        fit = [name for given in self._given for name in fitting(given, there)]
        found = tuple(dict.fromkeys(fit))[:MOST_QUEUES]
        self._look_at = REAL.monotonic() + PATTERNS_S
        if not found:
            self._reserver = None
        elif self._reserver is None or self._reserver.queues_as_given != found:
            self._reserver = Reserver(self._client, found)


def is_pattern(name: str) -> bool:
    """Whether a worker that is given this name looks for queues that fit it."""
    return bool(_WILD.search(name))


def fitting(given: str, there: Sequence[str]) -> Sequence[str]:
    """List the queues that a name or a pattern means, of those that there are."""
    if not is_pattern(given):
        return (given,)
    fits = re.compile(translate(given)).match
    return [name for name in there if name == given or fits(name)]
