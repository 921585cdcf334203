"""What a stranger may send: headers, addresses and bodies that make no sense, and who sent them."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from urllib.parse import quote

import pytest
import redis as redis_py

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_web import create_app
from qless_web.console import EXTENSION
from tests.support.mischief import mischief
from tests.support.polling import eventually
from tests.support.shop import plant
from tests.support.streams import Listener

HALF = "queue:\ud800"


def listed(*topics):
    return json.dumps(list(topics))


# -- Every address -------------------------------------------------------------------------------


def test_nothing_that_makes_no_sense_breaks_any_address(client):
    plant(client)

    found = mischief(create_app(client), client, requests=400)

    assert found.faults == []
    answered = {status for _, status in found.statuses}
    assert {200, 303, 400, 403, 404, 422} <= answered


# -- Topics --------------------------------------------------------------------------------------


def test_a_topic_that_redis_cannot_be_asked_for_is_refused(web):
    answer = web.browser.get(
        f"{web.prefix}/events", query_string={"topics": listed(HALF, "queue:mail")}
    )

    assert answer.status_code == 400
    assert "topic" in answer.text


def test_a_topic_of_bytes_that_are_no_text_is_fed(client, app):
    hub = app.extensions[EXTENSION].hub
    try:
        listener = Listener(hub.open(frozenset({"queue:\udcff"})).messages())
        listener.wait_for("ready")
        client.queues["\udcff"].put("A", {})
        listener.wait_for("change")
    finally:
        hub.close()


def test_a_topic_that_cannot_be_read_harms_no_other(client, app):
    hub = app.extensions[EXTENSION].hub
    try:
        Listener(hub.open(frozenset({HALF})).messages())
        listener = Listener(hub.open(frozenset({HALF, "queue:mail"})).messages())
        listener.wait_for("ready")
        client.queues["mail"].put("A", {})
        listener.wait_for("change")
    finally:
        hub.close()
    assert "redis" not in {message.event for message in listener.messages}


# -- Headers -------------------------------------------------------------------------------------

PAGES = (("GET", "/failed/boom/retry"), ("POST", "/jobs/job/track"), ("POST", "/untrack"),
         ("GET", "/static/x/css/tokens.css"))  # fmt: skip

ODD = ("http://[", "//[", "http://h:port", "..", "[", "", "\x7f", "\xff\xfe", "," * 500, "%" * 99,
       "[" * 7000, "-1", "9" * 5000, "a" * 64 + ".example", "a" * 5000, "x.." * 9, "xn--\xff",
       "text/html;q=nan", "bytes=9-1", "http://h/[", "null", '"', "=;=;")  # fmt: skip

HEADERS = (
    "Accept", "Authorization", "Content-Length", "Content-Type", "Cookie", "Host", "HX-Current-URL",
    "HX-Request", "If-Modified-Since", "If-None-Match", "If-Range", "Last-Event-ID", "Origin",
    "Range", "Referer", "Sec-Fetch-Site", "X-Forwarded-For", "X-Forwarded-Host",
    "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Forwarded-Proto",
)  # fmt: skip


@pytest.fixture
def told(caplog):
    """Give what is logged as a warning or worse, also by Flask itself."""
    caplog.set_level(logging.WARNING)
    return caplog.records


@pytest.fixture
def stocked(client):
    """Put what the pages show."""
    queue = client.queues["mail"]
    queue.put("Fails", {}, jid="failed")
    queue.pop().fail("boom", "no")
    queue.put("Waits", {}, jid="job")


@pytest.mark.usefixtures("stocked")
@pytest.mark.parametrize("header", HEADERS)
def test_no_header_breaks_an_answer(client, header, told):
    broken = []
    for hops in (0, 1):
        app = create_app(client, proxy_hops=hops, trusted_hosts=("localhost",) if hops else ())
        for method, path in PAGES:
            for value in ODD:
                sent = {_variable(header): value}
                with app.test_client().open(path, method=method, environ_overrides=sent) as answer:
                    if answer.status_code >= 500:
                        broken.append((path, method, value[:20], answer.status_code))

    assert broken == []
    assert [record.getMessage() for record in told] == []


@pytest.mark.usefixtures("stocked")
@pytest.mark.parametrize("value", ["[" * 7000, "null", "{}", "[1]", "[[],[],[]]", "[1,2,3]",
                                   '["\\ud800","info",["\\ud800"]]', "[" * 900 + "]" * 900,
                                   '["a","b",' + "[" * 400 + "]" * 400 + "]"])  # fmt: skip
def test_a_forged_message_is_ignored_or_printed(app, value, told):
    browser = app.test_client()
    sent = {"HTTP_COOKIE": f"qless_flash={quote(value)}"}

    assert browser.get("/queues", environ_overrides=sent).status_code == 200
    assert not told


@pytest.mark.parametrize("host", ["..", "a" * 64 + ".example", "a" * 5000, ".", "a..b", "[", "::"])
def test_a_host_that_is_no_name_is_refused(app, host, told):
    answer = app.test_client().get("/", environ_overrides={"HTTP_HOST": host})

    assert answer.status_code == 400
    assert "host" in answer.text.lower()
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert not told


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1:5678", "[::1]:5678", "qless_web.internal", "a.example."]
)
def test_a_host_that_is_a_name_is_served(app, host):
    assert app.test_client().get("/", headers={"Host": host}).status_code == 200


def _variable(header):
    name = header.upper().replace("-", "_")
    return name if name.startswith("CONTENT") else f"HTTP_{name}"


# -- Who sent it ---------------------------------------------------------------------------------

HERE = "http://localhost"


@pytest.mark.parametrize(
    ("base", "origin", "status"),
    [
        (HERE, "http://localhost", 303),
        (HERE, "http://localhost:80", 303),
        (HERE, "HTTP://LOCALHOST", 303),
        (HERE, "https://localhost", 403),
        (HERE, "http://localhost:8080", 403),
        (HERE, "http://localhost.example", 403),
        (HERE, "http://x@localhost", 403),
        (HERE, "ftp://localhost", 403),
        (HERE, "localhost", 403),
        (HERE, "http://[", 403),
        (HERE, "null", 403),
        (HERE, "", 403),
        ("https://localhost", "https://localhost", 303),
        ("https://localhost", "https://localhost:443", 303),
        ("https://localhost", "http://localhost", 403),
        ("http://localhost:5678", "http://localhost:5678", 303),
        ("http://localhost:5678", "http://localhost", 403),
    ],
)
@pytest.mark.usefixtures("stocked")
def test_changes_come_from_the_same_scheme_host_and_port(app, base, origin, status):
    answer = app.test_client().post("/queues/mail/pause", base_url=base, headers={"Origin": origin})

    assert answer.status_code == status


@pytest.mark.usefixtures("stocked")
@pytest.mark.parametrize(("origin", "status"), [("https://ops.example", 303),
                                                ("http://ops.example", 403)])  # fmt: skip
def test_a_trusted_proxy_says_what_the_origin_is(client, origin, status):
    app = create_app(client, proxy_hops=1)
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "ops.example", "Origin": origin}

    assert app.test_client().post("/queues/mail/pause", headers=headers).status_code == status


# -- Bodies --------------------------------------------------------------------------------------

TOO_MUCH = 5 * 1024 * 1024


@pytest.mark.parametrize("path", ["/cancel", "/track", "/priority", "/retryall"])
def test_an_original_address_says_in_json_that_a_body_is_too_large(web, path):
    answer = web.post(path, b'["' + b"x" * TOO_MUCH + b'"]')

    assert answer.status_code == 413
    assert "4 MB" in answer.json["error"]


def test_a_page_says_that_a_form_is_too_large(web):
    answer = web.post("/ticked/cancel", {"jids": "x" * TOO_MUCH})

    assert answer.status_code == 413
    assert "4 MB" in answer.text


# -- A Redis that answers, but not now -----------------------------------------------------------


@pytest.fixture
def busy():
    """Start a server that a script keeps busy until the test ends; give a console of it."""
    with (
        EmbeddedServer(options={"busy-reply-threshold": 1}) as server,
        Client(server.url) as client,
    ):
        client.queues["mail"].put("A", {}, jid="job")
        endless = redis_py.Redis.from_url(server.url)
        thread = threading.Thread(target=lambda: _ignore(endless.eval, "while true do end", 0))
        thread.start()
        try:
            eventually(lambda: _refusal(client.redis.ping).startswith("BUSY"))
            yield create_app(client).test_client()
        finally:
            client.redis.script_kill()
            thread.join()
            endless.close()


def _ignore(call, *args):
    with contextlib.suppress(redis_py.RedisError):
        call(*args)


def _refusal(call):
    try:
        call()
    except redis_py.RedisError as error:
        return str(error)
    return ""


def test_b34_a_script_that_keeps_redis_busy_is_told_of_as_that(busy):
    page = busy.get("/queues")
    told = busy.get("/queues.json")
    original = busy.post("/pause", json={"queue": "mail"})
    action = busy.post("/queues/mail/pause", headers={"HX-Request": "true"})

    for answer in (page, told, original, action):
        assert answer.status_code == 503
        assert "Redis is busy with a script" in answer.text
        assert "cannot be reached" not in answer.text
    assert "nothing was lost" not in page.text
