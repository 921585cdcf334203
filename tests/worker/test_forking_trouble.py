"""What goes wrong in a parent: no process to be had, a child that breaks, a parent that breaks."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from qless_core.client import Client
from tests.support.polling import eventually
from tests.support.processes import is_alive

ROOT = Path(__file__).parents[2]

#: The system makes no second process, the first time that it is asked for one.
NO_SECOND = """
import errno, os
real, calls = os.fork, []
def fork():
    calls.append(1)
    if len(calls) == 2:
        raise BlockingIOError(errno.EAGAIN, "no more processes")
    return real()
os.fork = fork
"""

#: The second child breaks before it is one, as soon as the first one is at work.
BROKEN_SECOND = """
import os, pathlib, time
from qless_core.worker.births import Births
real, forks = os.fork, []
def fork():
    forks.append(1)
    return real()
os.fork = fork
let_go = Births._let_go
def breaks(births, writes):
    if len(forks) == 2:
        while not pathlib.Path({traces!r}).exists():
            time.sleep(0.01)
        raise RuntimeError("broken")
    let_go(births, writes)
Births._let_go = breaks
"""

#: The parent breaks when it is told to pause.
BROKEN_PARENT = """
from qless_core.worker import forking
def breaks(worker):
    raise RuntimeError("broken")
forking.ForkingWorker.pause = breaks
"""

#: A log that hangs when it is flushed.
HANGING_LOG = """
import logging, threading
class Hangs(logging.Handler):
    def emit(self, record):
        pass
    def flush(self):
        threading.Event().wait(600)
def begin():
    logging.getLogger("hangs").addHandler(Hangs())
"""


#: No child can begin.
BROKEN_FORKS = """
def begin():
    raise RuntimeError("broken")
"""


@pytest.fixture
def run(program, tmp_path):
    """Let `qless-worker` run with an application of such a text."""

    def run(text, *arguments, queue="q"):
        (tmp_path / "the_app.py").write_text(text)
        log = tmp_path / f"log{len(program.started)}"
        line = [sys.executable, "-m", "qless_core.worker_command", "-q", queue, "--name", "w", "-v"]
        with log.open("wb") as said:
            program.process = subprocess.Popen(
                [*line, "--path", str(tmp_path), "--app", "the_app", *arguments],
                cwd=ROOT,
                env={**os.environ, "REDIS_URL": program.url},
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        program.process.log = log
        program.started.append(program.process)

    return run


def test_where_the_system_makes_no_process_the_others_go_on_and_it_is_tried_again(program, run):
    jids = [program.put("wait") for _ in range(2)]

    run(NO_SECOND, "--concurrency", "2")

    assert len(set(program.begun(2))) == 2
    assert "no child can be made, again in" in program.said
    program.gate.touch()
    eventually(lambda: [program.state(jid) for jid in jids] == ["complete"] * 2)
    program.send(signal.SIGTERM)
    assert program.ended() == 0


def test_a_child_that_breaks_before_it_is_one_does_not_act_as_its_parent(program, run):
    jid = program.put("wait")

    run(BROKEN_SECOND.format(traces=str(program.file)), "--concurrency", "2")

    program.begun()
    eventually(lambda: "broke before it was a child" in program.said)
    eventually(lambda: "ended by exit code 1" in program.said)
    program.gate.touch()
    eventually(lambda: program.state(jid) == "complete")
    assert program.what(jid) == ["put", "popped", "done"]


def test_a_parent_that_breaks_gives_back_what_its_children_hold(program, run):
    jid = program.put("cleans_up")
    run(BROKEN_PARENT)
    (pid,) = program.begun()

    program.send(signal.SIGUSR2)

    assert program.ended() == 1
    assert program.what(jid) == ["put", "popped", "stopped"]
    assert program.state(jid) == "waiting"
    assert program.traces("cleaned")
    assert not is_alive(pid)
    assert program.client.workers.counts == []


def test_a_child_that_hangs_as_it_leaves_is_killed(program, run):
    program.put("quick")

    run(HANGING_LOG, "--on-fork", "the_app.begin", "--jobs-per-child", "1", "--grace", "0.1")

    (pid,) = [pid for _, _, pid in eventually(program.traces)]
    eventually(lambda: not is_alive(pid))
    assert f"process {pid} does not end, it is killed" in program.said


def test_children_that_die_at_once_are_started_after_ever_longer_waits(program, run):
    run(BROKEN_FORKS, "--on-fork", "the_app.begin")
    died = re.compile(r"^\S+ (\d+):(\d+):(\d+),(\d+) .*ended by exit code 1$", re.MULTILINE)
    found = eventually(lambda: len(all_ := died.findall(program.said)) >= 4 and all_)

    moments = [int(h) * 3600 + int(m) * 60 + int(s) + int(ms) / 1000 for h, m, s, ms in found[:4]]
    waits = [(after - before) % 86400 for before, after in itertools.pairwise(moments)]

    # Half of 0.5, 1 and 2 seconds, at least.
    assert [wait >= least for wait, least in zip(waits, (0.25, 0.5, 1), strict=True)] == [True] * 3


def test_a_worker_without_queues_yet_is_not_failing_as_a_child_of_it_was_killed(program, run):
    run("", queue="none-*")
    workers = program.client.workers
    told = lambda: (found := workers["w"].info) and found.children  # noqa: E731 - looked at again
    (first,) = eventually(told)
    os.kill(first.pid, signal.SIGKILL)

    eventually(lambda: told() and told()[0].pid != first.pid)

    eventually(lambda: workers["w"].info.state == "running")


def test_a_child_without_a_parent_hears_that_its_lock_is_lost(program):
    jid = program.put("cleans_up")
    program.start("forking")
    (pid,) = program.begun()
    program.process.kill()
    program.process.wait()
    eventually(lambda: "the parent is gone" in program.said)

    program.client.jobs[jid].timeout()

    eventually(lambda: program.traces("cleaned"))
    eventually(lambda: not is_alive(pid))
    assert not program.traces("ended")
    assert program.what(jid) == ["put", "popped", "timed-out"]


def test_a_child_without_a_parent_ends_where_its_job_does_not_heed_the_loss(program):
    jid = program.put("stubborn")
    program.start("forking", grace=0.1)
    (pid,) = program.begun()
    program.process.kill()
    program.process.wait()
    eventually(lambda: "the parent is gone" in program.said)

    program.client.jobs[jid].cancel()

    eventually(lambda: not is_alive(pid))


def test_a_child_without_a_parent_ends_when_it_is_told_to(program):
    jid = program.put("stubborn")
    program.start("forking", grace=0.1)
    (pid,) = program.begun()
    program.process.kill()
    program.process.wait()
    eventually(lambda: "the parent is gone" in program.said)

    os.kill(pid, signal.SIGTERM)

    eventually(lambda: not is_alive(pid))
    assert program.what(jid) == ["put", "popped", "stopped"]
    with Client(program.url, worker_name="other") as other:
        assert other.queues["q"].pop().jid == jid
