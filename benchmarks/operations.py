"""What it takes to retry, move and cancel a hundred thousand failures, and who notices.

    .venv/bin/python -m benchmarks.operations [--jobs 100000] [--undo 10000] [--server redis-server]

Each operation runs on a server of its own, as a console does it, while another process pops jobs of
another queue at a steady pace. A line tells, of one operation: seconds from its first step to its
end, and to draw up its list before; microseconds of the server's CPU a job; how busy it kept the
server, and how busy that was with the other process; the longest step, by the server's CPU as the
step tells it, and by the clock (SLOWLOG), which on a machine with other work counts that, too; and
the pop that is slower than 99 of 100, idle and meanwhile. The next line says of each goal for
100,000 jobs whether it holds: 10 seconds (of fewer, as many fewer), under 50 % busy, no step over
5 ms, pops under 3 times idle. At last so many jobs are cancelled and brought back, and all that is
stored of them and their queues is compared. It exits with 1 where a goal does not hold.
"""

from __future__ import annotations

import argparse
import multiprocessing
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from qless_core import Client
from qless_core.clock import REAL
from qless_core.embedded import EmbeddedServer, find_server
from qless_web.operations import freezing
from qless_web.operations import operation as store
from qless_web.operations.options import Options
from qless_web.operations.running import Bench, Run
from qless_web.operations.selection import Selection
from qless_web.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from multiprocessing.connection import Connection

    from qless_core.records import OperationStep
    from qless_web.operations.operation import Operation

#: Jobs put and taken at once while a group is made; keys that one round trip reads.
_AT_ONCE: Final = 2_000
_GROUP: Final = "timeout"
_ACTIONS: Final[Mapping[str, Options]] = {
    "retry": Options(),
    "move": Options(queue="other"),
    "cancel": Options(),
}
#: Seconds between two pops of the other process, for how long it is watched idle, and jobs it has.
_PACE_S: Final = 0.005
_IDLE_S: Final = 5.0
_ORDERS: Final = 20_000
#: The goals: seconds for so many jobs, share of the server's time, seconds of a step, and how many
#: times as long as idle a pop takes.
_GOAL_S: Final = 10.0
_GOAL_JOBS: Final = 100_000
_GOAL_BUSY: Final = 0.5
_GOAL_STEP_S: Final = 0.005
_GOAL_TIMES: Final = 3
#: Microseconds from which a call is in the server's log of slow ones.
_SLOW_US: Final = 500


class Timed(Run):
    """A run of an operation that remembers its longest step, in seconds of the server's CPU."""

    longest = 0.0

    def _step(self, count: int) -> OperationStep:
        step = super()._step(count)
        self.longest = max(self.longest, step.took_s)
        return step


class Measured(NamedTuple):
    """What an operation took: seconds, shares of the server's time, and jobs.

    Attributes:
        action: what it did.
        jobs: to how many.
        list_s: seconds to draw up its list.
        run_s: seconds from its first step to its end.
        own: how much of the server's time it took.
        all: the same with the other process.
        step_s: its longest step, by the server's CPU.
        clock_s: the same by the clock.
        idle_s: the pop that is slower than 99 of 100 while nothing else goes on.
        pop_s: the same meanwhile.

    """

    action: str
    jobs: int
    list_s: float
    run_s: float
    own: float
    all: float
    step_s: float
    clock_s: float
    idle_s: float
    pop_s: float

    def line(self) -> str:
        """Give its line of the table."""
        return (
            f"{self.action:8}{self.jobs:>8}{self.run_s:>9.1f}{self.list_s:>9.1f}"
            f"{self.own * self.run_s / self.jobs * 1e6:>10.1f}"
            f"{self.own * 100:>9.1f}{self.all * 100:>8.1f}{self.step_s * 1e3:>10.2f}"
            f"{self.clock_s * 1e3:>10.2f}{self.idle_s * 1e3:>14.2f}{self.pop_s * 1e3:>11.2f}"
            f"{self.pop_s / self.idle_s:>7.1f}"
        )

    def goals(self) -> dict[str, bool]:
        """Say of each goal whether it holds."""
        most_s = _GOAL_S * self.jobs / _GOAL_JOBS
        return {
            f"in {most_s:g} s": self.run_s <= most_s,
            f"under {_GOAL_BUSY:.0%} busy": self.own < _GOAL_BUSY,
            f"no step over {_GOAL_STEP_S * 1e3:g} ms": self.step_s <= _GOAL_STEP_S,
            f"pops under {_GOAL_TIMES} times idle": self.pop_s < _GOAL_TIMES * self.idle_s,
        }


