"""Servers as shards of one queue: pages of all, in which each row names its shard."""

from __future__ import annotations

import os
import signal

import pytest
from redis.client import Pipeline
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_core.shards import ShardedClient
from qless_web import create_servers
from qless_web.access import Grant
from qless_web.accounts.passwords import hashed
from qless_web.accounts.users import User, write
from qless_web.settings import SettingError
from tests.support.html import Visitor, form

NAMES = ("a", "b", "c")
PASSWORD = "correct horse battery"  # noqa: S105 - of a console that lives for a test


@pytest.fixture
def urls(server, redis):  # noqa: ARG001 - `redis` empties the server
    return {name: f"{server.url}?namespace={name}:" for name in NAMES}


@pytest.fixture
def client(urls):
    """Make a client of all shards, on which something has happened."""
    with ShardedClient(urls, worker_name="worker-1") as client:
        for name, shard in client.shards.items():
            shard.queues["mail"].put("Send", {}, jid=f"job-{name}")
        client.shards["b"].queues["only-b"].put("Late", {}, jid="late", delay=60)
        client.shards["c"].queues["mail"].pop().fail("boom", "it went wrong")
        yield client


@pytest.fixture
def open_console(urls, prefix):
    def open_console(**settings):
        app = create_servers(**{"servers": urls, "shards": True, "index": False, **settings})
        return Visitor(
            Browser(DispatcherMiddleware(_nothing, {prefix: app}) if prefix else app), prefix
        )

    return open_console


def _nothing(_environ, start_response):
    start_response("404 Not Found", [])
    return []


@pytest.fixture
def web(open_console, client):  # noqa: ARG001 - there is something to see
    return open_console()


def test_the_first_page_has_every_shard_and_the_sums(web):
    page = web.page("/")

    *rows, sums = page.one("table", id="shards").rows
    assert [row.cells[0] for row in rows] == [*NAMES]
    assert [row.cells[2] for row in rows] == ["1", "2", "1"]
    assert sums.cells[-5:] == ["4", "0", "1", "1", "0"]
    assert [row.cells[:2] for row in page.one("table", id="groups").rows] == [
        ["boom it went wrong", "c"]
    ]


def test_queues_of_all_shards_are_one_list_with_the_shard_of_each(web):
    rows = web.page("/queues").one("table", id="queues").rows
    assert [row.cells[:3] for row in rows] == [
        ["mail", "a", "1"], ["mail", "b", "1"], ["mail", "c", "0"], ["only-b", "b", "0"],
    ]  # fmt: skip
    for row in rows:
        assert row.links[0].startswith(f"{web.prefix}/servers/{row.cells[1]}/queues/")
        assert row.cells[0] in web.page(row.links[0].removeprefix(web.prefix)).one("h1").text

    by_count = web.page("/queues?sort=scheduled").one("table", id="queues").rows
    assert by_count[0].cells[:2] == ["only-b", "b"]
    (found,) = web.page("/queues?q=ONLY").one("table", id="queues").rows
    assert found.cells[1] == "b"


def test_failures_and_workers_of_all_shards_name_theirs(web):
    (group,) = web.page("/failed").one("table", id="groups").rows
    assert group.cells[:3] == ["boom it went wrong", "c", "1"]
    assert web.get(group.links[0].removeprefix(web.prefix)).status_code == 200

    (worker,) = web.page("/workers").one("table", id="workers").rows
    assert worker.cells[:2] == ["worker-1", "c"]
    assert web.get(worker.links[0].removeprefix(web.prefix)).status_code == 200


def test_a_page_after_the_end_says_so_and_leads_back(web):
    for path, last in (
        ("/queues?page=20&sort=waiting", "/queues?sort=waiting"),
        ("/queues?page=999&q=only", "/queues?q=only"),
        ("/failed?page=2", "/failed"),
        ("/workers?page=20", "/workers"),
    ):
        main = web.page(path).one("main")
        assert "There is no page" in main.text, path
        assert main.one("div", class_="empty").links == [web.prefix + last]
        assert not main.all("nav", class_="pager")
    assert "No shard has such a queue" in web.page("/queues?q=nobody").one("main").text


