"""What a job raises may be odd: the job fails with a clear message, and its worker goes on."""

from __future__ import annotations

import datetime as dt
import signal

import pytest

from qless_core import SerialWorker
from qless_core.worker.middleware import Requeue, TryAgain
from tests.worker import sample_jobs
from tests.worker.sample_jobs import Mail

HERE = "tests.worker.test_odd_errors"


@pytest.fixture(autouse=True)
def done():
    sample_jobs.DONE.clear()
    return sample_jobs.DONE


class Hidden(Exception):  # noqa: N818 - what it is
    """One that shows nothing of itself."""

    def __str__(self):
        problem = "no"
        raise RuntimeError(problem)

    __repr__ = __str__


class Half(TryAgain):
    """One that was not made as it should be."""

    def __init__(self):
        pass


class Changed(TryAgain):
    def __init__(self):
        super().__init__()
        self.delay = object()


def syntax(_):
    error = SyntaxError("bad")
    error.text, error.lineno, error.offset, error.filename = 5, "x", object(), b""
    raise error


def hidden(_):
    raise Hidden


def number(job):
    job["x"] = 10**5000


def number_and_error(job):
    job["x"] = 10**5000
    raise KeyError(job.jid)


def shows_nothing(job):
    job["x"] = Hidden()


def keys(_):
    raise KeyboardInterrupt


def leaves(_):
    raise GeneratorExit


def message(_):
    raise TryAgain(group="a\ud800", message=5)


def for_ever(_):
    raise TryAgain(float("inf"))


def soon(_):
    delay = "soon"
    raise TryAgain(delay)


def before(_):
    raise Requeue(-5)


def queue(_):
    raise Requeue(queue=5)


def surrogate(_):
    raise Requeue(queue="a\ud800")


def nameless(_):
    raise Requeue(queue="")


def half(_):
    raise Half


def changed(_):
    raise Changed


@pytest.mark.parametrize(
    ("what", "group", "said"),
    [
        (syntax, "SyntaxError", "SyntaxError"),
        (hidden, "Hidden", "Hidden"),
        (number, "BadArgument", "cannot be written as JSON"),
        (number_and_error, "KeyError", "KeyError"),
        (shows_nothing, "RuntimeError", "RuntimeError: no"),
        (keys, "KeyboardInterrupt", "KeyboardInterrupt"),
        (leaves, "GeneratorExit", "GeneratorExit"),
        (message, "BadArgument", "the message must be text, got 5"),
        (for_ever, "BadArgument", "the delay must be a number of seconds or a timedelta, got inf"),
        (soon, "BadArgument", "the delay must be a number of seconds or a timedelta, got 'soon'"),
        (before, "BadArgument", "the delay must be seconds from 0 up, got -5"),
        (queue, "BadArgument", "the queue must be text, got 5"),
        (surrogate, "BadArgument", "the queue must be a name of UTF-8"),
        (nameless, "BadArgument", "the queue must be a name of UTF-8, got ''"),
        (half, "AttributeError", "'Half' object has no attribute"),
        (changed, "BadArgument", "delay"),
    ],
)
def test_the_job_fails_and_says_why_and_its_worker_goes_on(client, done, what, group, said):
    client.queues["q"].put(f"{HERE}.{what.__name__}", {}, jid="odd", priority=1)
    client.queues["q"].put(Mail, {}, jid="good")

    SerialWorker(client, "q", burst=True).run()

    job = client.jobs["odd"]
    assert (job.state, job.failure.group) == ("failed", f"q-{group}")
    assert said in job.failure.message
    assert done == [("Mail.process", "good")]
    assert client.jobs["good"].state == "complete"


def test_delays_are_durations():
    assert TryAgain(dt.timedelta(minutes=1)).delay == 60
    assert Requeue(dt.timedelta(minutes=1)).delay == 60
    assert TryAgain(1.5).delay == 1.5


def test_ctrl_c_in_a_step_is_the_programs_own(client):
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    client.queues["q"].put(f"{HERE}.keys", {})

    with pytest.raises(KeyboardInterrupt):
        SerialWorker(client, "q").step()
