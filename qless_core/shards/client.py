"""A client of several qless at once, each with a part of the queues."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Final, NoReturn

from qless_core.client import Client
from qless_core.clock import Clock
from qless_core.config import Config
from qless_core.errors import BadArgument
from qless_core.jobs import Jobs
from qless_core.shards.commands import ShardedCommands
from qless_core.shards.events import ShardedEvents
from qless_core.shards.moving import Moved, Mover
from qless_core.shards.placement import Placement
from qless_core.shards.queue import ShardedQueues
from qless_core.shards.reserver import ShardedReserver
from qless_core.shards.routes import refuse_across
from qless_core.shards.shards import Shards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from threading import Event as Flag

    from qless_core.duration import Duration
    from qless_core.job import Job
    from qless_core.queue import Queue
    from qless_core.shards.whereabouts import Whereabouts

#: How a shard is called where no name is given.
_NAMELESS: Final = "shards need different namespaces or addresses, or names: {'a': …, 'b': …}"


class ShardedClient(Client):
    """A client of several shards, with the surface of `Client`.

    Each shard is a qless of its own: a namespace on some server. Every queue is placed on one of
    them; jobs are put there, and found on whichever they are. What belongs together, as a job and
    those that it waits for, has to be on one shard.

    Args:
        shards: plain clients or their addresses; by name, or else called by their namespaces, or
            their addresses where these are all the same. All processes must name them alike.
        pins: queues that are placed by hand, with the name of their shard.
        clock: as `Client` has it, for the shards given by address.
        worker_name: in whose name jobs are popped.
        patience: as `Client` has it, for the shards given by address.

    Attributes:
        shards: the plain client of each shard, by name.
        placement: says on which shard a queue is: `placement.of(queue)`.

    Raises:
        BadArgument: there is no shard, two are the same, or a queue is pinned to none of them.

    """

    def __init__(  # no super().__init__: it has no connection of its own
        self,
        shards: Mapping[str, Client | str] | Iterable[Client | str],
        *,
        pins: Mapping[str, str] | None = None,
        clock: Clock | None = None,
        worker_name: str | None = None,
        patience: Duration = 0,
    ) -> None:
        def plain(shard: Client | str) -> Client:
            if isinstance(shard, Client):
                return shard if worker_name is None else shard.named(worker_name)
            return Client(shard, clock=clock, worker_name=worker_name, patience=patience)

        self.url = None
        self.clock = clock or Clock()
        self._worker_name = worker_name
        self._take(_named(shards, plain), pins)

    def _take(self, shards: Mapping[str, Client], pins: Mapping[str, str] | None) -> None:
        self.shards = dict(shards)
        self.placement = Placement(self.shards, pins)
        self._shards = Shards(self.shards, self.placement)
        self.commands = ShardedCommands(self._shards)
        self.config = Config(self.commands)
        self._turns = 0

    def __repr__(self) -> str:
        return f"<ShardedClient of {', '.join(map(repr, self.shards))}>"

    def __getattr__(self, name: str) -> NoReturn:
        """Say where to find what only one shard has."""
        if name in {"redis", "keys", "namespace", "cron_plans", "_runner"}:
            problem = f"each shard has its own {name}: client.shards[name].{name}"
            raise AttributeError(problem)
        problem = f"'ShardedClient' object has no attribute {name!r}"
        raise AttributeError(problem)

    # What it hands out

    @property
    def queues(self) -> ShardedQueues:
        """Every queue: `client.queues["mail"]`; `client.queues["mail"].shard` says where it is."""
        return ShardedQueues(self)

    @property
    def jobs(self) -> ShardedJobs:
        """Every job: `client.jobs[jid]`."""
        return ShardedJobs(self)

    @property
    def events(self) -> ShardedEvents:
        """What happens, on all shards: `client.events.listen()`."""
        return ShardedEvents(self)

    @property
    def whereabouts(self) -> Whereabouts:
        """Knows on which shard a job is: `client.whereabouts.find(jid)`."""
        return self._shards.whereabouts

    # What it does itself

    @property
    def safe_url(self) -> str:
        """The addresses with their secrets masked: for logs, pages and messages."""
        return ", ".join(shard.safe_url for shard in self.shards.values())

    def now(self) -> float:
        """Tell the time that the first shard goes by, epoch seconds."""
        return self.shards[self._shards.first].now()

    def clock_skew(self) -> float:
        """Tell by how many seconds the clock of some client is ahead of its shard's."""
        return max(shard.clock_skew() for shard in self.shards.values())

    def turn(self) -> list[str]:
        """Name all shards, beginning with another one each time, so that none is always last."""
        names = [*self.shards]
        at = self._turns = (self._turns + 1) % len(names)
        return names[at:] + names[:at]

    def must_be_on(self, shard: str, jids: Iterable[str]) -> None:
        """Refuse jobs that are on another shard; one that is nowhere is no matter.

        Raises:
            AcrossShards: one is.

        """
        refuse_across(self._shards, shard, [*jids], "what is put")

    def reserver(  # type: ignore[override]  # the same methods
        self, queues: str | Queue | Iterable[str | Queue], *, stop: Flag | None = None
    ) -> ShardedReserver:
        """Take jobs of several queues from all shards, and wait for them."""
        return ShardedReserver(self, queues, stop=stop)

    def twin(self) -> ShardedClient:
        """Make a client like this one with connections of its own, as a forked process needs it."""
        twin = copy.copy(self)
        shards = {name: shard.twin() for name, shard in self.shards.items()}
        twin._take(shards, self.placement.pins)  # noqa: SLF001 - one of ours
        return twin

    def named(self, worker_name: str) -> ShardedClient:
        """Give this client in another name, on the same connections."""
        client = copy.copy(self)
        client._worker_name = worker_name  # noqa: SLF001 - one of ours
        shards = {name: shard.named(worker_name) for name, shard in self.shards.items()}
        client._take(shards, self.placement.pins)  # noqa: SLF001 - as above
        return client

    def make_room(self, connections: int) -> None:
        """Let there be so many connections to each shard at least."""
        for shard in self.shards.values():
            shard.make_room(connections)

    def close(self) -> None:
        """Close the connections that are not in use; the next call opens new ones."""
        for shard in self.shards.values():
            shard.close()

    def gather(self, queue: str) -> Moved:
        """Bring the jobs of a queue to the shard that it is placed on, while it is worked.

        A job that runs, waits for others or is waited for stays where it is, and is worked there.

        Args:
            queue: the name of the queue.

        Returns:
            How many went, and which did not, with the reason.

        Raises:
            RedisUnavailable: a server is gone; done again, it goes on where it was.

        """
        home = self.placement.of(queue)
        moved = Moved()
        for shard in self.shards:
            mover = Mover(self.shards, shard)
            mover.resume()
            if shard != home:
                mover.queue(queue, home)
            moved.add(mover.moved)
        self.whereabouts.clear()
        return moved

    def drain(self, shard: str) -> Moved:
        """Bring all jobs of a shard to the others, as if it were not there, while they are worked.

        Completed jobs and those that cannot go yet stay; done again, it goes on.

        Args:
            shard: its name.

        Returns:
            How many went, and which did not, with the reason.

        Raises:
            BadArgument: there is no such shard, or no other.
            RedisUnavailable: a server is gone; done again, it goes on where it was.

        """
        others = [name for name in self.shards if name != shard]
        if shard not in self.shards or not others:
            known = ", ".join(map(repr, self.shards))
            problem = f"no shard {shard!r} can be drained into others: there are {known}"
            raise BadArgument(problem)
        pins = {queue: name for queue, name in self.placement.pins.items() if name != shard}
        placement = Placement(others, pins)
        mover = Mover(self.shards, shard)
        mover.resume()
        for queue in [*self.shards[shard].queues]:
            mover.queue(queue, placement.of(queue))
        self.whereabouts.clear()
        return mover.moved

    def audit(self) -> NoReturn:
        """Refuse: each shard is audited by itself, `client.shards[name].audit()`."""
        _refuse("audit")

    def archive(self, *_: object, **__: object) -> NoReturn:
        """Refuse: each shard has its own archive, `client.shards[name].archive(…)`."""
        _refuse("archive")

    def once(self, request: str) -> NoReturn:
        """Refuse: each shard remembers its own requests, `client.shards[name].once(…)`."""
        del request
        _refuse("once")

    def bell(self, keys: Iterable[str]) -> NoReturn:
        """Refuse: who waits blocks on one shard, `client.shards[name].bell(…)`."""
        del keys
        _refuse("bell")


