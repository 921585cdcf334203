from __future__ import annotations


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
