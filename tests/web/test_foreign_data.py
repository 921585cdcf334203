"""Data that no qless wrote: keys of other types, odd scores, broken JSON, bytes that are no text.

Whatever lies in Redis, each page and question answers, and a question that cannot be put says why.
"""

from __future__ import annotations

import logging
from functools import partial

import pytest

from qless_core.testing import BEGINNING
from qless_web import create_app

DAY = int(BEGINNING) // 86_400 * 86_400

PAGES = (
    "/", "/queues", "/queues.json", "/queues/mail", "/queues/mail.json", "/queues/mail/stats",
    "/queues/mail/running", "/queues/mail/waiting", "/queues/mail/scheduled",
    "/queues/mail/stalled", "/queues/mail/depends", "/queues/mail/recurring",
    "/queues/mail/pause", "/queues/mail/unpause",
    "/failed", "/failed.json", "/failed/boom", "/failed/boom/retry", "/failed/boom/cancel",
    "/failed/boom/move", "/unfail", "/completed", "/track", "/tags", "/tag/vip", "/workers",
    "/workers/worker-1", "/workers/worker-1/forget", "/config", "/about", "/search?q=job",
    "/search?q=mai", "/ticked/cancel?jids=parent&jids=failed",
    "/ticked/retry?jids=failed", "/ticked/move?jids=failed", "/tags/none",
    *(f"/jobs/{jid}" for jid in ("parent", "child", "running", "failed", "done", "again")),
    *(f"/jobs/{jid}/cancel" for jid in ("parent", "child", "running", "failed", "again")),
    "/jobs/parent/data", "/jobs/failed/failure", "/jobs/running/timeout", "/jobs/failed/retry",
    "/jobs/parent/move", "/jobs/parent/priority", "/jobs/parent/tag", "/jobs/parent/untag",
    "/jobs/parent/track", "/jobs/parent/untrack", "/jobs/child/undepend", "/jobs/again/move",
    "/jobs/~FF", "/queues/~FF", "/tag/~FF", "/failed/~FF", "/workers/~FF", "/jobs/~ED~A0~80",
)  # fmt: skip

#: Each kind of key once, with what it is.
KEYS = {
    "j:parent": "hash", "j:failed": "hash", "j:running": "hash", "j:child": "hash",
    "j:parent-history": "list", "j:child-dependencies": "set", "j:parent-dependents": "set",
    "q:mail-work": "zset", "q:mail-locks": "zset", "q:mail-scheduled": "zset",
    "q:mail-depends": "zset", "q:mail-recur": "zset", "r:again": "hash", "queues": "zset",
    "paused_queues": "set", "workers": "zset", "w:worker-1:jobs": "zset", "tracked": "zset",
    "failures": "set", "f:boom": "list", "completed": "zset", "tags": "zset", "t:vip": "zset",
    "config": "hash", f"s:stats:{DAY}:mail": "hash", f"s:wait:{DAY}:mail": "hash",
    f"s:run:{DAY}:mail": "hash",
}  # fmt: skip

#: Redis refuses each other type alike; two, so that no key is of the only one.
MAKE = {
    "string": lambda redis, key: redis.set(key, "x"),
    "set": lambda redis, key: redis.sadd(key, "x"),
    "stream": lambda redis, key: redis.xadd(key, {"x": "1"}),
}

#: What fields and items may hold instead of what they should.
ODD = ("", "[[[[", '"\\ud800"', "nan", "-inf", "1e999", "9" * 400,
       '{"group":[1],"message":{},"when":"nan","worker":[]}',
       '[["1",2],[null,"put",{"q":[]}],["x"],[1e999,{},[]],{"put":"nan","q":{}}]',
       "[" * 900 + "]" * 900, b'{"group":"\xff","message":"\xff"}')  # fmt: skip

SCORES = ("inf", "-inf", -1e300, 5e-324)


@pytest.fixture
def shop(client, clock):
    """Fill every kind of key there is."""
    queue = client.queues["mail"]
    queue.put("A", {}, jid="parent", tags=["vip"])
    queue.put("A", {}, jid="child", depends=["parent"])
    queue.put("A", {}, jid="later", delay=1000)
    queue.put("A", {}, jid="failed", tags=["vip"], priority=9)
    queue.put("A", {}, jid="done", priority=8)
    queue.put("A", {}, jid="running", priority=7)
    queue.recur("R", {}, interval=60, jid="again", offset=1000)
    queue.pop().fail("boom", "no")
    queue.pop().complete()
    queue.pop()
    client.track("parent")
    client.config["heartbeat"] = 60
    client.queues["other"].pause()
    clock.advance(1)
    return client


@pytest.fixture
def broken(shop, caplog):
    """Ask for every page; give those that broke, and what was logged."""
    caplog.set_level(logging.WARNING)
    browser = create_app(shop).test_client()

    def look(key=""):
        found = []
        for path in PAGES:
            caplog.clear()
            answer = browser.get(path)
            status = answer.status_code
            if status >= 500 or caplog.records:
                found.append((path, status, [record.getMessage() for record in caplog.records]))
            elif status == 409 and key not in answer.text:
                found.append((path, status, answer.text[-300:]))
        return found

    return look


def test_the_shop_has_every_kind_of_key(shop, broken):
    redis = shop.redis
    assert {key: redis.type(f"ql:{key}") for key in KEYS} == KEYS
    assert broken() == []


@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_another_type_breaks_no_page(shop, broken, key):
    redis, name = shop.redis, f"ql:{key}"
    found = {}
    for kind, make in MAKE.items():
        if kind == KEYS[key]:
            continue
        redis.rename(name, "kept")
        make(redis, name)
        found[kind] = broken(name)
        redis.delete(name)
        redis.rename("kept", name)
    assert {kind: failures for kind, failures in found.items() if failures} == {}


@pytest.mark.parametrize("key", [key for key, kind in KEYS.items() if kind == "zset"])
def test_an_odd_score_breaks_no_page(shop, broken, key):
    name = f"ql:{key}"
    found = {}
    for score in SCORES:
        members = shop.redis.zrange(name, 0, -1)
        shop.redis.zadd(name, dict.fromkeys([*members, "gone", "", "\udcff"], score))
        found[score] = broken()
    assert {score: failures for score, failures in found.items() if failures} == {}


@pytest.mark.parametrize("key", [key for key, kind in KEYS.items() if kind == "hash"])
def test_an_odd_value_breaks_no_page(shop, broken, key):
    name = f"ql:{key}"
    before = shop.redis.hgetall(name)
    found = {}
    for value in ODD:
        shop.redis.hset(name, mapping=dict.fromkeys(before, value))
        found[value] = broken()
    assert {value: failures for value, failures in found.items() if failures} == {}


@pytest.mark.parametrize("key", [key for key, kind in KEYS.items() if kind in {"list", "set"}])
def test_an_odd_item_breaks_no_page(shop, broken, key):
    add = partial(shop.redis.rpush if KEYS[key] == "list" else shop.redis.sadd, f"ql:{key}")
    for value in ODD:
        add(value)
    assert broken() == []