class ShardedJobs(Jobs):
    """Jobs of every queue, of all shards."""

    _client: ShardedClient

    def all_complete(self) -> Iterator[Job]:
        """Walk all completed jobs, one shard after another."""
        return chain.from_iterable(shard.jobs.all_complete() for shard in self._shards())

    def all_failed(self, group: str | None = None) -> Iterator[Job]:
        """Walk the failed jobs of a group, or of all, one shard after another."""
        return chain.from_iterable(shard.jobs.all_failed(group) for shard in self._shards())

    def all_tagged(self, tag: str) -> Iterator[Job]:
        """Walk all jobs that carry a tag, one shard after another."""
        return chain.from_iterable(shard.jobs.all_tagged(tag) for shard in self._shards())

    def _shards(self) -> Iterable[Client]:
        return self._client.shards.values()


def _refuse(what: str) -> NoReturn:
    problem = f"{what} is of one shard: client.shards[name].{what}"
    raise BadArgument(problem)


def _named(
    shards: Mapping[str, Client | str] | Iterable[Client | str],
    plain: Callable[[Client | str], Client],
) -> dict[str, Client]:
    """Give the shards their names.

    Raises:
        BadArgument: there is none, or two would have one name.

    """
    if isinstance(shards, str | Client):
        problem = f"several shards are wanted, as a list or by name, got {shards!r}"
        raise BadArgument(problem)
    if isinstance(shards, Mapping):
        named = {name: plain(shard) for name, shard in shards.items()}
    else:
        clients = [plain(shard) for shard in shards]
        names = [client.namespace for client in clients]
        if len({*names}) < len(names):
            names = [client.safe_url for client in clients]
        if len({*names}) < len(names):
            raise BadArgument(_NAMELESS)
        named = dict(zip(names, clients, strict=True))
    places = [(client.safe_url, client.namespace) for client in named.values()]
    if not named or len({*places}) < len(places):
        problem = f"shards must be some, and no two the same: {', '.join(map(repr, named))}"
        raise BadArgument(problem)
    return named
