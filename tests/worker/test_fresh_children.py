"""Children of a forking worker: what they do first, and what has them replaced."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qless_core.client import Client

ROOT = Path(__file__).parents[2]

PROGRAM = """
import os, sys
from pathlib import Path
from qless_core import Client
from qless_core.worker.forking import ForkingWorker
from qless_core.worker.middleware import AfterFork, MemoryLimit

LINES = Path(__file__).with_name("lines")

def say(word):
    with LINES.open("a") as lines:
        lines.write(f"{word} {os.getpid()}\\n")

def job(job):
    say("ran")

if __name__ == "__main__":
    ForkingWorker(
        Client(sys.argv[1]),
        ["q"],
        burst=True,
        middleware=[MemoryLimit(1) if sys.argv[2] == "big" else AfterFork(lambda: say("first"))],
        on_fork=[lambda: say("forked")],
    ).run()
"""


@pytest.fixture
def lines(server, redis, tmp_path):  # noqa: ARG001 - it empties the server
    """Run three jobs; answers what was written, as word and pid."""

    def lines(how):
        (tmp_path / "fresh.py").write_text(PROGRAM)
        with Client(server.url) as client:
            for _ in range(3):
                client.queues["q"].put("fresh.job", {})
        subprocess.run(
            [sys.executable, "fresh.py", server.url, how],
            check=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
            timeout=60,
        )
        return [line.split() for line in (tmp_path / "lines").read_text().splitlines()]

    return lines


def pids(lines, word):
    return [pid for found, pid in lines if found == word]


def test_b61_a_child_closes_what_it_inherited_before_its_first_job_and_once(lines):
    found = lines("small")

    [forked, *_] = pids(found, "forked")
    assert pids(found, "ran") == [forked] * 3
    assert [word for word, pid in found if pid == forked] == ["forked", "first", *["ran"] * 3]


def test_a_child_that_is_too_big_after_its_job_is_replaced(lines):
    assert len({*pids(lines("big"), "ran")}) == 3
