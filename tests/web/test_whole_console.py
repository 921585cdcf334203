"""What holds for every page at once: it answers, it is cheap, it changes nothing, it stays inside."""

from __future__ import annotations

from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
import redis.connection
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.middleware.lint import LintMiddleware
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_web import create_app
from qless_web.demo import seeds
from tests.support.crawl import addresses, crawl

AWKWARD = ["a/b", "..", "a/running", "x.json", "ü ~2F", "q?x=1#y", "<b>&amp;'\"", "a\nb", "%2F", "~41"]


@pytest.fixture
def shop(client):
    """A seeded shop, and in it something by every awkward name."""
    seeds.plant(client)
    for name in AWKWARD:
        queue = client.queues[name]
        queue.put(name, {name: name}, jid=name, tags=[name])
        queue.put("Fails", {}, jid=f"{name}-failed", tags=[name])
        queue.recur("Again", {}, interval=3600, jid=f"{name}-again")
        client.track(name)
        failing = queue.pop(2)
        for job in failing:
            if job.jid.endswith("-failed"):
                job.fail(name, f"{name}: {name}")
    return client


@pytest.fixture(params=["", "/a/b-c"], ids=["at the root", "under a prefix"])
def prefix(request):
    return request.param


@pytest.fixture
def web(shop, prefix):
    return browser_for(create_app(shop), prefix)


def browser_for(app, prefix):
    mounted = DispatcherMiddleware(lambda *_: pytest.fail("outside"), {prefix: app}) if prefix else app
    return Browser(LintMiddleware(mounted))


def everything(redis):
    """Dump the whole database."""
    return {key: (redis.type(key), redis.dump(key)) for key in sorted(redis.scan_iter(count=1000))}


@contextmanager
def counted_trips(monkeypatch):
    """Count what is sent to Redis: one pipeline is one trip."""
    trips = []
    send = redis.connection.AbstractConnection.send_packed_command

    def count(self, command, *args, **kwargs):
        trips.append(command)
        return send(self, command, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(redis.connection.AbstractConnection, "send_packed_command", count)
        yield trips


def test_every_link_of_the_console_leads_to_a_page(web, prefix):
    seen = list(crawl(web, f"{prefix}/"))

    assert len(seen) > 100
    assert [(page.path, page.status, page.found_on) for page in seen if page.status != 200] == []


def test_nothing_leads_out_of_the_prefix(web, prefix):
    strays = {
        (name, value)
        for page in crawl(web, f"{prefix}/", most=150)
        for _, name, value in addresses(page.body)
        if value.startswith("/") and prefix and not value.startswith(f"{prefix}/")
    }

    assert strays == set()


def test_pages_load_nothing_from_elsewhere(web, prefix):
    foreign = {
        value
        for page in crawl(web, f"{prefix}/", most=60)
        for tag, name, value in addresses(page.body)
        if urlsplit(value).netloc and (tag, name) != ("a", "href")
    }

    assert foreign == set()


def test_looking_at_everything_changes_nothing(web, prefix, redis):
    before = everything(redis)

    seen = list(crawl(web, f"{prefix}/"))

    assert len(seen) > 100
    assert everything(redis) == before


def test_no_page_needs_more_than_three_round_trips(web, prefix, monkeypatch):
    pages = [page.path for page in crawl(web, f"{prefix}/", most=250) if page.body]
    costs = {}
    for path in pages:
        with counted_trips(monkeypatch) as trips:
            web.get(path)
        costs[path] = len(trips)

    assert len(pages) > 50
    assert max(costs.values()) > 0
    assert {path: cost for path, cost in costs.items() if cost > 3} == {}


def test_every_html_id_stands_once_on_its_page(web, prefix):
    import re

    for page in crawl(web, f"{prefix}/", most=150):
        ids = re.findall(r"\sid=\"([^\"]*)\"", page.body)
        assert [each for each in set(ids) if ids.count(each) > 1] == [], page.path


def test_a_user_who_may_only_read_sees_everything(shop, server, redis):
    redis.execute_command(
        "ACL", "SETUSER", "console", "on", ">secret", "~ql:*", "&ql:*",
        "+@read", "+@connection", "+@pubsub", "+info", "+time",
    )  # fmt: skip
    reader = Client(server.url.replace("unix://", "unix://console:secret@"))
    web = browser_for(create_app(reader), "")
    try:
        seen = list(crawl(web, "/"))
        refused = web.post("/queues/default/pause", headers={"Sec-Fetch-Site": "same-origin"})
        ready = web.get("/readyz")
    finally:
        redis.execute_command("ACL", "DELUSER", "console")
        reader.close()

    assert len(seen) > 100
    assert [(page.path, page.status) for page in seen if page.status != 200] == []
    assert all("read-only" in page.body for page in seen if page.body)
    assert refused.status_code == 403
    assert ready.status_code == 200


@pytest.mark.parametrize(
    "page",
    ["0", "-1", "1.5", "1e30", "nan", "", "abc", "99999999", "٣", "9" * 400, "%00", "1&page=2"],
)
@pytest.mark.parametrize(
    "path", ["/queues", "/queues/mail/waiting", "/failed", "/completed", "/track", "/tags", "/workers"]
)
def test_b24_odd_page_numbers_are_no_error_of_ours(web, prefix, path, page):
    response = web.get(f"{prefix}{path}?page={page}")

    assert response.status_code in {200, 400, 404}


@pytest.mark.parametrize(
    "path",
    [
        "/nothing", "/jobs/no-such-job", "/failed/no-such-group", "/queues/no-such-queue",
        "/workers/no-such-worker", "/queues/mail/no-such-tab", "/static/x/no.css",
    ],
)  # fmt: skip
def test_what_is_not_there_is_404(web, prefix, path):
    assert web.get(f"{prefix}{path}").status_code == 404


def test_the_original_addresses_answer(web, prefix):
    queue, group, jid, worker = "mail", "mail-SMTPTimeout", "..", None
    found = {
        path: web.get(f"{prefix}{path}").status_code
        for path in (
            "/", "/queues", "/queues.json", "/queues/mail.json", "/queues/mail", "/queues/mail/running",
            "/queues/mail/waiting", "/queues/mail/scheduled", "/queues/mail/stalled",
            "/queues/mail/depends", "/queues/mail/recurring", "/queues/mail/stats", "/failed",
            "/failed.json", "/completed", "/track", "/workers", "/tag?tag=vip", "/config", "/about",
        )
    }  # fmt: skip

    assert {path: status for path, status in found.items() if status != 200} == {}


def test_every_answer_carries_the_headers_that_protect_it(web, prefix):
    for path in ("/", "/jobs/no-such-job", "/static/x/css/tokens.css", "/queues.json"):
        headers = web.get(prefix + path).headers

        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] in {"no-store", "no-cache"}


def test_without_redis_every_page_says_so_and_nothing_breaks():
    web = browser_for(create_app("redis://:hidden@127.0.0.1:1/0"), "")

    answers = [web.get(path) for path in ("/", "/queues", "/jobs/x", "/failed", "/queues.json", "/readyz")]

    assert {answer.status_code for answer in answers} == {503}
    assert all("hidden" not in answer.get_data(as_text=True) for answer in answers)
    assert all("127.0.0.1:1" in answer.get_data(as_text=True) for answer in answers)
    assert web.get("/healthz").status_code == 200
