"""Stopping a job that runs, from other threads and in the main one."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager

import pytest

from qless_core.testing import make_job
from qless_core.worker import interrupt as interrupt_module
from qless_core.worker.interrupt import (
    Grip,
    JobTaken,
    WorkerStopping,
    interrupt,
    running,
)
from qless_core.worker.performing import attempt
from tests.support.polling import PATIENCE_S, eventually
from tests.worker.stopped_jobs import BEGUN, GATE, HEARD, LEAVE, Async, Blocks, Leaves, Quick, Spins


@pytest.fixture(autouse=True)
def _anew():
    HEARD.clear()
    BEGUN.clear()
    LEAVE.clear()
    GATE.acquire(blocking=False)
    yield
    assert running() == []


@pytest.fixture
def _hasty():
    """Let threads take turns after microseconds, not milliseconds."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_thread(job, **options):
    """Run a job in a thread of its own; what it came to is in the list that is answered."""
    results = []

    def run():
        results.append(attempt(job, **options))
        # Nothing that is left over may come out here.
        results.append(sum(range(10_000)))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, results


@contextmanager
def told_from_a_thread(error):
    """Have another thread stop the job that the main one begins meanwhile."""

    def tell():
        if BEGUN.wait(PATIENCE_S):
            interrupt(error)

    thread = threading.Thread(target=tell)
    thread.start()
    yield
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.mark.parametrize("queue", ["lock", "read", "child"])
def test_what_the_main_thread_waits_for_ends_at_once(queue):
    with told_from_a_thread(JobTaken("canceled")):
        error = attempt(make_job(Blocks, queue=queue))

    assert isinstance(error, JobTaken)
    assert error.why == "canceled"
    assert error.has_begun


def test_a_job_that_computes_is_stopped_in_any_thread():
    thread, results = in_thread(make_job(Spins))
    assert BEGUN.wait(PATIENCE_S)

    assert interrupt(WorkerStopping("TERM")) == 1
    thread.join(PATIENCE_S)

    assert isinstance(results[0], WorkerStopping)
    assert results[0].why == "TERM"
    assert results[0].__traceback__ is not None


def test_an_asynchronous_job_is_stopped_where_it_waits():
    with told_from_a_thread(WorkerStopping("TERM")):
        error = attempt(make_job(Async))

    assert isinstance(error, WorkerStopping)
    assert HEARD == ["finally"]


def test_what_a_job_does_in_finally_is_done_and_except_exception_swallows_nothing():
    with told_from_a_thread(WorkerStopping()):
        error = attempt(make_job(Spins, queue="stubborn"))

    assert isinstance(error, WorkerStopping)
    assert HEARD == ["finally"]


def test_a_job_that_swallows_it_can_be_told_again():
    thread, results = in_thread(make_job(Spins, queue="once_more"))
    assert BEGUN.wait(PATIENCE_S)
    interrupt(WorkerStopping("once"))
    eventually(lambda: HEARD and BEGUN.is_set())

    interrupt(WorkerStopping("twice"))
    thread.join(PATIENCE_S)

    assert results[0].why == "twice"


def test_only_the_job_that_is_meant_is_stopped():
    one, two = make_job(Spins, worker="w1"), make_job(Spins, worker="w2")
    threads = [in_thread(one), in_thread(two)]
    eventually(lambda: len(running()) == 2)

    assert interrupt(JobTaken(), one.jid, "w2") == 0
    assert interrupt(JobTaken(), one.jid, "w1") == 1
    threads[0][0].join(PATIENCE_S)
    assert [grip.job for grip in running()] == [two]

    assert interrupt(WorkerStopping(), worker="w2") == 1
    threads[1][0].join(PATIENCE_S)
    assert [type(results[0]) for _, results in threads] == [JobTaken, WorkerStopping]


def test_a_job_that_is_told_before_it_begins_is_not_begun():
    grip = Grip(make_job(Quick))

    assert grip.interrupt(WorkerStopping())
    with pytest.raises(WorkerStopping) as error:
        grip.open()

    assert not error.value.has_begun
    grip.close()


def test_a_job_that_is_told_by_its_middleware_is_not_begun():
    @contextmanager
    def tells(job):
        interrupt(WorkerStopping(), job.jid)
        yield

    error = attempt(make_job(Quick), [tells])

    assert isinstance(error, WorkerStopping)
    assert not error.has_begun
    assert HEARD == []


def test_what_is_told_when_the_job_is_done_comes_too_late():
    grip = Grip(make_job(Quick))
    grip.open()
    grip.close()

    assert not grip.interrupt(WorkerStopping())
    assert grip.told is None


