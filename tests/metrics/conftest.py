"""A queue with something of everything to measure."""

from __future__ import annotations

import pytest


@pytest.fixture
def measured(client, clock):
    """Bring one queue into a state whose every figure is known."""
    queue = client.queues["queue"]
    for number in range(8):
        queue.put("Job", {}, jid=f"waiting-{number}")
    clock.advance(10)
    for seconds in (2, 4):
        job = queue.pop()
        clock.advance(seconds)
        job.complete()
    queue.pop().fail("FailureType", "message")
    queue.pop()
    queue.put("Job", {}, jid="later", delay=600)
    queue.put("Job", {}, jid="after", depends=["later"])
    queue.recur("Job", {}, interval=3_600, jid="again", offset=3_600)
    client.queues["other"].put("Job", {}, jid="other")
    client.queues["other"].pause()
    client.track("later")
    return client
