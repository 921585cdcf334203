"""The faults of the original script that ours must not have, by their numbers."""

from __future__ import annotations

import pytest
from redis.exceptions import ResponseError

from qless_core.client import Client
from tests.lua.conftest import REFUSAL
from tests.lua.malformed import BAD_CALLS

#: JSON that a decoder and an encoder of Lua would write in another way.
DELICATE = '{"z":[],"o":{},"n":12345678901234567,"f":0.1234567890123456789, "a":[[],{}]}'

DAY = 86400


def failed(lua, now, jid, group="g", queue="q"):
    """Put a job and let it fail."""
    lua.put(now, jid, queue=queue)
    assert lua.popped(now, 1, queue) == [jid]
    lua("fail", now, jid, "w", group, "m")


def test_fault_01_every_command_can_be_called_where_globals_are_forbidden(lua):
    answers = [answer(lua, command) for command in BAD_CALLS]

    assert [text for text in answers if text and not REFUSAL.fullmatch(text)] == []


def answer(lua, command):
    """Call a command without arguments; answers what it is refused with, or "" if it is not."""
    try:
        lua(command, 1)
    except ResponseError as error:
        return str(error)
    return ""


def test_fault_02_heartbeat_and_fail_keep_user_data_byte_for_byte(lua, redis):
    lua.put(1, "j", data=DELICATE)
    lua.pop(2)

    for given in ("[]", '{"b":1,"a":[]}', DELICATE):
        lua("heartbeat", 3, "j", "w", given)
        assert redis.hget("ql:j:j", "data") == lua.job("j")["data"] == given
    lua("heartbeat", 4, "j", "w")
    assert redis.hget("ql:j:j", "data") == DELICATE
    lua("fail", 5, "j", "w", "g", "m", '{"l":[], "n":98765432109876543}')
    assert redis.hget("ql:j:j", "data") == '{"l":[], "n":98765432109876543}'


def test_fault_03_looking_moves_spawns_and_forgets_nothing(lua, redis):
    lua.put(1, "lost")
    lua.pop(1, worker="of-old")
    with redis.pipeline(transaction=False) as pipeline:
        for number in range(2000):
            jid = f"due-{number}"
            pipeline.hset(f"ql:j:{jid}", mapping={"jid": jid, "state": "scheduled", "queue": "q"})
            pipeline.zadd("ql:q:q-scheduled", {jid: 6})
        pipeline.execute()
    lua("recur", 1, "q", "r", "K", "{}", "interval", 10, 0)
    redis.zadd("ql:tracked", {"gone": 1})
    before = lua.stored()

    now = 10 * DAY
    for call in (
        ("queues", now),
        ("queues", now, "q"),
        ("peek", now, "q", 50),
        ("length", now, "q"),
        *(
            ("jobs", now, state, "q")
            for state in ("running", "stalled", "scheduled", "depends", "recurring")
        ),
        ("jobs", now, "complete"),
        ("workers", now),
        ("workers", now, "of-old"),
        ("track", now),
        ("get", now, "due-1"),
        ("failed", now),
        ("stats", now, "q", now),
        ("tag", now, "top"),
    ):
        redis.config_resetstat()
        lua(*call)
        calls = sum(each["calls"] for each in redis.info("commandstats").values())
        assert calls < 600, call  # peek reads a few parts of each job; nothing reads 2,000
    assert lua.stored() == before


def test_fault_04_taking_many_out_of_a_failure_group_is_linear(lua, redis):
    jids = [f"j-{number:05}" for number in range(12_000)]
    with redis.pipeline(transaction=False) as pipeline:
        for jid in jids:
            failure = '{"group":"g","message":"m","when":1,"worker":""}'
            job = {"jid": jid, "state": "failed", "queue": "q", "failure": failure, "tags": "[]"}
            pipeline.hset(f"ql:j:{jid}", mapping=job)
        pipeline.lpush("ql:f:g", *jids)
        pipeline.sadd("ql:failures", "g")
        pipeline.execute()
    # Every second one, so that no end of the list gives any of them for nothing.
    leaving = jids[1::2]
    redis.config_resetstat()

    for start in range(0, len(leaving), 100):
        chunk = leaving[start : start + 100]
        pairs = [part for jid in chunk for part in (jid, "failed")]
        action = ("bulk.move", 2, "g", "q") if start % 200 else ("bulk.cancel", 2, "g")
        assert lua.json(*action, *pairs)["done"] == chunk

    calls = {name: each["calls"] for name, each in redis.info("commandstats").items()}
    chunks = len(leaving) // 100
    assert calls.get("cmdstat_lrem", 0) <= 2 * chunks
    assert calls.get("cmdstat_lpos", 0) <= 9 * chunks
    assert calls.get("cmdstat_lrange", 0) <= 9 * chunks
    assert redis.lrange("ql:f:g", 0, -1) == jids[-2::-2]


