"""Lists over all queues, and the runs of a recurring job, as pages read them."""

from __future__ import annotations

import pytest

from qless_core import reads
from qless_core.reads import Slice
from qless_core.reads.everywhere import REACH
from qless_core.reads.plan import run


@pytest.fixture
def look(client):
    def look(plan):
        _, (found,) = run(client.redis, client.keys, [plan], now=client.now())
        return found

    return look


def test_scheduled_jobs_of_all_queues_come_in_one_order(client, look, clock):
    for queue, jid, delay in (("a", "third", 30), ("b", "first", 10), ("a", "second", 20)):
        client.queues[queue].put("Job", {}, jid=jid, delay=delay)
    client.queues["b"].put("Job", {}, jid="due", delay=1)
    clock.advance(2)

    found = look(reads.scheduled(Slice(1, 2)))

    assert [row.jid for row in found.rows] == ["second", "third"]
    assert [row.queue for row in found.rows] == ["a", "a"]
    assert [row.at - client.now() for row in found.rows] == [18, 28]
    assert (found.total, found.whole) == (3, 3)


def test_a_list_of_all_queues_ends_where_its_reach_does(client, look):
    queue = client.queues["a"]
    for number in range(REACH + 5):
        queue.put("Job", {}, delay=60 + number, jid=f"j{number}")

    found = look(reads.scheduled(Slice(REACH - 2, 25)))

    assert [row.jid for row in found.rows] == [f"j{REACH - 2}", f"j{REACH - 1}"]
    assert (found.total, found.whole) == (REACH, REACH + 5)
    assert look(reads.scheduled(Slice(REACH * 9, 25))).rows == ()


def test_recurring_jobs_of_both_kinds_come_by_next_run_the_paused_last(client, look):
    client.queues["a"].recur("Job", {}, 60, offset=30, jid="later")
    client.queues["b"].recur("Job", {}, 60, offset=10, jid="sooner")
    client.queues["b"].cron("Job", {}, "* * * * *", jid="cron")
    client.queues["a"].recur("Job", {}, 60, jid="held")
    client.jobs["held"].pause()

    found = look(reads.recurring(Slice(0, 25)))

    assert [row.jid for row in found.rows] == ["sooner", "later", "cron", "held"]
    assert [row.paused for row in found.rows] == [False, False, False, True]
    assert found.whole == 4


@pytest.mark.parametrize("kind", ["interval", "cron"])
def test_the_last_run_is_told(client, look, clock, kind):
    queue = client.queues["q"]
    if kind == "cron":
        queue.cron("Job", {}, "* * * * *", jid="r")
    else:
        queue.recur("Job", {}, 60, offset=40, jid="r")
    assert look(reads.recurring(Slice())).rows[0].last_run is None
    clock.advance(45)
    queue.pop()

    assert look(reads.recurring(Slice())).rows[0].last_run == client.now() - 5
    client.jobs["r"].pause()
    assert look(reads.recurring(Slice())).rows[0].last_run == client.now() - 5
    client.jobs["r"].run_now()
    assert look(reads.recurring(Slice())).rows[0].last_run == client.now()


def test_what_became_of_its_runs(client, look, clock):
    queue = client.queues["q"]
    queue.recur("Job", {}, 60, jid="r")
    for _ in range(4):
        job = queue.pop()
        clock.advance(7)
        if job.jid == "r-1":
            job.fail("boom", "no")
        elif job.jid != "r-4":
            job.complete()
        clock.advance(53)
    client.bulk_cancel(["r-1"])
    client.jobs["r"].run_now()

    found = look(reads.runs("r", Slice(0, 4)))

    assert [(run.row.jid, run.row.state) for run in found.rows] == [
        ("r-5", "waiting"),
        ("r-4", "stalled"),
        ("r-3", "complete"),
        ("r-2", "complete"),
    ]
    assert found.total == 5
    assert found.rows[2].ended - found.rows[2].started == 7
    assert found.rows[2].started == found.rows[2].due
    assert (found.rows[0].started, found.rows[1].ended) == (None, None)
    assert [run.row.gone for run in look(reads.runs("r", Slice(4, 4))).rows] == [True]
    assert look(reads.runs("nothing", Slice())) is None


def test_a_job_that_only_has_the_name_is_no_run(client, look):
    client.queues["q"].recur("Job", {}, 60, jid="r", offset=60)
    client.jobs["r"].run_now()
    client.bulk_cancel(["r-1"])
    client.queues["q"].put("Other", {}, jid="r-1")

    (run_,) = look(reads.runs("r", Slice())).rows

    assert run_.row.gone
