"""B06: markup in any field is text on every page, escaped exactly once."""

from __future__ import annotations

import json
from html import unescape

import pytest

from qless_core.client import Client
from qless_web.formatting import tilde
from tests.support.dom import parse

XSS = "<img src=x onerror=alert(1)>\"'&amp;</script></title></textarea>"

NAME = tilde(XSS)

PAGES = {
    "groups": "/failed",
    "a group": f"/failed/{NAME}",
    "a failed job": f"/jobs/{NAME}",
    "a waiting job": "/jobs/waiting",
    "a job that waits": "/jobs/child",
    "a recurring job": "/jobs/again",
    "a missing job": f"/jobs/{tilde(XSS + '2')}",
    "tracked": "/track",
    "tags": "/tags",
    "a tag": f"/tag/{NAME}",
    "a search": f"/search?q={NAME.replace('~', '%')}x",
    "a part of a name": "/search?q=onerror",
}


@pytest.fixture
def planted(client, redis, server, clock):
    """Put the string into every field there is."""
    with Client(server.url, clock=clock, worker_name=XSS) as worker:
        _plant(worker, redis)
    return client


def _plant(client, redis):
    queue = client.queues[XSS]
    queue.put(XSS, {XSS: [XSS]}, jid="parent", tags=[XSS])
    queue.put(XSS, {XSS: [XSS]}, jid=XSS, tags=[XSS], priority=5)
    job = queue.pop()
    job.log(XSS, {XSS: XSS})
    job.fail(XSS, f"{XSS}\n{XSS}")
    queue.put(XSS, {XSS: XSS}, jid="waiting", tags=[XSS])
    queue.put(XSS, {XSS: XSS}, jid="child", depends=["parent", "waiting"])
    queue.recur(XSS, {XSS: XSS}, interval=60, jid="again", tags=[XSS])
    redis.hset("ql:r:again", mapping={"priority": XSS, "retries": XSS, "backlog": XSS})
    redis.hset(
        "ql:j:child", mapping={"priority": XSS, "retries": XSS, "remaining": XSS, "time": XSS}
    )
    redis.hset("ql:j:waiting", mapping={"state": XSS, "worker": XSS, "spawned_from_jid": XSS})
    redis.rpush("ql:j:waiting-history", json.dumps([1, XSS, {XSS: XSS, "q": XSS}]), XSS)
    redis.hset("ql:config", mapping={"application": XSS, "jobs-history": XSS})
    for jid in (XSS, "parent", "child"):
        client.track(jid)
    redis.zadd("ql:tracked", {f"{XSS}gone": 1})


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize("partial", [False, True], ids=["whole", "partial"])
@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_b06_markup_in_any_field_is_text(path, partial, web):
    response = web.get(path, headers={"HX-Request": "true"} if partial else {})

    html = response.get_data(as_text=True)
    page = parse(html)
    assert response.status_code in {200, 404}
    assert [each for each in page.all("img") if each.attributes["src"] == "x"] == []
    assert [each for each in page if any(name.startswith("on") for name in each.attributes)] == []
    assert XSS not in html
    # Escaped once: what is read is what was written, and nothing was escaped twice.
    assert "<img src=x onerror=alert(1)>" in unescape(html)
    assert "&amp;lt;" not in html
    assert "&amp;#3" not in html


@pytest.mark.usefixtures("planted")
def test_b06_data_is_served_as_a_kind_that_no_browser_runs(web):
    for path in (f"/jobs/{NAME}/data", f"/jobs/{NAME}/failure"):
        headers = web.get(path).headers
        assert headers["Content-Type"] == "text/plain; charset=utf-8"
        assert headers["X-Content-Type-Options"] == "nosniff"
