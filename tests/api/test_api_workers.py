"""Workers as they tell of themselves."""

from __future__ import annotations

from qless_core.records import WorkerChild, WorkerInfo


def test_what_a_worker_tells_of_itself_is_told_on(api, client, clock, judge):
    info = WorkerInfo(
        host="shop-1",
        pid=4101,
        kind="forking",
        version="0.1.0",
        queues=("mail", "image-*"),
        concurrency=4,
        started=clock.now(),
        children=(WorkerChild("shop-1-4101-0", 4102, clock.now()),),
    )
    client.workers.beat("shop-1-4101", info)
    assert api.post("/api/v1/workers/shop-1-4101/pause").status_code == 200

    worker = api.get("/api/v1/workers/shop-1-4101").json

    assert judge({"$ref": "#/components/schemas/Worker"}, worker) == []
    assert (worker["silent"], worker["gone"], worker["asked"]) == (False, False, "pause")
    assert worker["queues"] == ["mail", "image-*"]
    assert worker["info"] == {
        "host": "shop-1",
        "pid": 4101,
        "kind": "forking",
        "version": "0.1.0",
        "concurrency": 4,
        "started": clock.now(),
        "state": "running",
        "children": ["shop-1-4101-0"],
    }


def test_a_worker_of_another_client_tells_nothing(api, shop):
    shop.run("a")

    (worker,) = api.get("/api/v1/workers").json["items"]

    assert (worker["name"], worker["running"], worker["info"]) == ("worker-1", 1, None)
    (job,) = api.get("/api/v1/workers/worker-1/jobs").json["items"]
    assert (job["jid"], job["state"]) == ("a", "running")