class Load(NamedTuple):
    """Where a server stands: a moment, and seconds of CPU that it has used by then."""

    at: float
    cpu: float


def main() -> None:
    """Read the arguments, measure, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=100_000, help="failures (%(default)s)")
    parser.add_argument("--undo", type=int, default=10_000, help="brought back (%(default)s)")
    parser.add_argument("--server", default=find_server(), help="a redis-server")
    args = parser.parse_args()
    print(
        f"{'':8}{'jobs':>8}{'seconds':>9}{'list, s':>9}{'us a job':>10}{'busy, %':>9}{'in all':>8}"
        f"{'step, ms':>10}{'by clock':>10}{'pop p99 idle':>14}{'meanwhile':>11}{'times':>7}"
    )
    missed = []
    for action in _ACTIONS:
        with EmbeddedServer(binary=args.server) as server, Client(server.url) as client:
            fail_all(client, args.jobs)
            found = measured(client, server.url, action)
            goals = found.goals()
            told = [f"{goal}: {'holds' if holds else 'MISSED'}" for goal, holds in goals.items()]
            print(found.line(), f"        {', '.join(told)}", sep="\n", flush=True)
            missed += [f"{action} {goal}" for goal, holds in goals.items() if not holds]
    with EmbeddedServer(binary=args.server) as server, Client(server.url) as client:
        fail_all(client, args.undo, tags=["night", "mail"], priority=5)
        print(brought_back(client))
    print(f"goals missed: {', '.join(missed)}" if missed else "all goals hold")
    if missed:
        raise SystemExit(1)


def fail_all(client: Client, count: int, **options: object) -> None:
    """Make a group of so many failures, each with these options, in one queue."""
    queue = client.queues["mail"]
    runner = client._runner  # noqa: SLF001 - nobody else pipelines
    sha = client.redis.script_load(runner.script.source)
    for start in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - start)
        queue.put_many(("Job", {"n": start + n}, options) for n in range(size))
        with client.redis.pipeline(transaction=False) as pipe:
            for job in queue.pop(size):
                said = (job.jid, client.worker_name, _GROUP, "connection timed out")
                pipe.evalsha(sha, 0, "fail", "auto", *said)
            pipe.execute()


def draft(client: Client, action: str) -> Operation:
    """Draw up the list of an operation on the whole group."""
    return freezing.freeze(
        client,
        action=action,
        selection=Selection(group=_GROUP),
        options=_ACTIONS[action],
        asked=freezing.Asked(),
        search=lambda _q: (),
        keep_s=86_400,
    )


def run(client: Client, made: Operation) -> Timed:
    """Do an operation to its end, as a worker of the console does it."""
    store.change(client, made.id, state="queued", run=1)
    queued = freezing.loaded(client, made.id)
    timed = Timed(Bench(client, Settings()), queued)
    state = timed.go()
    ended = freezing.loaded(client, made.id)
    if state != "done" or ended.done != made.total:
        message = f"{made.action}: {state}, {ended.done} of {made.total} done, left {ended.left}"
        raise SystemExit(message)
    return timed


def measured(client: Client, url: str, action: str) -> Measured:
    """Do an operation while another process pops."""
    client.queues["orders"].put_many(("Job", {}) for _ in range(_ORDERS))
    client.redis.config_set("slowlog-log-slower-than", _SLOW_US)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    other = context.Process(target=pop_steadily, args=(url, theirs))
    other.start()
    ours.recv()
    before = load_of(client)
    REAL.wait(_IDLE_S)
    idle = load_of(client)
    ours.send("list")
    drawn = REAL.monotonic()
    made = draft(client, action)
    client.redis.slowlog_reset()
    ours.send("run")
    begin = load_of(client)
    timed = run(client, made)
    end = load_of(client)
    ours.send("end")
    waits = ours.recv()
    other.join()
    took = end.at - begin.at
    base = (idle.cpu - before.cpu) / (idle.at - before.at)
    own = end.cpu - begin.cpu - base * took
    calls = [
        entry["duration"]
        for entry in client.redis.slowlog_get(128)
        if entry["command"][:5].lower() in (b"fcall", b"evals")
        and b"operation.step" in entry["command"]
    ]
    return Measured(
        action=action,
        jobs=made.total,
        list_s=begin.at - drawn,
        run_s=took,
        own=own / took,
        all=(end.cpu - begin.cpu) / took,
        step_s=timed.longest,
        clock_s=max(calls, default=0) / 1e6,
        idle_s=p99(waits["idle"]),
        pop_s=p99(waits["run"]),
    )


def load_of(client: Client) -> Load:
    """Ask how much CPU the server has used."""
    cpu = client.redis.info("cpu")
    return Load(REAL.monotonic(), cpu["used_cpu_user"] + cpu["used_cpu_sys"])


def p99(waits: list[float]) -> float:
    """Give what 99 of 100 were quicker than."""
    return sorted(waits)[int(len(waits) * 0.99)] if waits else 0.0


def pop_steadily(url: str, orders: Connection) -> None:
    """Pop and finish jobs at a steady pace, and send how long each pop took, by what went on."""
    waits: dict[str, list[float]] = {"idle": [], "list": [], "run": []}
    phase = "idle"
    with Client(url, worker_name="other") as client:
        queue = client.queues["orders"]
        for _ in range(20):  # it is warm then
            queue.pop(1)
        orders.send("ready")
        due = REAL.monotonic()
        while phase != "end":
            due = max(due + _PACE_S, REAL.monotonic() - _PACE_S)
            REAL.wait(max(0.0, due - REAL.monotonic()))
            begin = REAL.monotonic()
            jobs = queue.pop(1)
            waits[phase].append(REAL.monotonic() - begin)
            for job in jobs:
                job.complete()
            if orders.poll():
                phase = orders.recv()
    orders.send(waits)


def brought_back(client: Client) -> str:
    """Cancel the group, undo that, and compare; answers a line that tells."""
    before = stored(client)
    made = draft(client, "cancel")
    run(client, made)
    gone = stored(client)
    undo = freezing.freeze_undo(client, freezing.loaded(client, made.id), freezing.Asked())
    begin = load_of(client)
    timed = run(client, undo)
    took = load_of(client).at - begin.at
    after = stored(client)
    differ = [key for key in {*before, *after} if before.get(key) != after.get(key)]
    if differ or len(gone) >= len(before):
        message = f"brought back, {len(differ)} keys differ, for one {sorted(differ)[:1]}"
        raise SystemExit(message)
    return (
        f"undo of {made.total} cancelled: {took:.1f} s, longest step {timed.longest * 1e3:.2f} ms, "
        f"all {len(before)} keys equal in every field"
    )


def stored(client: Client) -> dict[str, Any]:
    """Read all that is stored of jobs, queues, groups and tags."""
    keys = [key for key in client.redis.scan_iter(count=1_000) if not key.startswith("ql:web:")]
    found: dict[str, Any] = {}
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        with client.redis.pipeline(transaction=False) as pipe:
            for key in some:
                pipe.type(key)
            kinds = pipe.execute()
            for key, kind in zip(some, kinds, strict=True):
                _READS[kind](pipe, key)
            found.update(zip(some, pipe.execute(), strict=True))
    return found


_READS: Final[Mapping[str, Any]] = {
    "hash": lambda pipe, key: pipe.hgetall(key),
    "list": lambda pipe, key: pipe.lrange(key, 0, -1),
    "set": lambda pipe, key: pipe.smembers(key),
    "zset": lambda pipe, key: pipe.zrange(key, 0, -1, withscores=True),
    "string": lambda pipe, key: pipe.get(key),
}


if __name__ == "__main__":
    main()
