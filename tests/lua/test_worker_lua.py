from __future__ import annotations

import json


def test_workers_are_listed_the_most_recent_first(lua):
    for number, worker in enumerate(["one", "two", "three"]):
        lua.put(number, f"j-{number}", queue=worker)
        lua.pop(10 + number * 40, queue=worker, worker=worker)

    assert lua.json("workers", 91) == [
        {"name": "three", "jobs": 1, "stalled": 0},
        {"name": "two", "jobs": 1, "stalled": 0},
        {"name": "one", "jobs": 0, "stalled": 1},
    ]
    assert lua.json("workers", 91, "one") == {"jobs": [], "stalled": ["j-0"]}
    assert lua.json("workers", 91, "two") == {"jobs": ["j-1"], "stalled": []}
    assert lua.json("workers", 91, "nobody") == {"jobs": [], "stalled": []}


def test_b14_no_workers(lua):
    assert lua("workers", 1) == "[]"


def test_a_worker_not_seen_for_long_is_left_out_without_a_write(lua):
    lua.put(1, "j")
    lua.pop(10, worker="old")
    before = lua.stored()

    assert [worker["name"] for worker in lua.json("workers", 86409)] == ["old"]
    assert lua.json("workers", 86410) == []
    assert lua.json("workers", 86410, "old") == {"jobs": [], "stalled": []}
    assert lua.stored() == before


def test_silent_workers_are_forgotten_when_a_new_one_is_heard_of(lua, redis):
    lua("config.set", 1, "max-worker-age", 100)
    lua.put(1, "j", queue="elsewhere")
    lua.pop(10, queue="elsewhere", worker="old")

    lua.pop(109, worker="new")
    assert redis.zrange("ql:workers", 0, -1) == ["old", "new"]
    lua.pop(110, worker="newer")

    assert redis.zrange("ql:workers", 0, -1) == ["new", "newer"]
    assert redis.exists("ql:w:old:jobs") == 0


def test_b65_a_deregistered_worker_comes_back_when_it_is_heard_of(lua):
    lua.put(1, "j")
    lua.pop(10, worker="w")

    assert lua("worker.deregister", 11, "w", "unknown") is None
    assert lua.json("workers", 12) == []
    assert lua.json("workers", 12, "w") == {"jobs": ["j"], "stalled": []}

    lua("heartbeat", 13, "j", "w")
    assert lua.json("workers", 14) == [{"name": "w", "jobs": 1, "stalled": 0}]


def test_deregistering_drops_what_the_worker_does_not_run(lua, redis):
    lua.put(1, "j")
    lua.pop(10, worker="w")
    redis.zadd("ql:w:w:jobs", {"gone": 5})

    lua("worker.deregister", 11, "w")

    assert redis.zrange("ql:w:w:jobs", 0, -1) == ["j"]


def info(started=5, state="running", **told):
    return json.dumps({"started": started, "state": state, **told}, separators=(",", ":"))


def test_a_worker_tells_of_itself_and_is_kept_as_it_told(lua, redis):
    told = '{"host":"web-3","queues":[],"started":12345678.123456789,"state":"running","x":{}}'

    with lua.hearing() as heard:
        assert lua("worker.beat", 10, "w", told) is None

    assert heard == []
    assert redis.get("ql:w:w:info") == told
    assert redis.ttl("ql:w:w:info") == 86400
    assert lua.json("workers", 11) == [{"name": "w", "jobs": 0, "stalled": 0}]
    assert lua.json("worker.info", 11, "w", "nobody") == [
        {"name": "w", "seen": 10, "asked": None, "info": json.loads(told)},
        {"name": "nobody", "seen": None, "asked": None, "info": None},
    ]


def test_a_worker_is_asked_until_it_obeys(lua, redis):
    lua("worker.beat", 10, "w", info())

    with lua.hearing() as heard:
        assert lua("worker.ask", 11, "w", "pause") is None

    assert heard == []
    assert 290 < redis.ttl("ql:w:w:asked") <= 300
    assert lua.json("worker.info", 11, "w")[0]["asked"] == "pause"
    assert lua("worker.beat", 13, "w", info()) == "pause"
    assert lua("worker.beat", 16, "w", info()) == "pause"
    assert lua("worker.beat", 19, "w", info(state="paused")) is None
    assert redis.exists("ql:w:w:asked") == 0
    assert lua("worker.beat", 22, "w", info()) is None


def test_the_last_request_counts(lua):
    lua("worker.beat", 10, "w", info(state="paused"))
    for request in ("pause", "resume", "stop"):
        lua("worker.ask", 11, "w", request)

    assert lua("worker.beat", 13, "w", info(state="paused")) == "stop"
    assert lua("worker.beat", 16, "w", info(state="stopping")) is None


