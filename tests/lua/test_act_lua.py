"""One thing done to a frozen list of jobs: what is done, what is left, and how it is undone."""

from __future__ import annotations

import json

import pytest

#: What an operation does, with what its hash says about it.
ACTIONS = {
    "retry": {},
    "move": {"queue": "other"},
    "cancel": {},
    "priority": {"value": "7"},
    "tag": {"tags": '["new"]'},
    "untag": {"tags": '["old"]'},
    "time_out": {},
    "untrack": {},
}

#: For each action, which of the odd jobs of the group are left out, and why; the others are done.
LEFT = {
    "retry": {"ghost": "gone", "bad": "unreadable", "moved": "running"},
    "move": {"ghost": "gone", "bad": "unreadable", "moved": "running"},
    "cancel": {
        "ghost": "gone",
        "bad": "unreadable",
        "moved": "running",
        "needed": "dependents",
    },
    "priority": {"ghost": "gone", "moved": "running"},
    "tag": {"ghost": "gone", "moved": "running"},
    "untag": {"ghost": "gone", "moved": "running"},
    "time_out": {"ghost": "gone", "moved": "running"} | dict.fromkeys(("bad",), "failed"),
    "untrack": {"ghost": "gone", "moved": "running"},
}

HUNDRED = 100


@pytest.fixture
def act(lua, redis):
    """Run operations."""
    return Acts(lua, redis)


class Acts:
    def __init__(self, lua, redis):
        self.lua = lua
        self.redis = redis

    def freeze(self, action, *jids, group=None, op="op", **said):
        """List the jobs of an operation; answers how many there are."""
        form = "jids" if group is None else "group"
        fields = {"action": action, "form": form, "state": "queued", "run": 1, "at": 0}
        fields |= {"keep": 1000, "lasts": 1000, "group": group or "", **said}
        self.redis.hset(f"ql:web:operation:{op}", mapping=fields)
        if group is None:
            total = self.lua("operation.freeze", 50, op, "jids", *jids)
        else:
            total = self.lua.json("operation.freeze", 50, op, "group", group, "", 0)["size"]
        self.redis.hset(f"ql:web:operation:{op}", "total", total)
        return total

    def run(self, op="op", count=7, now=60):
        """Do it all, in steps; answers the last reply."""
        while True:
            found = self.lua.json("operation.step", now, op, 1, count, 1)
            if found["state"] != "running":
                return found

    def undo(self, op="op", now=70):
        total = self.redis.hget(f"ql:web:operation:{op}", "total")
        fields = {"action": "undo", "of": op, "state": "queued", "run": 1, "at": 0, "total": total}
        form = self.redis.hget(f"ql:web:operation:{op}", "form")
        self.redis.hset("ql:web:operation:back", mapping={**fields, "form": form})
        self.redis.copy(f"ql:web:operation:{op}:list", "ql:web:operation:back:list")
        return self.run("back", now=now)

    def left(self, op="op"):
        """Give the jobs that were left alone, each with the reason."""
        names = self.redis.lrange(f"ql:web:operation:{op}:list", 0, -1)
        if op != "back":
            names.reverse()
        form = self.redis.hget(f"ql:web:operation:{op}", "form")
        jids = names if form == "group" else [name[1:] for name in names]
        found = {}
        for text in self.redis.lrange(f"ql:web:operation:{op}:report", 0, -1):
            told = json.loads(text)
            found |= {jids[told["from"] + int(at)]: why for at, why in told["left"].items()}
        return found

    def jobs(self):
        """Read all that is stored of jobs and queues."""
        read = {
            "hash": self.redis.hgetall,
            "list": lambda key: self.redis.lrange(key, 0, -1),
            "set": self.redis.smembers,
            "zset": lambda key: dict(self.redis.zrange(key, 0, -1, withscores=True)),
        }
        keys = [key for key in self.redis.scan_iter() if not key.startswith("ql:web:")]
        return {key: read[self.redis.type(key)](key) for key in sorted(keys)}

    def fail(self, *jids, now=10, group="g", queue="q", **options):
        for jid in jids:
            self.lua.put(now, jid, "priority", "1000", "tags", '["old"]', queue=queue, **options)
            assert self.lua.popped(now, queue=queue) == [jid]
            self.lua("priority", now, jid, 0)
            self.lua("fail", now, jid, "w", group, "m\n  line 2")


