"""Hearing that a job was taken."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from qless_core.client import Client
from qless_core.embedded import EmbeddedServer
from qless_core.errors import NotPermitted
from qless_core.worker.locks import LockWatch
from tests.support.polling import PATIENCE_S, eventually
from tests.worker.sample_jobs import Mail

ROOT = Path(__file__).parents[2]


@pytest.fixture
def heard():
    return []


@pytest.fixture
def watch(client, heard):
    with LockWatch(client, ["worker-1", "worker-2"], lambda *told: heard.append(told)) as watch:
        yield watch


def test_a_lock_that_is_lost_is_told(watch, client, heard):  # noqa: ARG001 - it listens
    jid = client.queues["q"].put(Mail, {})
    client.queues["q"].pop().timeout()

    eventually(lambda: heard)

    assert heard == [("worker-1", jid, "lock_lost")]


def test_a_job_that_is_canceled_is_told_to_its_worker_alone(watch, client, server, clock, heard):  # noqa: ARG001 - it listens
    with Client(server.url, clock=clock, worker_name="worker-3") as other:
        for one in (other, client):
            one.queues["q"].put(Mail, {})
            one.queues["q"].pop().cancel()

    eventually(lambda: heard)

    assert [(worker, why) for worker, _, why in heard] == [("worker-1", "canceled")]


def test_what_fails_on_being_told_is_logged_and_the_watch_goes_on(client, heard, caplog):
    def told(_, jid, __):
        heard.append(jid)
        if jid == "a":
            raise KeyError(jid)

    with LockWatch(client, ["worker-1"], told):
        for jid in ("a", "b"):
            client.queues["q"].put(Mail, {}, jid=jid)
            client.queues["q"].pop().cancel()
            eventually(lambda jid=jid: jid in heard)

    assert "KeyError" in caplog.text


def test_after_the_end_nothing_is_told_and_no_thread_is_left(client, heard):
    before = threading.active_count()
    watch = LockWatch(client, ["worker-1"], lambda *told: heard.append(told))
    watch.start()

    watch.stop()
    client.queues["q"].put(Mail, {})
    client.queues["q"].pop().cancel()

    assert threading.active_count() == before
    assert heard == []
    assert client.redis.pubsub_numsub("ql:w:worker-1") == [("ql:w:worker-1", 0)]


def test_b68_what_was_missed_while_redis_was_away_is_told_when_it_is_back(tmp_path, heard, caplog):
    place = tmp_path / "data"
    server = EmbeddedServer(place).start()
    with Client(server.url, worker_name="w") as client, Client(server.url) as other:
        for jid in ("lost", "canceled", "kept"):
            client.queues["q"].put(Mail, {}, jid=jid)
        client.queues["q"].pop(3)
        held = [("w", jid) for jid in ("lost", "canceled", "kept")] + [("else", "other")]
        with LockWatch(client, ["w"], lambda *told: heard.append(told), held=lambda: held):
            server.stop()
            eventually(lambda: "not told of lost locks" in caplog.text)
            with EmbeddedServer(place):
                other.jobs["lost"].timeout()
                other.jobs["canceled"].cancel()

                eventually(lambda: len({*heard}) == 2)

    # Maybe twice: what happened as it was back was told, and seen.
    assert {*heard} == {("w", "canceled", "canceled"), ("w", "lost", "lock_lost")}


def test_a_watch_may_begin_while_redis_is_away(tmp_path, heard):
    place = tmp_path / "data"
    with EmbeddedServer(place) as server:
        url = server.url
    with Client(url, worker_name="w") as client:
        watch = LockWatch(client, ["w"], lambda *told: heard.append(told))
        watch.start()
        with EmbeddedServer(place):
            eventually(lambda: client.redis.pubsub_numsub("ql:w:w")[0][1])
            client.queues["q"].put(Mail, {})
            client.queues["q"].pop().cancel()
            eventually(lambda: heard)
        watch.stop()


@pytest.fixture
def deaf(server, redis):
    """Give the address of a server that lets nobody listen."""
    redis.execute_command("ACL", "SETUSER", "deaf", "on", ">p", "~*", "+@all", "resetchannels")
    yield server.url.replace("unix://", "unix://deaf:p@")
    redis.execute_command("ACL", "DELUSER", "deaf")


def test_b63_a_watch_that_may_not_listen_does_not_begin(deaf, heard):
    before = threading.active_count()
    with Client(deaf) as client, pytest.raises(NotPermitted, match="channel"):
        LockWatch(client, ["w"], lambda *told: heard.append(told)).start()

    assert threading.active_count() == before


def test_b63_a_program_that_does_not_stop_its_watch_ends_all_the_same(server):
    program = (
        "import sys\n"
        "from qless_core import Client\n"
        "from qless_core.worker.locks import LockWatch\n"
        "LockWatch(Client(sys.argv[1]), ['w'], print).start()\n"
        "raise SystemExit(3)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, server.url],
        check=False,
        cwd=ROOT,
        timeout=PATIENCE_S,
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stderr) == (3, "")
