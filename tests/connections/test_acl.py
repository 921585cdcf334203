"""The users that the documentation recommends can do all that they must, and no more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from redis.exceptions import ResponseError

from qless_core import cli, reads
from qless_core.client import Client
from qless_core.errors import NotPermitted
from qless_core.new_job import NewJob
from qless_core.testing import FrozenClock
from qless_web import create_app, minutes
from qless_web.alerts.watching import Watching
from qless_web.console import EXTENSION
from qless_web.live.counting import Counting
from qless_web.settings import Settings
from tests.operations.conftest import Operations
from tests.support.nodes import Node
from tests.support.servers import servers

TEXT = (Path(__file__).parents[2] / "docs/how-to/connect-to-redis.md").read_text()
ACL = dict(re.findall(r"^```(acl\S*)\n(.+?)\n```", TEXT, re.MULTILINE | re.DOTALL))


@pytest.fixture(scope="module", params=servers())
def server(request, tmp_path_factory):
    node = Node(tmp_path_factory.mktemp("acl") / "node", binary=servers()[request.param])
    node.kind = request.param
    yield node.start()
    node.stop()


@pytest.fixture
def allow(server):
    """Give a function that makes a client of a user with these rights."""
    clients = []
    server.ask("FLUSHALL")

    def allow(line, namespace="ql:", patience=0, clock=None):
        _, _, name, *rights = line.split()
        server.ask("ACL", "SETUSER", name, "reset", *rights)
        url = f"redis://{name}:secret@127.0.0.1:{server.port}/2"
        settings = {"namespace": namespace, "worker_name": "w", "patience": patience}
        clients.append(Client(url, clock=clock, **settings))
        return clients[-1]

    yield allow
    for client in clients:
        client.close()


def for_(server, kind="acl"):
    return ACL["acl-6.2" if kind == "acl" and server.kind == "redis-6.2" else kind]


def use_everything(client):
    """Use the queue in every way that needs a command of its own kind."""
    queue = client.queues["q"]
    with client.events.subscribe() as events:
        queue.put("Job", {}, jid="a", tags=["t"], priority=3)
        assert events.get(5) is not None
    client.track("a")
    queue.put("Job", {}, jid="b", depends=["a"])
    queue.put("Job", {}, jid="c", delay=1000)
    queue.recur("Job", {}, jid="r", interval=60)
    client.config["heartbeat"] = 30
    assert queue.pop(10, timeout=0.05)[0].jid == "a"
    assert queue.pop(timeout=0.05) is None
    job = client.jobs["a"]
    job.heartbeat()
    job.fail("group", "message")
    assert client.failures.unfail("group", "q") == 1
    for job in queue.pop(10):
        job.complete()
    queue.pause()
    queue.unpause()
    client.bulk_cancel(["c"])
    assert client.jobs["a"].state == "complete"
    assert client.workers.counts
    assert client.stats.get("q") is not None
    use_what_is_ours(client, client.queues["ours"])


def use_what_is_ours(client, queue):
    """Throttles, many jobs at once, walks, cron jobs, the archive, the audit."""
    client.throttles["scarce"].maximum = 1
    jids = queue.put_many([NewJob("Job", {}, throttles=["scarce"]) for _ in range(3)])
    (job,) = queue.pop(3)
    assert sorted(queue.jobs.all_jids("throttled")) == sorted({*jids} - {job.jid})
    assert client.bulk.complete([job]).done == (job.jid,)
    assert queue.pop().jid in jids
    client.bulk.cancel(jids)
    assert queue.cron("Job", {}, "0 3 * * *", jid="cron") == "cron"
    assert client.jobs["cron"].cron == "0 3 * * *"
    assert job.jid in [each.record.jid for each in archived(client)]
    assert not [finding for finding in client.audit() if finding.kind.is_fault]


def archived(client):
    jobs = []
    client.archive(jobs.extend, name="acl", settle=0)
    return jobs


def test_b73_the_user_for_workers_can_do_everything(server, allow):
    use_everything(allow(for_(server)))


def test_b73_with_patience_too(server, allow):
    use_everything(allow(for_(server), patience=5))


def test_b73_with_a_tagged_namespace_too(server, allow):
    line = for_(server).replace("~ql:*", "~{ql}*").replace("&ql:*", "&{ql}:*")

    use_everything(allow(line, "{ql}:"))


def test_b73_the_user_for_workers_can_do_nothing_else(server, allow):
    redis = allow(for_(server)).redis

    for command in (
        ("GET", "other:key"),
        ("SET", "other:key", "1"),
        ("PUBLISH", "other", "1"),
        ("KEYS", "*"),
        ("FLUSHALL",),
        ("CONFIG", "GET", "*"),
        ("CLIENT", "LIST"),
        ("ACL", "LIST"),
        ("SHUTDOWN",),
    ):
        with pytest.raises(ResponseError, match=r"permission"):
            redis.execute_command(*command)


def test_b73_the_user_for_the_console_sees_every_page_and_changes_nothing(server, allow):
    with Client(server.url.replace("/0", "/2"), worker_name="w") as client:
        use_everything(client)
    client = allow(for_(server, "acl-read"))
    app = create_app(client)

    with app.test_client() as web:
        for path in (
            "/", "/queues", "/queues/q", "/failed", "/track", "/jobs/a", "/workers", "/config",
            "/about", "/completed", "/tag?tag=t",
        ):  # fmt: skip
            answer = web.get(path, follow_redirects=True)
            assert answer.status_code == 200, (path, answer.text[-500:])
        assert "this Redis user may only read" in web.get("/queues/q").text
    with pytest.raises(NotPermitted):
        client.queues["q"].put("Job", {})
    with client.events.subscribe() as events:
        assert events.drain() == []


def test_b73_the_command_looks_at_all_with_a_user_who_may_run_the_script_and_only_read(
    server, allow, capsys
):
    with Client(server.url.replace("/0", "/2"), worker_name="w") as client:
        use_everything(client)
        client.queues["q"].put("Job", {}, jid="looked-at")
        before = {key: client.redis.dump(key) for key in client.redis.scan_iter()}
        allow(for_(server, "acl-look"))
        looks = (
            ["queues"], ["failed"], ["stats", "q"], ["jobs", "q", "waiting"], ["job", "looked-at"],
            ["config"], ["config", "get", "heartbeat"], ["audit"],
        )  # fmt: skip
        changes = (
            ["put", "q", "Job"], ["cancel", "looked-at"], ["config", "set", "heartbeat", "30"],
        )  # fmt: skip
        url = f"redis://look:secret@127.0.0.1:{server.port}/2"

        for words in (*looks, *changes):
            code = cli.main(["--redis-url", url, *words])
            assert (words, code) == (words, int(words in changes)), capsys.readouterr().err

        assert {key: client.redis.dump(key) for key in client.redis.scan_iter()} == before


#: The end of a minute.
MINUTE = 1_700_002_800.0


def use_the_console(client):
    """Change things in every way in which a console writes to Redis by itself."""
    client.queues["q"].put("Job", {}, jid="a")
    client.queues["q"].pop().fail("group", "message")
    app = create_app(client)
    web, console = app.test_client(), app.extensions[EXTENSION]
    for path, body in (
        ("config/heartbeat/set", {"value": "45"}),
        ("deploys", {"name": "v1"}),
        ("failures/group/acknowledge", {}),
    ):
        answer = web.post(f"/api/v1/{path}", json=body)
        assert answer.status_code == 200, (path, answer.text)
    console.operations.start()
    try:
        assert Operations(web).do("retry", {"group": "group"})["done"] == 1
    finally:
        console.operations.close()
    told = [each["action"] for each in web.get("/api/v1/audit").json["items"]]
    assert {"set_option", "mark_deploy", "start_operation", "operation_ended"} <= set(told)
    assert web.get("/api/v1/config/history").json["items"][0]["now"] == "45"
    watching = Watching(client, Settings.build())
    assert watching.look()
    assert watching.look()


def test_b73_the_user_for_workers_is_enough_for_a_console_that_changes_things(server, allow):
    use_the_console(allow(for_(server)))


def test_b73_and_for_one_that_counts_minutes(server, allow):
    client = allow(for_(server), clock=FrozenClock(MINUTE))

    Counting(client, Settings.build()).look()

    plan = minutes.noted(int(MINUTE // 60) - 1)
    _, ((last, _),) = reads.run(client.redis, client.keys, [plan], now=MINUTE)
    assert last


def test_b73_a_console_that_may_only_read_does_not_look_at_alerts(server, allow):
    with Client(server.url.replace("/0", "/2")) as client:
        client.queues["q"].put("Job", {})

    assert not Watching(allow(for_(server, "acl-read")), Settings.build()).look()


def test_b73_one_that_lacks_a_right_to_look_at_alerts_says_which(server, allow):
    client = allow(for_(server) + " -set")

    with pytest.raises(NotPermitted, match=r"\+set"):
        Watching(client, Settings.build()).look()


@pytest.mark.parametrize(
    ("without", "missing"),
    [
        ("&ql:*", r"channel \(&ql:\*\)"),
        ("~ql:*", r"key \(~ql:\*\)"),
        ("+evalsha", r"the command evalsha \(\+evalsha\)"),
    ],
)
def test_b73_a_right_that_is_missing_is_named(server, allow, without, missing):
    client = allow(for_(server).replace(f" {without}", "").replace(" +fcall", ""))

    with pytest.raises(NotPermitted, match=missing) as refusal:
        client.queues["q"].put("Job", {})

    assert refusal.value.missing
    assert not refusal.value.passes


def test_b73_a_subscription_names_the_channels_that_it_may_not_hear(server, allow):
    client = allow(for_(server).replace(" &ql:*", ""))

    with pytest.raises(NotPermitted, match="channel"), client.events.subscribe():
        pass


def test_b73_what_no_right_is_needed_for_is_not_asked(server, allow):
    """Nobody but SELECT, HELLO and what the call itself needs is sent on a new connection."""
    server.ask("ACL", "LOG", "RESET")
    client = allow(for_(server))
    client.queues["q"].put("Job", {})
    client.redis.connection_pool.disconnect()
    client.queues["q"].put("Job", {})

    assert server.ask("ACL LOG") in ([], None)
