"""What an object shows of itself: what it is and which one, on one line, and no secret."""

from __future__ import annotations

import pytest

from qless_core import Client, Job, SerialWorker, errors
from qless_core.archive import JsonLines
from qless_core.new_job import NewJob
from qless_core.records import Failure, HistoryItem
from qless_core.testing import NullClient
from qless_core.worker.reserving import RoundRobin

CLIENT = "<Client redis://user:***@localhost:6379/2 'ql:'>"


@pytest.fixture
def secret():
    """Make a client that never connects."""
    with Client("redis://user:secret@localhost:6379/2", worker_name="w") as client:
        yield client


#: What makes it of a client -> what it shows.
SHOWN = {
    lambda client: client: CLIENT,
    lambda client: client.queues: f"<Queues of {CLIENT}>",
    lambda client: client.queues["mail"]: "<Queue 'mail'>",
    lambda client: client.queues["mail"].jobs: "<QueueJobs 'mail'>",
    lambda client: client.jobs: f"<Jobs of {CLIENT}>",
    lambda client: client.failures: f"<Failures of {CLIENT}>",
    lambda client: client.workers: f"<Workers of {CLIENT}>",
    lambda client: client.tags: f"<Tags of {CLIENT}>",
    lambda client: client.stats: f"<Stats of {CLIENT}>",
    lambda client: client.events: f"<Events of {CLIENT}>",
    lambda client: client.bulk: f"<Bulk of {CLIENT}>",
    lambda client: client.config: "<Config>",
    lambda client: client.commands: "<Commands>",
    lambda client: client.clock: "Clock()",
    lambda client: client.keys: "Keys('ql:')",
    lambda client: SerialWorker(client, ["a", "b"]): "<SerialWorker 'w' of 'a', 'b'>",
    lambda _: RoundRobin(): "RoundRobin()",
    lambda _: NullClient(): "<NullClient of 0 calls>",
    lambda _: JsonLines("jobs.jsonl"): "JsonLines('jobs.jsonl')",
    lambda _: Job.build("app.Mail", jid="j", queue="a b"): "<Job j app.Mail running in 'a b'>",
    lambda _: NewJob("app.Mail", {"n": 1}, jid="j"): "NewJob('app.Mail', {'n': 1}, jid='j')",
    lambda _: HistoryItem("put", 5, {"q": "a"}): (
        "HistoryItem(what='put', when=5, details={'q': 'a'})"
    ),
    lambda _: Failure("g", "m", 5, "w"): "Failure(group='g', message='m', when=5, worker='w')",
    lambda _: errors.LockLost("j", "w"): "LockLost('Job j is given out to another worker: w')",
    lambda _: errors.JobNotFound("j"): "JobNotFound('Job j does not exist')",
}


@pytest.mark.parametrize("make", SHOWN, ids=SHOWN.values())
def test_an_object_says_what_it_is(secret, make):
    assert repr(make(secret)) == SHOWN[make]


def test_jobs_say_how_they_are(client):
    queue = client.queues["q"]
    queue.put("Job", {}, jid="a")
    queue.recur("Job", {}, 90, jid="r", offset=90)

    assert repr(queue.pop()) == "<Job a Job running in 'q'>"
    assert repr(client.jobs["r"]) == "<RecurringJob r Job every 90 s in 'q'>"


def test_nothing_shows_where_it_lies_in_memory_or_a_secret(secret):
    made = [make(secret) for make in SHOWN]

    assert [repr(each) for each in made if " at 0x" in repr(each)] == []
    assert [repr(each) for each in made if "\n" in repr(each) or "secret" in repr(each)] == []
