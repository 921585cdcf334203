"""Whatever a field of a job says: no command breaks, the others run, and it is shown and mended."""

from __future__ import annotations

import itertools
import json

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from qless_core.embedded import EmbeddedServer
from tests.lua.conftest import REFUSAL, Lua

#: None takes the field away. What is written here in Latin-1 is no UTF-8.
ALWAYS = (None, "", "abc", "\xff\xfe")
NUMBERS = ("nan", "-inf", "1e400", "9" * 400, "-1", "1.5", "1e300", "0x10", "[]")
TEXTS = ("other", "running", "complete", "failed", "5")
JSON = (
    *("{", "[]", "{}", '{"a":1}', '["x",null]', "null", "5", "[[1]]", '{"when":NaN}'),
    *('{"group":5,"when":"x"}', '{"group":"h","when":1e300}', '[{"q":5,"put":"x"}]'),
)

FIELDS = {
    **dict.fromkeys(("jid", "klass", "state", "queue", "worker", "spawned_from_jid"), TEXTS),
    **dict.fromkeys(("priority", "expires", "retries", "remaining", "time"), NUMBERS),
    **dict.fromkeys(("grace", "scheduled"), NUMBERS),
    **dict.fromkeys(("data", "tags", "failure", "history", "throttles"), JSON),
}

PLACES = ("waiting", "scheduled", "running", "depends", "failed", "complete")

READS = (
    ("get", "bad"),
    ("multiget", "first", "bad", "last"),
    ("peek", "q", 9),
    ("queues",),
    ("queues", "q"),
    ("length", "q"),
    *(("jobs", state, "q") for state in ("running", "stalled", "scheduled", "depends")),
    ("jobs", "complete"),
    ("failed",),
    ("failed", "g"),
    ("tag", "get", "t"),
    ("tag", "top"),
    ("track",),
    ("workers",),
    ("workers", "w"),
    ("stats", "q", 100),
    ("bulk.closure", "bad", "dep"),
    ("bulk.states", "g", 0, 9),
)

WRITES = (
    ("heartbeat", "bad", "w"),
    ("timeout", "bad"),
    ("retry", "bad", "q", "w"),
    ("fail", "bad", "w", "g", "m"),
    ("complete", "bad", "w", "q", "{}", "next", "q"),
    ("priority", "bad", 3),
    ("tag", "add", "bad", "u"),
    ("tag", "remove", "bad", "u"),
    ("track", "track", "bad"),
    ("track", "untrack", "bad"),
    ("log", "bad", "note"),
    ("depends", "bad", "on", "dep"),
    ("depends", "bad", "off", "all"),
    ("unfail", "q", "g"),
    ("bulk.move", "", "", "bad", ""),
    ("requeue", "w", "q", "bad", "K", "{}", 0),
    ("put", "w", "q", "last", "K", "{}", 0, "depends", '["bad"]'),
)


@pytest.fixture(scope="module")
def server():
    """Run one server: what is stored is read alike by all of them, and this takes its time."""
    with EmbeddedServer() as server:
        yield server


@pytest.fixture
def lua(server, redis, script):  # noqa: ARG001 - `redis` empties the server
    """Call the script with text that need not be UTF-8."""
    with Redis.from_url(server.url, decode_responses=True, encoding="latin-1") as latin:
        lua = Lua(latin, script)
        yield lua
        lua.close()


def prepare(lua, place):
    """Put a job into a place, between two others that wait in its queue, and track it."""
    lua.redis.flushdb()
    lua("config.set", 0, "grace-period", 0)
    lua.put(1, "dep", queue="elsewhere")
    options = ("depends", '["dep"]') if place == "depends" else ()
    lua.put(1, "bad", "tags", '["t"]', *options, delay=5 if place == "scheduled" else 0)
    lua("track", 1, "track", "bad")
    if place in ("running", "failed", "complete"):
        assert lua.popped(2) == ["bad"]
    if place == "failed":
        lua("fail", 3, "bad", "w", "g", "m")
    if place == "complete":
        lua("complete", 3, "bad", "w", "q", "{}")
    lua.put(4, "first", "priority", 10)
    lua.put(4, "last", "priority", -10)


def spoil(lua, field, value):
    if value is None:
        lua.redis.hdel("ql:j:bad", field)
    else:
        lua.redis.hset("ql:j:bad", field, value)


def ask(lua, call):
    """Make a call that may be refused; answers any other error, or ""."""
    try:
        lua(*call)
    except ResponseError as error:
        return "" if REFUSAL.fullmatch(str(error)) else f"{call}: {error}"
    return ""


def strict(text):
    """Read JSON as readers do that know neither NaN nor infinities."""
    return json.loads(text, parse_constant=pytest.fail)


def cases(field):
    return itertools.product(PLACES, (*ALWAYS, *FIELDS[field]))


