"""A client of three shards: namespaces of their own on the server of the test run."""

from __future__ import annotations

import pytest

from qless_core.client import Client
from qless_core.shards import ShardedClient

NAMES = ("a:", "b:", "c:")


@pytest.fixture
def sharded(server, redis, clock):  # noqa: ARG001 - `redis` empties the server
    """Make a client of the shards."""
    shards = [Client(server.url, namespace=name, clock=clock) for name in NAMES]
    with ShardedClient(shards, clock=clock, worker_name="worker-1") as sharded:
        yield sharded


@pytest.fixture
def spread(sharded):
    """Name a queue for each shard, placed there."""
    found = {}
    for number in range(100):
        found.setdefault(sharded.queues[f"q{number}"].shard, f"q{number}")
    return [found[name] for name in NAMES]
