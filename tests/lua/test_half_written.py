"""A write that fails half way: something else lies under a key that many jobs share.

Whatever is called, and wherever it breaks, each job is in a set afterwards where a pop or the audit
finds it.
"""

from __future__ import annotations

from collections import defaultdict

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from tests.model.driver import DUMP, read

#: State -> how the key of the set ends that holds the job.
SETS = {
    "waiting": "-work",
    "stalled": "-work",
    "running": "-locks",
    "scheduled": "-scheduled",
    "depends": "-depends",
    "throttled": "-throttled",
}
#: What jobs share; each is something else for the length of one call.
SHARED = [
    *(f"ql:q:{queue}{end}" for queue in ("q", "next") for end in sorted(set(SETS.values()))),
    *(f"ql:q:{queue}{end}" for queue in ("q", "next") for end in ("-recur", "-cron", "-awaited")),
    *("ql:q:q-waited", "ql:w:w:jobs", "ql:tracked", "ql:completed", "ql:failures", "ql:f:g"),
    *("ql:f:h", "ql:f:audit", "ql:f:failed-retries-q", "ql:tags", "ql:t:x", "ql:queues"),
    *("ql:workers", "ql:crons", "ql:paused_queues", "ql:config", "ql:th:t", "ql:th:t-locks"),
    *("ql:th:t-pending", "ql:s:stats:0:q", "ql:s:wait:0:q", "ql:s:run:0:q", "ql:cron-runs:cron"),
    *("ql:j:parent-dependents", "ql:j:free-dependents"),
]

