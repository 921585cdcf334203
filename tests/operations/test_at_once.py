"""What is done to ticked jobs while somebody waits: an operation too, with a report and an undo."""

from __future__ import annotations

import pytest

from qless_core.client import Client
from qless_core.errors import RedisUnavailable
from qless_core.testing import FrozenClock
from qless_web.operations import at_once, freezing, ordering
from qless_web.operations.at_once import Keeping
from qless_web.operations.freezing import Asked
from qless_web.operations.options import Options
from qless_web.operations.selection import Selection
from tests.support.html import Visitor, question, toasts
from tests.support.shop import Shop


@pytest.mark.parametrize(
    ("verb", "more"), [("retry", {}), ("move", {"queue": "slow"}), ("cancel", {})]
)
def test_by_form_it_is_undone_from_its_report(shop, web, operations, verb, more):
    shop.fail("a", "b", "c")
    visitor = Visitor(web)
    page = visitor.page(f"/ticked/{verb}?jids=a&jids=b")

    told = visitor.follow(visitor.submit(question(page), **more))

    assert "2 jobs. Report and undo" in toasts(told)
    assert shop.state("c") == "failed"
    ((made,),) = [[each["id"] for each in web.get("/api/v1/operations").json["items"]]]
    assert f"/operations/{made}" in told.links
    assert [each["jid"] for each in operations.report(made)] == ["a", "b"]
    assert operations.undo(made)["done"] == 2
    assert [shop.state(jid) for jid in "abc"] == ["failed"] * 3
    assert [shop.queue(jid) for jid in "abc"] == ["mail"] * 3


@pytest.mark.parametrize(
    ("verb", "more"), [("retry", {}), ("move", {"queue": "slow"}), ("cancel", {})]
)
def test_by_the_api_the_answer_names_what_undoes_it(shop, web, operations, verb, more):
    shop.fail("a")

    done = web.post(f"/api/v1/jobs/{verb}", json={"jids": ["a", "b"], **more}).json

    assert (done["done"], done["left_total"]) == (["a"], 1)
    assert operations.look(done["operation"])["left"] == {"gone": 1}
    assert operations.undo(done["operation"])["done"] == 1
    assert shop.state("a") == "failed"


def test_where_nothing_was_done_there_is_nothing_to_undo(shop, web, redis):
    shop.put("a")

    answer = web.post("/api/v1/jobs/retry", json={"jids": ["a"]})

    assert answer.status_code == 409
    assert redis.keys("ql:web:operation*") == []


class Slow:
    """Commands of a process for which each step takes some seconds; others look at it between."""

    def __init__(self, client, look):
        self.commands, self.clock, self.look = client.commands, client.clock, look

    def __getattr__(self, name):
        return getattr(self.commands, name)

    def operation_step(self, *args):
        done = self.commands.operation_step(args[0], args[1], 1, 1.0)
        self.clock.advance(6)
        self.look(args[0])
        return done


def test_one_that_is_done_at_once_is_left_to_whoever_does_it(server, redis, monkeypatch):
    with Client(server.url, worker_name="worker-1", clock=FrozenClock()) as client:
        Shop(client).fail(*"abcdefgh")
        draft = freezing.freeze(
            client,
            action="retry",
            selection=Selection(group="boom"),
            options=Options(),
            asked=Asked(),
            search=tuple,
            keep_s=60,
        )
        mended = []
        with monkeypatch.context() as slow:
            slow.setattr(
                client, "commands", Slow(client, lambda _: mended.append(ordering.mend(client)))
            )
            at_once.whole(client, draft, "boom", Keeping(60, 1_000_000), None)

        assert mended == [0] * 8

        redis.hset(f"ql:web:operation:{draft.id}", "state", "running")
        client.clock.advance(16)
        assert ordering.mend(client) == 1


class Dying:
    """Commands of a process that dies before a certain step."""

    def __init__(self, commands, steps):
        self.commands, self.steps = commands, steps

    def __getattr__(self, name):
        return getattr(self.commands, name)

    def operation_step(self, *args):
        if not self.steps:
            raise RedisUnavailable
        self.steps -= 1
        return self.commands.operation_step(args[0], args[1], 1, 1.0)


@pytest.mark.parametrize("verb", ["retry", "move", "cancel"])
@pytest.mark.parametrize("by", ["ticks", "group"])
@pytest.mark.parametrize("odd", [False, True])
def test_what_failed_anew_is_left_alone_by_what_was_not_done_at_once(  # noqa: PLR0913, PLR0917 - fixtures
    shop, client, redis, monkeypatch, operations, verb, by, odd
):
    shop.fail("a", "b")
    for jid in "ab" if odd else "":
        client.commands.track("track", jid)
    monkeypatch.setattr(client, "commands", Dying(client.commands, 0))
    with pytest.raises(RedisUnavailable):
        order(client, verb, by, Options(queue="slow" if verb == "move" else ""))
    monkeypatch.undo()
    client.jobs["a"].requeue("mail")
    client.queues["mail"].pop().fail("boom", "again")

    (made,) = redis.zrange("ql:web:operations", 0, -1)
    redis.hset(f"ql:web:operation:{made}", "ordered", 1)
    ordering.mend(client)

    assert operations.until(made)["left"] == {"since": 1}
    assert shop.state("a") == "failed"
    assert shop.state("b") == ("gone" if verb == "cancel" else "waiting")


def order(client, verb, by, options):
    """Have it done at once to the jobs `a` and `b`, or to their group."""
    keeping = Keeping(60, 1_000_000)
    if by == "ticks":
        wanted = [("a", "failed"), ("b", "failed")]
        how = {"group": "", "options": options, "asked": Asked(), "keeping": keeping}
        return at_once.act(client, verb, wanted, **how)
    draft = freezing.freeze(
        client,
        action=verb,
        selection=Selection(group="boom"),
        options=options,
        asked=Asked(),
        search=tuple,
        keep_s=60,
    )
    return at_once.whole(client, draft, "boom", keeping, None)


@pytest.mark.parametrize("steps", [0, 1])
def test_when_its_process_dies_others_do_the_rest_or_it_is_forgotten(
    shop, client, redis, monkeypatch, operations, steps
):
    shop.fail("a", "b")
    monkeypatch.setattr(client, "commands", Dying(client.commands, steps))
    with pytest.raises(RedisUnavailable):
        order(client, "retry", "ticks", Options())
    monkeypatch.undo()

    (made,) = redis.zrange("ql:web:operations", 0, -1)
    keys = redis.keys(f"ql:web:operation:{made}*") + redis.keys("ql:web:kept:*")
    assert len(keys) == (4 if steps else 2)
    assert all(0 < redis.ttl(key) <= 3_600 for key in keys)
    redis.hset(f"ql:web:operation:{made}", "ordered", 1)
    ordering.mend(client)
    assert operations.until(made)["done"] == 2
    assert [shop.state(jid) for jid in "ab"] == ["waiting"] * 2
