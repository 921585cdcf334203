"""What becomes of jobs while their workers and their server are killed all the time.

    .venv/bin/python -m benchmarks.chaos [--seed N] [--seconds N] [--jobs N] …

Jobs are put at an even pace: ordinary ones and ones that may run at most once, short and long,
some that fail, give themselves back, go on in another queue, wait for others, are scheduled or
recur. Meanwhile a child, a worker or the server is killed with SIGKILL, or a worker told to stop by
TERM, again and again; workers and server are started again, as an init system would. The server
writes each command to its disk before it answers.

In the end nothing is killed any more, and what is left is to be worked within a bound. Then each
job that was acknowledged is complete, or failed where people look for failures, or waits for one
that has failed; none that may run at most once was begun twice, as a file outside Redis tells;
every worker leaves in peace, and the audit finds nothing. The exit code says whether it is so.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.mayhem.judging import Verdict, judge, left_to_do
from benchmarks.mayhem.killing import Killer, Workers
from benchmarks.mayhem.plan import MODULE, bunches, plan
from benchmarks.mayhem.putting import PATIENCE_S, QUEUE, Putter
from qless_core.client import Client
from qless_core.clock import Clock
from qless_core.recurring import RecurringJob
from tests.support.nodes import Node

if TYPE_CHECKING:
    from collections import Counter

#: Seconds from one death to the next.
EVERY_S = 1.0
#: Seconds that a lock lasts, and the grace after it: short, as the whole thing is.
HEARTBEAT_S, GRACE_S = 2, 0.5
#: Seconds for the workers to do what is left when nothing is killed any more.
DRAIN_S = 30.0
#: Seconds for the workers to leave.
LEAVE_S = 10.0
#: Recurring jobs: the retries of their jobs.
RECURRING = {"recurs": 5, "recurs-once": 0}
#: Seconds from one of their jobs to the next; so long from the moment that all is to end.
INTERVAL_S, NEVER_S = 0.5, 1e9
#: What is told of that is wrong, at most.
TOLD = 20


@dataclass
class Run:
    """What came of it all.

    Attributes:
        verdict: what became of the jobs.
        killed: how often what was killed.
        unknown: puts whose outcome was not known at first.
        drained_s: seconds until nothing was left to do.

    """

    verdict: Verdict
    killed: Counter[str]
    unknown: int
    drained_s: float
    wrong: list[str] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        """What should not be, in words."""
        return self.wrong + self.verdict.wrong


def chaos(
    folder: Path, *, seed: int, seconds: float, jobs: int, workers: int, every_s: float = EVERY_S
) -> Run:
    """Let it all happen.

    Args:
        folder: an empty one, for the server's data, the logs and the file of the runs.
        seed: of all that is left to chance.
        seconds: for which things are killed.
        jobs: how many are put meanwhile.
        workers: how many work.
        every_s: seconds from one death to the next.

    """
    os.close(os.open(folder / "runs", os.O_WRONLY | os.O_CREAT, 0o600))
    server = Node(folder / "server", {"appendonly": "yes", "appendfsync": "always"})
    clock, planned = Clock(), plan(seed, jobs)
    with ExitStack() as stack:
        stack.callback(server.start().stop)
        client = stack.enter_context(Client(server.url, worker_name="chaos", patience=PATIENCE_S))
        _prepare(client, jobs)
        crew = Workers(server.url, workers, folder)
        stack.callback(crew.kill_rest)
        crew.start_all()
        putter = Putter(server.url, bunches(seed, planned), seconds)
        putter.start()
        killer, wrong, begun = Killer(server, crew, workers, seed), [], clock.monotonic()
        for number in range(1, int(seconds / every_s) + 1):
            clock.wait(begun + number * every_s - clock.monotonic())
            wrong += [f"a worker ended by itself with {code}" for code in crew.restart_ended()]
            killer.strike()
        putter.join(PATIENCE_S)
        if len(putter.acked) < jobs:
            wrong.append(f"{jobs - len(putter.acked)} jobs were never put: {putter.trouble}")
        _recur_no_more(client)
        drained_s = _drain(client, clock)
        _wait_for(client, crew, clock)
        wrong += crew.end(LEAVE_S)
        acked = [job for job in planned if job.jid in putter.acked]
        verdict = judge(client, acked, RECURRING, folder / "runs")
        return Run(verdict, killer.killed, putter.unknown, drained_s, wrong)


def _prepare(client: Client, jobs: int) -> None:
    client.config["heartbeat"] = HEARTBEAT_S
    client.config["grace-period"] = GRACE_S
    client.config["jobs-history-count"] = 10 * jobs + 50_000
    for jid, retries in RECURRING.items():
        client.queues[QUEUE].recur(f"{MODULE}.Quick", {}, INTERVAL_S, jid=jid, retries=retries)


def _recur_no_more(client: Client) -> None:
    """Let nothing recur any more; how many jobs came of it is still to be seen."""
    for jid in RECURRING:
        found = client.jobs[jid]
        if isinstance(found, RecurringJob):
            found.interval = NEVER_S


def _drain(client: Client, clock: Clock) -> float:
    """Wait until nothing is left to do, or for too long; answers how long."""
    begun = clock.monotonic()
    while left_to_do(client) and clock.monotonic() - begun < DRAIN_S:
        clock.wait(0.1)
    return clock.monotonic() - begun


def _wait_for(client: Client, crew: Workers, clock: Clock) -> None:
    """Wait until the last one that was started is at work, and heeds signals."""
    until = clock.monotonic() + DRAIN_S
    while clock.monotonic() < until:
        known = [f"{each.name}-" for each in client.workers.counts]
        if all(any(each.startswith(f"{name}-") for each in known) for name in crew.names()):
            return
        clock.wait(0.1)


def report(run: Run) -> None:
    """Print what came of it."""
    verdict = run.verdict
    killed = ", ".join(f"{what} {times}" for what, times in sorted(run.killed.items()))
    states = ", ".join(f"{state} {count}" for state, count in sorted(verdict.states.items()))
    groups = ", ".join(f"{name} {count}" for name, count in sorted(verdict.groups.items()))
    print(f"killed: {killed}")
    print(f"jobs: {verdict.jobs}; {states}")
    print(f"begun: {verdict.runs} times; anew after a death: {verdict.again} jobs")
    print(f"failures: {groups}")
    print(f"at most once, failed and never begun: {verdict.never_begun}")
    print(f"puts of unknown outcome: {run.unknown}")
    print(f"nothing left to do after {run.drained_s:.1f} s")
    for problem in run.problems[:TOLD]:
        print(f"WRONG: {problem}")
    print(f"FAIL: {len(run.problems)} problems" if run.problems else "PASS")


def main() -> int:
    """Read the arguments, do it, and print; answers the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--every", type=float, default=EVERY_S, help="seconds between deaths")
    parser.add_argument("--keep", type=Path, help="an empty folder for data and logs, kept")
    told = parser.parse_args()
    logging.getLogger("qless").setLevel(logging.ERROR)
    # So that it takes workers and server with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(
        f"seed {told.seed}, {told.jobs} jobs, {told.workers} workers, {told.seconds:g} s",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        place = told.keep or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        run = chaos(
            place,
            seed=told.seed,
            seconds=told.seconds,
            jobs=told.jobs,
            workers=told.workers,
            every_s=told.every,
        )
    report(run)
    return 1 if run.problems else 0


if __name__ == "__main__":
    sys.exit(main())