def test_a_process_that_comes_later_under_the_same_name_is_not_meant(lua, redis):
    lua("worker.beat", 10, "host-1", info(started=5.25))
    lua("worker.ask", 11, "host-1", "stop")
    redis.set("ql:w:host-1:info", info(started=12))
    assert lua.json("worker.info", 12, "host-1")[0]["asked"] is None

    assert lua("worker.beat", 13, "host-1", info(started=12)) is None

    assert redis.exists("ql:w:host-1:asked") == 0


def test_who_tells_nothing_of_itself_cannot_be_asked(lua):
    lua.pop(1, worker="other client")

    with lua.refused("WORKER_NOT_FOUND", "Worker other client is not known"):
        lua("worker.ask", 2, "other client", "stop")


def test_b65_a_worker_that_is_busy_for_long_stays_on_the_list(lua, redis):
    lua("config.set", 1, "max-worker-age", 100)
    lua.put(1, "j")
    lua.pop(1, worker="w-0")
    children = [{"name": "w-0"}, {"name": "never seen"}, {"name": 5}, "nonsense"]

    for now in range(10, 400, 30):
        lua("worker.beat", now, "w", info(children=children))
        lua.pop(now, queue="empty", worker=f"new-{now}")

    assert {"w", "w-0"} <= {worker["name"] for worker in lua.json("workers", 400)}
    assert redis.zscore("ql:workers", "never seen") is None
    assert lua.json("workers", 400, "w-0")["stalled"] == ["j"]


def test_b65_a_beat_forgets_some_of_those_that_are_silent(lua, redis):
    redis.zadd("ql:workers", {f"dead-{number:04}": 1 for number in range(5_000)})
    for kind in ("jobs", "info", "asked"):
        redis.set(f"ql:w:dead-0000:{kind}", "x")
    redis.zadd("ql:workers", {"alive": 90_000})

    for beat in range(250):
        lua("worker.beat", 90_000 + beat * 3, "w", info())

    assert redis.zrange("ql:workers", 0, -1) == ["alive", "w"]
    assert redis.keys("ql:w:dead*") == []


def test_a_worker_that_was_silent_itself_is_not_forgotten_by_its_beat(lua):
    lua("worker.beat", 10, "w", info())

    lua("worker.beat", 500_000, "w", info())

    assert [worker["name"] for worker in lua.json("workers", 500_001)] == ["w"]


def test_b65_deregistering_a_worker_that_lives_is_undone_by_its_next_beat(lua, redis):
    lua("worker.beat", 10, "a,b:c", info())
    lua("worker.ask", 11, "a,b:c", "pause")

    lua("worker.deregister", 12, "a,b:c")

    assert redis.keys("ql:w:*") == []
    assert lua.json("workers", 12) == []
    assert lua("worker.beat", 13, "a,b:c", info()) is None
    assert [worker["name"] for worker in lua.json("workers", 14)] == ["a,b:c"]


def test_what_others_left_under_the_keys_of_a_worker_is_not_shown(lua, redis):
    redis.lpush("ql:w:w:info", "a list")
    redis.lpush("ql:w:w:asked", "a list")
    redis.set("ql:w:x:info", '{"pid":NaN}')
    redis.set("ql:w:x:asked", "nonsense")

    assert [worker["info"] for worker in lua.json("worker.info", 1, "w", "x")] == [None, None]
    redis.delete("ql:w:x:info")
    lua("worker.beat", 2, "x", info())
    assert redis.exists("ql:w:x:asked") == 0


def test_an_age_that_makes_no_sense_harms_nobody(lua, redis):
    for age, kept in (("-5", 60), ("1e300", 1_000_000_000), ("nonsense", 86_400)):
        lua("config.set", 1, "max-worker-age", age)
        lua("worker.beat", 10, "w", info())

        assert redis.ttl("ql:w:w:info") == kept


def test_b65_one_sign_of_life_forgets_a_bounded_number(lua, redis):
    redis.zadd("ql:workers", {f"dead-{number:02}": number for number in range(50)})

    lua.pop(90_000, worker="new")
    assert redis.zcard("ql:workers") == 31
    lua.pop(90_001, worker="new")
    assert redis.zcard("ql:workers") == 31
    lua.pop(90_002, worker="newer")

    assert redis.zrange("ql:workers", 0, -1) == [
        *(f"dead-{each}" for each in range(40, 50)),
        "new",
        "newer",
    ]
