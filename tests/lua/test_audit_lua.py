"""What the audit finds, and how it is put right; on every server there is."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest
from redis.exceptions import ResponseError

from qless_core.audit import KINDS, AuditReport
from qless_core.audit.repairs import Mending, planned
from qless_core.commands import Commands
from qless_core.keys import Keys
from tests.support.workload import Workload

NOW = 100_000_000

GOLDEN = Path(__file__).parent.parent / "data" / "golden.jsonl.gz"


class Auditor:
    """Audits at a moment given as a number, through the script alone."""

    def __init__(self, lua):
        self.now = NOW
        self.commands = Commands(lambda command, *args: lua(command, self.now, *args))

    def findings(self):
        return list(AuditReport(self.commands).findings)

    def kinds(self):
        return Counter(finding.kind.id for finding in self.findings())

    def only(self, kind):
        (finding,) = [each for each in self.findings() if each.kind.id == kind]
        return finding

    def mend(self, *words):
        """Repair; answers what was done about each finding."""
        return list(Mending(self.commands, planned(words)).repair())


@pytest.fixture
def audit(lua):
    return Auditor(lua)


@pytest.fixture
def shop(lua, redis):
    """Make jobs in every state and whatever belongs to them; nothing is wrong."""
    lua.put(NOW - 9, "wait", "tags", '["red","blue"]')
    lua.put(NOW - 9, "later", delay=100)
    lua.put(NOW - 9, "needs", "depends", '["wait","later"]', "tags", '["red"]')
    lua.put(NOW - 9, "after", "depends", '["needs"]')
    for jid in ("run", "bad", "done"):
        lua.put(NOW - 9, jid, queue="mail")
    lua.pop(NOW - 8, 3, queue="mail", worker="w-1")
    lua("fail", NOW - 7, "bad", "w-1", "boom", "it broke")
    lua("complete", NOW - 7, "done", "w-1", "mail", "{}")
    lua("track", NOW - 7, "track", "run")
    lua("recur", NOW - 7, "mail", "tick", "K", "{}", "interval", 60, 60)
    runs = json.dumps([NOW + 60 * number for number in range(1, 9)])
    lua("cron", NOW - 7, "mail", "noon", "K", "{}", "* * * * *", "UTC", runs)
    lua("pause", NOW - 7, "mail")
    return redis


def test_a_sound_database_has_no_findings(shop, audit):
    assert shop.dbsize() > 20
    assert audit.findings() == []


def test_an_empty_database_has_none_either(audit):
    assert audit.findings() == []


# Each kind is found, repaired, and gone


def lose(redis):
    redis.zrem("ql:q:q-work", "wait")


def lose_running(redis):
    redis.zrem("ql:q:mail-locks", "run")
    redis.zrem("ql:w:w-1:jobs", "run")


def nonsense_state(redis):
    redis.zrem("ql:q:q-work", "wait")
    redis.hset("ql:j:wait", "state", "banana")


def move_alone(redis):
    redis.zrem("ql:q:q-work", "wait")
    redis.zadd("ql:q:mail-work", {"wait": 1})


def delay_alone(redis):
    redis.zrem("ql:q:q-work", "wait")
    redis.zadd("ql:q:q-scheduled", {"wait": NOW + 5})


def lock_alone(redis):
    redis.zrem("ql:q:q-work", "wait")
    redis.zadd("ql:q:mail-locks", {"wait": NOW + 5})


def complete_alone(redis):
    redis.zrem("ql:q:q-work", "wait")
    redis.zadd("ql:completed", {"wait": NOW})


def fail_alone(redis):
    redis.zrem("ql:q:q-work", "wait")
    redis.lpush("ql:f:boom", "wait")


def throttle_alone(redis):
    redis.zrem("ql:q:q-work", "wait")
    redis.zadd("ql:q:q-throttled", {"wait": 1})
    redis.hset("ql:j:wait", "state", "throttled")


def rename_recurring(redis):
    redis.hset("ql:r:tick", "queue", "q")


def ring(redis):
    for one, other in (("needs", "after"),):
        redis.sadd(f"ql:j:{one}-dependencies", other)
        redis.sadd(f"ql:j:{other}-dependents", one)


def wait_for_itself(redis):
    redis.sadd("ql:j:needs-dependencies", "needs")
    redis.sadd("ql:j:needs-dependents", "needs")


def forget_dependencies(redis):
    redis.delete("ql:j:needs-dependencies")
    redis.srem("ql:j:wait-dependents", "needs")
    redis.srem("ql:j:later-dependents", "needs")


def lose_a_job(redis):
    redis.delete("ql:j:wait", "ql:j:wait-history", "ql:j:wait-dependents")


#: What is done -> the kinds that are found then.
PLANTS = [
    (lose, {"in-no-place"}),
    (lose_running, {"in-no-place"}),
    (nonsense_state, {"in-no-place"}),
    (lambda redis: redis.zrem("ql:q:q-scheduled", "later"), {"in-no-place"}),
    (lambda redis: redis.zrem("ql:q:q-depends", "needs"), {"in-no-place"}),
    (move_alone, {"wrong-place"}),
    (delay_alone, {"wrong-place"}),
    (lock_alone, {"wrong-place"}),
    (complete_alone, {"wrong-place"}),
    (fail_alone, {"in-no-place", "in-two-places"}),
    (lambda redis: redis.zadd("ql:th:th-1-locks", {"wait": 1}), {"not-with-throttle"}),
    (lambda redis: redis.zadd("ql:th:th-1-pending", {"run": 1}), {"not-with-throttle"}),
    (lambda redis: redis.zadd("ql:th:th-1-pending", {"ghost": 1}), {"entry-without-job"}),
    (throttle_alone, {"kept-back-by-none"}),
    (lambda redis: redis.hset("ql:j:wait", "state", "scheduled"), {"wrong-place"}),
    (lambda redis: redis.hset("ql:j:wait", "queue", "mail"), {"wrong-place"}),
    (lambda redis: redis.zadd("ql:q:q-locks", {"wait": NOW + 9}), {"in-two-places"}),
    (lambda redis: redis.zadd("ql:q:mail-work", {"wait": 1}), {"in-two-places"}),
    (lambda redis: redis.zadd("ql:completed", {"run": NOW}), {"in-two-places"}),
    (lambda redis: redis.lpush("ql:f:boom", "run"), {"in-two-places"}),
    (lambda redis: redis.zadd("ql:q:q-work", {"bad": 1}), {"in-two-places"}),
    (lambda redis: redis.zadd("ql:q:q-recur", {"tick": 1}), {"in-two-places"}),
    (lambda redis: redis.lpush("ql:f:boom", "bad", "bad"), {"listed-twice"}),
    (lambda redis: redis.lrem("ql:f:boom", 0, "bad"), {"failed-not-listed", "group-empty"}),
    (lambda redis: redis.hset("ql:j:bad", "failure", "{}"), {"failed-not-listed"}),
    (lambda redis: redis.zrem("ql:completed", "done"), {"complete-not-listed"}),
    (lambda redis: redis.hset("ql:j:run", "expires", 5), {"wrong-lock"}),
    (lambda redis: redis.zadd("ql:q:mail-locks", {"run": NOW + 9}), {"wrong-lock"}),
    (lambda redis: redis.zadd("ql:w:w-1:jobs", {"run": 5}), {"wrong-lock"}),
    (lambda redis: redis.zrem("ql:w:w-1:jobs", "run"), {"wrong-lock"}),
    (lambda redis: redis.hset("ql:j:run", "worker", ""), {"wrong-lock", "not-with-worker"}),
    (forget_dependencies, {"stuck"}),
    (
        lambda redis: redis.hset("ql:j:wait", "state", "complete"),
        {"complete-not-listed", "in-two-places", "waits-for-gone"},
    ),
    (
        lose_a_job,
        {"entry-without-job", "tag-without-job", "waits-for-gone"},
    ),
    (ring, {"ring"}),
    (wait_for_itself, {"ring"}),
    (lambda redis: redis.sadd("ql:j:wait-dependents", "run"), {"half-edge"}),
    (lambda redis: redis.sadd("ql:j:wait-dependents", "nobody"), {"half-edge"}),
    (lambda redis: redis.srem("ql:j:wait-dependents", "needs"), {"half-edge"}),
    (lambda redis: redis.hset("ql:j:wait", "jid", "else"), {"without-jid"}),
    (lambda redis: redis.hdel("ql:j:later", "jid"), {"without-jid"}),
    (lambda redis: redis.hset("ql:j:wait", "priority", "high"), {"odd-number"}),
    (
        lambda redis: redis.hset("ql:j:wait", mapping={"retries": "x", "remaining": "nan"}),
        {"odd-number"},
    ),
    (
        lambda redis: redis.hset("ql:j:wait", "tags", "red, blue"),
        {"odd-tags", "tag-not-carried"},
    ),
    (
        lambda redis: redis.hset("ql:r:tick", mapping={"priority": "x", "count": "y"}),
        {"odd-number"},
    ),
    (lambda redis: redis.zrem("ql:q:mail-recur", "tick"), {"recurring-in-no-place"}),
    (lambda redis: redis.zrem("ql:q:mail-cron", "noon"), {"recurring-in-no-place"}),
    (lambda redis: redis.zrem("ql:crons", "noon"), {"recurring-in-no-place"}),
    (lambda redis: redis.hset("ql:cron:noon", "queue", "q"), {"wrong-place"}),
    (lambda redis: redis.hset("ql:cron:noon", "retries", "x"), {"odd-number"}),
    (lambda redis: redis.zadd("ql:q:q-cron", {"noon": 1}), {"in-two-places"}),
    (lambda redis: redis.zadd("ql:q:q-cron", {"ghost": 1}), {"entry-without-job"}),
    (lambda redis: redis.zadd("ql:crons", {"ghost": 1}), {"entry-without-job"}),
    (rename_recurring, {"wrong-place"}),
    (lambda redis: redis.zadd("ql:q:q-work", {"ghost": 1}), {"entry-without-job"}),
    (lambda redis: redis.zadd("ql:q:q-locks", {"ghost": 1}), {"entry-without-job"}),
    (lambda redis: redis.zadd("ql:q:q-scheduled", {"ghost": 1}), {"entry-without-job"}),
    (lambda redis: redis.zadd("ql:q:q-depends", {"ghost": 1}), {"entry-without-job"}),
    (lambda redis: redis.zadd("ql:q:q-recur", {"ghost": 1}), {"entry-without-job"}),
    (lambda redis: redis.zadd("ql:completed", {"ghost": NOW}), {"entry-without-job"}),
    (lambda redis: redis.lpush("ql:f:boom", "ghost"), {"entry-without-job"}),
    (lambda redis: redis.zadd("ql:w:w-1:jobs", {"ghost": 1}), {"entry-without-job"}),
    (lambda redis: redis.zadd("ql:w:w-2:jobs", {"run": 1}), {"not-with-worker"}),
    (lambda redis: redis.zadd("ql:w:w-1:jobs", {"wait": 1}), {"not-with-worker"}),
    (lambda redis: redis.zadd("ql:tracked", {"ghost": 1}), {"tracked-without-job"}),
    (
        lambda redis: redis.zadd("ql:t:red", {"ghost": 1}),
        {"tag-without-job", "tag-count-differs"},
    ),
    (lambda redis: redis.zadd("ql:t:blue", {"run": 1}), {"tag-not-carried", "tag-count-differs"}),
    (lambda redis: redis.zrem("ql:t:red", "needs"), {"tag-not-indexed", "tag-count-differs"}),
    (lambda redis: redis.zrem("ql:t:blue", "wait"), {"tag-not-indexed", "tag-count"}),
    (lambda redis: redis.zadd("ql:tags", {"gone": 3}), {"tag-count"}),
    (lambda redis: redis.zadd("ql:tags", {"red": 0}), {"tag-count"}),
    (lambda redis: redis.zrem("ql:tags", "red"), {"tag-count"}),
    (lambda redis: redis.zadd("ql:tags", {"red": 99}), {"tag-count-differs"}),
    (lambda redis: redis.rpush("ql:j:gone-history", "x"), {"leftover-key"}),
    (lambda redis: redis.sadd("ql:j:gone-dependents", "x"), {"leftover-key"}),
    (lambda redis: redis.sadd("ql:j:gone-dependencies", "x"), {"leftover-key"}),
    (lambda redis: redis.hset("ql:j:gone", "expires", 5), {"leftover-key"}),
    (lambda redis: redis.zadd("ql:cron-runs:gone", {"5": 5}), {"leftover-key"}),
    (lambda redis: redis.srem("ql:failures", "boom"), {"group-not-listed"}),
    (lambda redis: redis.sadd("ql:failures", "nothing"), {"group-empty"}),
    (lambda redis: redis.zrem("ql:queues", "mail"), {"queue-not-listed"}),
    (lambda redis: redis.zadd("ql:workers", {"w-0": NOW - 86401}), {"old-worker"}),
    (lambda redis: redis.zadd("ql:completed", {"done": NOW - 604801}), {"old-completed"}),
    (
        lambda redis: redis.hset("ql:s:wait:86400:mail", "total", 1),
        {"old-statistics"},
    ),
]


@pytest.mark.parametrize(
    ("plant", "kinds"),
    PLANTS,
    ids=[f"{number}-{'+'.join(sorted(kinds))}" for number, (_, kinds) in enumerate(PLANTS)],
)
def test_fault_08_each_fault_is_found_repaired_and_gone(shop, audit, lua, plant, kinds):
    before = jobs(lua)

    plant(shop)

    assert set(audit.kinds()) == kinds
    done = audit.mend("all")
    assert [repair for repair in done if repair.outcome.done]
    assert audit.kinds() == {}
    gone = {"wait"} if plant is lose_a_job else {"done"} & before - jobs(lua)
    assert before - jobs(lua) == gone


def jobs(lua):
    """Give the jids of all jobs."""
    return {
        key.removeprefix("ql:j:")
        for key in lua.redis.scan_iter("ql:j:*", _type="hash")
        if lua.redis.hexists(key, "data")
    }


def test_every_kind_is_planted_but_those_that_nobody_repairs_by_default():
    planted = set().union(*(kinds for _, kinds in PLANTS))

    assert {kind.id for kind in KINDS if kind.default} == planted


@pytest.mark.parametrize(
    ("plant", "kind", "how"),
    [
        (lambda redis: redis.hset("ql:j:wait", "data", "{nonsense"), "odd-data", "fail"),
        (lambda redis: redis.hdel("ql:j:wait", "data"), "odd-data", "fail"),
        (lambda redis: redis.hset("ql:r:tick", "data", "{"), "odd-data", "delete"),
        (lambda redis: redis.hset("ql:cron:noon", "data", "{"), "odd-data", "delete"),
        (lambda redis: redis.hset("ql:j:run", "klass", b"\xff"), "not-utf8", "delete"),
        (lambda redis: redis.hset("ql:r:tick", "interval", "daily"), "odd-interval", "delete"),
        (lambda redis: redis.set("ql:q:news-work", "x"), "foreign-type", "delete"),
        (lambda redis: redis.set("ql:j:x", "x"), "foreign-type", "delete"),
        (lambda redis: redis.sadd("ql:j:run-history", "x"), "foreign-type", "delete"),
    ],
)
def test_what_somebody_must_decide_is_left_by_all(shop, audit, plant, kind, how):
    if kind == "foreign-type":
        shop.delete("ql:j:run-history")
    plant(shop)
    finding = audit.only(kind)

    assert audit.mend("all") == []
    with pytest.raises(Exception, match="for you to decide"):
        finding.repair()
    assert finding.repair(how).done
    assert how == "fail" or audit.kinds() == {}


def test_a_key_that_nobody_knows_is_told_of_and_left_alone(shop, audit):
    shop.set("ql:j", 1)
    shop.set("ql:other:thing", 1)
    shop.hset("ql:s:new:86400:q", "x", 1)
    shop.set("ql:web:mine", 1)

    assert {(each.kind.id, each.where) for each in audit.findings()} == {
        ("unknown-key", "key ql:j"),
        ("unknown-key", "key ql:other:thing"),
        ("unknown-key", "key ql:s:new:86400:q"),
    }
    assert audit.mend("all") == []


def test_keys_of_others_are_none_of_our_business(shop, audit):
    shop.set("other:key", 1)
    shop.set("q", 1)

    assert audit.findings() == []


def test_a_failed_dependency_is_told_of_but_no_fault(lua, audit):
    lua.put(NOW, "bad")
    lua.pop(NOW)
    lua("fail", NOW, "bad", "w", "boom", "m")
    lua.put(NOW, "child", "depends", '["bad"]')

    finding = audit.only("waits-for-failed")

    assert (finding.jid, finding.kind.is_fault) == ("child", False)
    assert AuditReport(audit.commands).is_clean


def test_another_job_whose_name_ends_like_a_side_is_never_touched(lua, audit, redis):
    lua.put(1, "a-history")
    lua.put(1, "b-dependents")
    redis.rpush("ql:j:c-history-history", "x")

    assert audit.kinds() == {"leftover-key": 1}
    audit.mend("all")
    assert jobs(lua) == {"a-history", "b-dependents"}
    assert audit.kinds() == {}


def test_every_key_of_ours_is_known(audit, redis):
    """A key that is added to keys.py is added to the audit."""
    keys = Keys()
    for name, member in vars(Keys).items():
        if name.startswith("_") or name in {"namespace", "web"}:
            continue
        kind = member.fget if isinstance(member, property) else member
        first = kind.__doc__.split(":")[0]
        if first in {"Channel", "Name a queue's own throttle"}:
            continue
        arguments = (86400, "x") if kind.__code__.co_argcount == 3 else ("x",)
        key = getattr(keys, name) if isinstance(member, property) else member(keys, *arguments)
        write = {
            "Hash": lambda key: redis.hset(key, "jid", "x"),
            "List": lambda key: redis.rpush(key, "x"),
            "Set": lambda key: redis.sadd(key, "x"),
            "Text": lambda key: redis.set(key, "x"),
            "Sorted set": lambda key: redis.zadd(key, {"x": 1}),
        }
        write[first](key)

    found = audit.kinds()

    assert found
    assert not found.keys() & {"unknown-key", "foreign-type"}


# Repairs


def test_a_lost_job_goes_back_to_waiting_with_the_retries_it_had_left(lua, audit, redis):
    lua.put(1, "j", "retries", 5, "tags", '["x"]', "priority", 7)
    lua.pop(2)
    assert lua("retry", 3, "j", "q", "w") == 4
    lua.pop(4)
    redis.zrem("ql:q:q-locks", "j")

    with lua.hearing() as heard:
        outcome = audit.only("in-no-place").repair()

    assert outcome.done
    job = lua.job("j", NOW)
    assert (job["state"], job["remaining"], job["retries"]) == ("waiting", 4, 5)
    assert (job["priority"], job["tags"], job["worker"]) == (7, ["x"], "")
    assert [channel for channel, _ in heard] == ["ql:log", "ql:w:w", "ql:log"]
    assert lua.popped(NOW) == ["j"]


def test_a_lost_job_that_may_not_run_twice_fails(lua, audit, redis):
    lua.put(NOW - 9, "once", "retries", 0)
    lua.pop(NOW - 8)
    redis.zrem("ql:q:q-locks", "once")

    assert audit.only("in-no-place").repair("requeue").done

    job = lua.job("once", NOW)
    assert (job["state"], job["failure"]["group"]) == ("failed", "audit")
    assert audit.kinds() == {}


def test_a_lost_job_that_waits_for_others_waits_for_them_again(shop, audit, lua):
    shop.zrem("ql:q:q-depends", "needs")

    assert audit.only("in-no-place").repair().done

    assert lua.job("needs", NOW)["state"] == "depends"


def test_a_lost_job_without_a_queue_fails_where_somebody_sees_it(shop, audit, lua):
    shop.zrem("ql:q:q-work", "wait")
    shop.hset("ql:j:wait", "queue", "")

    assert audit.only("in-no-place").repair().done

    assert lua.job("wait", NOW)["failure"]["group"] == "audit"
    assert lua.json("failed", NOW, "audit")["jobs"] == ["wait"]


def test_a_job_that_fails_by_a_repair_says_what_was_found(shop, audit, lua):
    shop.zrem("ql:q:mail-locks", "run")

    with lua.hearing() as heard:
        assert audit.only("in-no-place").repair("fail").done

    job = lua.job("run", NOW)
    assert (job["state"], job["failure"]["group"], job["worker"]) == ("failed", "audit", "")
    assert "no set has it" in job["failure"]["message"]
    assert shop.zscore("ql:w:w-1:jobs", "run") is None
    events = [json.loads(text)["event"] for channel, text in heard if channel == "ql:log"]
    assert events == ["lock_lost", "failed"]
    assert [text for channel, text in heard if channel == "ql:failed"] == ["run"]
    assert audit.kinds() == {}


def test_a_job_that_others_wait_for_is_not_deleted(shop, audit, lua):
    shop.zrem("ql:q:q-work", "wait")
    finding = audit.only("in-no-place")

    outcome = finding.repair("delete")

    assert (outcome.done, outcome.what) == (False, "the job needs waits for it")
    assert lua.job("wait", NOW)["state"] == "waiting"


def test_a_fault_that_is_gone_is_left_alone(shop, audit, lua):
    shop.zrem("ql:q:q-work", "wait")
    finding = audit.only("in-no-place")
    shop.zadd("ql:q:q-work", {"wait": 1})
    before = lua.stored()

    outcome = finding.repair()

    assert (outcome.done, outcome.what) == (False, "it is not so any more")
    assert lua.stored() == before


def test_a_remembered_delay_is_kept_when_a_stuck_job_is_let_go(lua, audit, redis):
    lua.put(NOW, "first")
    lua.put(NOW, "j", "depends", '["first"]', delay=500)
    redis.delete("ql:j:j-dependencies")
    redis.srem("ql:j:first-dependents", "j")

    assert audit.only("stuck").repair().what == 'is scheduled in the queue "q"'

    assert redis.zscore("ql:q:q-scheduled", "j") == NOW + 500
    assert audit.kinds() == {}


def test_the_ring_is_named_and_opened_at_one_place(lua, audit, redis):
    lua.put(1, "root")
    jids = [f"r-{number:03}" for number in range(300)]
    for jid in jids:
        lua.put(1, jid, "depends", '["root"]')
    for jid, other in zip(jids, [*jids[1:], jids[0]], strict=True):
        redis.srem(f"ql:j:{jid}-dependencies", "root")
        redis.sadd(f"ql:j:{jid}-dependencies", other)
        redis.sadd(f"ql:j:{other}-dependents", jid)
    redis.delete("ql:j:root-dependents")

    finding = audit.only("ring")

    assert set(finding.subject[1:]) == set(jids)
    assert finding.repair().done
    assert audit.kinds() == {}
    states = Counter(lua.job(jid, NOW)["state"] for jid in jids)
    assert states == {"depends": 299, "waiting": 1}


def test_many_entries_are_walked_and_found_once(lua, audit, redis):
    lua.put(1, "j")
    redis.zadd("ql:q:q-work", {f"ghost-{number}": number for number in range(3000)})

    assert audit.kinds() == {"entry-without-job": 3000}
    assert len(audit.mend("all")) == 3000
    assert redis.zrange("ql:q:q-work", 0, -1) == ["j"]


def test_b27_dead_tracked_jobs_are_cleaned_however_many(lua, audit, redis):
    lua.put(NOW, "live")
    lua("track", NOW, "track", "live")
    redis.zadd("ql:tracked", {f"dead-{number}": number for number in range(3000)})

    assert audit.kinds() == {"tracked-without-job": 3000}
    audit.mend("all")
    assert redis.zrange("ql:tracked", 0, -1) == ["live"]


def test_b65_silent_workers_are_forgotten_and_live_ones_stay(lua, audit, redis):
    redis.zadd("ql:workers", {f"dead-{number}": NOW - 86401 for number in range(1000)})
    redis.zadd("ql:workers", {f"an hour ago-{number}": NOW - 3600 for number in range(1000)})
    redis.zadd("ql:w:dead-1:jobs", {"gone": 5})

    assert audit.kinds() == {"old-worker": 1000, "entry-without-job": 1}
    audit.mend("all")
    assert len(lua.json("workers", NOW)) == 1000
    assert redis.keys("ql:w:*") == []


@pytest.fixture
def failures(lua):
    """Make 500 jobs that failed in one group."""
    for number in range(500):
        lua.put(1, f"j-{number:03}")
    for job in lua.pop(2, 500):
        lua("fail", 3, job["jid"], "w", "boom", "m")
    return [f"j-{number:03}" for number in range(500)]


def test_a_failed_job_missing_on_a_long_list_is_found(failures, lua, audit, redis):
    redis.lrem("ql:f:boom", 1, failures[123])

    assert audit.only("failed-not-listed").jid == failures[123]
    audit.mend("all")
    assert audit.kinds() == {}
    assert lua("failed", NOW).count(":500") == 1


def test_a_job_twice_on_a_long_list_is_found(failures, audit, redis):
    redis.rpush("ql:f:boom", failures[77])

    assert audit.only("listed-twice").jid == failures[77]
    audit.mend("all")
    assert audit.kinds() == {}
    assert redis.llen("ql:f:boom") == 500


def test_completed_jobs_are_forgotten_to_the_last_one(audit, redis):
    for number in range(1200):
        redis.hset(f"ql:j:d-{number}", mapping={"jid": f"d-{number}", "state": "complete"})
        redis.hset(f"ql:j:d-{number}", mapping={"data": "{}", "queue": "", "klass": "K"})
        redis.zadd("ql:completed", {f"d-{number}": 5})

    assert audit.only("old-completed").repair().done

    assert redis.keys("ql:j:*") == []
    assert audit.kinds() == {}


def test_large_data_is_read_by_the_client(lua, audit, redis):
    lua.put(1, "good", data=json.dumps("x" * 100_000))
    lua.put(1, "bad", data=json.dumps("x" * 100_000))
    redis.hset("ql:j:bad", "data", '{"x":' + "1" * 100_000)

    assert audit.kinds() == {"odd-data": 1}
    assert audit.only("odd-data").repair("fail").done
    assert lua.job("bad", NOW)["failure"]["group"] == "audit"


def test_the_work_of_one_call_is_bounded(audit, redis):
    redis.zadd("ql:q:q-work", {f"ghost-{number}": number for number in range(3000)})

    step = audit.commands.audit_scan("0", 1000)
    assert (step.left, step.found[1:]) == ((("walk", "work", "q"),), ())

    walked = audit.commands.audit_walk("work", "q", "0", 100_000)
    assert walked.keys == 3000
    assert 100 < len(walked.found) < 2000
    assert len(walked.found) + len(walked.left) == 3000


# Nothing is found where nothing is wrong


@pytest.mark.parametrize("seed", range(3))
def test_random_work_leaves_nothing_to_find(lua, audit, redis, seed):
    lua("config.set", 0, "jobs-history-count", 20)
    work = Workload(lua, random.Random(seed))  # noqa: S311 - to be repeated
    for _ in range(4):
        work.run(500)
        audit.now = work.now

        faults = [str(each) for each in audit.findings() if each.kind.is_fault]

        assert faults == []
    assert work.done > 1000
    assert redis.dbsize() > 100


def test_what_the_original_was_asked_to_do_leaves_nothing_to_find(lua, audit, redis):
    """Replay the recorded calls; the faults of the original itself are others."""
    found = []
    for sequence in recorded():
        redis.flushdb()
        for call in sequence["calls"]:
            with suppress(ResponseError):
                lua(*call["args"])
            audit.now = max(audit.now, float(call["args"][1]))
        found += [str(finding) for finding in audit.findings() if finding.kind.is_fault]
        audit.now = NOW

    assert found == []


def recorded():
    """Read a part of the recorded calls of the original script."""
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in islice(lines, 40)]