@pytest.fixture
def group(act, lua, redis):
    """Fail a hundred jobs, five of them odd, and track them all."""
    plain = [f"plain-{number}" for number in range(HUNDRED - 5)]
    act.fail(*plain[:50], "ghost", "bad", "moved", "needed")
    act.fail("forgotten", queue="forgotten")
    act.fail(*plain[50:])
    for jid in [*plain, "bad", "needed", "forgotten"]:
        lua("track", 20, "track", jid)
    redis.delete("ql:j:ghost")
    redis.delete("ql:j:bad-history")
    redis.set("ql:j:bad-history", b"\xff\xfe")
    lua.put(20, "waits", "depends", '["needed"]', queue="later")
    lua("queue.forget", 20, "forgotten")
    return [*plain[:50], "ghost", "bad", "moved", "needed", "forgotten", *plain[50:]]


@pytest.mark.parametrize("action", list(ACTIONS))
def test_of_a_group_with_odd_jobs_each_is_done_or_left_with_its_reason(
    act, lua, redis, group, action
):
    said = ACTIONS[action]
    assert act.freeze(action, group="g", **said) == HUNDRED
    lua("unfail", 55, "q", "other-group", 1)
    lua("bulk.move", 55, "g", "q", "moved", "failed")
    assert lua.popped(56, queue="q") == ["moved"]

    looked = lua.json("operation.look", 57, "op", 0, 500)
    last = act.run()

    left = act.left()
    assert left == LEFT[action] | (
        dict.fromkeys(set(group) - {"ghost", "moved"}, "failed") if action == "time_out" else {}
    )
    assert last["state"] == "done"
    assert last["at"] == HUNDRED
    told = redis.hgetall("ql:web:operation:op")
    assert int(told["done"]) == HUNDRED - len(left)
    assert int(told["skipped"]) == len(left)
    foreseen = {why for jid, why in left.items() if jid != "bad"}
    assert set(looked["left"]) | {"gone"} >= foreseen


def test_what_is_looked_at_is_counted_by_class_and_queue(act, lua, group):
    act.freeze("cancel", group="g")

    found = lua.json("operation.look", 57, "op", 0, 500)

    assert found["looked"] == len(group)
    assert found["fits"] == len(group) - 2
    assert found["left"] == {"gone": 1, "dependents": 1}
    assert found["classes"] == {"K": len(group) - 2}
    assert found["queues"] == {"q": len(group) - 3, "forgotten": 1}
    assert found["odd"] == [["ghost", "gone"], ["needed", "dependents"]]


@pytest.mark.parametrize("action", ["cancel", "priority", "tag", "untrack"])
def test_undone_everything_is_as_it_was_before(act, lua, action):
    lua.put(5, "first", queue="later", data="[1.10]")
    lua.put(6, "waits", "depends", '["first"]', "tags", '["old"]', queue="later")
    lua.put(7, "due", delay=100)
    lua.put(7, "done")
    lua.pop(8)
    lua("complete", 9, "done", "w", "q", "{}")
    act.fail("a", "b", "c", now=10)
    lua("throttle.set", 12, "t", 1)
    lua.put(12, "holds", "throttles", '["t"]', queue="th")
    lua.pop(12, queue="th")
    lua.put(13, "kept-back", "throttles", '["t"]', queue="th")
    for jid in ("a", "c", "waits", "due"):
        lua("track", 14, "track", jid)
    before = act.jobs()
    jids = ("a", "b", "c", "waits", "first", "due", "kept-back")
    act.freeze(action, *jids, **ACTIONS[action])

    act.run()
    changed = act.jobs()
    act.undo()

    assert changed != before
    assert act.jobs() == before
    assert set(act.left("back").values()) <= {"untouched"}


def told_of(redis, act):
    """Do something; answers what was published meanwhile, in order."""
    listener = redis.pubsub()
    listener.psubscribe("ql:*")
    assert listener.get_message(timeout=5)["type"] == "psubscribe"
    act()
    redis.publish("ql:end", "")
    told = iter(lambda: listener.get_message(timeout=5), None)
    found = []
    for message in told:
        if message["channel"] == "ql:end":
            break
        found.append((message["channel"], message["data"]))
    listener.close()
    return found


