"""The trash: what is cancelled rests there, comes back, and takes no more room than it may."""

from __future__ import annotations

from qless_web.operations import freezing, trash
from qless_web.operations import operation as store
from tests.support.polling import eventually
from tests.support.shop import OPERATION, make_operation, start_operation


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


def test_a_program_lists_what_rests_and_brings_back_some_and_then_all(shop, operations, web):
    jids = [f"job-{number}" for number in range(7)]
    shop.fail(*jids)
    shop.fail("other", group="other")
    made = operations.do("cancel", {"group": "boom"}, note="x")["id"]
    operations.do("cancel", {"jids": ["other"]})

    listed = walk(web, "/api/v1/trash")
    assert [each["count"] for each in listed] == [1, 7]
    assert (listed[1]["operation"], listed[1]["title"]) == (made, "Cancel 7 jobs of boom")
    assert listed[1]["until"] - listed[1]["when"] == 24 * 3_600
    inside = walk(web, listed[1]["url"])
    assert sorted(each["jid"] for each in inside) == jids
    assert {each["state"] for each in inside} == {"failed"}

    def restore(body, status=202):
        answer = web.post(f"/api/v1/trash/{made}/restore", json=body)
        assert answer.status_code == status, answer.text
        return answer.json

    some = restore({"jids": ["job-5", "job-2"]})
    assert some["total"] == 2
    assert operations.until(some["id"])["done"] == 2
    assert shop.state("job-5") == shop.state("job-2") == "failed"
    assert shop.state("job-1") == "gone"
    assert sorted(each["jid"] for each in walk(web, listed[1]["url"])) == [
        "job-0", "job-1", "job-3", "job-4", "job-6",
    ]  # fmt: skip
    assert "cancelled no job “nobody”" in restore({"jids": ["job-1", "nobody"]}, 409)["detail"]
    for body in ({"jids": []}, {"jids": "job-1"}, {"jids": [7]}, {"all": True}):
        restore(body, 400)
    everything = restore({})
    found = operations.until(everything["id"])
    assert (found["done"], found["left"]) == (5, {"untouched": 2})
    assert all(shop.state(jid) == "failed" for jid in jids)
    assert web.post("/api/v1/trash/00000000000000ff/restore", json={}).status_code == 404
    assert web.get("/api/v1/trash/00000000000000ff").status_code == 404


def walk(web, address):
    """Read a list to its end, two at a time."""
    found, cursor = [], ""
    while cursor is not None:
        query = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        part = web.get(address, query_string=query).json
        found += part["items"]
        cursor = part["next"]
    return found


def test_nothing_is_left_to_undo_when_all_are_back(shop, operations, web):
    shop.fail("a", "b")
    made = operations.do("cancel", {"group": "boom"})["id"]
    assert f"/operations/{made}/undo" in web.get(f"/operations/{made}").text

    back = web.post(f"/api/v1/trash/{made}/restore", json={}).json["id"]

    assert operations.until(back)["done"] == 2
    assert "back already" in operations.tell(made, "undo", 409)["detail"]
    assert f"/operations/{made}/undo" not in web.get(f"/operations/{made}").text


def test_a_program_brings_nothing_back_that_was_never_cancelled(shop, client, operations, web):
    shop.fail(*"abcd")
    make_operation(client, "cancel", *"abcd", state="queued")
    assert client.commands.operation_step(OPERATION, 1, 2, 10).at == 2
    operations.tell(OPERATION, "stop")

    def restore(*jids):
        return web.post(f"/api/v1/trash/{OPERATION}/restore", json={"jids": jids})

    assert "cancelled no job “c”" in restore("b", "c").json["detail"]
    assert restore("b", "c").status_code == 409
    assert restore("b").status_code == 202
    eventually(lambda: shop.state("b") == "failed")


def test_a_blank_tick_brings_nothing_back(shop, operations, web):
    shop.fail("a", "b")
    found = operations.do("cancel", {"group": "boom"})

    answer = web.post(f"/trash/{found['id']}/restore", data={"expected": "1", "targets": ""})

    assert answer.status_code == 400
    assert (shop.state("a"), shop.state("b")) == ("gone", "gone")


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

    start_operation(client, made)

    assert operations.until(made.id)["done"] == 2
    assert redis.exists(f"ql:web:operation:{found['id']}") == 0
