from __future__ import annotations

import os
import threading

import pytest

from qless_core.worker.timetable import FEW, Timetable
from tests.support.polling import PATIENCE_S, eventually


@pytest.fixture
def times():
    return Timetable("times")


def test_what_is_due_is_called_in_order_whatever_was_said_first(times):
    called = []
    times.after(0.2, lambda: called.append("later"))
    times.after(0.05, lambda: called.append("sooner"))
    times.after(3600, lambda: called.append("much later"))

    eventually(lambda: len(called) == 2)

    assert called == ["sooner", "later"]


def test_what_fails_is_logged_and_the_rest_is_called(times, caplog):
    called = threading.Event()
    times.after(0, lambda: {}["x"])
    times.after(0.01, called.set)

    assert called.wait(PATIENCE_S)
    assert "times: what was due failed" in caplog.text
    assert "KeyError" in caplog.text


def test_what_is_canceled_is_not_called(times):
    called, after = [], threading.Event()
    entry = times.after(0.05, lambda: called.append("canceled"))
    times.after(0.06, after.set)

    times.cancel(entry)
    times.cancel(entry)

    assert after.wait(PATIENCE_S)
    assert called == []


def test_what_is_canceled_takes_no_room(times):
    for _ in range(100 * FEW):
        times.cancel(times.after(3600, list))

    assert int(repr(times).split()[-1].strip(">")) <= 2 * FEW


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # a child that only waits
def test_a_forked_child_begins_with_an_empty_one(times):
    times.after(3600, list)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, repr(times).encode())
        times.after(0, lambda: os.write(writing, b" called"))
        threading.Event().wait(60)
    os.close(writing)
    try:
        with os.fdopen(reading, closefd=True) as told:
            assert told.read(len("<Timetable 'times' of 0> called")) == (
                "<Timetable 'times' of 0> called"
            )
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