def test_a_job_is_found_on_whichever_shard_it_is(web, client):
    for name in NAMES:
        answer = web.get(f"/jobs/job-{name}")
        assert (answer.status_code, answer.headers["Location"]) == (
            303,
            f"{web.prefix}/servers/{name}/jobs/job-{name}",
        )
    assert "No shard has a job" in web.page("/jobs/nobody", 404).one("main").text

    client.shards["a"].queues["mail"].put("Send", {}, jid="job-b")
    links = web.page("/jobs/job-b", 300).one("main").links
    assert links == [f"{web.prefix}/servers/{name}/jobs/job-b" for name in ("a", "b")]


@pytest.mark.parametrize("index", [False, True])
def test_a_search_finds_jobs_of_all_shards(open_console, client, tmp_path, index):  # noqa: ARG001 - as above
    """Also while the index is being filled."""
    web = open_console(index=index, state_dir=tmp_path)

    page = web.page("/search?q=klass:Send")
    rows = page.one("table", id="jobs").rows
    assert sorted(row.cells[1] for row in rows) == [*NAMES]
    assert "1 on a" in page.one("p", id="asides").text
    named = web.page("/search?q=only-b").one("ul", id="named")
    assert named.links == [f"{web.prefix}/servers/b/queues/only-b"]
    assert "Nothing was found" in web.page("/search?q=nobody").one("main").text
    wrong = web.page("/search?q=state:(").one("main")
    assert wrong.one("p", class_="notice")


def test_each_shard_is_asked_in_three_round_trips_at_most_and_nothing_is_written(
    web, redis, monkeypatch
):
    sent = []
    execute = Pipeline.execute
    monkeypatch.setattr(
        Pipeline, "execute", lambda *args, **named: sent.append(1) or execute(*args, **named)
    )
    before = {key: redis.dump(key) for key in redis.keys()}  # noqa: SIM118 - it is no dictionary
    for path in ("/", "/queues", "/failed", "/workers", "/jobs/job-a", "/search?q=klass:Send"):
        sent.clear()
        web.get(path)
        assert 0 < len(sent) <= 3 * len(NAMES), path
    assert {key: redis.dump(key) for key in redis.keys()} == before  # noqa: SIM118 - as above


def test_a_shard_that_is_down_is_named_and_the_others_are_shown(open_console, client, urls):  # noqa: ARG001 - as above
    with EmbeddedServer() as silent, Client(silent.url) as own:
        pid = own.redis.info("server")["process_id"]
        servers = {"a": urls["a"], "gone": "unix:///nowhere/there.sock", "silent": silent.url}
        web = open_console(servers=servers)
        os.kill(pid, signal.SIGSTOP)
        try:
            for path in ("/", "/queues", "/search?q=job-a"):
                text = web.page(path).one("main").text
                assert "What is on the shard gone is missing here" in text
                assert "What is on the shard silent is missing here: no answer within 2 s" in text
                assert "a" in text
            assert web.get("/jobs/job-a").status_code == 303
            assert "No shard that answered" in web.page("/jobs/nobody", 404).one("main").text
        finally:
            os.kill(pid, signal.SIGCONT)


def test_one_sign_in_counts_for_all_and_so_does_the_end_of_it(open_console, client, tmp_path):
    people = tmp_path / "users"
    write(people, [User("ada", Grant("viewer"), hashed(PASSWORD, (10, 1, 1)))])
    web = open_console(users_file=people, secret_keys=("k" * 40,))
    turned = web.get("/queues?sort=waiting")
    assert turned.status_code == 303
    assert "boom" not in turned.text
    partial = {"HX_Request": "true", "HX_Current_URL": "http://localhost/queues"}
    told = web.get("/queues?sort=waiting", **partial)
    assert (told.status_code, told.headers["HX-Redirect"]) == (401, turned.headers["Location"])

    came = web.submit(form(web.follow(turned), "Sign in"), name="ada", password=PASSWORD)

    assert came.headers["Location"] == f"{web.prefix}/queues?sort=waiting"
    cookie = web.browser.get_cookie("qless_session", path=f"{web.prefix}/")
    for path in ("/queues", *(f"/servers/{name}/queues" for name in NAMES)):
        assert web.get(path).status_code == 200, path
    assert web.post("/servers/b/sign-out").status_code == 303
    web.browser.set_cookie("qless_session", cookie.value, path=f"{web.prefix}/")
    for path in ("/queues", *(f"/servers/{name}/queues" for name in NAMES)):
        assert web.get(path).status_code == 303, path
    assert client.shards["a"].redis.keys("a:web:ended:*")


def test_shards_must_be_named():
    with pytest.raises(SettingError, match="shards needs servers"):
        create_servers(shards=True)
