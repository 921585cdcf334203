"""What somebody would try who means harm: the attacks of SECURITY.md that have no other file."""

from __future__ import annotations

import gzip
import json
import threading
from urllib.parse import quote

import pytest
from itsdangerous import URLSafeSerializer

from qless_web import create_app
from qless_web.accounts.sessions import COOKIE, Sessions
from qless_web.formatting import tilde
from qless_web.gate import OPEN
from tests.support.polling import PATIENCE_S
from tests.support.shop import plant
from tests.web.security.conftest import KEY, PASSWORD, sign_in

MARKUP = "<img src=x onerror=alert(1)>\"'</script></title></textarea>"

#: Whatever pages may be asked for.
PARAMS = (
    "q", "sort", "page", "state", "next", "jids", "queue", "group", "return_to", "name", "tag",
    "priority", "address", "for", "order", "day", "size", "cursor", "limit",
)  # fmt: skip

#: A name that leads to something for each name that an address may hold.
HELD = "a"


def rules(app, *methods):
    """Give the rules of an app that take one of the methods."""
    return [rule for rule in app.url_map.iter_rules() if set(methods) & (rule.methods or set())]


def address(app, rule, name=HELD):
    with app.test_request_context():
        values = dict.fromkeys(rule.arguments, name)
        return app.url_map.bind("localhost").build(rule.endpoint, values, force_external=False)


# -- Without an account


def test_who_has_not_come_in_is_shown_no_page_at_all(guarded):
    """Every address there is, also those that are added tomorrow."""
    browser, shown = guarded.test_client(), []
    for rule in rules(guarded, "GET"):
        answer = browser.get(address(guarded, rule))
        answer.close()
        if answer.status_code not in {303, 401} and rule.endpoint not in OPEN:
            shown.append((rule.rule, answer.status_code))

    assert shown == []


def test_who_has_not_come_in_changes_nothing_anywhere(guarded, stored):
    before, browser = stored(), guarded.test_client()
    for rule in rules(guarded, "POST", "PUT", "PATCH", "DELETE"):
        if rule.endpoint in OPEN:
            continue
        answer = browser.post(address(guarded, rule), json={})
        assert answer.status_code in {303, 401}, rule.rule
    assert stored() == before


@pytest.mark.parametrize(
    "path",
    ["//queues", "/./queues", "/static/../queues", "/static/x/../../queues", "/%2e%2e/queues",
     "/sign-in/../queues", "/sign-in%2f..%2fqueues", "/queues;a=b", "/QUEUES", "/queues/",
     "/queues%00", "/healthz/../queues", "/favicon.ico/../queues", "/sign-in/queues"],
)  # fmt: skip
def test_no_way_of_writing_an_address_leads_past_the_sign_in(guarded, shop, path):
    shop.fail("a", group="secret-group")
    answer = guarded.test_client().get("/", environ_overrides={"PATH_INFO": path})

    assert "secret-group" not in answer.text
    assert answer.status_code in {303, 308, 401, 404}


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Original-URL": "/sign-in"},
        {"X-Rewrite-URL": "/sign-in"},
        {"X-Forwarded-User": "admin"},
        {"X-Forwarded-For": "127.0.0.1"},
        {"X-Forwarded-Prefix": "/sign-in"},
        {"Remote-User": "admin"},
        {"Authorization": "Basic YWRtaW46YWRtaW4="},
        {"Authorization": "Bearer qless_x"},
        {"HX-Request": "true"},
        {"Accept": "text/event-stream"},
        {"Accept": "application/json"},
    ],
    ids=str,
)
def test_no_header_leads_past_the_sign_in(guarded, headers):
    assert guarded.test_client().get("/queues", headers=headers).status_code in {303, 401}


@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
def test_a_get_never_becomes_a_post(app, stored, name):
    before = stored()
    web = app.test_client()

    web.get("/queues/mail/pause?_method=POST", headers={name: "POST"})
    assert web.open("/queues/mail/pause", method="DELETE").status_code == 405

    assert stored() == before


# -- Sessions


