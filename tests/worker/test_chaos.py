"""Nothing is lost while workers, their children and the server are killed all the time."""

from __future__ import annotations

import pytest

from benchmarks.chaos import chaos
from benchmarks.mayhem.judging import judge
from benchmarks.mayhem.plan import Planned, plan


def test_b59_no_job_is_lost_or_stuck_while_all_is_killed(tmp_path):
    run = chaos(tmp_path, seed=1, seconds=10, jobs=500, workers=4)

    assert run.problems == []
    assert run.killed.keys() == {"child", "parent", "server", "told"}
    assert run.verdict.jobs > 500
    assert run.verdict.states["complete"] > 400


def test_the_same_seed_makes_the_same_jobs():
    assert plan(5, 200) == plan(5, 200) != plan(6, 200)
    assert {job.is_once for job in plan(5, 200)} == {True, False}


@pytest.fixture
def runs(tmp_path):
    """Make the file of the runs, with two of each of these jobs."""
    place = tmp_path / "runs"
    place.write_text("".join(f"{jid} 1 5\n" * 2 for jid in ("done", "failed", "waits", "goes-on")))
    return place


def ended(client, jid, **options):
    """Put a job and complete it."""
    client.queues["q"].put("Job", {}, jid=jid, **options)
    client.queues["q"].pop().complete()


def failed(client, jid):
    """Put a job and fail it."""
    client.queues["q"].put("Job", {}, jid=jid)
    client.queues["q"].pop().fail("group", "message")


def waiting(client, jid):
    """Put a job that waits for one that has failed, and a job that waits for that one."""
    failed(client, "failed")
    client.queues["q"].put("Job", {}, jid="between", depends=["failed"])
    client.queues["q"].put("Job", {}, jid=jid, depends=["between"])


@pytest.mark.parametrize(
    ("act", "jid"),
    [(ended, "done"), (failed, "failed"), (waiting, "waits")],
)
def test_what_is_well_is_found_well(client, runs, act, jid):
    act(client, jid)
    jids = {"failed", "between", jid} if act is waiting else {jid}

    verdict = judge(client, [Planned(each, "Job", {}) for each in jids], {}, runs)

    assert verdict.wrong == []
    assert verdict.jobs == len(jids)


def test_a_job_that_is_gone_is_found_lost(client, runs):
    assert judge(client, [Planned("gone", "Job", {})], {}, runs).wrong == ["gone is lost"]


def test_a_job_that_may_run_once_and_ran_twice_is_found(client, runs):
    ended(client, "done")

    verdict = judge(client, [Planned("done", "Job", {}, {"retries": 0})], {}, runs)

    assert verdict.wrong == ["done may run once and was begun 2 times"]


def test_a_job_that_is_complete_and_never_ran_is_found(client, runs):
    ended(client, "unseen")

    assert judge(client, [Planned("unseen", "Job", {})], {}, runs).wrong == [
        "unseen is complete and was never begun"
    ]


def test_a_job_of_a_recurring_one_is_looked_at(client, runs):
    client.queues["q"].recur("Job", {}, 60, jid="every")
    client.queues["q"].pop().complete()

    assert judge(client, [], {"every": 0}, runs).wrong == [
        "every-1 is complete and was never begun"
    ]


def test_a_job_that_waits_still_is_found_stuck(client, runs):
    client.queues["q"].put("Job", {}, jid="goes-on")

    assert judge(client, [Planned("goes-on", "Job", {})], {}, runs).wrong == [
        "goes-on is stuck: waiting"
    ]


def test_what_the_audit_finds_is_wrong(client, redis, runs):
    failed(client, "failed")
    redis.delete("ql:f:group")

    assert (
        "failed has failed, where nobody sees it"
        in judge(client, [Planned("failed", "Job", {})], {}, runs).wrong
    )
