"""All jobs of a queue, or of a list, one after another, however many and whoever is at work."""

from __future__ import annotations

import itertools
import random

import pytest

from qless_core import walk
from qless_core.errors import BadArgument
from qless_core.recurring import RecurringJob


@pytest.fixture
def queue(client):
    return client.queues["q"]


@pytest.fixture
def every_state(client, queue, clock):
    """Put a job in every state that a queue has, and some that are not of this queue."""
    queue.put("Job", {}, jid="stalled")
    queue.pop()
    queue.put("Job", {}, jid="due", delay=50)
    clock.advance(65)
    queue.put("Job", {}, jid="failed")
    other = client.queues["other"]
    for source in (queue, other):
        for jid in ("failed", "complete", "running"):
            source.put("Job", {}, jid=f"{source.name}-{jid}", priority=9)
        jobs = {job.jid: job for job in source.pop(5)}
        jobs[f"{source.name}-failed"].fail("g", "message")
        jobs[f"{source.name}-complete"].complete()
    for jid in ("stalled", "due", "failed"):
        client.jobs[jid].cancel()
    queue.put("Job", {}, jid="q-stalled")
    queue.pop()
    queue.put("Job", {}, jid="q-due", delay=50)
    clock.advance(65)
    client.jobs["q-running"].heartbeat()
    queue.put("Job", {}, jid="q-waiting")
    queue.put("Job", {}, jid="q-scheduled", delay=50)
    queue.put("Job", {}, jid="q-depends", depends=["q-waiting"])
    queue.recur("Job", {}, 60, jid="q-recurring", offset=60)
    client.redis.hset("ql:j:q-throttled", mapping={"jid": "q-throttled", "state": "throttled"})
    client.redis.zadd("ql:q:q-throttled", {"q-throttled": 1})
    queue.cron("Job", {}, "0 0 1 1 *", jid="q-cron")
    return queue


#: State -> the jobs of it in `every_state`.
FOUND = {
    "waiting": {"q-due", "q-waiting"},
    "running": {"q-running"},
    "stalled": {"q-stalled"},
    "scheduled": {"q-scheduled"},
    "depends": {"q-depends"},
    "throttled": {"q-throttled"},
    "recurring": {"q-recurring", "q-cron"},
    "failed": {"q-failed"},
}


def test_every_job_of_a_queue_is_met_once_whatever_its_state(every_state):
    """Q14."""
    everything = sorted(set().union(*FOUND.values()))

    assert sorted(job.jid for job in every_state.jobs.all()) == everything
    assert sorted(job.jid for job in every_state.jobs) == everything
    assert sorted(every_state.jobs.all_jids()) == everything


@pytest.mark.parametrize("state", FOUND)
def test_the_jobs_of_one_state_are_met(every_state, state):
    jobs = [*every_state.jobs.all(state)]

    assert {job.jid for job in jobs} == set(every_state.jobs.all_jids(state)) == FOUND[state]
    assert len(jobs) == len(FOUND[state])
    if state == "recurring":
        assert all(isinstance(job, RecurringJob) for job in jobs)
    else:
        assert {str(job.state) for job in jobs} <= {state, "running"}


def test_several_states_may_be_asked_for(every_state):
    met = {job.jid for job in every_state.jobs.all("depends", "failed")}

    assert met == FOUND["depends"] | FOUND["failed"]


def test_a_state_that_no_queue_has_is_refused_at_once(queue):
    with pytest.raises(BadArgument, match="complete"):
        queue.jobs.all("complete")
    with pytest.raises(BadArgument, match="nonsense"):
        queue.jobs.all_jids("waiting", "nonsense")


def test_more_than_a_page_of_jobs_are_met_once_each(queue):
    jids = queue.put_many([("Job", {"n": number}) for number in range(2 * walk.PAGE + 30)])

    jobs = [*queue.jobs.all()]

    assert [job.jid for job in jobs] == [*dict.fromkeys(job.jid for job in jobs)]
    assert {job.jid for job in jobs} == set(jids)
    assert sorted(job["n"] for job in jobs) == [*range(2 * walk.PAGE + 30)]


