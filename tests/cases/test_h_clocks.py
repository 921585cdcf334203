"""Sections H and I of the field cases, as far as the core goes: clocks, recurring jobs, workers."""

from __future__ import annotations

import pytest

from qless_core.client import Client
from qless_core.clock import Clock

HOUR = 3600


def test_b54_what_ends_before_it_began_took_no_time(lua):
    lua.put(1000, "j")
    lua.pop(900)
    lua("complete", 800, "j", "w", "q", "{}")

    for now, kind in ((900, "wait"), (800, "run")):
        figures = lua.json("stats", now, "q", now)[kind]
        assert (figures["count"], figures["mean"], figures["std"]) == (1, 0, 0)
        assert figures["histogram"][0] == sum(figures["histogram"]) == 1


def test_b54_negative_figures_of_others_are_answered_as_numbers(lua, redis):
    redis.hset("ql:s:wait:0:q", mapping={"total": 1, "mean": -100, "vk": 0, "s-100": 1})
    redis.hset("ql:s:stats:0:q", mapping={"failed": -1})

    stats = lua.json("stats", 1, "q", 1)

    assert stats["wait"]["mean"] == -100
    assert len(stats["wait"]["histogram"]) == 148
    lua.put(1, "j")
    lua.pop(2)
    assert lua.json("stats", 2, "q", 2)["wait"]["count"] == 2


@pytest.mark.parametrize("wrong", [HOUR, -HOUR])
def test_b55_a_client_with_a_wrong_clock_takes_no_running_job(server, redis, monkeypatch, wrong):
    with Client(server.url, worker_name="right") as client:
        client.queues["q"].put("K", {}, jid="j")
        job = client.queues["q"].pop()
        now = Clock().now()
        monkeypatch.setattr("time.time", lambda: now + wrong)
        with Client(server.url, worker_name="wrong") as other:
            assert other.queues["q"].pop() is None
            assert other.queues["q"].pop() is None
            other.queues["q"].put("K", {}, jid="k")
            assert other.queues["q"].pop().jid == "k"
        assert abs(redis.zscore("ql:q:q-locks", "k") - redis.time()[0] - 60) < 30
        assert job.complete() == "complete"


def test_b55_a_moment_that_is_sent_as_a_number_is_taken_as_it_is(lua):
    lua.put(1000, "j")
    lua.pop(1000, worker="slow")

    assert lua.popped(1300, worker="fast") == []
    assert lua.popped(1310, worker="fast") == ["j"]
    with lua.refused("LOCK_LOST", "another worker: fast"):
        lua("heartbeat", 1011, "j", "slow")


def test_b57_a_million_missed_seconds_are_caught_up_by_a_backlog_or_by_what_is_asked(lua):
    lua("recur", 0, "q", "r", "K", "{}", "interval", 1, 0)
    lua("recur", 0, "p", "s", "K", "{}", "interval", 1, 0, "backlog", 3)

    late = 1_000_000
    assert [len(lua.pop(late, 50)) for _ in range(3)] == [50, 50, 50]
    assert [len(lua.pop(late, 50, "p")) for _ in range(2)] == [4, 0]
    assert sorted(job["history"][0]["when"] for job in lua.json("peek", late, "q", 3)) == [
        *(150, 151, 152)
    ]


def test_b57_two_workers_and_a_clock_that_steps_back_make_no_run_twice(lua):
    lua("recur", 0, "q", "r", "K", "{}", "interval", 10, 0)

    made = []
    for now, worker in ((100, "a"), (100, "b"), (95, "a"), (60, "b"), (110, "a"), (110, "b")):
        made += [job for job in lua.pop(now, 6, worker=worker) if job["retries"] == 0]
        for job in made:
            if job.pop("worker", None) == worker:
                lua("complete", now, job["jid"], worker, "q", "{}")

    runs = [job["history"][0]["when"] for job in made]
    assert sorted(runs) == list(range(0, 111, 10))
    assert len({job["jid"] for job in made}) == len(made) == 12


def test_b65_dead_workers_are_aged_out_and_the_living_stay(lua, redis):
    now = 100_000
    with redis.pipeline(transaction=False) as pipeline:
        for number in range(5000):
            pipeline.zadd("ql:workers", {f"dead-{number}": number / 1000})
        pipeline.execute()
    lua.put(now, "j")
    lua.pop(now, worker="busy")
    lua.pop(now, worker="idle")

    assert {worker["name"] for worker in lua.json("workers", now)} == {"busy", "idle"}
    for number in range(260):  # as pods come and go
        lua.pop(now + number / 10, worker=f"pod-{number}")
    lua("heartbeat", now + 50, "j", "busy")
    left = redis.zrange("ql:workers", 0, -1)
    assert [name for name in left if name.startswith("dead")] == []
    assert {"busy", "idle"} <= set(left)
    assert lua.json("workers", now, "busy") == {"jobs": ["j"], "stalled": []}


@pytest.mark.parametrize("name", ["w@host.example:12/3", "a,b:c", " ", "jobs", "w:jobs", "ü"])
def test_b65_a_worker_of_any_name_is_listed_deregistered_and_comes_back(lua, name):
    lua.put(1, "j", queue="a,b:c")
    assert lua.popped(2, 1, "a,b:c", name) == ["j"]
    assert lua.json("workers", 3) == [{"name": name, "jobs": 1, "stalled": 0}]

    lua("worker.deregister", 4, name)
    assert lua.json("workers", 5) == []
    lua("heartbeat", 6, "j", name)
    assert lua.json("workers", 7, name) == {"jobs": ["j"], "stalled": []}
    assert lua("complete", 8, "j", name, "a,b:c", "{}") == "complete"

    with lua.refused("BAD_ARGUMENT", '"worker" must be a name, got nothing'):
        lua("worker.deregister", 9)


def test_b55_a_clock_of_others_that_is_ahead_is_told(client, lua, clock):
    assert client.clock_skew() == 0.0
    client.queues["q"].put("K", {}, jid="j")
    client.queues["q"].pop()
    assert client.clock_skew() == 0.0

    lua("pop", clock.now() + HOUR, "q", "fast", 1)
    clock.advance(60)

    assert client.clock_skew() == pytest.approx(HOUR - 60)
