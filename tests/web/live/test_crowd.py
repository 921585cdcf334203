"""Many browsers are fed by one thread: what goes wrong with one is no matter of the others."""

from __future__ import annotations

import logging
import socket

import pytest

from tests.support.polling import eventually
from tests.support.streams import Listener


def chunks(browser):
    while found := browser.recv(65536):
        yield found


@pytest.fixture
def seat(hub):
    """Give a function that seats a browser in the crowd; answers its stream, and what it hears."""
    browsers = []

    def seat(topic):
        browser, connection = socket.socketpair()
        browsers.append(browser)
        stream = hub.open(frozenset({topic}))
        hub.crowd.take(connection, stream)
        return stream, Listener(chunks(browser))

    yield seat
    for browser in browsers:
        browser.close()


def fail(*_):
    problem = "planted"
    raise LookupError(problem)


@pytest.mark.parametrize("part", ["take", "close"])
def test_a_browser_that_something_unexpected_happens_to_is_dropped_alone(
    hub, seat, client, caplog, part
):
    stream, lost = seat("tracked")
    _, other = seat("queues")
    other.wait_for("ready")
    caplog.set_level(logging.ERROR)

    setattr(stream, part, fail)
    stream.end()  # rings, and is told goodbye
    lost.wait_for_end()

    client.queues["mail"].put("Job", {})
    other.wait_for("change", "queues")
    _, late = seat("workers")
    late.wait_for("ready")
    (record,) = eventually(lambda: [each for each in caplog.records if each.exc_info])
    assert "planted" in record.exc_text
    assert hub.streams >= 2