def forged(**changes):
    """Give cookies that nobody wrote who has the key."""
    session = Sessions((KEY,), 3_600, 3_600).begin(1_700_000_000.0, "admin", "password")
    good = Sessions((KEY,), 3_600, 3_600).write(session)
    payload, _, mac = good.rpartition(".")
    other = Sessions(("x" * 40,), 3_600, 3_600).write(session)
    salted = URLSafeSerializer(KEY, salt="qless.flash").dumps({"name": "admin"})
    return {
        "another key": other,
        "another purpose": salted,
        "no signature": payload,
        "an empty one": f"{payload}.",
        "a cut one": good[:-2],
        "another payload": f"{payload[:-3]}AAA.{mac}",
        "no session": "x",
        "json": json.dumps({"name": "admin", "role": "admin"}),
        "nothing": ".",
        "deep": "[" * 1_000,
        **changes,
    }


@pytest.mark.parametrize("cookie", forged().values(), ids=forged())
def test_a_session_cannot_be_forged(guarded, cookie):
    browser = guarded.test_client()
    browser.set_cookie(COOKIE, quote(cookie))

    assert browser.get("/queues").status_code == 303
    assert browser.post("/queues/mail/pause").status_code == 303


def test_a_session_holds_no_role_that_counts(guarded):
    """Even one who has the key of the cookies has the role that the file says, by its password."""
    sessions = Sessions((KEY,), 3_600, 3_600)
    session = sessions.begin(1_700_000_000.0, "viewer", "password", role="admin")
    browser = guarded.test_client()
    browser.set_cookie(COOKIE, sessions.write(session))

    assert browser.get("/queues").status_code == 303


def test_to_sign_in_makes_another_session_than_one_that_was_given(guarded, visit):
    web = visit(guarded)
    web.browser.set_cookie(COOKIE, "given", path=f"{web.prefix}/")
    first = sign_in(web, "viewer").headers["Set-Cookie"]
    second = visit(guarded)
    again = sign_in(second, "viewer").headers["Set-Cookie"]

    assert first.split(";")[0] != again.split(";")[0]
    assert "given" not in first


# -- Other sites

FOREIGN = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
)


def test_another_site_sends_no_form_anywhere(guarded, visit, stored):
    """Every address that takes one, for somebody who may do everything."""
    web = visit(guarded)
    sign_in(web, "admin")
    before, taken = stored(), []
    for rule in rules(guarded, "POST", "PUT", "PATCH", "DELETE"):
        for headers in FOREIGN:
            answer = web.browser.post(web.prefix + address(guarded, rule), headers=headers)
            if answer.status_code != 403:
                taken.append((rule.rule, answer.status_code))

    assert taken == []
    assert stored() == before


def test_another_name_of_this_host_shows_nothing(client, shop):
    shop.fail("a", group="secret-group")
    app = create_app(client, trusted_hosts="jobs.example.com")
    browser = app.test_client()

    for host in ("evil.example", "jobs.example.com.evil.example", "127.0.0.1"):
        answer = browser.get("/failed", headers={"Host": host})
        assert answer.status_code == 421
        assert "secret-group" not in answer.text
        assert "rail" not in answer.text
    assert browser.get("/failed", headers={"Host": "jobs.example.com:8443"}).status_code == 200


# -- Markup


@pytest.fixture
def planted(client, app):
    """Put markup into every field that there is."""
    plant(client)
    queue = client.queues[MARKUP]
    queue.put(MARKUP, {MARKUP: [MARKUP]}, jid=MARKUP, tags=[MARKUP])
    queue.put(MARKUP, {MARKUP: [MARKUP]}, jid=f"{MARKUP}2", tags=[MARKUP])
    queue.pop().fail(MARKUP, f"{MARKUP}\n{MARKUP}")
    queue.recur(MARKUP, {MARKUP: MARKUP}, interval=60, jid=f"{MARKUP}3", tags=[MARKUP])
    client.track(MARKUP)
    client.config["application"] = MARKUP
    web = app.test_client()
    web.post("/views/save", data={"name": "<b>view", "address": "/failed?q=<b>"})
    alert = {"name": MARKUP[:60], "kind": "stalled", "of": MARKUP, "url": "https://a.example/<b>"}
    web.post("/alerts/save", data=alert)
    return app