#: Failures that each way of work must treat alike: what is done to make them so.
KINDS = {
    "plain": lambda _lua, _redis: None,
    "tracked": lambda lua, _redis: lua("track", 20, "track", "b"),
    "tagged": lambda lua, _redis: lua("tag", 20, "add", "b", "blue", "old"),
    "of a priority": lambda lua, _redis: lua("priority", 20, "b", "7.5"),
    "with odd retries": lambda _lua, redis: redis.hset("ql:j:b", "retries", "12"),
    "waiting for another": lambda lua, _redis: lua.put(20, "b2", "depends", '["b"]', queue="z"),
    "with an old history": lambda _lua, redis: redis.hset(
        "ql:j:b", "history", '[{"q":"q","put":5,"popped":6,"worker":"w","failed":7}]'
    ),
    "failed in another way": lambda _lua, redis: redis.hset(
        "ql:j:b", "failure", '{"when":10,"worker":"w","message":"m","group":"g"}'
    ),
    "without the moment": lambda _lua, redis: redis.hset("ql:j:b", "failure", '{"group":"g"}'),
    "with a message like its end": lambda _lua, redis: redis.hset(
        "ql:j:b",
        "failure",
        json.dumps(
            {"group": "g", "message": ',"when":1,"worker":"x"', "when": 10, "worker": "w"},
            separators=(",", ":"),
        ),
    ),
    "throttled": lambda _lua, redis: redis.hset("ql:j:b", "throttles", '["one"]'),
    "of a worker": lambda _lua, redis: redis.hset("ql:j:b", "worker", "w9"),
    "in no queue": lambda _lua, redis: redis.hdel("ql:j:b", "queue"),
}


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("action", ["retry", "move", "cancel"])
def test_what_is_done_in_chunks_is_what_is_done_by_name(act, lua, redis, action, kind):
    def made():
        redis.flushdb()
        act.fail("a", "b", "c", "d")
        KINDS[kind](lua, redis)

    def by_name(jid):
        if action == "cancel":
            lua("bulk.cancel", 60, "g", jid, "failed")
        else:
            lua("bulk.move", 60, "g", ACTIONS[action].get("queue", ""), jid, "failed")

    made()
    act.freeze(action, group="g", **ACTIONS[action])
    told = told_of(redis, act.run)
    after = act.jobs()
    made()
    expected = told_of(redis, lambda: [by_name(jid) for jid in "abcd"])

    assert after == act.jobs()
    assert sorted(told) == sorted(expected)


def test_jobs_that_wait_are_cancelled_in_chunks_as_by_name(act, lua, redis):
    def made():
        redis.flushdb()
        for jid in "ab":
            lua.put(5, jid, "tags", '["old"]')
            lua.put(5, f"later-{jid}", delay=100)
        lua.put(5, "due", delay=10)

    jids = ("a", "later-a", "b", "later-b", "due")
    made()
    act.freeze("cancel", *jids)
    told = told_of(redis, act.run)
    after = act.jobs()
    assert act.left() == {}
    made()
    expected = told_of(redis, lambda: lua("cancel", 60, *jids))

    assert after == act.jobs()
    assert sorted(told) == sorted(expected)


@pytest.mark.parametrize(
    ("key", "left"),
    [("ql:queues", {"a": "unreadable", "b": "unreadable"}), ("ql:paused_queues", {})],
)
def test_what_all_queues_share_and_is_something_else_stops_no_operation(act, redis, key, left):
    act.fail("a", "b")
    redis.set(key, "x")
    act.freeze("move", group="g", queue="other")

    assert act.run()["state"] == "done"

    assert act.left() == left


def test_a_set_of_a_queue_that_is_something_else_leaves_its_jobs_alone(act, lua, redis):
    act.fail("a", "b")
    redis.set("ql:q:other-work", "x")
    before = lua.job("a")
    act.freeze("move", group="g", queue="other")

    assert act.run()["state"] == "done"

    assert act.left() == {"a": "unreadable", "b": "unreadable"}
    after = lua.job("a")
    assert (after["state"], after["queue"]) == (before["state"], before["queue"])
    assert redis.lrange("ql:f:g", 0, -1) == ["b", "a"]


