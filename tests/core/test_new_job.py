"""Jobs to put: one or many, with what their class says of them."""

from __future__ import annotations

import pytest

from qless_core import bulk
from qless_core.errors import BadArgument, QlessError
from qless_core.new_job import NewJob


@pytest.fixture
def queue(client):
    return client.queues["q"]


class Plain:
    """A class without options."""


class Patient:
    qless_options = {"priority": 3, "tags": ["patient"], "retries": 7, "delay": 60}  # noqa: RUF012 - as an application writes it


class Numbered:
    @staticmethod
    def qless_options(data):
        """One job for each user."""
        return {"jid": f"user-{data['user']}", "priority": data["user"]}


class Misspelt:
    qless_options = {"pryority": 3}  # noqa: RUF012 - as an application writes it


class Nonsense:
    qless_options = ["priority"]  # noqa: RUF012 - as an application writes it


class Broken:
    @staticmethod
    def qless_options(data):
        return {"priority": data["missing"]}


def mail(_job):
    """Do nothing."""


mail.qless_options = {"tags": ["mail"]}


# Options of a class


def test_a_class_gives_the_options_that_are_not_given(client, queue):
    jid = queue.put(Patient, {}, priority=1)

    job = client.jobs[jid]
    assert (job.priority, job.tags, job.original_retries) == (1, ["patient"], 7)
    assert job.state == "scheduled"
    assert client.jobs[queue.put(Patient, {}, delay=0)].state == "waiting"
    assert client.jobs[queue.put(Plain, {})].priority == 0


def test_a_class_may_go_by_the_data(client, queue):
    """Q20."""
    assert queue.put(Numbered, {"user": 5}) == "user-5"
    assert client.jobs["user-5"].priority == 5
    assert queue.put(Numbered, {"user": 5}, jid="mine") == "mine"


def test_a_function_may_have_options_too(client, queue):
    assert client.jobs[queue.put(mail, {})].tags == ["mail"]


def test_a_class_that_is_only_named_has_no_options(client, queue):
    job = client.jobs[queue.put(f"{__name__}.Patient", {})]

    assert (job.priority, job.tags, job.state) == (0, [], "waiting")


def test_recurring_jobs_take_the_options_that_they_have(client, queue):
    recurring = client.jobs[queue.recur(Patient, {}, 60, retries=1)]
    by_cron = client.jobs[queue.cron(Patient, {}, "0 0 * * *")]

    assert (recurring.priority, recurring.tags, recurring.retries) == (3, ["patient"], 1)
    assert (by_cron.priority, by_cron.tags, by_cron.retries) == (3, ["patient"], 7)


@pytest.mark.parametrize(
    ("klass", "words"),
    [
        (Misspelt, r"Misspelt\.qless_options has 'pryority'.*did you mean 'priority'\?"),
        (Nonsense, r"Nonsense\.qless_options must be, or answer, a dict of options"),
    ],
)
def test_options_that_make_no_sense_are_refused(client, queue, klass, words):
    for put in (queue.put, lambda klass, data: queue.recur(klass, data, 60)):
        with pytest.raises(BadArgument, match=words):
            put(klass, {})
    assert client.redis.keys() == []


def test_what_options_raise_comes_through_and_says_where(queue):
    with pytest.raises(KeyError) as error:
        queue.put(Broken, {})

    assert any("Broken.qless_options" in note for note in error.value.__notes__)


# Many at once


def test_many_jobs_are_put_in_their_order_and_keep_their_options(client, queue):
    jids = queue.put_many(
        [
            NewJob(Plain, {"n": 1}, jid="one", priority=2),
            {"klass": Patient, "data": {"n": 2}, "delay": 0},
            (Plain, {"n": 3}),
            ("app.Mail", {"n": 4}, {"depends": ["one"], "tags": ["t"]}),
        ]
    )

    jobs = [client.jobs[jid] for jid in jids]
    assert [job["n"] for job in jobs] == [1, 2, 3, 4]
    assert [job.priority for job in jobs] == [2, 3, 0, 0]
    assert (jobs[3].dependencies, jobs[3].tags, jobs[3].klass_name) == (["one"], ["t"], "app.Mail")
    assert queue.put_many([]) == []


def test_many_jobs_take_few_round_trips(client, queue):
    client.commands.length("q")
    client.redis.config_resetstat()

    jids = queue.put_many((Plain, {}) for _ in range(2 * bulk.PUT_CHUNK + 1))

    stats = client.redis.info("commandstats")
    calls = sum(
        stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("evalsha", "fcall")
    )
    assert len(set(jids)) == len(queue) == 2 * bulk.PUT_CHUNK + 1
    assert calls == 3


def test_large_jobs_are_put_in_more_round_trips():
    rows = [["j", "K", "x" * 400_000, 0] for _ in range(5)]

    assert [len(batch) for batch in bulk.batches(rows)] == [2, 2, 1]
    assert [len(batch) for batch in bulk.batches([["j", "K", "x" * 5_000_000, 0]])] == [1]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ((Plain, {"x": float("nan")}), "JSON"),
        ((Plain, {}, {"priority": "high"}), "priority"),
        ((Plain, {}, {"retries": float("inf")}), "retries"),
        ((Plain, {}, {"retries": 1.5}), "retries"),
        ((Plain, {}, {"delay": True}), "delay"),
        ((Plain, {}, {"tags": "t"}), "tags"),
        ((Plain, {}, {"jid": 5}), "jid"),
        ((Plain, {}, {"jid": ""}), "jid"),
        ((Plain, {}, {"jid": "\ud800"}), "UTF-8"),
        ((".Mail", {}), "'.Mail' is no name of a class"),
        ((Plain, {}, {"colour": "red"}), "colour"),
        ((Plain, {}, {"depends": ["late"]}), "comes later: job 300"),
        ((Misspelt, {}), "pryority"),
        ((lambda job: job, {}), "inside a function"),
        ("nonsense", "no job to put"),
        (5, "no job to put"),
    ],
)
def test_one_bad_job_refuses_all_and_is_named_by_its_number(client, queue, bad, words):
    jobs = [(Plain, {}) for _ in range(301)]
    jobs[299], jobs[300] = bad, (Plain, {}, {"jid": "late"})

    with pytest.raises(BadArgument, match=f"(?s)job 299.*{words}"):
        queue.put_many(jobs)

    assert client.redis.keys() == []


def test_what_only_redis_can_see_says_how_many_were_put_before(queue):
    queue.put(Plain, {}, jid="child", depends=[queue.put(Plain, {}, jid="parent")])
    jobs = [(Plain, {}) for _ in range(bulk.PUT_CHUNK + 5)]
    jobs[-1] = (Plain, {}, {"jid": "parent", "depends": ["child"]})

    with pytest.raises(QlessError, match=f"job {bulk.PUT_CHUNK + 4}: Job parent") as error:
        queue.put_many(jobs)

    assert error.value.__notes__ == [
        f"{bulk.PUT_CHUNK} of {bulk.PUT_CHUNK + 5} jobs were put before"
    ]
    assert len(queue) == bulk.PUT_CHUNK + 1