def test_markup_in_any_field_is_text_on_every_page(planted, visit):
    """Every address, whole and as a fragment, with markup in its names and in every parameter."""
    web = visit(planted)
    marked = quote(MARKUP)
    query = "&".join(f"{name}={marked}" for name in PARAMS)
    broken = []
    for rule in rules(planted, "GET"):
        if rule.endpoint in {"live.events", "api.events", "static"}:
            continue
        for path in (address(planted, rule, MARKUP), address(planted, rule, MARKUP) + "?" + query):
            for headers in ({}, {"HX-Request": "true"}):
                with web.get(path, **headers) as answer:
                    assert answer.headers["X-Content-Type-Options"] == "nosniff"
                    if answer.mimetype != "text/html":
                        continue
                    if "<img src=x" in answer.text or "<b>view" in answer.text:
                        broken.append((rule.rule, path[:80]))

    assert broken == []


def test_markup_in_a_topic_is_text_in_the_stream(app):
    answer = app.test_client().get("/events", query_string={"topics": json.dumps([MARKUP])})

    assert answer.mimetype != "text/html" or "<img src=x" not in answer.text
    answer.close()


@pytest.mark.parametrize("role", ["form", "htmx", "api"])
def test_markup_that_is_sent_comes_back_as_text(app, role):
    web = app.test_client()
    headers = {"HX-Request": "true"} if role == "htmx" else {}
    answers = [
        web.post(f"/jobs/{tilde(MARKUP)}/retry", headers=headers),
        web.post(f"/queues/{tilde(MARKUP)}/pause", headers=headers),
        web.post("/ticked/retry", data={"jids": MARKUP, "targets": MARKUP}, headers=headers),
        web.post("/alerts/save", data={"name": MARKUP, "kind": MARKUP}, headers=headers),
        web.post("/sign-in", data={"name": MARKUP, "password": MARKUP}, headers=headers),
    ]
    if role == "api":
        answers = [web.post(f"/api/v1/jobs/{tilde(MARKUP)}/retry"), web.post("/retry", data=MARKUP)]

    for answer in answers:
        assert answer.mimetype != "text/html" or "<img src=x" not in answer.text


@pytest.mark.parametrize(
    "address",
    ["https://evil.example", "//evil.example", "/\\evil", "javascript:alert(1)", "/%2e%2e/evil"],
)
def test_no_action_leads_to_another_site(app, address):
    answer = app.test_client().post("/queues/mail/pause", data={"return_to": address})

    assert answer.status_code == 303
    assert answer.headers["Location"] == "/queues/mail"


# -- What takes too long, or too much

QUERIES = (
    "'; DROP TABLE jobs; --", '" OR 1=1 --', "x' UNION SELECT data FROM jobs --", "jobs MATCH 'x'",
    "a" * 4_000, "(" * 2_000, "(a " * 1_000, "-" * 4_000, '"' * 3_999, "a* " * 1_000,
    "NEAR(a b, 9)", "tag:" * 900, "a OR " * 800, "NOT " * 1_000, "*" * 4_000, "%" * 4_000,
    "(a+)+$" + "a" * 3_000 + "!", "state:failed " * 300, "age>" + "9" * 3_000, "data.a.b:" * 400,
    "\x00", "\ud800", "{a b}: c",
)  # fmt: skip


@pytest.mark.parametrize("query", QUERIES, ids=lambda text: ascii(text[:12]))
def test_no_search_breaks_or_holds_the_console(app, query, redis):
    """Neither takes for ever, nor is taken for a command, nor is an error of the console."""
    found = []

    def ask():
        text = query.encode(errors="surrogatepass")
        for path in ("/search", "/failed"):
            with app.test_client().get(path, query_string={b"q": text}) as answer:
                found.append(answer.status_code)

    before = redis.dbsize()
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)

    assert not thread.is_alive()
    assert len(found) == 2
    assert set(found) <= {200, 302, 400, 404}
    assert redis.dbsize() == before