#: Queues as those who may change `q` and `later*` alone have them stored.
REACH = '[["q"],["later",""]]'


@pytest.mark.parametrize("action", list(ACTIONS))
def test_jobs_of_queues_that_are_somebody_elses_are_left_alone(act, lua, action):
    act.fail("mine")
    act.fail("theirs", queue="other")
    act.fail("moved")
    for jid in ("mine", "theirs", "moved"):
        lua("track", 20, "track", jid)
    if action == "time_out":
        for jid, queue in (("mine", "q"), ("theirs", "other"), ("moved", "q")):
            lua("bulk.move", 21, "g", queue, jid, "failed")
            assert lua.popped(22, queue=queue) == [jid]
    act.freeze(action, "mine", "theirs", "moved", reach=REACH, **ACTIONS[action] | {"queue": ""})
    looked = lua.json("operation.look", 57, "op", 0, 500)
    act.redis.hset("ql:j:moved", "queue", "other")

    act.run()

    assert looked["left"] == {"foreign": 1}
    assert act.left() == {"theirs": "foreign", "moved": "foreign"}


def test_nothing_goes_where_whoever_asked_may_not_put_it(act, lua):
    act.fail("a", "b")
    act.freeze("move", group="g", queue="other", reach=REACH)

    act.run()

    assert act.left() == dict.fromkeys("ab", "foreign")
    act.freeze("move", group="g", queue="later-2", reach=REACH, op="two")
    act.run("two")
    assert (act.left("two"), lua.job("a")["queue"]) == ({}, "later-2")


@pytest.mark.parametrize("action", ["move", "cancel", "priority", "tag", "untrack"])
def test_undone_is_what_whoever_asks_may_change(act, lua, redis, action):
    act.fail("mine", "moved")
    act.fail("theirs", queue="other")
    for jid in ("mine", "theirs", "moved"):
        lua("track", 20, "track", jid)
    act.freeze(action, "mine", "theirs", "moved", **{**ACTIONS[action], "queue": "q"})
    act.run()
    if action != "cancel":
        redis.hset("ql:j:moved", "queue", "other")
    redis.hset("ql:web:operation:back", "reach", REACH)

    act.undo()

    foreign = ["theirs"] if action == "cancel" else ["theirs", "moved"]
    assert act.left("back") == dict.fromkeys(foreign, "foreign")


def test_what_is_told_of_jobs_lasts_no_longer_than_their_operation(act, redis):
    act.fail("a", "b")
    act.freeze("retry", group="g")
    redis.expire("ql:web:operation:op", 77)

    act.lua("operation.step", 60, "op", 1, 1, 1)

    assert 0 < redis.ttl("ql:web:operation:op:report") <= 77


def test_a_cancelled_job_whose_jid_is_taken_stays_in_the_trash(act, lua):
    act.fail("a", "b")
    act.freeze("cancel", "a", "b")
    act.run()
    lua.put(65, "a")

    act.undo()

    assert act.left("back") == {"a": "exists"}
    assert lua.job("b")["state"] == "failed"
    assert lua.job("a")["state"] == "waiting"


def test_a_retried_job_is_put_back_unless_a_worker_had_it(act, lua):
    act.fail("a", "b")
    before = lua.job("a")
    act.freeze("retry", group="g", queue="other", delay="0")
    act.run()
    assert lua.popped(62, queue="other") == ["b"]

    act.undo()

    assert act.left("back") == {"b": "running"}
    after = lua.job("a")
    assert [each["what"] for each in after.pop("history")][-2:] == ["put", "undone"]
    del before["history"]
    assert after == before
    assert lua.json("failed", 80) == {"g": 1}


def test_a_job_that_failed_anew_is_not_what_was_shown(act, lua):
    act.fail("a", "b", now=10)
    act.freeze("retry", group="g", before="30.5")
    lua("bulk.move", 40, "g", "q", "a", "failed")
    lua.pop(41)
    lua("fail", 42, "a", "w", "g", "m")

    act.run()

    assert act.left() == {"a": "since"}
    assert lua.job("b")["state"] == "waiting"