def test_fault_04_any_number_of_jids_works_to_the_end(lua, redis):
    jids = [f"j-{number}" for number in range(9000)]
    with redis.pipeline(transaction=False) as pipeline:
        for number, jid in enumerate(jids):
            job = {"jid": jid, "state": "waiting", "queue": f"q{number % 3}", "tags": "[]"}
            pipeline.hset(f"ql:j:{jid}", mapping=job)
            pipeline.zadd(f"ql:q:q{number % 3}-work", {jid: 0})
        pipeline.execute()

    assert lua("cancel", 2, *jids) == jids
    assert redis.keys("ql:*") == []


def test_fault_05_unfail_forgets_the_failure_and_says_so(lua, redis):
    for jid in ("a", "gone", "b"):
        failed(lua, 5, jid)
    lua("track", 6, "track", "a")
    redis.delete("ql:j:gone")
    assert lua.json("stats", 6, "q", 6)["failed"] == 3

    with lua.hearing() as heard:
        assert lua("unfail", 7, "other", "g") == 2

    assert lua.json("stats", 8, "q", 8)["failed"] == 1  # of the job that is gone
    assert lua.json("stats", 8, "other", 8)["failed"] == 0
    assert [lua.job(jid)["failure"] for jid in "ab"] == [{}, {}]
    assert [lua.job(jid)["state"] for jid in "ab"] == ["waiting", "waiting"]
    put = '{"jid":"%s","event":"put","queue":"other"}'
    assert heard == [["ql:log", put % "a"], ["ql:put", "a"], ["ql:log", put % "b"]]
    assert lua.json("failed", 8) == {}
    assert lua.popped(9, 5, "other") == ["b", "a"]


def test_fault_06_a_recurring_job_made_anew_makes_no_child_over_another(lua):
    lua("recur", 0, "q", "r", "K", '"old"', "interval", 10, 0)
    assert lua.popped(15, 5) == ["r-1", "r-2"]
    lua("unrecur", 16, "r")

    lua("recur", 20, "q", "r", "K", '"new"', "interval", 10, 0)

    assert lua.popped(35, 5) == ["r-3", "r-4"]
    assert [lua.job(f"r-{number}")["data"] for number in (1, 2, 3)] == ['"old"', '"old"', '"new"']
    assert lua.job("r-1")["state"] == "running"


@pytest.mark.parametrize("way", ["put", "depends", "complete"])
def test_fault_07_a_dependency_on_itself_or_in_a_ring_is_refused_by_name(lua, way):
    lua.put(1, "a")
    assert lua.popped(1) == ["a"]
    lua.put(2, "b", "depends", '["a"]')
    lua.put(3, "c", "depends", '["b"]')
    if way != "complete":
        lua("retry", 4, "a", "q", "w")
    calls = {
        "put": lambda jid: lua.put(5, "a", "depends", f'["{jid}"]'),
        "depends": lambda jid: lua("depends", 5, "a", "on", jid),
        "complete": lambda jid: lua(
            "complete", 5, "a", "w", "q", "{}", "next", "q", "depends", f'["{jid}"]'
        ),
    }

    with lua.refused("BAD_ARGUMENT", "cannot depend on itself: a -> a"):
        calls[way]("a")
    with lua.refused("BAD_ARGUMENT", "a -> c -> b -> a"):
        calls[way]("c")


