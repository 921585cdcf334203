"""Hubs over a real server, ended after each test."""

from __future__ import annotations

import threading

import pytest

from qless_web.live.hub import Hub
from qless_web.settings import Settings
from tests.support.polling import eventually
from tests.support.streams import Listener


def live_threads():
    return [thread for thread in threading.enumerate() if thread.name == "qless-live"]


@pytest.fixture
def make_hub(client):
    """Make hubs, with settings of their own."""
    hubs = []

    def make(of=client, **settings):
        hubs.append(Hub(of, Settings.build(**{"live_tick_s": 0.1, **settings})))
        return hubs[-1]

    yield make
    for hub in hubs:
        hub.close()
    eventually(lambda: not live_threads())


@pytest.fixture
def hub(make_hub):
    return make_hub()


@pytest.fixture
def listen(hub):
    """Listen to topics, and return once nothing is missed any more."""

    def listen(*topics, last_id="", to=hub):
        listener = Listener(to.open(frozenset(topics), last_id).messages())
        listener.wait_for("ready")
        return listener

    return listen
