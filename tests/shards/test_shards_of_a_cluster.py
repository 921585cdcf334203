"""Shards of one cluster, while its nodes die, fall silent and pass their slots on, under load."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from qless_core import reads
from qless_core.client import Client
from qless_core.errors import RedisUnavailable
from qless_core.shards import ShardedClient
from qless_web import create_servers
from qless_web.console import EXTENSION
from tests.support.load import Load
from tests.support.nodes import cluster
from tests.support.polling import eventually
from tests.support.streams import Listener

ROOT = Path(__file__).parents[2]
#: Three primaries have these: which has two is left to the hash of the tags.
NAMES = ("{a}:", "{b}:", "{c}:", "{d}:")
QUEUES = tuple(f"load-{number}" for number in range(8))
#: A job that the workers of processes do.
NOTHING = "tests.shards.shard_program.nothing"


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("shards")) as nodes:
        yield nodes


@pytest.fixture
def connect(nodes):
    """Give a function that makes clients of all shards; the shards are empty."""
    url = nodes.url.partition("?")[0]
    eventually(nodes.is_whole)
    for node in nodes.nodes:
        if node.redis().info("replication")["role"] == "master":
            node.ask("FLUSHALL")

    def connect(name):
        shards = [Client(url, namespace=each) for each in NAMES]
        return ShardedClient(shards, worker_name=name)

    return connect


@pytest.fixture
def worked(nodes, connect):
    """Work the shards in processes, as `qless-worker` does; tells how many jobs are complete."""
    url = nodes.url.partition("?")[0]
    command = [sys.executable, "-m", "tests.shards.shard_program", url, *NAMES, "serial"]
    with (
        subprocess.Popen(
            command, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True
        ) as process,
        connect("counter") as client,
    ):
        yield lambda: sum(map(complete, client.shards.values()))
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def complete(shard):
    """Count the completed jobs of a shard."""
    _, (counts,) = reads.run(shard.redis, shard.keys, (reads.frame(probe=False),))
    return counts.completed


@pytest.fixture
def consoles(nodes):
    """Open a live page of each shard."""
    url = nodes.url.partition("?")[0]
    app = create_servers(
        servers={name.strip("{}:"): f"{url}?namespace={name}" for name in NAMES}, live_tick_s=0.1
    )
    listeners = []
    for console in app.consoles.values():
        hub = console.extensions[EXTENSION].hub
        listeners.append(Listener(hub.open(frozenset({"queues"})).messages()))
    for listener in listeners:
        listener.wait_for("ready")
    yield app.consoles, listeners
    for console in app.consoles.values():
        console.extensions[EXTENSION].hub.close()


@pytest.fixture
def loads(connect, worked):
    """Put jobs: some for the workers, and some for threads with clients of all shards."""
    with ExitStack() as stack:
        settings = {"putters": 1, "pause_s": 0.004}
        yield [
            stack.enter_context(load)
            for load in (
                Load(connect, workers=0, queues=QUEUES, elsewhere=(NOTHING, worked), **settings),
                Load(connect, workers=1, queues=("mine", "yours", "theirs"), **settings),
            )
        ]


def all_go_on(loads, consoles):
    """Wait until jobs are put and worked everywhere again, and every console shows its shard."""
    for load in loads:
        load.goes_on()
    apps, listeners = consoles
    for console in apps.values():
        with console.test_client() as web:
            eventually(lambda web=web: web.get("/queues").status_code == 200)
    for listener in listeners:
        listener.wait_for("change", "queues", after=len(listener.messages))


def finish(loads, connect):
    """See that every promise was kept."""
    for load in loads:
        found = load.finish()
        assert found.is_clean, found
    with connect("looker") as client:
        jids = [*loads[0].acked]
        states = eventually(lambda: by_state(client, jids))
    assert states == {"complete": len(jids)}


def by_state(client, jids):
    """Count jobs by state, once nobody holds one any more."""
    try:
        jobs = client.jobs.get(*jids)
    except RedisUnavailable:
        return None
    states = [job.state for job in jobs]
    return None if "running" in states else {each: states.count(each) for each in states}


def test_a_primary_that_dies_takes_nothing_with_it(nodes, loads, consoles, connect):
    dead = nodes.primary("{a}")
    nodes.replica_of(dead)
    dead.kill()

    all_go_on(loads, consoles)

    assert nodes.primary("{a}") is not dead
    finish(loads, connect)
    dead.start()


def test_a_primary_that_is_cut_off_is_replaced_and_comes_back(nodes, loads, consoles, connect):
    cut_off = nodes.primary("{a}")
    nodes.replica_of(cut_off)
    cut_off.pause()
    try:
        eventually(lambda: nodes.primary("{a}") is not cut_off)
        all_go_on(loads, consoles)
    finally:
        cut_off.resume()

    eventually(nodes.is_whole)
    finish(loads, connect)


def test_slots_that_go_to_other_nodes_take_their_jobs_along(nodes, loads, consoles, connect):
    primaries = {nodes.primary(name).port: nodes.primary(name) for name in NAMES}
    for name in NAMES:
        source = nodes.primary(name)
        target = next(each for port, each in primaries.items() if port != source.port)
        slot = source.ask("CLUSTER", "KEYSLOT", name)
        there = target.ask("CLUSTER", "MYID")
        source.ask("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", there)
        eventually(lambda name=name, target=target: nodes.primary(name) is target)

    all_go_on(loads, consoles)

    finish(loads, connect)