def test_fault_08_a_job_that_goes_takes_all_its_keys(lua, redis):
    lua("config.set", 0, "jobs-history", 100)
    for jid in ("a", "b"):
        lua.put(1, jid, "tags", '["t"]')
        lua("track", 1, "track", jid)
    lua.put(1, "c", "depends", '["a","b"]')
    lua.pop(2)
    lua("complete", 3, "b", "w", "q", "{}")
    assert lua.popped(4) == ["a"]
    lua("cancel", 5, "a", "c")

    # Completing one forgets those that completed long ago.
    lua.put(500, "last")
    lua.pop(501)
    lua("complete", 502, "last", "w", "q", "{}")

    keys = {key for key in redis.keys("ql:*") if not key.startswith("ql:s:")}
    assert keys == {
        *("ql:j:last", "ql:j:last-history", "ql:completed"),
        *("ql:config", "ql:queues", "ql:workers"),
    }


@pytest.mark.parametrize("way", ["cancel", "retag", "untag", "prune"])
def test_fault_08_a_tag_without_jobs_is_forgotten(lua, redis, way):
    lua("config.set", 0, "jobs-history-count", 0)
    lua.put(1, "j", "tags", '["t"]')
    lua.pop(2)
    ends = {
        "cancel": lambda: lua("cancel", 3, "j"),
        "retag": lambda: lua.put(3, "j", "tags", "[]"),
        "untag": lambda: lua("tag", 3, "remove", "j", "t"),
        "prune": lambda: lua("complete", 3, "j", "w", "q", "{}"),
    }

    ends[way]()

    assert redis.exists("ql:tags", "ql:t:t") == 0


def test_fault_08_old_statistics_and_workers_are_forgotten_in_passing(lua, redis):
    lua.put(0, "j")
    lua.pop(1, worker="of-old")
    lua("fail", 2, "j", "of-old", "g", "m")
    lua.put(3, "k")
    lua.pop(4, worker="of-old")

    later = 40 * DAY
    lua.put(later, "i")
    lua.pop(later, 9)
    lua("fail", later, "i", "w", "g", "m")

    days = {int(key.split(":")[3]) for key in redis.keys("ql:s:*")}
    assert days == {later}
    assert redis.zrange("ql:workers", 0, -1) == ["w"]
    assert redis.keys("ql:w:*") in ([], ["ql:w:w:jobs"])


def test_fault_09_changing_the_priority_keeps_the_place_among_equals(lua):
    for now, jid in enumerate("abc"):
        lua.put(1_800_000_000 + now, jid)

    for jid, priority in (("c", 7), ("b", 7), ("a", 7), ("c", 0), ("c", 7)):
        lua("priority", 1_800_000_100, jid, priority)

    assert lua.popped(1_800_000_200, 3) == ["a", "b", "c"]


def test_fault_10_a_timeout_takes_the_job_from_the_set_of_its_worker(lua, redis):
    lua.put(1, "j")
    lua.pop(2)
    assert lua.json("workers", 3, "w") == {"jobs": ["j"], "stalled": []}

    lua("timeout", 3, "j")

    assert redis.exists("ql:w:w:jobs", "ql:q:q-locks") == 0
    assert lua.json("workers", 3, "w") == {"jobs": [], "stalled": []}
    assert lua.popped(4, worker="v") == ["j"]


@pytest.mark.parametrize("way", ["fail", "retry", "exhausted"])
def test_fault_11_a_message_is_stored_up_to_a_limit(lua, redis, way):
    message = "head " + "ü" * 500_000 + " tail"
    lua.put(1, "j", "retries", 0 if way == "exhausted" else 5)
    lua.pop(2)

    with lua.hearing() as heard:
        if way == "fail":
            lua("fail", 3, "j", "w", "g", message)
        else:
            lua("retry", 3, "j", "q", "w", 0, "g", message)

    stored = lua.job("j")["failure"]["message"]
    assert 30_000 < len(stored.encode()) < 32768 + 100
    assert stored.startswith("head ü")
    assert stored.endswith("ü tail")
    assert "bytes cut" in stored
    assert sum(map(len, redis.lrange("ql:j:j-history", 0, -1))) < 1000
    assert all(len(text) < 40_000 for _, text in heard)


