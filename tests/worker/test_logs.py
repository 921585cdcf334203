from __future__ import annotations

import logging
from contextlib import contextmanager

import pytest

from qless_core.worker.logs import JobFilter, current_job
from qless_core.worker.performing import attempt
from tests.worker.wrapped_jobs import Says


@pytest.fixture
def written():
    """Log as a program does that wants to know of which job a line is."""
    lines = []

    class Lines(logging.Handler):
        def emit(self, record):
            lines.append(self.format(record))

    handler = Lines()
    handler.addFilter(JobFilter())
    handler.setFormatter(logging.Formatter("%(jid)s %(klass)s %(queue)s: %(message)s"))
    logger = logging.getLogger()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield lines
    logger.removeHandler(handler)
    logger.setLevel(before)


def test_each_record_says_of_which_job_it_is(client, written):
    client.queues["q"].put(Says, {}, jid="j")
    job = client.queues["q"].pop()

    logging.getLogger("app").warning("before")
    assert attempt(job) is None
    logging.getLogger("app").warning("after")

    about = f"j {Says.__module__}.Says q: "
    assert written == [
        "  : before",
        f"{about}from the app",
        f"{about}from the job",
        f'{about}milestone {{"n":1}}',
        "  : after",
    ]


def test_what_a_job_logs_is_in_its_history_too(client, written):
    client.queues["q"].put(Says, {}, jid="j")
    attempt(client.queues["q"].pop())

    assert client.jobs["j"].history[-1].what == "milestone"
    assert client.jobs["j"].history[-1].details == {"n": 1}
    assert any("milestone" in line for line in written)


def test_the_job_that_runs_can_be_asked_for(client):
    seen = []

    @contextmanager
    def looks(_):
        seen.append(current_job())
        yield
        seen.append(current_job())

    client.queues["q"].put(Says, {}, jid="j")
    job = client.queues["q"].pop()

    attempt(job, [looks])

    assert seen == [job, job]
    assert current_job() is None