#: Called once each, at second 20.
CALLS = [
    *(("put", "w", "q", jid, "K", "{}", 0) for jid in ("new", "free", "parent", "later", "child")),
    *(("put", "w", "q", jid, "K", "{}", 0) for jid in ("failed", "done", "held", "kept")),
    *(("put", "w", "next", jid, "K", "{}", 0) for jid in ("free", "parent", "failed", "kept")),
    *(("put", "w", "q", jid, "K", "{}", 9) for jid in ("new", "free", "parent", "later")),
    *(("put", "w", "q", jid, "K", "{}", 0, "depends", '["free"]') for jid in ("new", "failed")),
    ("put", "w", "next", "child", "K", "{}", 0, "depends", '["free"]', "tags", '["y"]'),
    ("put", "w", "q", "new", "K", "{}", 0, "throttles", '["t"]', "tags", '["x"]'),
    ("put", "w", "q", "free", "K", "{}", 0, "throttles", '["t"]', "priority", 5),
    ("put.new", "w", "q", "failed", "K", "{}", 0),
    ("requeue", "w", "q", "done", "K", "{}", 0),
    ("bulk.put", "w", "q", 0, "new", "K", "{}", 0, 0, "free", "K", "{}", 3, 0),
    ("pop", "q", "w", 1),
    ("pop", "q", "w", 50),
    ("complete", "parent", "w", "q", "{}"),
    ("complete", "held", "w", "q", "{}"),
    ("complete", "parent", "w", "q", "{}", "next", "q"),
    ("complete", "parent", "w", "q", "{}", "next", "next", "delay", 9),
    ("complete", "parent", "w", "q", "{}", "next", "next", "depends", '["free"]'),
    ("bulk.complete", "w", "", 0, "parent", "q", "{}", "held", "q", "{}"),
    ("bulk.complete", "w", "next", 0, "parent", "q", "{}", "held", "q", "{}"),
    ("complete.pop", "q", 5, "parent", "w", "q", "{}"),
    ("turn", "w", 5, 1, "q", "parent", "q", "{}"),
    ("once", "request", "complete", "parent", "w", "q", "{}"),
    ("fail", "parent", "w", "h", "m"),
    ("fail", "held", "w", "g", "m"),
    ("retry", "parent", "q", "w"),
    ("retry", "held", "q", "w", 9, "h", "m"),
    ("retry", "last", "q", "w"),
    ("retry", "last", "q", "w", 0, "h", "m"),
    ("giveback", "held", "w", 0, "died", "{}"),
    ("giveback", "last", "w", 1, "died", "{}", "h", "m"),
    ("timeout", "parent", "held"),
    ("heartbeat", "parent", "w"),
    ("cancel", "parent", "child", "late"),
    ("cancel", "free", "failed", "kept", "later", "held"),
    ("bulk.cancel", "g", "failed", ""),
    ("bulk.move", "", "next", "free", "", "parent", "", "later", "", "child", "", "kept", ""),
    ("bulk.move", "g", "", "failed", ""),
    ("unfail", "next", "g", 25),
    ("depends", "child", "off", "all"),
    ("depends", "late", "off", "parent"),
    *(("depends", jid, "on", "parent") for jid in ("free", "later", "kept")),
    ("tag", "add", "free", "x", "y"),
    ("tag", "remove", "free", "x"),
    ("track", "track", "free"),
    ("priority", "free", 7),
    ("priority", "kept", 7),
    ("throttle.set", "t", 0),
    ("throttle.release", "t", "held", "kept"),
    ("throttle.delete", "t"),
    ("queue.throttle.set", "q", 2),
    ("recur", "next", "clock", "K", "{}", "interval", 60, 0),
    ("recur", "next", "cron", "K", "{}", "interval", 60, 0),
    ("recur", "next", "new", "K", "{}", "interval", 60, 0),
    ("recur.update", "clock", "queue", "next", "interval", 9),
    ("recur.update", "cron", "queue", "next"),
    ("cron", "next", "cron", "K", "{}", "* * * * *", "UTC", "[60,120]"),
    ("cron", "next", "clock", "K", "{}", "* * * * *", "UTC", "[60,120]"),
    ("cron", "next", "new", "K", "{}", "* * * * *", "UTC", "[60,120]"),
    ("cron.refill", "cron", "* * * * *", "UTC", 600, "[660]"),
    ("recur.pause", "clock"),
    ("recur.pause", "cron"),
    ("recur.run", "clock"),
    ("recur.run", "cron"),
    ("reschedule", "delay", 5, "later"),
    ("edit", "later", "data", "", "[1]"),
    ("unrecur", "clock"),
    ("unrecur", "cron"),
    ("worker.deregister", "w"),
    ("queue.forget", "q"),
    *(
        ("audit.repair", "in-no-place", how, '["job","lost"]')
        for how in ("requeue", "fail", "delete")
    ),
    ("audit.repair", "waits-for-gone", "clean", '["entry","dependencies","stuck","gone"]'),
    ("audit.repair", "waits-for-gone", "fail", '["entry","dependencies","stuck","gone"]'),
    *(
        ("audit.repair", "wrong-place", how, '["entry","work","next","astray"]')
        for how in ("clean", "requeue", "fail")
    ),
    ("audit.repair", "odd-data", "fail", '["job","odd"]'),
]
#: Called when all that waits is due, and all locks are past: at second 200.
LATE = [
    ("pop", "q", "other", 50),
    ("pop", "q", "other", 1),
    ("wait.pop", "w", 9, "", "g", "all", "q"),
]


@pytest.fixture
def world(lua, redis):
    """Make a job of every sort; answers what is stored, to be put back."""
    lua("config.set", 0, "grace-period", 0)
    lua("throttle.set", 0, "t", 1)
    lua.put(1, "parent", "priority", 9)
    lua.put(1, "held", "priority", 9, "throttles", '["t"]')
    lua.put(1, "last", "priority", 9, "retries", 0)
    for jid in ("failed", "done"):
        lua.put(1, jid, "priority", 8, "tags", '["x"]')
    lua.pop(2, 5)
    lua("fail", 3, "failed", "w", "g", "m")
    lua("complete", 3, "done", "w", "q", "{}")
    lua.put(4, "kept", "throttles", '["t"]', "priority", 1)
    lua.put(4, "free", "tags", '["x"]')
    lua.put(4, "later", delay=30)
    lua.put(4, "child", "depends", '["parent"]')
    lua.put(4, "late", "depends", '["parent"]', delay=50)
    lua.put(4, "stuck", "depends", '["parent"]')
    redis.sadd("ql:j:stuck-dependencies", "gone")
    redis.srem("ql:j:stuck-dependencies", "parent")
    redis.srem("ql:j:parent-dependents", "stuck")
    for jid in ("lost", "astray", "odd"):
        lua.put(4, jid)
    redis.zrem("ql:q:q-work", "lost", "astray")
    redis.zadd("ql:q:next-work", {"astray": 0})
    redis.hset("ql:j:odd", "data", "{")
    lua("recur", 4, "q", "clock", "K", "{}", "interval", 60, 0)
    lua("cron", 4, "q", "cron", "K", "{}", "* * * * *", "UTC", "[60,600]")
    lua("track", 4, "track", "parent")
    redis.set("ql:q:q-waited", "0")
    assert lua.job("kept")["state"] == "throttled"
    return {key: redis.dump(key) for key in redis.scan_iter("ql:*")}