def test_fault_11_the_history_keeps_the_first_and_the_newest(lua):
    lua.put(1, "j")
    for number in range(300):
        lua("log", 2 + number, "j", f"note {number}")

    history = lua.job("j")["history"]

    assert len(history) == 100
    assert [item["what"] for item in (history[0], history[1], history[-1])] == [
        *("put", "note 201", "note 299")
    ]


def test_fault_12_a_worker_with_a_wrong_clock_harms_nobody(server, redis, monkeypatch):
    now = redis.time()[0]
    for name, wrong in (("fast", now + 3600), ("slow", now - 3600)):
        monkeypatch.setattr("time.time", lambda wrong=wrong: wrong)
        with Client(server.url, worker_name=name) as client:
            client.queues["q"].put("K", {}, jid=name)
            job = client.queues["q"].pop()

            assert job.jid == name
            assert now + 60 <= redis.zscore("ql:q:q-locks", name) < now + 120
            assert now + 60 <= job.heartbeat() < now + 120
    assert redis.zcard("ql:q:q-locks") == 2


def test_fault_13_jobs_of_a_tag_can_come_open_ones_first(lua):
    lua.put(1, "done", "tags", '["t"]')
    lua.pop(1)
    lua("complete", 1, "done", "w", "q", "{}")
    lua.put(2, "failed", "tags", '["t"]')
    lua.pop(2)
    lua("fail", 2, "failed", "w", "g", "m")
    lua.put(3, "waiting", "tags", '["t"]')

    assert lua.json("tag", 4, "get", "t")["jobs"] == ["done", "failed", "waiting"]
    page = lua.json("tag", 4, "get", "t", 0, 2, "open-first")
    assert page == {"total": 3, "jobs": ["failed", "waiting"]}
    assert lua.json("tag", 4, "get", "t", 2, 2, "open-first")["jobs"] == ["done"]


@pytest.mark.parametrize("state", ["running", "failed", "complete", "waiting"])
def test_fault_14_a_child_is_never_made_over_a_job_that_exists(lua, redis, state):
    lua.put(1, "r-1", queue="other", data='"mine"')
    if state != "waiting":
        lua.pop(1, queue="other")
    if state == "failed":
        lua("fail", 2, "r-1", "w", "g", "m")
    if state == "complete":
        lua("complete", 2, "r-1", "w", "other", '"mine"')
    before = redis.hgetall("ql:j:r-1")

    lua("recur", 3, "q", "r", "K", "{}", "interval", 60, 0)

    assert lua.popped(4) == ["r-2"]
    assert redis.hgetall("ql:j:r-1") == before


def test_fault_15_completing_into_a_next_queue_with_a_delay_schedules(lua, redis):
    lua.put(1, "done", queue="other")
    lua.pop(1, queue="other")
    lua("complete", 1, "done", "w", "other", "{}")

    for jid, options in (("a", ()), ("b", ("depends", '["done"]')), ("c", ("depends", '["gone"]'))):
        lua.put(2, jid)
        lua.pop(3)
        state = lua("complete", 4, jid, "w", "q", "{}", "next", "n", "delay", 50, *options)
        assert state == lua.job(jid, 5)["state"] == redis.hget(f"ql:j:{jid}", "state")
        assert state == "scheduled"
        assert redis.zscore("ql:q:n-scheduled", jid) == 54
        assert redis.zscore("ql:q:n-work", jid) is None

    assert lua.popped(53, 9, "n") == []
    assert sorted(lua.popped(54, 9, "n")) == ["a", "b", "c"]


def test_fault_15_a_delay_beside_dependencies_outlives_them(lua, redis):
    lua.put(1, "first", queue="other")
    lua.put(2, "j")
    lua.pop(3)

    state = lua(
        "complete", 4, "j", "w", "q", "{}", *("next", "n", "delay", 50), "depends", '["first"]'
    )
    assert state == "depends"
    lua.pop(5, queue="other")
    lua("complete", 6, "first", "w", "other", "{}")

    assert lua.job("j", 7)["state"] == "scheduled"
    assert redis.zscore("ql:q:n-scheduled", "j") == 54
    assert lua.popped(53, 1, "n") == []
    assert lua.popped(54, 1, "n") == ["j"]