def test_a_job_that_returns_as_it_is_told_does_not_end_before_that_is_over(monkeypatch):
    results, telling, go, over = [], threading.Event(), threading.Event(), threading.Event()
    raise_in = interrupt_module._raise_in  # noqa: SLF001 - to hold it at that moment

    def slowly(thread, kind):
        if kind is not None:
            telling.set()
            go.wait(PATIENCE_S)
        raise_in(thread, kind)

    def run():
        results.append(attempt(make_job(Leaves)))
        while not over.is_set():
            pass
        results.append("goes on")

    monkeypatch.setattr(interrupt_module, "_raise_in", slowly)
    runner = threading.Thread(target=run)
    teller = threading.Thread(target=lambda: interrupt(WorkerStopping()))
    runner.start()
    assert BEGUN.wait(PATIENCE_S)
    teller.start()
    assert telling.wait(PATIENCE_S)

    LEAVE.set()
    # It waits for the one who tells it, and has not gone on.
    eventually(lambda: sys._current_frames()[runner.ident].f_code.co_name == "close")  # noqa: SLF001 - where it is
    assert results == []
    go.set()
    teller.join(PATIENCE_S)
    over.set()
    runner.join(PATIENCE_S)

    assert results == [None, "goes on"]


@pytest.mark.parametrize("in_main", [True, False])
@pytest.mark.usefixtures("_hasty")
def test_nothing_leaks_however_close_to_the_end_it_is_told(in_main):
    """A race, run often: the job returns while others stop it."""
    stop = threading.Event()

    def tell():
        while not stop.wait(0.0001):
            interrupt(WorkerStopping("race"))

    def run():
        results.extend(attempt(make_job(Quick)) for _ in range(2000))
        results.append("the end")

    results = []
    tellers = [threading.Thread(target=tell) for _ in range(2)]
    runner = threading.Thread(target=run)
    for thread in tellers:
        thread.start()
    try:
        if in_main:
            run()
        else:
            runner.start()
            runner.join(60)
    finally:
        stop.set()
        for thread in tellers:
            thread.join(PATIENCE_S)

    assert results.pop() == "the end"
    assert len(results) == 2000
    assert {type(error) for error in results} <= {WorkerStopping, type(None)}


@pytest.mark.parametrize("in_main", [True, False])
def test_cleanups_are_called_once_each_the_last_first_and_may_fail(in_main, caplog):
    job = make_job(Spins, queue="cleans")
    if in_main:
        with told_from_a_thread(WorkerStopping()):
            attempt(job)
    else:
        thread, _ = in_thread(job)
        assert BEGUN.wait(PATIENCE_S)
        interrupt(WorkerStopping())
        thread.join(PATIENCE_S)

    assert HEARD == ["last given", "fails", "first given"]
    assert "a cleanup failed" in caplog.text
    assert "KeyError" in caplog.text


@pytest.mark.parametrize("queue", ["fails", "returns"])
def test_a_job_that_is_not_stopped_has_nothing_to_clean_up(queue):
    attempt(make_job(Quick, queue=queue))

    assert HEARD == []


def test_a_cleanup_ends_what_a_thread_waits_for():
    thread, results = in_thread(make_job(Blocks, queue="until_cleaned"))
    assert BEGUN.wait(PATIENCE_S)

    interrupt(WorkerStopping())
    thread.join(PATIENCE_S)

    assert isinstance(results[0], WorkerStopping)
    assert HEARD == []


def test_a_program_that_uses_the_signal_itself_keeps_it(monkeypatch):
    # As in a program that begins with this job; what this one does is not for the tests after it.
    monkeypatch.setattr(interrupt_module, "_is_installed", False)
    heard = []
    before = signal.signal(signal.SIGURG, lambda *_: heard.append("own"))
    try:
        with told_from_a_thread(WorkerStopping()):
            error = attempt(make_job(Spins))
        os.kill(os.getpid(), signal.SIGURG)
        eventually(lambda: heard)
    finally:
        signal.signal(signal.SIGURG, before)

    assert isinstance(error, WorkerStopping)
    assert heard == ["own"]


def test_a_signal_that_is_none_of_ours_does_nothing_to_a_job():
    @contextmanager
    def signals(_):
        os.kill(os.getpid(), signal.SIGURG)
        yield

    job = make_job(Quick)

    assert attempt(job, [signals]) is None
    assert [job.jid] == HEARD


def test_a_handler_of_signals_may_stop_the_job_of_its_own_thread():
    over = threading.Event()

    def tell():
        BEGUN.wait(PATIENCE_S)
        # One that arrives just before the job waits is not noticed.
        while not over.wait(0.01):
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, lambda *_: interrupt(WorkerStopping("SIGTERM")))
    teller = threading.Thread(target=tell)
    teller.start()
    try:
        error = attempt(make_job(Blocks, queue="read"))
    finally:
        over.set()
        teller.join(PATIENCE_S)
        signal.signal(signal.SIGTERM, before)

    assert isinstance(error, WorkerStopping)
    assert error.why == "SIGTERM"


def test_what_is_no_thread_is_told_by_whoever_runs_it():
    thrown = []
    grip = Grip(make_job(Quick), lambda error, is_wanted: thrown.append((error, is_wanted)))
    grip.open()
    error = WorkerStopping()

    assert grip.interrupt(error)
    [(found, is_wanted)] = thrown
    assert found is error
    assert is_wanted()
    grip.close()

    assert not is_wanted()