@pytest.mark.parametrize("action", ["retry", "move", "cancel", "priority"])
@pytest.mark.parametrize("odd", [False, True])
def test_of_those_that_had_failed_by_then_only_what_failed_anew_is_left(act, lua, action, odd):
    act.fail("a", "b", now=10.2)
    for jid in "ab" if odd else "":
        lua("track", 11, "track", jid)
    act.freeze(action, group="g", before="10.5", listed="1", **ACTIONS[action])
    lua("bulk.move", 10.6, "g", "q", "a", "failed")
    lua.pop(10.7)
    lua("fail", 10.8, "a", "w", "g", "m")

    act.run()

    assert act.left() == {"a": "since"}


def test_whether_the_newest_stands_as_it_was_seen_is_told_with_the_copy(act, lua, redis):
    act.fail("a", "b", now=10.2)

    def listed(newest="b", count=2, before=10.5):
        return lua.json("operation.freeze", 50, "op", "group", "g", newest, count, before)["listed"]

    assert listed()
    assert listed("a", 1)
    # It has left; it stands farther from the end; it was popped, or failed, later; nobody looked.
    assert not listed("c")
    assert not listed(count=1)
    assert not listed(before=10.1)
    assert not listed(before=0)
    assert not listed("", 0)
    lua("bulk.move", 10.6, "g", "q", "b", "failed")
    lua.pop(10.7)
    lua("fail", 10.8, "b", "w", "g", "m")
    assert not listed()
    redis.delete("ql:j:a")
    assert not listed("a", 1)


def test_named_jobs_must_be_in_the_state_that_they_were_listed_in(act, lua):
    act.fail("a")
    lua.put(11, "b", delay=1000)
    act.freeze("cancel", "a", "b", "nobody")
    lua("bulk.move", 20, "", "q", "a", "failed")

    act.run()

    assert act.left() == {"a": "waiting", "nobody": "gone"}


def test_a_job_that_is_needed_stays(act, lua):
    lua.put(5, "first")
    lua.put(6, "waits", "depends", '["first"]')
    act.freeze("cancel", "waits")
    lua("operation.freeze", 50, "op", "needed", "first")
    act.redis.hset("ql:web:operation:op", "total", 2)

    act.run()

    assert act.left() == {"first": "dependents"}
    assert lua("get", 60, "waits") is None


def test_data_is_edited_only_where_it_is_what_was_read(act, lua):
    act.fail("a", "b")
    act.freeze("edit", "a", "b", again="1")

    lua("operation.step", 60, "op", 1, 2, 1, "{}", '{"n":1.10}', "[]", "{}")

    assert act.left() == {"b": "changed"}
    assert lua.job("a")["data"] == '{"n":1.10}'
    assert lua.job("a")["state"] == "waiting"
    act.undo()
    assert lua.job("a")["data"] == "{}"
    assert lua.job("a")["state"] == "failed"


def test_a_canary_pauses_after_the_first(act):
    act.fail(*"abcdef")
    act.freeze("retry", group="g", canary="2")

    first = act.run()
    assert (first["state"], first["at"]) == ("paused", 2)
    act.redis.hset("ql:web:operation:op", mapping={"state": "queued"})

    assert act.run()["at"] == 6


def test_how_retried_jobs_fare_is_told(act, lua):
    act.fail(*"abcd")
    act.freeze("retry", group="g", began="60")
    act.run()
    bad, *good = lua.popped(61, 3)
    lua("fail", 62, bad, "w", "g", "again")
    for jid in good:
        lua("complete", 62, jid, "w", "q", "{}")

    found = lua.json("operation.fare", 63, "op", 0, 500)

    assert found == {"looked": 4, "failed": 1, "ended": 3}


def test_a_run_that_is_not_the_latest_does_nothing(act, lua):
    act.fail("a")
    act.freeze("retry", group="g")
    act.redis.hset("ql:web:operation:op", "run", 2)
    before = lua.stored()

    assert lua.json("operation.step", 60, "op", 1, 5, 1)["state"] == "superseded"
    assert lua.json("operation.step", 60, "none", 1, 5, 1)["state"] == "gone"
    assert lua.stored() == before


