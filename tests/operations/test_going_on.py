"""What an operation lives through: a server that refuses for a while, and rest without end."""

from __future__ import annotations

import pytest

from qless_core.client import Client
from qless_web.operations import freezing, ordering
from qless_web.operations import operation as store
from qless_web.operations.background import Background
from qless_web.operations.options import Options
from qless_web.operations.running import Bench, Run
from qless_web.operations.selection import Selection
from qless_web.settings import Settings
from tests.support.nodes import Node
from tests.support.polling import eventually
from tests.support.shop import Shop, start_operation

PARTS = ("", ":list", ":report")


def draft(client, action, **options):
    return freezing.freeze(
        client,
        action=action,
        selection=Selection(group="boom"),
        options=Options(**options),
        asked=freezing.Asked(),
        search=tuple,
        keep_s=3_600,
    )


def test_one_that_breaks_is_tried_again_by_itself(client, shop, redis, operations):
    shop.fail("a", "b")
    made = draft(client, "retry")
    key = f"ql:web:operation:{made.id}:list"
    redis.rename(key, "aside")
    redis.set(key, "no list")
    start_operation(client, made)
    job = ordering.workshop(client).jobs[ordering.job_of(made.id, 1)]
    assert job is not None
    eventually(lambda: ordering.workshop(client).commands.get(job.jid).state == "scheduled")
    redis.rename("aside", key)

    assert operations.until(made.id)["done"] == 2


def test_one_whose_server_was_away_goes_on_before_anybody_looks_for_it(tmp_path, caplog):
    options = {"appendonly": "yes", "appendfsync": "always"}
    node = Node(tmp_path / "node", options).start()
    with Client(node.url, worker_name="worker-1") as client:
        Shop(client).fail(*(f"job-{number}" for number in range(30)))
        background = Background(client, Settings(), mend_s=3_600)
        background.start()
        made = draft(client, "retry", rate=20)
        start_operation(client, made)
        eventually(lambda: store.load(client, made.id).at)

        node.kill()
        eventually(lambda: "goes on" in caplog.text)
        node.start()

        eventually(lambda: store.load(client, made.id).state == "done")
        assert store.load(client, made.id).done == 30
        background.close()
    node.stop()


def test_one_whose_orderer_died_is_done_by_a_console_that_lives(client, shop):
    shop.fail("a", "b")
    background = Background(client, Settings(), mend_s=0.05)
    background.start()
    workshop = ordering.workshop(client)
    eventually(lambda: workshop.workers.counts)  # it began, and found nothing
    made = draft(client, "retry")

    store.change(client, made.id, state="queued", run=1)
    client.redis.zadd("ql:web:operations", {made.id: made.created})

    eventually(lambda: store.load(client, made.id).state == "done")
    background.close()
    assert shop.state("a") == "waiting"


def test_one_that_rests_is_forgotten_some_day_unless_it_goes_on(client, shop, redis, operations):
    shop.fail(*"abcd")
    found = operations.order("retry", {"group": "boom"}, options={"canary": 2})
    operations.until(found["id"], "paused")

    keys = [f"ql:web:operation:{found['id']}{part}" for part in PARTS]
    assert all(0 < redis.ttl(key) <= store.KEPT_S for key in keys)
    made = store.load(client, found["id"])
    start_operation(client, made)
    assert operations.until(found["id"])["done"] == 4
    assert all(0 < redis.ttl(key) <= store.KEPT_S for key in keys)


def test_one_whose_undo_could_not_begin_is_undone_later(client, shop, redis, operations):
    shop.fail("a")
    found = operations.do("retry", {"group": "boom"})
    late = freezing.freeze_undo(client, store.load(client, found["id"]), freezing.Asked())
    redis.delete(f"ql:web:operation:{late.id}")

    assert not ordering.begin_undo(client, late)

    assert redis.keys(f"*{late.id}*") == []
    assert operations.undo(found["id"])["done"] == 1


@pytest.mark.parametrize("action", ["retry", "cancel"])
def test_all_of_an_operation_bears_the_hash_tag_of_its_namespace(server, redis, action):
    with Client(server.url, namespace="{shop}:") as client:
        Shop(client).fail("a", "b", "c")
        before = client.commands.get("b")
        made = draft(client, action)
        store.change(client, made.id, state="queued", run=1)

        assert Run(Bench(client, Settings()), freezing.loaded(client, made.id)).go() == "done"
        ended = freezing.loaded(client, made.id)
        undo = freezing.freeze_undo(client, ended, freezing.Asked())
        store.change(client, undo.id, state="queued", run=1)
        assert Run(Bench(client, Settings()), freezing.loaded(client, undo.id)).go() == "done"

        assert ended.done == 3
        assert client.commands.get("b").failure == before.failure
        assert client.commands.get("b").state == "failed"
        assert {key for key in redis.scan_iter() if not key.startswith("{shop}:")} == set()
