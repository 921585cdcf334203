"""The fixtures of every test: a real server of our own, a clock that stands still, a client."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
import redis as redis_py

from qless_core.client import Client
from qless_core.embedded import EmbeddedServer
from qless_core.testing import FrozenClock

BROWSER = Path(__file__).parent / "browser"


def pytest_configure():
    """Heed INT and QUIT: a shell's background has them ignored, and children would inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def pytest_collection_modifyitems(items):
    """Run the browser's tests last: Playwright leaves an event loop running in this thread."""
    items.sort(key=lambda item: BROWSER in item.path.parents)


@pytest.fixture(scope="session")
def server():
    """Run a private server, one for each process of a test run."""
    with EmbeddedServer() as server:
        yield server


@pytest.fixture
def redis(server):
    """Connect plainly to the server, and empty it."""
    with redis_py.Redis.from_url(server.url, decode_responses=True) as redis:
        redis.flushall()
        redis.script_flush()
        yield redis


@pytest.fixture
def clock():
    """Make the time that the client goes by; it goes on when told."""
    return FrozenClock()


@pytest.fixture
def client(server, redis, clock):  # noqa: ARG001 - `redis` empties the server
    """Make a client of the empty server."""
    with Client(server.url, clock=clock, worker_name="worker-1") as client:
        yield client
