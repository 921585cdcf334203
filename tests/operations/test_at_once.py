"""What is done to ticked jobs while somebody waits: an operation too, with a report and an undo."""

from __future__ import annotations

import pytest

from qless_core.errors import RedisUnavailable
from qless_web.operations import at_once, ordering
from qless_web.operations.at_once import Keeping
from qless_web.operations.freezing import Asked
from qless_web.operations.options import Options
from tests.support.html import Visitor, question, toasts


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


@pytest.mark.parametrize("steps", [0, 1])
def test_when_its_process_dies_others_do_the_rest_or_it_is_forgotten(
    shop, client, redis, monkeypatch, operations, steps
):
    shop.fail("a", "b")
    monkeypatch.setattr(client, "commands", Dying(client.commands, steps))
    with pytest.raises(RedisUnavailable):
        at_once.act(
            client,
            "retry",
            [("a", "failed"), ("b", "failed")],
            group="",
            options=Options(),
            asked=Asked(),
            keeping=Keeping(60, 1_000_000),
        )
    monkeypatch.undo()

    (made,) = redis.zrange("ql:web:operations", 0, -1)
    keys = redis.keys(f"ql:web:operation:{made}*") + redis.keys("ql:web:kept:*")
    assert len(keys) == (4 if steps else 2)
    assert all(0 < redis.ttl(key) <= 3_600 for key in keys)
    redis.hset(f"ql:web:operation:{made}", "ordered", 1)
    ordering.mend(client)
    assert operations.until(made)["done"] == 2
    assert [shop.state(jid) for jid in "ab"] == ["waiting"] * 2
