"""What signals do to a worker: each kind alike, in processes of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from qless_core import Client
from qless_core.worker.signals import SIGNALS, heeding
from tests.support.polling import PATIENCE_S, eventually
from tests.support.processes import children_of, is_alive

ROOT = Path(__file__).parents[2]
KINDS = ("serial", "forking", "thread", "greenlet")
#: The stack of a job, in the log.
JOB_AT_WORK = re.compile(r'worker_program\.py", line \d+, in wait\b')
STOPPING = (signal.SIGTERM, signal.SIGINT)


@pytest.fixture(autouse=True)
def by_default():
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOPPING)
def test_the_example_of_the_readme_ends_on_a_signal(number, server, redis, tmp_path):  # noqa: ARG001 - it empties the server
    (tmp_path / "mail.py").write_text(_example().replace("redis://localhost:6379/0", server.url))
    with (
        Client(server.url) as client,
        subprocess.Popen(
            [sys.executable, "mail.py"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        eventually(lambda: client.jobs.complete(0, 1))

        process.send_signal(number)

        assert process.wait(PATIENCE_S) == 0
        assert process.stderr.read() == ""


def _example():
    _, _, text = (ROOT / "README.md").read_text().partition("```python\n# mail.py\n")
    return text.partition("```")[0]


@pytest.mark.parametrize("number", STOPPING)
@pytest.mark.parametrize("kind", KINDS)
def test_b60_a_job_is_interrupted_and_goes_back_with_a_retry_lost(program, kind, number):
    jid = program.put("cleans_up")
    program.start(kind)
    program.begun()

    program.send(number)

    assert program.ended() == 0
    job = program.client.jobs[jid]
    assert (job.state, job.retries_left, job.worker_name) == ("waiting", 4, "")
    assert program.what(jid) == ["put", "popped", "stopped"]
    assert sorted(word for word, _, _ in program.traces()) == ["began", "cleaned", "left"]
    assert program.client.workers.counts == []
    assert "Traceback" not in program.said


@pytest.mark.parametrize("what", ["raises_as_it_leaves", "swallows", "Swallowed"])
@pytest.mark.parametrize("kind", KINDS)
def test_b60_a_stopped_job_goes_back_whatever_it_makes_of_being_stopped(program, kind, what):
    jid = program.put(what)
    program.start(kind)
    program.begun()

    program.send(signal.SIGTERM)

    assert program.ended() == 0
    assert program.what(jid) == ["put", "popped", "stopped"]
    assert program.state(jid) == "waiting"


@pytest.mark.parametrize("kind", KINDS)
def test_b60_a_job_that_does_not_end_is_killed_after_the_grace_and_goes_back(program, kind):
    jid = program.put("stubborn")
    program.start(kind, grace=0.2)
    (pid,) = program.begun()

    program.send(signal.SIGTERM)

    assert program.ended() == 0
    assert program.what(jid) == ["put", "popped", "stopped"]
    assert program.client.jobs[jid].retries_left == 4
    assert not is_alive(pid)
    assert program.client.workers.counts == []


@pytest.mark.parametrize("kind", KINDS)
def test_b60_a_second_signal_waits_for_no_grace(program, kind):
    jid = program.put("stubborn")
    program.start(kind, grace=600)
    program.begun()

    program.send(signal.SIGTERM)
    eventually(lambda: "stops at once" in program.said)
    program.send(signal.SIGTERM)

    assert program.ended() == 0
    assert (program.state(jid), program.what(jid)) == ("waiting", ["put", "popped", "stopped"])


@pytest.mark.parametrize("kind", KINDS)
def test_b60_a_second_signal_waits_for_no_cleanup(program, kind):
    jid = program.put("cleans_slowly")
    program.start(kind, grace=600)
    program.begun()
    program.send(signal.SIGTERM)
    eventually(lambda: program.traces("cleaning"))

    program.send(signal.SIGTERM)

    assert program.ended() == 0
    assert (program.state(jid), program.what(jid)) == ("waiting", ["put", "popped", "stopped"])
    assert program.client.jobs[jid].retries_left == 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_stopped_job_without_retries_fails_where_everybody_sees_it(program, kind):
    jid = program.put("wait", retries=0)
    program.start(kind)
    program.begun()

    program.send(signal.SIGTERM)

    assert program.ended() == 0
    assert program.state(jid) == "failed"
    assert program.what(jid) == ["put", "popped", "stopped", "failed"]
    failure = program.client.jobs[jid].failure
    assert failure.group == "failed-retries-q"
    assert failure.message.startswith("The job was stopped, and no retry was left: ")
    assert "the worker stops" in failure.message
    assert failure.worker


@pytest.mark.parametrize("number", [*STOPPING, signal.SIGQUIT])
@pytest.mark.parametrize("kind", KINDS)
def test_b60_a_signal_ends_a_worker_that_waits_for_jobs(program, kind, number):
    program.start(kind)
    program.at_work()

    program.send(number)

    assert program.ended() == 0
    assert program.client.workers.counts == []
    assert "Traceback" not in program.said


@pytest.mark.parametrize("kind", KINDS)
def test_quit_finishes_the_job_at_hand_and_takes_no_other(program, kind):
    jid = program.put("wait", priority=1)
    other = program.put("quick")
    program.start(kind)
    program.begun()

    program.send(signal.SIGQUIT)
    eventually(lambda: "takes no more jobs" in program.said)
    program.gate.touch()

    assert program.ended() == 0
    assert (program.state(jid), program.state(other)) == ("complete", "waiting")


@pytest.mark.parametrize("kind", KINDS)
def test_quit_gives_back_what_was_taken_ahead_without_a_retry_lost(program, kind):
    jid = program.put("wait", priority=1)
    others = [program.put("quick") for _ in range(3)]
    program.start(kind, prefetch=4)
    program.begun()
    assert program.state(others[0]) == "running"

    program.send(signal.SIGQUIT)
    eventually(lambda: "takes no more jobs" in program.said)
    program.gate.touch()

    assert program.ended() == 0
    assert program.state(jid) == "complete"
    jobs = [program.client.jobs[other] for other in others]
    assert [(job.state, job.retries_left) for job in jobs] == [("waiting", 5)] * 3


@pytest.mark.parametrize("kind", KINDS)
def test_usr1_stops_what_runs_and_the_worker_goes_on(program, kind):
    jid = program.put("wait")
    program.start(kind)
    program.begun()

    program.send(signal.SIGUSR1)
    program.begun(2)
    program.gate.touch()
    eventually(lambda: program.state(jid) == "complete")

    assert program.what(jid) == ["put", "popped", "stopped", "popped", "done"]
    assert program.client.jobs[jid].worker_name == ""
    assert program.process.poll() is None


@pytest.mark.parametrize("kind", KINDS)
def test_usr2_pauses_and_tells_what_each_thread_does_and_cont_goes_on(program, kind):
    jid = program.put("wait", priority=1)
    program.start(kind)
    program.begun()

    program.send(signal.SIGUSR2)
    eventually(lambda: "takes no jobs for the time being" in program.said)
    eventually(lambda: JOB_AT_WORK.search(program.said))
    other = program.put("quick")
    program.gate.touch()
    eventually(lambda: program.state(jid) == "complete")
    assert program.state(other) == "waiting"

    program.send(signal.SIGCONT)

    eventually(lambda: program.state(other) == "complete")


@pytest.mark.parametrize("kind", KINDS)
def test_b63_a_paused_worker_that_waits_takes_no_job(program, kind):
    program.start(kind)
    program.at_work()
    program.send(signal.SIGUSR2)
    eventually(lambda: "takes no jobs for the time being" in program.said)
    if kind == "forking":
        eventually(lambda: not children_of(program.process.pid))
    jid = program.put("quick")
    other = Client(program.url, worker_name="other")

    # It would have been woken before this one.
    assert other.queues["q"].pop(timeout=PATIENCE_S).jid == jid

    program.send(signal.SIGTERM)
    assert program.ended() == 0


def test_usr2_to_a_child_tells_what_it_does_and_nothing_else(program):
    jid = program.put("wait")
    program.start("forking")
    (pid,) = program.begun()

    os.kill(pid, signal.SIGUSR2)
    eventually(lambda: JOB_AT_WORK.search(program.said))
    program.gate.touch()

    eventually(lambda: program.state(jid) == "complete")
    assert "for the time being" not in program.said


@pytest.mark.parametrize("kind", KINDS)
def test_b60_a_terminal_sends_to_the_whole_group_and_all_ends_well(program, kind):
    jid = program.put("wait")
    program.start(kind)
    program.begun()

    os.killpg(program.process.pid, signal.SIGINT)

    assert program.ended() == 0
    assert program.what(jid) == ["put", "popped", "stopped"]
    assert program.client.jobs[jid].retries_left == 4
    assert "Traceback" not in program.said


@pytest.mark.parametrize("delay", range(8))
@pytest.mark.parametrize("kind", ["serial", "forking"])
def test_b60_a_signal_during_the_start_leaves_nothing_behind(program, kind, delay):
    jid = program.put("wait")
    process = program.start(kind)
    _after(process, delay)

    program.send(signal.SIGTERM)

    assert program.ended() in (0, -signal.SIGTERM)
    assert "Traceback" not in program.said
    assert program.state(jid) == "waiting"
    eventually(lambda: not _group(process.pid))


def _after(process, delay):
    """Wait until a process has used so many hundredths of its start, or has started."""
    ticks = delay * 5

    def has_used():
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12]) >= ticks or "works" in process.log.read_text()

    eventually(has_used)


def _group(pid):
    """List the processes of a group that are alive."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == pid and fields[0] != "Z":
            found.append(int(folder.name))
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a namespace of processes")
@pytest.mark.parametrize("kind", KINDS)
def test_b60_as_process_1_of_a_container_it_ends_on_a_signal(program, kind):
    program.wrapped = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
    jid = program.put("wait")
    program.start(kind)
    program.begun()
    (inner,) = children_of(program.process.pid)

    os.kill(inner, signal.SIGTERM)

    assert program.ended() == 0
    assert program.what(jid) == ["put", "popped", "stopped"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a namespace of processes")
def test_as_process_1_it_reaps_what_is_left_to_it(program):
    program.wrapped = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
    program.put("orphans")
    program.start("forking")
    eventually(lambda: program.traces("ran"))
    (inner,) = children_of(program.process.pid)
    # The one child is there still, and nothing else.
    eventually(lambda: len(children_of(inner, dead=True)) == 1)


@pytest.mark.parametrize("kind", ["serial", "forking"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT])
@pytest.mark.parametrize("job", ["listens", "blocks"])
def test_a_worker_hears_signals_whatever_a_job_has_done_to_them(program, kind, number, job):
    worker = program.start(kind)
    jid = program.put(job)
    eventually(lambda: program.client.jobs[jid].state == "complete")

    worker.send_signal(number)

    assert worker.wait(PATIENCE_S) == 0
    assert "does not end" not in program.said


@pytest.mark.parametrize("kind", ["serial", "forking"])
@pytest.mark.parametrize("job", ["listens", "blocks"])
def test_so_does_the_next_job_of_those_that_were_taken_at_once(program, kind, job):
    program.put(job)
    stopped = program.put("wait")
    program.start(kind, prefetch=2)
    program.begun()

    program.send(signal.SIGTERM)

    assert program.ended() == 0
    assert "does not end" not in program.said
    assert program.what(stopped) == ["put", "popped", "stopped"]


@pytest.mark.parametrize("kind", ["serial", "forking", "thread"])
def test_processes_of_a_job_are_not_told_what_the_worker_is_told(program, kind):
    worker = program.start(kind)
    jid = program.put("has_a_pool")
    eventually(lambda: program.client.jobs[jid].state == "complete")
    after = program.put("quick")
    eventually(lambda: program.client.jobs[after].state == "complete")

    assert worker.poll() is None
    assert "stops at once" not in program.said
    for pid in program.client.jobs[jid]["pids"]:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize("number", STOPPING)
def test_a_signal_is_acted_on_and_the_handlers_come_back(number):
    before = signal.getsignal(number)
    heard = []

    with heeding(heard.append):
        os.kill(os.getpid(), number)
        eventually(lambda: heard == [number])

    assert signal.getsignal(number) == before
    assert signal.set_wakeup_fd(-1) == -1


def test_what_the_program_handles_or_ignores_stays_so():
    heard = []
    signal.signal(signal.SIGTERM, lambda *_: heard.append("own"))
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    with heeding(heard.append):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        eventually(lambda: heard)

    assert heard == ["own"]


def test_another_thread_than_the_main_one_handles_no_signals():
    found = []

    def run():
        with heeding(found.append):
            found.extend(map(signal.getsignal, STOPPING))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()

    assert found == [signal.SIG_DFL, signal.default_int_handler]