def test_jobs_are_read_as_they_are_asked_for(client, queue):
    queue.put_many([("Job", {}) for _ in range(3 * walk.PAGE)])
    client.redis.config_resetstat()

    first = [*itertools.islice(queue.jobs.all("waiting"), 5)]

    stats = client.redis.info("commandstats")
    calls = sum(stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in CALLS)
    assert len(first) == 5
    assert calls <= 4


#: The commands that call the script.
CALLS = ("evalsha", "evalsha_ro", "fcall", "fcall_ro")


def test_a_job_that_changes_its_place_meanwhile_is_met(queue):
    jids = queue.put_many([("Job", {}) for _ in range(3 * walk.PAGE)])
    met = []

    for job in queue.jobs.all():
        met.append(job.jid)
        # Workers take from the end that the walk comes from; some give it back, to be done later.
        for taken in queue.pop(2):
            if len(met) % 2:
                taken.retry(delay=60)

    assert sorted(met) == sorted(jids)


def test_what_leaves_the_lists_already_walked_is_met_in_the_second_round(client, queue):
    queue.put("Job", {}, jid="moving", delay=60)
    queue.put("Job", {}, jid="first")
    walking = queue.jobs.all("waiting", "scheduled")

    assert next(walking).jid == "first"
    client.jobs["moving"].move("q")

    assert [job.jid for job in walking] == ["moving"]


def test_a_job_that_goes_meanwhile_is_left_out(client, queue):
    queue.put("Job", {}, jid="a", priority=1)
    queue.put("Job", {}, jid="b")
    queue.put("Job", {}, jid="c", delay=60)
    walking = queue.jobs.all()

    assert next(walking).jid == "a"
    client.jobs["c"].cancel()

    assert [job.jid for job in walking] == ["b"]


def test_completed_failed_and_tagged_jobs_are_walked_too(client, queue, clock):
    for number in range(walk.PAGE + 5):
        queue.put("Job", {}, jid=f"c{number}", tags=["t"])
        queue.pop().complete()
        clock.advance(1)
    for number in range(3):
        queue.put("Job", {}, jid=f"f{number}", tags=["t"])
        queue.pop().fail(f"g{number % 2}", "message")

    assert [job.jid for job in client.jobs.all_complete()] == [
        f"c{number}" for number in range(walk.PAGE + 5)
    ]
    assert {job.jid for job in client.jobs.all_failed()} == {"f0", "f1", "f2"}
    assert [job.jid for job in client.jobs.all_failed("g0")] == ["f0", "f2"]
    assert len([*client.jobs.all_tagged("t")]) == walk.PAGE + 8
    assert [*client.jobs.all_failed("nothing")] == []


def disturb(client, chance, jid):
    """Let somebody change the place of a job, in a way that its state allows."""
    job = client.jobs[jid]
    verbs = [
        lambda: job.move("q", delay=chance.choice([0, 200])),
        lambda: setattr(job, "priority", chance.choice([-5, 5])),
    ]
    if job.state == "running":
        verbs += [lambda: job.retry(delay=chance.choice([0, 300])), job.timeout]
    chance.choice(verbs)()


@pytest.mark.parametrize("seed", range(15))
def test_whoever_moves_once_meanwhile_is_met_once(client, queue, clock, monkeypatch, seed):
    monkeypatch.setattr(walk, "PAGE", 3)
    monkeypatch.setattr(walk, "STRETCH", 3)
    chance = random.Random(seed)  # noqa: S311 - the same each time, for this seed
    jids = queue.put_many(
        ("Job", {}, {"priority": chance.choice([0, 1]), "delay": chance.choice([0, 0, 100])})
        for _ in range(30)
    )
    queue.pop(8)
    still = chance.sample(jids, len(jids))

    met = []
    for job in queue.jobs.all():
        met.append(job.jid)
        clock.advance(0.5)
        if still and chance.random() < 0.8:
            disturb(client, chance, still.pop())

    assert sorted(met) == sorted(jids)