BOMBS = {
    "deep lists": b"[" * 400_000,
    "deep objects": b'{"a":' * 300_000,
    "closed deep": b"[" * 50_000 + b"]" * 50_000,
    "a huge number": b"9" * 1_000_000,
    "a huge exponent": b"1e999999999",
    "many names": b"{" + b",".join(b'"%d":1' % each for each in range(200_000)) + b"}",
    "packed": gzip.compress(b"[" + b" " * 50_000_000 + b"]"),
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_a_body_made_to_explode_does_not(app, bomb, stored):
    before, web = stored(), app.test_client()
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}

    for path in ("/api/v1/jobs/retry", "/api/v1/alerts/save", "/cancel", "/priority", "/retry"):
        answer = web.post(path, data=bomb, headers=headers)
        assert answer.status_code in {400, 413, 415}, (path, answer.status_code)
    assert stored() == before


def test_a_form_of_too_many_fields_or_bytes_is_refused(app, guarded):
    web, form = app.test_client(), "application/x-www-form-urlencoded"
    part = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'

    large = web.post("/ticked/cancel", data=b"jids=" + b"x" * 5_000_000, content_type=form)
    many = web.post(
        "/ticked/cancel",
        data=part * 10_001 + b"--x--\r\n",
        content_type="multipart/form-data; boundary=x",
    )

    assert (large.status_code, many.status_code) == (413, 413)
    stranger = guarded.test_client()
    for path in ("/sign-in", "/queues/mail/pause"):
        assert stranger.post(path, data=b"a=" * 50_000, content_type=form).status_code == 413


def test_an_address_that_changes_things_too_fast_has_to_wait(client, clock, redis):
    app = create_app(client, writes_per_minute=3)
    browser = app.test_client()

    def pause(peer="10.0.0.1", **headers):
        answer = browser.post(
            "/queues/mail/pause", environ_overrides={"REMOTE_ADDR": peer}, headers=headers
        )
        return answer.status_code

    assert [pause() for _ in range(5)] == [303, 303, 303, 429, 429]
    assert pause("10.0.0.2") == 303
    near = [pause(f"2001:db8:1:2::{each}") for each in range(4)]
    assert (near, pause("2001:db8:1:3::1")) == ([303, 303, 303, 429], 303)
    assert browser.get("/queues", environ_overrides={"REMOTE_ADDR": "10.0.0.1"}).status_code == 200
    api = browser.post("/api/v1/queues/mail/pause", environ_overrides={"REMOTE_ADDR": "10.0.0.1"})
    assert (api.status_code, api.content_type) == (429, "application/problem+json")
    assert 0 < int(api.headers["Retry-After"]) <= 60
    assert pause(**{"X-Forwarded-For": "10.9.9.9"}) == 429
    clock.advance(60)
    assert pause() == 303
    assert not list(redis.scan_iter("ql:web:pace*"))


def test_very_many_addresses_share_what_is_left():
    from qless_web.accounts.pace import MOST_ADDRESSES, Pace  # noqa: PLC0415 - of this test alone

    pace = Pace()
    assert not any(pace.wait_s(str(each), 1, 0.0) for each in range(MOST_ADDRESSES))

    assert pace.wait_s("new", 1, 1.0) == 0.0
    assert pace.wait_s("newer", 1, 1.0) > 0
    assert pace.wait_s("new", 1, 61.0) == 0.0


# -- What is shown by mistake


def test_an_error_shows_nothing_of_the_machine(guarded, visit, monkeypatch, caplog):
    web = visit(guarded)
    sign_in(web, "admin")
    monkeypatch.setattr("qless_web.views.queues.current", lambda: 1 / 0)

    answer = web.get("/queues")

    assert answer.status_code == 500
    for secret in ("Traceback", "ZeroDivisionError", "/qless_web/", PASSWORD, KEY):
        assert secret not in answer.text
    assert "ZeroDivisionError" in caplog.text
    assert KEY not in caplog.text


def test_static_files_are_those_of_the_console_alone(app):
    web = app.test_client()
    for path in ("../settings.py", "..%2fsettings.py", "%2e%2e/settings.py", "/etc/passwd",
                 "css/../../settings.py", "....//settings.py", "..\\settings.py"):  # fmt: skip
        with web.get(f"/static/x/{path}", follow_redirects=True) as answer:
            assert answer.status_code == 404, path
