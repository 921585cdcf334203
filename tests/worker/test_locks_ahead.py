"""How long a lock lasts, by one's own clock, of what was taken after a while of waiting."""

from __future__ import annotations

import threading

import pytest

from qless_core.client import Client
from qless_core.clock import REAL
from qless_core.reserver import Reserver, _Wait
from tests.support.polling import PATIENCE_S, eventually
from tests.worker.sample_jobs import Mail


@pytest.fixture
def real(server, redis):  # noqa: ARG001 - it empties the server
    """Make a client that goes by the server's clock."""
    with Client(server.url, worker_name="w") as client:
        yield client


@pytest.mark.parametrize(
    ("now", "at"),
    [
        (1003, 3),
        # The clock of the server was set meanwhile: all that is known is when it was asked.
        (5000, 1),
        (10, 1),
    ],
)
def test_what_came_after_waiting_came_when_the_server_says_if_that_can_be(real, now, at):
    wait = _Wait(Reserver(real, "q"), 1, 10)
    asked = REAL.monotonic() - 5
    wait.anchor = (asked, 1000)

    found = wait._answered_at(asked + 1, now)  # noqa: SLF001 - what is looked at
    assert found == pytest.approx(asked + at, abs=1e-6)


def test_a_lock_of_what_came_after_waiting_is_known_to_the_blink_of_an_eye(real):
    real.config["heartbeat"] = 30
    reserver, found = Reserver(real, "q"), []
    thread = threading.Thread(target=lambda: found.append(reserver.take(2, timeout=PATIENCE_S)))
    start = REAL.monotonic()
    thread.start()
    eventually(lambda: real.redis.info("clients")["blocked_clients"])
    to_block = REAL.monotonic() - start
    eventually(lambda: REAL.monotonic() > start + 3 * to_block + 0.1)
    began = REAL.monotonic()
    real.queues["q"].put(Mail, {})
    thread.join(PATIENCE_S)
    ended = REAL.monotonic()

    (taken,) = found
    (job,) = taken.jobs
    moment, now = taken.anchor
    assert 29 < job.expires_at - now <= 31
    # Not the moment at which it began to wait, but for the time that this took.
    assert began - to_block <= moment <= ended