@pytest.mark.parametrize("field", FIELDS)
def test_reads_answer_json_and_write_nothing(lua, field):
    for place, value in cases(field):
        prepare(lua, place)
        spoil(lua, field, value)
        before = lua.stored()

        for name, *args in READS:
            reply = lua(name, 100, *args)
            if isinstance(reply, str) and reply[:1] in "[{":
                strict(reply)
        assert lua.stored() == before, (place, value)


@pytest.mark.parametrize("field", FIELDS)
def test_one_pop_hands_out_all_the_others(lua, field):
    for place, value in cases(field):
        prepare(lua, place)
        spoil(lua, field, value)

        popped = strict(lua("pop", 100, "q", "v", 9))
        assert {"first", "last"} <= {job["jid"] for job in popped}, (place, value)
        lua("pop", 200, "q", "v", 9)
        for name, *args in WRITES:
            assert ask(lua, (name, 201, *args)) == "", (place, value)
            spoil(lua, field, value)
        lua("pop", 300, "q", "v", 9)
        for job in ("first", "dep"):
            assert lua.job(job, 301)["jid"] == job


@pytest.mark.parametrize("field", FIELDS)
def test_putting_it_again_mends_it(lua, field):
    for place, value in cases(field):
        prepare(lua, place)
        spoil(lua, field, value)

        lua("put", 100, "me", "p", "bad", "K", "[]", 0, "priority", 1, "tags", "[]", "retries", 2)
        lua("depends", 101, "bad", "on", "dep")
        lua("depends", 101, "bad", "off", "all")
        assert "bad" not in lua.popped(102, 9, "q"), (place, value)
        assert lua.popped(102, 9, "p") == ["bad"], (place, value)
        assert lua("complete", 103, "bad", "w", "p", "[]") == "complete"
        job = lua.job("bad", 104)
        assert (job["state"], job["tags"], job["failure"]) == ("complete", [], {})
        lua("unfail", 105, "q", "g")
        assert lua.json("failed", 106) == {}


@pytest.mark.parametrize("field", FIELDS)
def test_canceling_it_leaves_nothing(lua, field):
    for place, value in cases(field):
        prepare(lua, place)
        spoil(lua, field, value)
        stored = lua.redis.hget("ql:j:bad", "state")

        assert lua("cancel", 100, "bad") == ["bad"]

        assert stored == "complete" or lua.redis.keys("ql:j:bad*") == [], (place, value)
        assert {"first", "last"} <= set(lua.popped(101, 9))
        assert "bad" not in lua.popped(102, 9) or stored == "complete"


RECURRING = {
    **dict.fromkeys(("jid", "klass", "state", "queue", "type"), TEXTS),
    **dict.fromkeys(("priority", "count", "interval", "retries", "backlog"), NUMBERS),
    **dict.fromkeys(("data", "tags", "throttles"), JSON),
    **dict.fromkeys(("cron", "timezone"), TEXTS),
}


@pytest.mark.parametrize("field", RECURRING)
def test_a_recurring_job_that_is_wrong_stops_neither_jobs_nor_the_other_ones(lua, field):
    for value in (*ALWAYS, *RECURRING[field]):
        lua.redis.flushdb()
        lua("recur", 1, "q", "bad", "K", "{}", "interval", 60, 0, "tags", '["t"]', "priority", 2)
        lua("recur", 2, "q", "good", "K", "{}", "interval", 60, 0)
        lua.put(3, "j")
        if value is None:
            lua.redis.hdel("ql:r:bad", field)
        else:
            lua.redis.hset("ql:r:bad", field, value)

        assert {"good-1", "j"} <= {job["jid"] for job in strict(lua("peek", 10, "q", 50))}, value
        strict(lua("recur.get", 10, "bad") or "{}")
        strict(lua("queues", 10))
        lua("jobs", 10, "recurring", "q")
        popped = {job["jid"] for job in strict(lua("pop", 11, "q", "w", 50))}
        assert {"good-1", "j"} <= popped, value
        assert len(popped) < 10, value
        for jid in popped:
            assert lua("complete", 12, jid, "w", "q", "{}") == "complete"
        for name, *args in (
            ("recur.tag", "bad", "u"),
            ("recur.untag", "bad", "u"),
            ("recur.update", "bad", "priority", 1, "backlog", 2),
            ("recur.update", "bad", "interval", 30),
            ("recur.update", "bad", "queue", "q"),
        ):
            assert ask(lua, (name, 13, *args)) == "", value
        lua("recur", 14, "q", "bad", "K", "{}", "interval", 60, 0)
        assert any(job["spawned_from_jid"] == "bad" for job in strict(lua("pop", 15, "q", "w", 5)))
        assert lua("unrecur", 16, "bad") == 1
        assert lua("jobs", 17, "recurring", "q") == ["good"]
