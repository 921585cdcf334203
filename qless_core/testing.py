"""What the tests of an application need: a clock that stands still, jobs without Redis, fixtures.

In a `conftest.py`, `pytest_plugins = ["qless_core.testing"]` gives the fixtures `qless_server`,
`qless_clock` and `qless_client`: a real server of the test run's own, emptied for each test.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from qless_core import wire
from qless_core.bell import Bell
from qless_core.client import Client
from qless_core.clock import REAL, Clock
from qless_core.duration import seconds_of
from qless_core.embedded import EmbeddedServer
from qless_core.job import Job
from qless_core.queue import Queue
from qless_core.worker.serial import SerialWorker

try:
    import pytest
except ImportError:  # an application may use the rest without pytest
    pytest = None  # type: ignore[assignment]  # looked at before each use

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from threading import Event as Flag

    from qless_core.duration import Duration
    from qless_core.events import Event

#: When a frozen clock begins, epoch seconds: 2023-11-14 22:13:20 UTC.
BEGINNING: Final = 1_700_000_000.0
#: How many jobs `perform_all` runs before it takes them for an endless chain.
MANY: Final = 10_000


class FrozenClock(Clock):
    """A clock that goes on only when told, and is the time of the queue too.

    Args:
        now: epoch seconds.

    """

    def __init__(self, now: float = BEGINNING) -> None:
        self._now = now

    def __repr__(self) -> str:
        return f"FrozenClock({self._now!r})"

    def stamp(self) -> str:
        """Say what commands send as `now`."""
        return repr(self._now)

    def now(self) -> float:
        """Epoch seconds."""
        return self._now

    def monotonic(self) -> float:
        """Seconds; the same as `now`."""
        return self._now

    def wait(self, seconds: float, stop: Flag | None = None) -> bool:
        """Go on by so many seconds at once; answers whether `stop` is set."""
        self.advance(seconds)
        return stop is not None and stop.is_set()

    def advance(self, seconds: Duration) -> float:
        """Go on by so many seconds, or a timedelta; answers the time."""
        self._now += seconds_of("the seconds", seconds)
        return self._now


class NullBell(Bell):
    """What a reserver blocks with where there is nothing."""

    def set(self, seconds: float, command: str, now: str, *args: str | float) -> None:  # noqa: ARG002 - as a Bell
        """Begin to block."""
        self._until = REAL.monotonic() + seconds

    def rings(self, seconds: float) -> bool:
        """Wait; answers whether the time is over."""
        REAL.wait(min(seconds, self._until - REAL.monotonic()))
        return REAL.monotonic() >= self._until

    def read(self) -> None:
        """Answer nothing."""


class NullClient(Client):
    """A client of nothing, for jobs built in unit tests: every verb succeeds, and is noted.

    Give it to `Job.build(…, client=…)`; what the job does to itself and puts into other queues is
    then in `calls`. It knows no jobs: to test what becomes of them, use a server (`qless_client`).

    Attributes:
        calls: each command that would have been sent, with its arguments, as in the reference.

    """

    def __init__(self, clock: Clock | None = None, worker_name: str = "null-worker") -> None:
        super().__init__(
            "unix:///there-is-no-redis-here", clock=clock or FrozenClock(), worker_name=worker_name
        )
        self.calls: list[tuple[str | float, ...]] = []

    def __repr__(self) -> str:
        return f"<NullClient of {len(self.calls)} calls>"

    def bell(self, keys: Iterable[str]) -> Bell:
        """Make a bell that never rings."""
        return NullBell(self._runner, keys)

    def _run(self, command: str, *args: str | float) -> Any:  # noqa: ANN401 - what Redis answers
        self.calls.append((command, *args))
        return _NULL_REPLIES.get(command, _nothing)(self.clock.now(), *map(str, args))


def _nothing(_: float, *__: str) -> None:
    """Answer nothing, as for what is not there."""


def _new_state(_: float, *args: str) -> str:
    """Answer the state that `complete` with these arguments brings a job to."""
    options = dict(zip(args[4::2], args[5::2], strict=False))
    if "next" not in options:
        return "complete"
    if options.get("depends", "[]") != "[]":
        return "depends"
    return "scheduled" if float(options.get("delay", 0)) > 0 else "waiting"


def _bulk_jids(args: Sequence[str]) -> Iterator[str]:
    """Find the jids among the arguments of `bulk.put`."""
    at = 3
    while at < len(args):
        yield args[at]
        at += 5 + int(args[at + 4])


#: What `NullClient` answers to each command, by the time and its arguments.
_NULL_REPLIES: Final[dict[str, Callable[..., Any]]] = {
    "put": lambda _, *args: args[2],
    "requeue": lambda _, *args: args[2],
    "recur": lambda _, *args: args[1],
    "cron": lambda _, *args: args[1],
    "bulk.put": lambda _, *args: [*_bulk_jids(args)],
    "heartbeat": lambda now, *_: int(now) + 60,
    "complete": _new_state,
    "fail": lambda _, *args: args[0],
    "retry": lambda *_: 4,
    "giveback": lambda _, *args: 4 if args[2] == "1" else 5,
    "cancel": lambda _, *jids: [*jids],
    "depends": lambda *_: 1,
    "priority": lambda _, *args: args[1],
    "tag": lambda _, *args: wire.dumps([*args[2:]]) if args[0] == "add" else "[]",
    "track": lambda *_: "1",
    "pop": lambda *_: "[]",
    "peek": lambda *_: "[]",
}


def make_job(klass: object, data: Any = None, *, queue: str = "test", **fields: Any) -> Job:  # noqa: ANN401 - any JSON; fields of JobRecord
    """Do `Job.build`.

    Args:
        klass: the class or function that runs it, or its dotted name.
        data: what it is to work on.
        queue: the queue it claims to be in.
        fields: what else it claims of itself, named as in `records.JobRecord`.

    """
    return Job.build(klass, data, queue=queue, **fields)


def perform(job: Job) -> Any:  # noqa: ANN401 - what the job returns
    """Run a job as a worker would, but let what it raises through and settle nothing."""
    return job.perform()


def perform_all(client: Client, *queues: str | Queue | Iterable[str | Queue]) -> list[Job]:
    """Run all jobs of some queues, those they put included, until none is left.

    Args:
        client: whose queues.
        queues: their names, or queues, or lists of these.

    Returns:
        The jobs in the order they ran, each in the state it was left in.

    """
    named: list[str | Queue] = []
    for queue in queues:
        named += [queue] if isinstance(queue, str | Queue) else queue
    worker = SerialWorker(client, named)
    done: list[Job] = []
    while len(done) < MANY:
        job = worker.step()
        if job is None:
            return done
        done.append(job)
    problem = f"still not done after {MANY} jobs"
    raise AssertionError(problem)


class Recorder:
    """Events, as they were heard so far."""

    def __init__(self, drain: Callable[[], list[Event]]) -> None:
        self._drain = drain
        self._heard: list[Event] = []

    @property
    def events(self) -> list[Event]:
        """All that was heard until now, or to the end of the block, in order."""
        self._heard += self._drain()
        return list(self._heard)

    def end(self) -> None:
        """Hear what there is, and no more."""
        self._heard += self._drain()
        self._drain = list


@contextmanager
def record_events(client: Client, *channels: str) -> Iterator[Recorder]:
    """Record what happens within the block, on the channels that `subscribe` takes."""
    with client.events.subscribe(*channels) as subscription:
        recorder = Recorder(subscription.drain)
        yield recorder
        recorder.end()


if pytest is not None:

    @pytest.fixture(scope="session")
    def qless_server() -> Iterator[EmbeddedServer]:
        """Run a server for the tests of this process alone."""
        with EmbeddedServer() as server:
            yield server

    @pytest.fixture
    def qless_clock() -> FrozenClock:
        """Make the time that `qless_client` goes by."""
        return FrozenClock()

    @pytest.fixture
    def qless_client(qless_server: EmbeddedServer, qless_clock: FrozenClock) -> Iterator[Client]:
        """Make a client of an empty server."""
        with Client(qless_server.url, clock=qless_clock) as client:
            client.redis.flushall()
            yield client