def test_one_that_rests_does_nothing(act, lua):
    act.fail("a")
    act.freeze("retry", group="g")
    assert lua("operation.rest", 60, "op", "paused", "") == "paused"
    before = lua.stored()

    assert lua.json("operation.step", 61, "op", 1, 5, 1)["state"] == "paused"
    assert lua.stored() == before
    assert lua("operation.rest", 62, "op", "stopped", "failing") == "stopped"
    assert lua("operation.rest", 62, "op", "paused", "") == "stopped"
    assert lua("operation.rest", 62, "none", "paused", "") == ""


def test_a_list_that_is_gone_stops_it(act, lua, redis):
    act.fail("a")
    act.freeze("retry", group="g")
    redis.delete("ql:web:operation:op:list")

    assert lua.json("operation.step", 60, "op", 1, 5, 1)["state"] == "stopped"
    assert redis.hget("ql:web:operation:op", "why") == "lost"


def test_a_group_is_frozen_up_to_the_newest_that_was_seen(act, lua, redis):
    act.fail(*"abcd")

    for newest, count, last in (("c", 3, ["c", "b", "a"]), ("left", 2, ["b", "a"])):
        assert lua.json("operation.freeze", 50, "op", "group", "g", newest, count) == {
            "size": len(last), "copied": len(last), "last": last, "listed": False,
        }  # fmt: skip
        assert redis.lrange("ql:web:operation:op:list", 0, -1) == last


def test_of_two_that_start_it_at_once_one_does(act, lua, redis):
    act.fail("a", "b")
    act.freeze("retry", group="g")
    redis.hset("ql:web:operation:op", mapping={"state": "draft", "run": 0, "created": 7})
    redis.expire("ql:web:operation:op", 60)

    assert [lua("operation.start", 60, "op", 0) for _ in range(2)] == [1, 0]
    assert redis.hmget("ql:web:operation:op", "state", "run") == ["queued", "1"]
    assert redis.ttl("ql:web:operation:op") == -1
    assert redis.zscore("ql:web:operations", "op") == 7
    # Somebody who saw the draft does not let the rest of a canary go on.
    redis.hset("ql:web:operation:op", mapping={"canary": 1})
    assert lua.json("operation.step", 61, "op", 1, 5, 1)["state"] == "paused"
    assert lua("operation.start", 62, "op", 0) == 0
    assert lua("operation.start", 62, "op", 1) == 2
    assert lua.json("operation.step", 63, "op", 2, 5, 1)["state"] == "done"
    assert lua("operation.start", 64, "op", 2) == 0
    assert lua("operation.start", 64, "none", 0) == 0


def test_an_undo_is_begun_once_and_only_where_there_is_something_to_undo(act, lua, redis):
    act.fail("a", "b")
    act.freeze("retry", group="g")
    back = {"action": "undo", "of": "op", "state": "draft", "total": 2, "created": 8}
    for name in ("one", "two"):
        redis.hset(f"ql:web:operation:{name}", mapping=back)
        redis.expire(f"ql:web:operation:{name}", 60)
    redis.hset("ql:web:operation:lost", mapping=back | {"of": "none"})

    def begin(name, state="done"):
        redis.hset("ql:web:operation:op", "state", state)
        return lua("operation.undo", 60, name)

    # It is at work; it is gone; the draft is gone: nobody is kept from undoing it later.
    assert (begin("one", "running"), begin("lost"), begin("none")) == (0, 0, 0)
    assert redis.hget("ql:web:operation:op", "undone_by") is None
    assert redis.keys("ql:web:operation:none*") == []
    assert (begin("one"), begin("two"), begin("one")) == (1, 0, 0)
    assert redis.hget("ql:web:operation:op", "undone_by") == "one"
    redis.hset("ql:web:operation:op", "state", "stopped")
    assert lua("operation.start", 61, "op", redis.hget("ql:web:operation:op", "run")) == 0
    assert redis.hmget("ql:web:operation:one", "state", "run") == ["queued", "1"]
    assert redis.ttl("ql:web:operation:one") == -1
    assert redis.zscore("ql:web:operations", "one") == 8
    assert redis.hget("ql:web:operation:two", "state") == "draft"