@pytest.fixture
def redis(server):
    """Connect so that what is dumped comes back as it is."""
    with Redis.from_url(
        server.url, decode_responses=True, encoding_errors="surrogateescape"
    ) as redis:
        redis.flushall()
        yield redis


def lost(stored):
    """List the jobs that no pop and no audit finds in a set."""
    places = defaultdict(set)
    for key, members in stored.items():
        if key.startswith(("ql:q:", "ql:f:")) or key == "ql:completed":
            for jid in members:
                places[jid].add(key)
    for key, fields in stored.items():
        if key.startswith(("ql:j:", "ql:r:", "ql:cron:")) and "jid" in fields:
            found = places[fields["jid"]]
            if not (is_found if key.startswith("ql:j:") else recurs)(fields, found):
                yield f"{fields['jid']} is {fields['state']}, but in {found}"


def recurs(fields, places):
    end = "-cron" if fields["type"] == "cron" else "-recur"
    return any(place.endswith(end) for place in places)


def is_found(fields, places):
    state = fields["state"]
    if state == "failed":
        return f"ql:f:{fields['failure']['group']}" in places
    if state == "complete":
        return "ql:completed" in places
    # A lock of a job that does not run is dropped when it is past.
    others = [place for place in places if place.endswith(tuple(set(SETS.values()) - {"-locks"}))]
    return f"ql:q:{fields['queue']}{SETS[state]}" in places or bool(others)


def put_back(redis, world):
    redis.flushdb()
    with redis.pipeline(transaction=False) as pipe:
        for name, content in world.items():
            pipe.restore(name, 0, content)
        pipe.execute()


def broken_off(lua, redis, world, key, now, call):
    """Make a call while a key holds something else; answers whether that broke it."""
    put_back(redis, world)
    if key in world:
        redis.rename(key, "aside")
    if key.endswith("-waited"):
        redis.hset(key, "x", "y")
    else:
        redis.set(key, "x")
    command, *arguments = call
    try:
        lua(command, now, *arguments)
    except ResponseError as error:
        return "WRONGTYPE" in str(error)
    finally:
        redis.delete(key)
        if key in world:
            redis.rename("aside", key)
    return False


@pytest.mark.parametrize(
    ("now", "call"),
    [*((20, call) for call in CALLS), *((200, call) for call in LATE)],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else str(value),
)
def test_what_breaks_half_way_leaves_each_job_where_it_is_found(lua, redis, world, now, call):
    put_back(redis, world)
    lua(call[0], now, *call[1:])  # it is carried out when nothing is in its way

    found = []
    for key in SHARED:
        broken_off(lua, redis, world, key, now, call)
        stored = {name: read(name, kind, content) for name, kind, content in redis.eval(DUMP, 0)}
        found += [f"{key}: {each}" for each in lost(stored) if "lost is waiting" not in each]

    assert found == []


#: Figures keep no job from its way, nor do tags and the mark of a queue; of jobs that the audit
#: cannot fail its reply tells; no job runs in `next`.
HARMLESS = {
    *("ql:s:stats:0:q", "ql:s:wait:0:q", "ql:s:run:0:q", "ql:tags", "ql:t:x"),
    *("ql:q:q-waited", "ql:f:audit", "ql:q:next-locks"),
}


def test_each_of_these_keys_breaks_some_call(lua, redis, world):
    broken = {
        key for key in SHARED if any(broken_off(lua, redis, world, key, 20, call) for call in CALLS)
    }

    assert set(SHARED) - broken == HARMLESS
