from __future__ import annotations

import pytest

from qless_core.client import Client
from qless_core.embedded import EmbeddedServer
from qless_core.errors import LockLost
from qless_core.worker.middleware import Progress
from tests.worker.wrapped_jobs import Plain


@pytest.fixture
def job(client):
    client.queues["q"].put(Plain, {}, jid="j")
    return client.queues["q"].pop()


def test_of_many_steps_few_are_told_and_the_last_one_is(job, client):
    told = []
    job.progress = lambda *args: told.append(args)

    assert list(Progress(job, every=3600).over(range(1000))) == [*range(1000)]

    assert told == [(1, 1000, None), (1000, 1000, None)]
    assert client.jobs["j"].state == "running"


def test_what_is_told_is_seen(job, client):
    progress = Progress(job, 3, every=0)

    assert progress.tell(1, "begun")
    assert progress.tell(2)

    seen = client.jobs["j"].read_progress()
    assert (seen.done, seen.total) == (2, 3)


def test_of_what_has_no_length_the_total_is_not_known(job, client):
    assert list(Progress(job, every=0).over(iter("ab"))) == ["a", "b"]

    assert (client.jobs["j"].read_progress().done, client.jobs["j"].read_progress().total) == (
        2,
        None,
    )


def test_a_job_that_another_worker_has_hears_of_it(job, client, server, clock):
    client.jobs["j"].timeout()
    with Client(server.url, clock=clock, worker_name="worker-2") as other:
        other.queues["q"].pop()

    with pytest.raises(LockLost):
        Progress(job).tell(1)


def test_b68_redis_being_away_does_not_end_the_job(tmp_path, caplog):
    caplog.set_level("INFO")
    with EmbeddedServer(tmp_path / "data") as server:
        client = Client(server.url)
        client.queues["q"].put(Plain, {})
        job = client.queues["q"].pop()

    assert not Progress(job).tell(1)
    assert "its progress cannot be told" in caplog.text
