"""Signing in and out: the form, the cookie, how long it is good for, and how often one may try."""

from __future__ import annotations

import logging
import stat
from dataclasses import replace

import pytest

from qless_core import Client
from qless_web import create_app
from qless_web.accounts.sessions import COOKIE
from qless_web.accounts.throttle import MOST, WINDOW_S
from qless_web.accounts.users import read, write
from tests.web.security.conftest import KEY, PASSWORD, sign_in

OTHER = "o" * 40


def cookie_of(answer):
    (found,) = [each for each in answer.headers.getlist("Set-Cookie") if each.startswith(COOKIE)]
    return found


def carrying(web, cookie):
    """Give a visitor the cookie of another one."""
    web.browser.set_cookie(COOKIE, cookie, path=f"{web.prefix}/")
    return web


@pytest.fixture
def web(guarded, visit):
    return visit(guarded)


def test_a_page_leads_to_the_sign_in_and_back_to_where_one_wanted_to_go(web):
    turned = web.get("/queues?sort=name")
    assert turned.status_code == 303

    page = web.follow(turned)
    assert page.one("h1").text == "Sign in"
    answer = sign_in(web, "viewer", next=f"{web.prefix}/queues?sort=name")

    assert answer.status_code == 303
    assert answer.headers["Location"] == f"{web.prefix}/queues?sort=name"
    page = web.page("/queues")
    assert "viewer is viewer" in page.text


def test_who_has_not_come_in_sees_nothing_of_the_queues(web, shop):
    shop.fail("a", group="secret-group")

    for path in ("/sign-in", "/nowhere", "/failed/secret-group", "/queues.json", "/events",
                 "/about", "/metrics", "/api/v1/queues", "/api/v1/openapi.json",
                 "/readyz", "/healthz"):  # fmt: skip
        answer = web.get(path)
        assert answer.status_code in {200, 303, 401, 404}
        assert "secret-group" not in answer.text or answer.status_code == 303
        assert "mail" not in answer.text
    assert web.get("/healthz").status_code == 200
    assert web.get("/failed/secret-group").status_code == 303
    assert web.get("/queues.json").status_code == 401
    assert web.get("/api/v1/queues").status_code == 401
    assert web.get("/metrics", Accept="text/plain").status_code in {303, 401}
    assert not web.page("/sign-in").all("nav")


def test_the_cookie_is_kept_from_scripts_and_other_sites(web, guarded):
    said = cookie_of(sign_in(web, "viewer"))

    assert "HttpOnly" in said
    assert "SameSite=Lax" in said
    assert f"Path={web.prefix}/" in said
    assert "Secure" not in said
    secure = guarded.test_client().post(
        "/sign-in", data={"name": "viewer", "password": PASSWORD}, base_url="https://localhost"
    )
    assert "Secure" in cookie_of(secure)


@pytest.mark.parametrize(
    ("name", "password"),
    [("viewer", "wrong horse"), ("nobody", PASSWORD), ("", ""), ("viewer", ""), ("\x00", "\ud800"),
     ("viewer", PASSWORD + " "), ("viewer", "x" * 10_000)],
    ids=repr,
)  # fmt: skip
def test_a_wrong_name_and_a_wrong_password_are_told_the_same(web, name, password):
    fields = {"name": name, "password": password}

    answer = web.post(
        "/sign-in", {key: value.encode(errors="surrogatepass") for key, value in fields.items()}
    )

    assert answer.status_code == 401
    assert "That name and password do not go together." in answer.text
    assert "Set-Cookie" not in answer.headers
    assert web.get("/").status_code == 303


def test_a_session_ends_for_every_copy_of_its_cookie(web, guarded, visit, client, people, redis):
    answer = sign_in(web, "operator")
    value = cookie_of(answer).split(";")[0].partition("=")[2]
    thief = carrying(visit(guarded), value)
    elsewhere = carrying(visit(create_app(client, users_file=people, secret_keys=(KEY,))), value)
    for copy in (thief, elsewhere):
        assert copy.get("/queues").status_code == 200

    assert web.post("/sign-out").status_code == 303

    for copy in (web, thief, elsewhere):
        assert copy.get("/queues").status_code == 303
        assert copy.post("/queues/mail/pause").status_code == 303
        assert copy.get("/api/v1/queues").status_code == 401
        assert copy.get("/events", Accept="text/event-stream").status_code == 401
    assert not redis.exists("ql:paused_queues")