def whole(step):
    """Copy until no more come, as the console does."""
    counts = [step()]
    while len(counts) < 2 or counts[-1] != counts[-2]:
        counts.append(step())
    return counts


def test_a_long_list_is_frozen_a_thousand_at_a_time(lua, redis):
    jids = [f"job-{number}" for number in range(2_500)]
    redis.lpush("ql:f:g", *jids)

    begun = lua.json("operation.freeze", 50, "op", "group", "g", "job-2399", 0)
    last = jids[2_300:2_400][::-1]
    assert begun == {"size": 2_400, "copied": 1_000, "last": last, "listed": False}
    assert redis.llen("ql:web:operation:op:list") == 1_000
    assert 0 < redis.ttl("ql:web:operation:op:list") <= 3_600
    redis.lpush("ql:f:g", "late")
    assert whole(lambda: more(lua, begun)) == [2_000, 2_400, 2_400]
    assert redis.lrange("ql:web:operation:op:list", 0, -1) == jids[:2_400][::-1]

    assert whole(lambda: lua("operation.freeze", 50, "undo", "list", "op")) == [
        1_000, 2_000, 2_400, 2_400,
    ]  # fmt: skip
    assert redis.lrange("ql:web:operation:undo:list", 0, -1) == jids[:2_400][::-1]
    assert 0 < redis.ttl("ql:web:operation:undo:list") <= 3_600


LEAVING = {
    "a few": range(1_200, 1_250),
    "a few and the newest": [*range(1_200, 1_250), 2_399],
    "all by which the place is known": [*range(800, 1_100), 2_399],
    "all after it but the newest": range(1_000, 2_399),
}


@pytest.mark.parametrize("gone", LEAVING.values(), ids=LEAVING)
def test_what_nobody_saw_does_not_make_up_for_jobs_that_others_took_off(lua, redis, gone):
    jids = [f"job-{number}" for number in range(2_500)]
    redis.lpush("ql:f:g", *jids)
    begun = lua.json("operation.freeze", 50, "op", "group", "g", "job-2399", 0)
    for number in gone:
        redis.lrem("ql:f:g", 0, jids[number])
    redis.lpush("ql:f:g", "job-2399" if 2_399 in gone else "late")

    whole(lambda: more(lua, begun))

    frozen = redis.lrange("ql:web:operation:op:list", 0, -1)
    assert set(frozen) <= set(jids[:2_400])
    assert set(frozen) >= {jids[number] for number in range(2_400) if number not in gone}
    assert 0 < redis.ttl("ql:web:operation:op:list") <= 3_600


def more(lua, begun):
    """Go on to copy a group, as the console does."""
    return lua("operation.freeze", 50, "op", "more", "g", begun["size"], *begun["last"])


@pytest.mark.parametrize(
    ("gone", "counts"),
    [((500, 999), [2_000, 2_498, 2_498]), ((900, 1_000), [2_400, 2_400])],
    ids=["a few", "all that the place is known by"],
)
def test_none_is_forgotten_that_others_take_jobs_off_meanwhile(lua, redis, gone, counts):
    jids = [f"job-{number}" for number in range(2_500)]
    redis.lpush("ql:f:g", *jids)
    begun = lua.json("operation.freeze", 50, "op", "group", "g", "", 0)
    taken = [jids[gone[0]], jids[gone[1]]] if counts[0] == 2_000 else jids[slice(*gone)]
    for jid in taken:
        redis.lrem("ql:f:g", 0, jid)

    found = whole(lambda: more(lua, begun))

    frozen = redis.lrange("ql:web:operation:op:list", 0, -1)
    assert found[-1] == len(frozen)
    assert len(set(frozen)) == len(frozen)
    assert set(jids) - set(taken) <= set(frozen)


def test_a_step_ends_when_its_time_is_used(act, lua):
    act.fail(*(f"job-{number}" for number in range(60)))
    act.freeze("retry", group="g")

    found = lua.json("operation.step", 60, "op", 1, 60, 0.000001)

    assert 1 <= found["at"] < 60
