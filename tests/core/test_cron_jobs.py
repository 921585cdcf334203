"""Cron jobs from Python: put, seen, changed, and kept planned by whoever pops."""

from __future__ import annotations

import logging
import threading
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from qless_core.client import Client
from qless_core.cron import AHEAD
from qless_core.errors import BadArgument, RecurringJobNotFound, RedisUnavailable
from qless_core.recurring import RecurringJob
from qless_core.testing import BEGINNING, FrozenClock

#: The whole minutes and hours after the clock's beginning, 22:13:20 UTC.
MINUTE, HOUR = BEGINNING + 40, BEGINNING + 2800


@pytest.fixture
def queue(client):
    return client.queues["q"]


def planned(redis, jid="c"):
    return [int(run) for run in redis.zrange(f"ql:cron-runs:{jid}", 0, -1)]


def test_it_is_found_by_its_jid(client, queue):
    options = {"priority": 3, "tags": ["t"], "retries": 2, "backlog": 4}
    jid = queue.cron("app.Report", {"n": 1}, "0 6 * * 1-5", timezone="Europe/Berlin", **options)

    job = client.jobs[jid]

    assert isinstance(job, RecurringJob)
    assert (job.cron, job.timezone, job.interval) == ("0 6 * * 1-5", "Europe/Berlin", 0)
    assert (job.klass_name, job.data, job.queue_name) == ("app.Report", {"n": 1}, "q")
    assert (job.priority, job.tags, job.retries, job.backlog) == (3, ["t"], 2, 4)
    assert (job.count, job.state) == (0, "recur")
    assert job.next_run == 1_700_024_400  # 05:00 UTC on the next day, a Wednesday
    assert repr(job) == f"<RecurringJob {jid} app.Report at '0 6 * * 1-5' Europe/Berlin in 'q'>"


def test_it_puts_a_job_at_each_run(client, queue, clock):
    queue.cron("Job", {"n": 1}, "* * * * *", jid="c", tags=["t"])
    assert queue.pop() is None

    clock.advance(40)
    first = queue.pop()
    clock.advance(60)
    second = queue.pop()

    assert (first.jid, second.jid) == ("c-1", "c-2")
    assert (first.spawned_from_jid, first.tags, first.data) == ("c", ["t"], {"n": 1})
    assert first.history[0].when == MINUTE
    assert client.jobs["c"].count == 2


def test_it_counts_and_is_listed_among_the_recurring_jobs(client, queue):
    queue.recur("Job", {}, 60, offset=100, jid="r")
    queue.cron("Job", {}, "* * * * *", jid="c")

    assert queue.jobs.recurring() == ["c", "r"]
    assert (queue.counts.recurring, queue.counts.cron) == (2, 1)
    assert client.queues.counts == [queue.counts]


def test_an_application_may_say_it_at_every_start(client, queue, clock, redis):
    def start():
        return queue.cron("Job", {}, "*/5 * * * *", timezone="Europe/Berlin", jid="c")

    start()
    clock.advance(400)
    queue.pop(5)
    before = planned(redis)
    clock.advance(310)

    start()

    assert planned(redis)[: len(before) - 1] == before[:-1]
    assert client.jobs["c"].count == 2
    assert client.jobs["c"].next_run == before[0]
    assert [job.jid for job in queue.pop(5)] == ["c-3"]


def test_another_expression_counts_from_now_on(client, queue, clock, redis):
    queue.cron("Job", {}, "* * * * *", jid="c")
    clock.advance(40)
    queue.pop()

    queue.cron("Job", {}, "0 * * * *", jid="c")

    assert client.jobs["c"].next_run == HOUR
    assert planned(redis)[0] == HOUR
    assert client.jobs["c"].count == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"expression": "61 * * * *"},
        {"timezone": "Mars/Olympus"},
        {"retries": "many"},
        {"klass": ""},
        {"data": float("nan")},
    ],
)
def test_b23_what_makes_no_sense_is_refused_before_anything_is_written(queue, redis, bad):
    options = {"klass": "Job", "data": {}, "expression": "* * * * *"}

    with pytest.raises(BadArgument):
        queue.cron(**(options | bad))

    assert redis.keys("ql:*") == []


def test_assigning_another_expression_or_time_zone(client, queue, redis):
    queue.cron("Job", {}, "* * * * *", jid="c")
    job = client.jobs["c"]

    job.cron = "0  6 * * *"
    assert (job.cron, job.next_run) == ("0 6 * * *", 1_700_028_000)
    job.timezone = "Europe/Berlin"
    assert (job.timezone, job.next_run) == ("Europe/Berlin", 1_700_024_400)
    job.update(cron="0 * * * *", timezone="UTC", priority=4)

    again = client.jobs["c"]
    assert again.record == job.record
    assert (again.cron, again.timezone, again.priority) == ("0 * * * *", "UTC", 4)
    assert planned(redis)[0] == HOUR


def test_b23_a_change_that_makes_no_sense_is_refused(client, queue):
    queue.cron("Job", {}, "* * * * *", jid="c")
    queue.recur("Job", {}, 60, jid="r")
    job = client.jobs["c"]

    with pytest.raises(BadArgument, match="bad minute"):
        job.cron = "61 * * * *"
    with pytest.raises(BadArgument, match="no time zone"):
        job.timezone = "Mars/Olympus"
    with pytest.raises(BadArgument, match="interval"):
        job.interval = 60
    with pytest.raises(BadArgument, match="recurs by interval"):
        client.jobs["r"].cron = "* * * * *"
    assert client.jobs["c"].record == job.record


def test_one_that_is_gone_cannot_be_changed(client, queue):
    queue.cron("Job", {}, "* * * * *", jid="c")
    job = client.jobs["c"]
    job.cancel()

    assert client.jobs["c"] is None
    assert job.next_run is None
    with pytest.raises(RecurringJobNotFound):
        job.cron = "0 * * * *"


