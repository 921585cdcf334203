"""Worker processes and a server, one of which is killed now and then at random."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from qless_core.clock import Clock

if TYPE_CHECKING:
    from tests.support.nodes import Node

ROOT = Path(__file__).parents[2]
#: What is killed, and how many times in twelve; a worker that is told is sent TERM, and leaves.
VICTIMS = {"child": 5, "parent": 3, "server": 2, "told": 2}
#: The most seconds that a server stays away.
AWAY_S = 0.5
#: The most seconds that a worker takes to leave, on a slow machine too.
LEAVE_S = 60.0
#: How the workers differ, in turn.
KINDS = (
    {"concurrency": 2},
    {"concurrency": 2, "prefetch": 10},
    {"concurrency": 2, "jobs_per_child": 1},
    {"concurrency": 3, "jobs_per_child": 20, "prefetch": 5},
)


class Workers:
    """Worker processes, each started again when it is killed, as an init system would.

    Args:
        url: of the server.
        count: how many.
        folder: where their logs go, and the file of the runs.

    """

    def __init__(self, url: str, count: int, folder: Path) -> None:
        self._folder = folder
        self._environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "REDIS_URL": url,
            "RUNS": str(folder / "runs"),
        }
        #: All that ever were, by place.
        self._started: list[list[subprocess.Popen[bytes]]] = [[] for _ in range(count)]

    def start(self, place: int) -> None:
        """Start the worker of a place."""
        options = [f"{name}={value}" for name, value in KINDS[place % len(KINDS)].items()]
        with (self._folder / f"worker-{place}.log").open("ab") as log:
            self._started[place].append(
                subprocess.Popen(  # noqa: S603 - ours
                    [sys.executable, "-m", "benchmarks.mayhem", *options],
                    env=self._environment,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def start_all(self) -> None:
        """Start a worker for each place."""
        for place in range(len(self._started)):
            self.start(place)

    def kill_parent(self, place: int) -> None:
        """Kill the worker of a place, and start it again."""
        worker = self._started[place][-1]
        worker.kill()
        worker.wait()
        self.start(place)

    def tell(self, place: int) -> None:
        """Tell the worker of a place to stop at once, and start it again when it has left."""
        worker = self._started[place][-1]
        worker.terminate()
        worker.wait(LEAVE_S)
        self.start(place)

    def kill_child(self, place: int, chance: random.Random) -> bool:
        """Kill a child of the worker of a place; answers whether it had one."""
        children = sorted(_session(self._started[place][-1].pid))
        if not children:
            return False
        with suppress(ProcessLookupError):
            os.kill(chance.choice(children), signal.SIGKILL)
        return True

    def restart_ended(self) -> list[int]:
        """Start again what ended by itself, which none should; answers their exit codes."""
        codes: list[int] = []
        for place, started in enumerate(self._started):
            code = started[-1].poll()
            if code is not None:
                codes.append(code)
                self.start(place)
        return codes

    def names(self) -> list[str]:
        """Name those that are now, as they call themselves to Redis."""
        return [f"{socket.gethostname()}-{started[-1].pid}" for started in self._started]

    def end(self, seconds: float) -> list[str]:
        """Ask all to leave; answers what is wrong with the way they did."""
        for started in self._started:
            started[-1].terminate()
        found: list[str] = []
        for place, started in enumerate(self._started):
            try:
                code = started[-1].wait(seconds)
            except subprocess.TimeoutExpired:
                found.append(f"worker {place} did not leave")
                continue
            if code:
                found.append(f"worker {place} left with {code}")
        if left := self.kill_rest():
            found.append(f"{left} processes were left behind")
        return found

    def kill_rest(self) -> int:
        """Kill every process that is left of any; answers how many there were."""
        left = 0
        for worker in (each for started in self._started for each in started):
            for pid in {
                *_session(worker.pid),
                *([] if worker.poll() is not None else [worker.pid]),
            }:
                left += 1
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            worker.wait()
        return left


class Killer:
    """Kills one thing after another, as chance will have it."""

    def __init__(self, server: Node, workers: Workers, places: int, seed: int) -> None:
        self._server = server
        self._workers = workers
        self._places = places
        self._chance = random.Random(f"kill {seed}")  # noqa: S311 - to be done again
        self._clock = Clock()
        #: How often each was killed.
        self.killed: Counter[str] = Counter()

    def strike(self) -> None:
        """Kill something."""
        (victim,) = self._chance.choices([*VICTIMS], [*VICTIMS.values()])
        place = self._chance.randrange(self._places)
        if victim == "server":
            self._server.kill()
            self._clock.wait(self._chance.uniform(0, AWAY_S))
            self._server.start()
        elif victim == "parent":
            self._workers.kill_parent(place)
        elif victim == "told":
            self._workers.tell(place)
        elif not self._workers.kill_child(place, self._chance):
            return
        self.killed[victim] += 1


def _session(leader: int) -> set[int]:
    """Find the processes of a session, but for its leader and those that are only to be reaped."""
    found = set()
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, session = place.read_text().rpartition(")")[2].split()[:4]
            pid = int(place.parent.name)
            if int(session) == leader != pid and state != "Z":
                found.add(pid)
    return found
