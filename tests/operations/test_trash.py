"""The trash: what is cancelled rests there, comes back, and takes no more room than it may."""

from __future__ import annotations

from qless_web.operations import freezing, ordering, trash
from qless_web.operations import operation as store
from tests.support.polling import eventually


def test_a_cancelled_job_is_shown_and_restored_by_its_tick(shop, client, operations, web):
    shop.fail("a", "b")
    found = operations.do("cancel", {"group": "boom"})

    listed = web.get("/trash").text
    assert "Cancel 2 jobs of boom" in listed
    its = web.get(f"/trash?operation={found['id']}").text
    assert 'value="b:1"' in its
    web.post(f"/trash/{found['id']}/restore", data={"expected": "1", "targets": "b:1"})

    eventually(lambda: shop.state("b") == "failed")
    assert shop.state("a") == "gone"
    assert client.commands.get("b").failure.group == "boom"


def test_the_oldest_goes_when_there_is_too_much(client, shop, redis, operations):
    for name in ("old", "new"):
        shop.fail(*(f"{name}-{number}" for number in range(150)), group=name)
    first = operations.do("cancel", {"group": "old"})
    second = operations.do("cancel", {"group": "new"})
    kept = int(redis.hget(f"ql:web:operation:{second['id']}", "kept"))

    trash.shrink(client, kept)

    assert redis.keys(f"ql:web:kept:{first['id']}:*") == []
    assert len(redis.keys(f"ql:web:kept:{second['id']}:*")) == 2
    assert operations.undo(first["id"])["left"] == {"forgotten": 150}
    assert operations.undo(second["id"])["done"] == 150


def test_what_rests_expires_by_itself(shop, redis, operations):
    shop.fail("a")
    found = operations.do("cancel", {"group": "boom"})

    (key,) = redis.keys(f"ql:web:kept:{found['id']}:*")
    assert 86_000 < redis.ttl(key) <= 86_400


def test_what_comes_back_after_its_operation_is_forgotten_leaves_no_trace_of_it(
    client, shop, redis, operations
):
    shop.fail("a", "b")
    found = operations.do("cancel", {"group": "boom"})
    made = freezing.freeze_undo(client, store.load(client, found["id"]), freezing.Asked())
    redis.delete(f"ql:web:operation:{found['id']}")

    ordering.start(client, made)

    assert operations.until(made.id)["done"] == 2
    assert redis.exists(f"ql:web:operation:{found['id']}") == 0