def test_popping_keeps_it_planned_for_years(queue, clock, redis):
    queue.cron("Job", {}, "0 3 * * *", jid="c", timezone="Europe/Berlin")

    made = []
    for _ in range(800):
        clock.advance(86_400)
        made += [job.history[0].when for job in queue.pop(5)]

    assert len(made) == 800
    assert {then - before for before, then in pairwise(made)} == {
        82_800,
        86_400,
        90_000,
    }
    assert 1 <= redis.zcard("ql:cron-runs:c") <= 16


def test_b57_after_a_long_silence_each_missed_run_is_made_up_for(queue, clock):
    queue.cron("Job", {}, "0 * * * *", jid="c")
    clock.advance(90 * 86_400)

    made = []
    while jobs := queue.pop(500):
        made += [job.history[0].when for job in jobs]
        clock.advance(61)

    assert made[0] == HOUR
    assert {then - before for before, then in pairwise(made)} == {3600}
    assert 90 * 24 <= len(made) <= 90 * 24 + 1


def test_b57_after_a_long_silence_a_backlog_caps_what_is_made_up_for(queue, clock):
    queue.cron("Job", {}, "* * * * *", jid="c", backlog=2)
    clock.advance(400 * 86_400)

    made = [job.history[0].when for job in queue.pop(500)]

    assert made == [MINUTE + 400 * 86_400 - 60 * number for number in (3, 2, 1)]


def test_b57_of_many_clients_none_makes_a_run_twice_or_loses_one(server, redis):
    clock = FrozenClock()
    seen, failures = [], []

    def work(name, barrier):
        with Client(server.url, clock=clock, worker_name=name) as client:
            for _ in range(30):
                barrier.wait(30)
                try:
                    client.cron_plans.extend()
                    jobs = client.queues["q"].pop(50)
                except Exception as error:  # noqa: BLE001 - shown by the assertion
                    failures.append(error)
                    jobs = []
                seen.extend((job.jid, job.history[0].when) for job in jobs)
                if barrier.wait(30) == 0:
                    clock.advance(1000)

    with Client(server.url, clock=clock) as client:
        client.queues["q"].cron("Job", {}, "*/10 * * * * *", jid="c")
    barrier = threading.Barrier(4)
    threads = [threading.Thread(target=work, args=(f"w-{n}", barrier)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert len({jid for jid, _ in seen}) == len(seen)
    whens = sorted(when for _, when in seen)
    assert whens == [BEGINNING + 10 * number for number in range(1, 29 * 100 + 1)]
    assert redis.hget("ql:cron:c", "count") == str(len(seen))


def test_a_client_looks_once_a_minute(client, clock, redis):
    redis.config_resetstat()
    for _ in range(30):
        client.cron_plans.tend()
        clock.advance(4)

    calls = redis.info("commandstats")
    assert calls["cmdstat_zrangebyscore"]["calls"] == 2


def test_b23_an_expression_that_nobody_can_read_is_told_and_stops_no_other(
    queue, clock, redis, caplog
):
    for jid in ("bad", "good"):
        queue.cron("Job", {}, "* * * * *", jid=jid)
    redis.hset("ql:cron:bad", "timezone", "Mars/Olympus")
    clock.advance(10 * 86_400)

    with caplog.at_level(logging.WARNING, "qless.cron"):
        jobs = [*queue.pop(5000), *queue.pop(5000)]

    assert "cron job bad is planned no further" in caplog.text
    assert "Mars/Olympus" in caplog.text
    made = {jid: sum(job.spawned_from_jid == jid for job in jobs) for jid in ("bad", "good")}
    assert made["bad"] == AHEAD
    assert made["good"] > AHEAD


def test_however_many_cannot_be_planned_here_the_others_are(client, queue, clock, redis):
    for number in range(250):
        queue.cron("Job", {}, "* * * * *", jid=f"a-{number}")
    queue.cron("Job", {}, "* * * * *", jid="good")
    for number in range(0, 250, 4):
        redis.hset(f"ql:cron:a-{number}", "timezone", "Mars/Olympus")
        redis.hset(f"ql:cron:a-{number + 1}", "planned", "1e300")
        redis.delete(f"ql:cron:a-{number + 2}")
    clock.advance(86_400)

    assert client.cron_plans.extend() == 62 + 1

    assert planned(redis, "good")[-1] > clock.now()
    assert client.cron_plans.extend() == 0


def test_without_a_server_it_says_so():
    with Client("redis://127.0.0.1:1") as nowhere, pytest.raises(RedisUnavailable):
        nowhere.cron_plans.extend()


def test_a_zone_may_be_given_as_itself(client):
    queue = client.queues["q"]
    queue.cron("Job", {}, "@daily", timezone=ZoneInfo("Europe/Berlin"), jid="r")
    job = client.jobs["r"]
    assert (job.timezone, job.cron) == ("Europe/Berlin", "0 0 * * *")

    job.timezone = ZoneInfo("Asia/Kolkata")
    job.cron = "@hourly"

    fresh = client.jobs["r"]
    assert (job.timezone, job.cron) == (fresh.timezone, fresh.cron) == ("Asia/Kolkata", "0 * * * *")


def test_a_cron_job_that_goes_on_has_its_next_runs_planned(client, queue, redis, clock):
    queue.cron("Job", {}, "* * * * *", jid="c")
    job = client.jobs["c"]
    job.pause()
    clock.advance(30 * 86_400)

    assert job.unpause()

    now = client.now()
    assert all(run > now for run in planned(redis))
    assert job.next_run == planned(redis)[0] <= now + 60
    assert queue.pop() is None