def test_a_session_ends_where_nothing_is_done_and_lives_where_something_is(web, clock):
    sign_in(web, "viewer")
    for _ in range(3):
        clock.advance(43_000)
        assert web.get("/queues").status_code == 200

    clock.advance(43_300)

    assert web.get("/queues").status_code == 303


def test_a_page_that_only_refreshes_itself_does_not_keep_a_session(web, clock):
    sign_in(web, "viewer")
    clock.advance(43_000)
    answer = web.get("/queues", HX_Request="true")
    assert answer.status_code == 200
    assert "Set-Cookie" not in answer.headers

    clock.advance(300)

    assert web.get("/queues", HX_Request="true").status_code == 401


def test_a_session_ends_after_its_longest_time_in_any_case(client, people, visit, clock):
    web = visit(create_app(client, users_file=people, secret_keys=(KEY,), session_max_s=7200))
    sign_in(web, "viewer")
    for _ in range(2):
        clock.advance(3500)
        assert web.get("/queues").status_code == 200

    clock.advance(300)

    assert web.get("/queues").status_code == 303


def test_sessions_outlive_a_new_key_as_long_as_the_old_one_is_there(client, people, visit):
    web = visit(create_app(client, users_file=people, secret_keys=(KEY,)))
    value = cookie_of(sign_in(web, "viewer")).split(";")[0].partition("=")[2]

    both = carrying(visit(create_app(client, users_file=people, secret_keys=(OTHER, KEY))), value)
    other = carrying(visit(create_app(client, users_file=people, secret_keys=(OTHER,))), value)

    assert both.get("/queues").status_code == 200
    assert other.get("/queues").status_code == 303
    fresh = visit(create_app(client, users_file=people, secret_keys=(OTHER, KEY)))
    made = cookie_of(sign_in(fresh, "viewer")).split(";")[0].partition("=")[2]
    assert carrying(visit(create_app(client, users_file=people, secret_keys=(OTHER,))), made).get(
        "/queues"
    ).status_code == 200  # fmt: skip


def test_without_a_key_one_is_kept_in_a_file_that_processes_share(
    client, people, visit, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    web = visit(create_app(client, users_file=people))
    value = cookie_of(sign_in(web, "viewer")).split(";")[0].partition("=")[2]

    again = carrying(visit(create_app(client, users_file=people)), value)

    assert again.get("/queues").status_code == 200
    key = tmp_path / "state" / "qless-web" / "secret-key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert [each.name for each in key.parent.iterdir()] == ["secret-key"]


def test_who_is_removed_or_gets_another_password_or_role_is_so_at_once(web, people, digest):
    sign_in(web, "operator")
    assert web.post("/queues/mail/pause").status_code == 303
    users = dict(read(people))

    users["operator"] = replace(
        users["operator"], grant=replace(users["operator"].grant, role="viewer")
    )
    write(people, users.values())
    refused = web.post("/queues/mail/unpause")
    assert refused.status_code == 403
    assert "this needs operator, and operator is viewer" in refused.text

    users["operator"] = replace(
        users["operator"], password=digest.replace("scrypt:10:1:1", "scrypt:11:1:1")
    )
    write(people, users.values())
    assert web.get("/queues").status_code == 303


def test_a_file_that_is_broken_meanwhile_leaves_who_was_known(web, people, caplog):
    sign_in(web, "viewer")
    people.write_text("viewer owner nonsense")

    assert web.get("/queues").status_code == 200
    assert "line 1" in caplog.text
    assert "nonsense" not in caplog.text


@pytest.mark.parametrize(
    "address",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "/../x",
     "\t//evil.example", "/%2e%2e/x", "evil", "http:evil", "/\x00", ""],
)  # fmt: skip
def test_next_leads_nowhere_else(web, address):
    answer = sign_in(web, "viewer", next=address)

    assert answer.headers["Location"] == f"{web.prefix}/"
    assert web.get("/sign-in?next=" + address).headers["Location"] == f"{web.prefix}/"


