"""What it would cost if a parent took the jobs for its children, and what ours do instead.

    .venv/bin/python -m benchmarks.children [--times N] [--rounds N]

All in one run, the best of some rounds each, microseconds:

- through the parent: a job as JSON through a pipe to a child, which reads it and answers through
  another one; what each job would take longer on its way.
- slate: what a child notes of a job, in memory that its parent sees, as it begins and ends.
- told by pipe: the same as two messages of which each wakes the parent.
- a child forked and ended, and reaped; against a child in store that is told to begin and answers.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
from typing import TYPE_CHECKING

from qless_core.clock import Clock
from qless_core.worker.slate import Slate

if TYPE_CHECKING:
    from collections.abc import Callable

#: A job as the script tells it.
JOB = {
    "jid": "0" * 32, "klass": "app.mail.Send", "state": "running", "queue": "mail",
    "worker": "web-1-4711-0", "tracked": False, "priority": 0, "expires": 1700000060.5,
    "retries": 5, "remaining": 5, "data": '{"to":"ada@example.com"}', "tags": [],
    "history": [{"what": "put", "when": 1700000000, "q": "mail"},
                {"what": "popped", "when": 1700000001, "worker": "web-1-4711-0"}],
    "failure": {}, "spawned_from_jid": False, "dependents": [], "dependencies": [],
}  # fmt: skip

clock = Clock()


def best(rounds: int, times: int, act: Callable[[], object]) -> float:
    """Give the microseconds of one time, of the best round."""
    found = []
    for _ in range(rounds):
        before = clock.monotonic()
        for _ in range(times):
            act()
        found.append((clock.monotonic() - before) / times * 1e6)
    return min(found)


class Echo:
    """A child that answers each line with a byte."""

    def __init__(self) -> None:
        reads, self.to_child = os.pipe()
        self.from_child, writes = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.to_child)
            while line := os.read(reads, 65536):
                json.loads(line)
                os.write(writes, b"d")
            os._exit(0)
        os.close(reads)
        os.close(writes)

    def ask(self) -> None:
        """Hand a job to the child, and wait until it is done."""
        os.write(self.to_child, json.dumps(JOB).encode())
        os.read(self.from_child, 1)

    def end(self) -> None:
        """Let it end."""
        os.close(self.to_child)
        os.waitpid(self.pid, 0)
        os.close(self.from_child)


def through_the_parent(rounds: int, times: int) -> float:
    """Time the way through a parent."""
    echo = Echo()
    try:
        return best(rounds, times, echo.ask)
    finally:
        echo.end()


def on_a_slate(rounds: int, times: int) -> float:
    """Time what a child notes of a job."""
    slate = Slate()

    def note() -> None:
        slate.begin("0" * 32)
        slate.done(None)
        slate.clear()

    return best(rounds, times, note)


def by_pipe(rounds: int, times: int) -> float:
    """Time two messages that wake a parent, from which nothing is awaited."""
    reads, writes = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writes)
        while os.read(reads, 64):
            pass
        os._exit(0)
    os.close(reads)

    def tell() -> None:
        os.write(writes, b"b" + b"0" * 32)
        os.write(writes, b"d")

    try:
        return best(rounds, times, tell)
    finally:
        os.close(writes)
        os.waitpid(pid, 0)


def forked(rounds: int, times: int) -> float:
    """Time a child that is forked and ends at once, in a process as large as a worker."""

    def fork() -> None:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    gc.freeze()
    return best(rounds, times, fork)


def in_store(rounds: int, times: int) -> float:
    """Time a child in store, which is told to begin."""
    reads, writes = os.pipe()
    answered, answers = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writes)
        while os.read(reads, 4):
            os.write(answers, b"d")
        os._exit(0)

    def go() -> None:
        os.write(writes, b"0000")
        os.read(answered, 1)

    try:
        return best(rounds, times, go)
    finally:
        os.close(writes)
        os.waitpid(pid, 0)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--times", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    rows = {
        "through the parent": through_the_parent(arguments.rounds, arguments.times),
        "slate": on_a_slate(arguments.rounds, arguments.times),
        "told by pipe": by_pipe(arguments.rounds, arguments.times),
        "forked and ended": forked(arguments.rounds, max(20, arguments.times // 50)),
        "in store, told to begin": in_store(arguments.rounds, arguments.times),
    }
    for name, microseconds in rows.items():
        print(f"{name:<26}{microseconds:>10.1f} us")


if __name__ == "__main__":
    main()
