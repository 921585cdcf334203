from __future__ import annotations

import os

import pytest

from qless_core.testing import make_job
from qless_core.worker.middleware import AfterFork
from qless_core.worker.performing import attempt
from tests.worker.wrapped_jobs import Plain


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # a child that only writes
def test_what_is_inherited_is_closed_once_in_each_child_and_never_in_the_parent():
    reading, writing = os.pipe()
    around = [AfterFork(lambda: os.write(writing, b"closed "), lambda: os.write(writing, b"too "))]
    attempt(make_job(Plain), around)
    for _ in range(2):
        child = os.fork()
        if not child:
            for _ in range(2):
                attempt(make_job(Plain), around)
                os.write(writing, b"ran ")
            os._exit(0)
        os.waitpid(child, 0)
    os.close(writing)

    with os.fdopen(reading) as told:
        assert told.read() == "closed too ran ran closed too ran ran "


def test_what_cannot_be_closed_fails_the_job_and_is_tried_again(monkeypatch):
    called = []

    def fails():
        called.append("called")
        raise OSError

    around = [AfterFork(fails)]
    monkeypatch.setattr(os, "getpid", lambda: 1)

    errors = [attempt(make_job(Plain), around) for _ in range(2)]

    assert [type(error) for error in errors] == [OSError, OSError]
    assert called == ["called", "called"]