# -- How often


def test_after_some_attempts_even_the_right_password_has_to_wait(web, redis):
    for _ in range(MOST["both"]):
        assert web.post("/sign-in", {"name": "viewer", "password": "x"}).status_code == 401

    answer = web.post("/sign-in", {"name": "viewer", "password": PASSWORD})

    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= WINDOW_S
    assert "too often" in answer.text
    assert web.post("/sign-in", {"name": "admin", "password": PASSWORD}).status_code == 303
    keys = list(redis.scan_iter("ql:web:signin:*"))
    assert keys
    assert all(0 < redis.ttl(key) <= WINDOW_S for key in keys)
    assert not any("viewer" in key for key in keys)
    redis.delete(*keys)
    assert web.post("/sign-in", {"name": "viewer", "password": PASSWORD}).status_code == 303


def test_attempts_with_many_names_count_together(web):
    codes = [
        web.post("/sign-in", {"name": f"user-{each}", "password": "x"}).status_code
        for each in range(MOST["from"] + 1)
    ]

    assert codes[:-1] == [401] * MOST["from"]
    assert codes[-1] == 429


def test_attempts_from_all_addresses_of_a_network_count_together(guarded):
    def attempt(address):
        browser = guarded.test_client()
        told = {"name": "viewer", "password": "x"}
        answer = browser.post("/sign-in", data=told, environ_overrides={"REMOTE_ADDR": address})
        return answer.status_code

    codes = [attempt(f"2001:db8:1:2:{each}::1") for each in range(MOST["both"] + 1)]

    assert codes == [401] * MOST["both"] + [429]
    assert attempt("2001:db8:1:3::1") == 401


def test_another_address_is_not_locked_out_by_the_first(guarded):
    browser = guarded.test_client()
    for _ in range(MOST["both"] + 1):
        browser.post("/sign-in", data={"name": "viewer", "password": "x"})

    answer = browser.post(
        "/sign-in",
        data={"name": "viewer", "password": PASSWORD},
        environ_overrides={"REMOTE_ADDR": "10.0.0.9"},
    )

    assert answer.status_code == 303


def test_a_count_that_lost_its_end_gets_one(web, redis):
    web.post("/sign-in", {"name": "viewer", "password": "x"})
    for key in redis.scan_iter("ql:web:signin:*"):
        redis.persist(key)

    web.post("/sign-in", {"name": "viewer", "password": "x"})

    assert all(redis.ttl(key) > 0 for key in redis.scan_iter("ql:web:signin:*"))


def test_where_nobody_can_count_nobody_signs_in(people, visit):
    with Client("unix:///nowhere/there.sock") as nobody:
        web = visit(create_app(nobody, users_file=people, secret_keys=(KEY,)))

        answer = web.post("/sign-in", {"name": "viewer", "password": PASSWORD})

        assert answer.status_code == 503
        assert "Set-Cookie" not in answer.headers


def test_no_password_digest_or_key_is_in_the_log_or_a_page(web, guarded, digest, caplog):
    caplog.set_level(logging.DEBUG)
    answers = [sign_in(web, "admin"), web.get("/about"), web.get("/sign-in")]
    answers += [web.post("/sign-in", {"name": PASSWORD, "password": "x"})]

    said = caplog.text + repr(guarded.extensions) + "".join(each.text for each in answers[:-1])
    for secret in (PASSWORD, digest, KEY):
        assert secret not in said
    assert PASSWORD not in caplog.text


def test_a_stream_of_somebody_who_signed_in_ends_to_ask_anew(web, client, monkeypatch):
    """So a stolen cookie hears nothing more a while after the session was ended."""
    client.queues["mail"].put("A", {})
    sign_in(web, "viewer")
    monkeypatch.setattr("qless_web.gate.STREAM_S", -1.0)

    with web.get("/events?topics=queues") as answer:
        assert answer.mimetype == "text/event-stream"
        assert len(list(answer.response)) == 1
