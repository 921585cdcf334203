"""What Sentry is told: the real SDK, and a transport that keeps what it is given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import sentry_sdk
from sentry_sdk.transport import Transport

from qless_core.testing import make_job
from qless_core.worker.interrupt import JobTaken, WorkerStopping
from qless_core.worker.middleware import RetryOn, Sentry
from qless_core.worker.performing import attempt
from tests.support.polling import PATIENCE_S
from tests.worker.wrapped_jobs import Plain

ROOT = Path(__file__).parents[2]


@pytest.fixture
def events():
    """Give the events that were sent."""
    sent = []

    class Kept(Transport):
        def capture_envelope(self, envelope):
            sent.append(envelope.get_event())

    sentry_sdk.init("https://key@sentry.invalid/1", transport=Kept, default_integrations=False)
    yield sent
    sentry_sdk.get_client().close()
    sentry_sdk.init()


def test_a_job_that_raises_is_told_of_with_what_it_is(events):
    job = make_job(Plain, {"raise": "x"}, queue="mail", jid="j", tags=("t",))

    error = attempt(job, [Sentry()])

    assert isinstance(error, KeyError)
    [event] = events
    assert event["exception"]["values"][-1]["type"] == "KeyError"
    assert event["tags"] == {"jid": "j", "klass": job.klass_name, "queue": "mail"}
    assert event["transaction"] == job.klass_name
    assert event["contexts"]["job"]["tags"] == ["t"]
    assert "data" not in event["contexts"]["job"]


def test_the_data_is_sent_where_that_is_asked_for(events):
    attempt(make_job(Plain, {"raise": "x"}), [Sentry(data=True)])

    assert events[0]["contexts"]["job"]["data"] == '{"raise":"x"}'


def test_of_a_job_that_returns_or_is_stopped_nothing_is_told(events):
    attempt(make_job(Plain), [Sentry()])
    for error in (WorkerStopping(), JobTaken()):
        with pytest.raises(type(error)), Sentry()(make_job(Plain)):
            raise error

    assert events == []


@pytest.mark.parametrize(
    ("only_last", "remaining", "told"), [(False, 5, 1), (True, 5, 0), (True, 0, 1)]
)
def test_of_a_job_that_runs_again_the_reason_is_told(events, only_last, remaining, told):
    job = make_job(Plain, {"raise": "x"}, remaining=remaining)

    attempt(job, [Sentry(only_last=only_last), RetryOn(KeyError)])

    assert [event["exception"]["values"][-1]["type"] for event in events] == ["KeyError"] * told


def test_what_one_job_left_is_not_told_of_the_next(events):
    sentry = Sentry()
    with sentry(make_job(Plain)):
        sentry_sdk.set_tag("left", "over")
        sentry_sdk.add_breadcrumb(message="crumb")

    attempt(make_job(Plain, {"raise": "x"}), [sentry])

    assert "left" not in events[0]["tags"]
    assert "crumb" not in [crumb["message"] for crumb in events[0]["breadcrumbs"]["values"]]


def test_without_the_sdk_it_says_what_to_install():
    program = (
        "import sys\n"
        "sys.modules['sentry_sdk'] = None\n"
        "from qless_core.worker.middleware import Sentry\n"
        "from qless_core import BadArgument\n"
        "try: Sentry()\n"
        "except BadArgument as error: print(error)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )

    assert "pip install 'qless[sentry]'" in done.stdout
    assert done.stderr == ""
