"""Signing in by an OpenID provider: a real one on this machine, that is right, wrong or away."""

from __future__ import annotations

import json
import logging
import secrets
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from qless_web import create_app
from qless_web.access import Grant
from qless_web.accounts import throttle
from qless_web.accounts.attempt import COOKIE as UNDER_WAY
from qless_web.accounts.attempt import LASTS_S
from qless_web.accounts.sessions import COOKIE
from qless_web.accounts.users import User, read, write
from qless_web.process.serving import LONGEST_LINE
from qless_web.settings import SettingError
from tests.support.dom import parse
from tests.support.openid import CLIENT, SECRET, changed, key, providing, shared, signed, unsigned
from tests.support.polling import eventually
from tests.web.security.conftest import KEY

AWAY = "does not answer as it should"
SAYS = "/.well-known/openid-configuration"
UNBELIEVED = "cannot be believed"


@pytest.fixture
def provider(clock):
    with providing(clock.now) as found:
        yield found


@pytest.fixture
def told(provider):
    """Give the settings of a console that this provider signs people in for."""
    return {
        "oidc_issuer": provider.url,
        "oidc_client_id": CLIENT,
        "oidc_client_secret": SECRET,
        "secret_keys": (KEY,),
    }


@pytest.fixture
def web(client, visit, told):
    return visit(create_app(client, **told))


def gone(web, **query):
    """Go to the provider, as the button of the page does."""
    answer = web.get(f"/sign-in/provider?{urlencode(query)}")
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def back(web, address):
    """Come back to an address."""
    parts = urlsplit(address)
    assert parts.path.startswith(web.prefix)
    return web.get(f"{parts.path.removeprefix(web.prefix)}?{parts.query}")


def signed_in(web, provider, **query):
    """Sign in there, and come back."""
    return back(web, provider.agree(gone(web, **query)))


def says(answer):
    return parse(answer.get_data(as_text=True)).one("p", role="alert").text


def is_in(web):
    return web.get("/queues").status_code == 200


# -- In and out


def test_somebody_comes_in_by_the_provider_lands_where_they_wanted_and_leaves(web, provider):
    page = web.follow(web.get("/queues?sort=name"))
    link = page.one("a", class_="button")
    assert link.text == "Sign in with 127.0.0.1"
    assert not page.all("input", name="password")

    address = link.attributes["href"].removeprefix(web.prefix)
    answer = back(web, provider.agree(web.get(address).headers["Location"]))

    assert answer.status_code == 303
    assert answer.headers["Location"] == f"{web.prefix}/queues?sort=name"
    assert "dana is viewer" in web.page("/queues").text
    assert web.post("/sign-out").status_code == 303
    assert not is_in(web)
    assert web.get("/queues").headers["Location"].startswith(f"{web.prefix}/sign-in?")


def test_the_provider_is_asked_once_for_what_does_not_change(client, visit, told, provider):
    console = create_app(client, **told)
    assert provider.asked == []
    for _ in range(2):
        assert signed_in(visit(console), provider).status_code == 303

    assert sorted(provider.asked) == [
        "/.well-known/openid-configuration", "/jwks", "/token", "/token",
    ]  # fmt: skip


def test_the_cookies_are_kept_from_scripts_and_other_sites(web, provider):
    began = web.get("/sign-in/provider")
    (cookie,) = began.headers.getlist("Set-Cookie")
    assert cookie.startswith(UNDER_WAY)
    for part in ("HttpOnly", "SameSite=Lax", f"Path={web.prefix}/sign-in;", "Max-Age=600"):
        assert part in cookie

    ended = back(web, provider.agree(began.headers["Location"])).headers.getlist("Set-Cookie")

    assert any(each.startswith(f"{COOKIE}=") and "HttpOnly" in each for each in ended)
    assert any(each.startswith(UNDER_WAY) and "Max-Age=0" in each for each in ended)


def test_any_process_with_the_key_takes_somebody_who_comes_back(client, visit, told, provider):
    here, there = visit(create_app(client, **told)), visit(create_app(client, **told))
    here.browser._cookies = there.browser._cookies = {}  # noqa: SLF001 - one browser, two processes

    assert back(there, provider.agree(gone(here))).status_code == 303
    assert is_in(here)
    assert is_in(there)


def test_two_tabs_sign_in_side_by_side(web, provider):
    first, second = gone(web, next=f"{web.prefix}/jobs"), gone(web, next=f"{web.prefix}/tags")

    assert back(web, provider.agree(second)).headers["Location"] == f"{web.prefix}/tags"
    assert back(web, provider.agree(first)).headers["Location"] == f"{web.prefix}/jobs"


@pytest.mark.parametrize(("length", "is_kept"), [(1_500, True), (4_000, False)])
def test_a_page_that_was_wanted_is_kept_where_browsers_keep_it(web, provider, length, is_kept):
    """They drop a cookie of more than 4,096 bytes, and the sign-in with it."""
    wanted = f"{web.prefix}/search?q={secrets.token_hex(length // 2)}"
    began = web.get(f"/sign-in/provider?{urlencode({'next': wanted})}")
    (cookie,) = began.headers.getlist("Set-Cookie")

    answer = back(web, provider.agree(began.headers["Location"]))

    assert len(cookie) < 4_096
    assert answer.status_code == 303
    assert answer.headers["Location"] == (wanted if is_kept else f"{web.prefix}/")


def test_a_page_with_too_long_an_address_is_not_come_back_to(web):
    """What stands in the address of the page to sign in is written longer there."""
    address = web.get(f"/queues?sort={'%20' * 2_500}").headers["Location"]

    assert address.startswith(f"{web.prefix}/sign-in?")
    assert len(address) < LONGEST_LINE - 100
    assert web.get(address.removeprefix(web.prefix)).status_code == 200


def test_sign_ins_that_were_given_up_leave_room_for_the_next(web, provider):
    """All their cookies come in one line, which servers bound."""
    homes = [provider.agree(gone(web, next=f"{web.prefix}/jobs?{n}")) for n in range(25)]
    kept = [
        f"{cookie.key}={cookie.value}; "
        for cookie in web.browser._cookies.values()  # noqa: SLF001 - what a browser keeps
        if cookie.key.startswith(UNDER_WAY)
    ]

    assert 5 < len(kept) < 20
    assert len("".join(kept)) < 6_500
    assert back(web, homes[0]).status_code == 400
    assert back(web, homes[-3]).headers["Location"] == f"{web.prefix}/jobs?22"
    assert back(web, homes[-1]).headers["Location"] == f"{web.prefix}/jobs?24"


def test_behind_a_proxy_one_is_sent_back_to_the_address_that_browsers_know(client, told):
    console = create_app(client, proxy_hops=1, **told)
    browser = console.test_client()
    headers = {
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "jobs.example.com",
        "X-Forwarded-Prefix": "/ops/qless",
    }

    began = browser.get("/sign-in/provider", headers=headers)
    asked = parse_qs(urlsplit(began.headers["Location"]).query)

    assert asked["redirect_uri"] == ["https://jobs.example.com/ops/qless/sign-in/callback"]
    assert "Secure" in began.headers["Set-Cookie"]
    assert "Path=/ops/qless/sign-in;" in began.headers["Set-Cookie"]


@pytest.mark.parametrize(
    "address",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "/../x"],
)
def test_next_leads_nowhere_else(web, provider, address):
    assert signed_in(web, provider, next=address).headers["Location"] == f"{web.prefix}/"


def test_a_provider_that_wants_its_secret_in_the_form_gets_it_there(web, provider):
    provider.by_form = True

    assert signed_in(web, provider).status_code == 303


def test_a_session_ends_where_the_provider_is_taken_away(client, visit, told, provider, people):
    web = visit(create_app(client, **told))
    signed_in(web, provider)
    assert is_in(web)

    other = visit(create_app(client, users_file=people, secret_keys=(KEY,)))
    other.browser._cookies = web.browser._cookies  # noqa: SLF001 - the same browser

    assert not is_in(other)


@pytest.mark.parametrize(
    "change",
    [
        {"oidc_client_id": "another"},
        {"oidc_issuer": "https://id.example"},
        {"oidc_roles": "ops=viewer"},
        {"oidc_role_claim": "roles"},
        {"oidc_name_claim": "email"},
    ],
    ids=str,
)
def test_a_session_ends_where_what_it_rests_on_is_changed(client, visit, told, provider, change):
    told |= {"oidc_role_claim": "groups", "oidc_roles": "ops=admin"}
    provider.claims |= {"groups": ["ops"]}
    web = visit(create_app(client, **told))
    signed_in(web, provider)
    again, other = visit(create_app(client, **told)), visit(create_app(client, **(told | change)))
    again.browser._cookies = other.browser._cookies = web.browser._cookies  # noqa: SLF001 - one browser

    assert is_in(again)
    assert not is_in(other)


# -- As what


@pytest.mark.parametrize(
    "case",
    [
        ({}, {"groups": ["admin"]}, "viewer"),
        ({"oidc_role_claim": "groups"}, {"groups": ["users", "operator", "viewer"]}, "operator"),
        ({"oidc_role_claim": "groups"}, {"groups": "admin"}, "admin"),
        ({"oidc_role_claim": "groups"}, {"groups": ["owners", 7, None, {"admin": 1}]}, "viewer"),
        ({"oidc_role_claim": "groups"}, {}, "viewer"),
        ({"oidc_role_claim": "groups", "oidc_roles": "ops=operator,platform=admin"},
         {"groups": ["ops", "platform", "x"]}, "admin"),
        ({"oidc_role_claim": "groups", "oidc_roles": "ops=operator"},
         {"groups": ["admin"]}, "viewer"),
        ({"oidc_role_claim": "realm_access.roles", "oidc_roles": {"cn=ops": "operator"}},
         {"realm_access": {"roles": ["cn=ops"]}}, "operator"),
        ({"oidc_role_claim": "https://example.com/roles"},
         {"https://example.com/roles": ["admin"]}, "admin"),
        ({"default_role": "operator"}, {}, "operator"),
    ],
    ids=str,
)  # fmt: skip
def test_a_claim_says_what_somebody_may_do(client, visit, told, provider, case):
    settings, claims, role = case
    provider.claims |= claims
    web = visit(create_app(client, **told, **settings))

    assert signed_in(web, provider).status_code == 303

    assert f"dana is {role}" in web.page("/queues").text


def test_who_has_no_role_is_told_so(client, visit, told, provider):
    web = visit(create_app(client, **told, default_role="none"))

    answer = signed_in(web, provider)

    assert answer.status_code == 403
    assert says(answer) == "You are dana there, and may not come in here. Ask an administrator."
    assert not is_in(web)


def test_the_file_of_users_decides_of_those_without_a_password(
    client, visit, told, provider, people
):
    known = read(people)
    write(people, [*known.values(), User("dana", Grant("operator", queues=("mail*",)))])
    web = visit(create_app(client, users_file=people, oidc_role_claim="groups", **told))
    provider.claims |= {"groups": ["admin"]}

    signed_in(web, provider)

    assert "dana is operator" in web.page("/queues").text
    assert web.post("/queues/mail/pause").status_code == 303
    assert web.post("/queues/shop/pause").status_code == 403


def test_nobody_takes_the_name_of_one_who_has_a_password(client, visit, told, provider, people):
    """People may choose what they are called at the provider; `admin`, say."""
    web = visit(create_app(client, users_file=people, **told))
    page = web.page("/sign-in")
    assert page.all("input", name="password")
    provider.claims["preferred_username"] = "admin"

    assert signed_in(web, provider).status_code == 403
    assert not is_in(web)


@pytest.mark.parametrize(
    "case",
    [
        ({}, {"preferred_username": ""}, "gives no preferred_username"),
        ({}, {"preferred_username": ["dana"]}, "gives no preferred_username"),
        ({"oidc_name_claim": "upn"}, {}, "gives no upn"),
        ({}, {"preferred_username": "<b>dana, admin"}, "may not come in here"),
        ({"oidc_name_claim": "email"}, {"email": "a@b.example", "email_verified": False},
         "has not made sure that a@b.example is your address"),
        ({"oidc_name_claim": "email"}, {"email": "a@b.example", "email_verified": "false"},
         "has not made sure that a@b.example is your address"),
        ({"oidc_name_claim": "email"}, {"email": "a@b.example", "email_verified": None},
         "has not made sure that a@b.example is your address"),
        ({"oidc_name_claim": "email"}, {"email": "a@b.example"},
         "has not made sure that a@b.example is your address"),
    ],
    ids=str,
)  # fmt: skip
def test_who_has_no_name_that_can_be_trusted_is_not_let_in(client, visit, told, provider, case):
    settings, claims, problem = case
    provider.claims |= claims
    web = visit(create_app(client, **told, **settings))

    answer = signed_in(web, provider)

    assert answer.status_code == 403
    assert problem in says(answer)
    assert "<b>dana" not in answer.text
    assert not is_in(web)


@pytest.mark.parametrize("word", [True, "true"])
def test_an_address_that_the_provider_has_made_sure_of_may_be_the_name(
    client, visit, told, provider, word
):
    """Some providers send texts."""
    provider.claims |= {"email": "a@b.example", "email_verified": word}
    web = visit(create_app(client, **told, oidc_name_claim="email"))

    assert signed_in(web, provider).status_code == 303
    assert "a@b.example is viewer" in web.page("/queues").text


# -- What cannot be believed


SPOILT = {
    "another nonce": lambda claims: claims | {"nonce": "another"},
    "no nonce": lambda claims: {name: claims[name] for name in claims if name != "nonce"},
    "another audience": lambda claims: claims | {"aud": "shop"},
    "several audiences": lambda claims: claims | {"aud": ["shop", CLIENT]},
    "for another party": lambda claims: claims | {"aud": ["shop", CLIENT], "azp": "shop"},
    "another issuer": lambda claims: claims | {"iss": "https://evil.example"},
    "no subject": lambda claims: {name: claims[name] for name in claims if name != "sub"},
    "expired": lambda claims: claims | {"exp": claims["iat"] - 61},
    "without an end": lambda claims: {name: claims[name] for name in claims if name != "exp"},
    "an end that is text": lambda claims: claims | {"exp": "never"},
    "of tomorrow": lambda claims: claims | {"iat": claims["iat"] + 86_400},
    "of another token": lambda claims: claims | {"at_hash": "AAAA"},
}  # fmt: skip


@pytest.mark.parametrize("how", SPOILT)
def test_a_token_that_is_not_right_in_every_way_lets_nobody_in(web, provider, how, caplog):
    provider.spoil = SPOILT[how]

    answer = signed_in(web, provider)

    assert answer.status_code == 403
    assert UNBELIEVED in says(answer)
    assert "the token of a sign-in is not right" in caplog.text
    assert not is_in(web)


@pytest.mark.parametrize("name", ["other", "first"])
def test_a_token_of_another_key_lets_nobody_in(web, provider, name):
    """One that names the key it was signed by, and one that names a key of the provider."""
    provider.forge = lambda claims: signed(claims, name, by="other")

    assert UNBELIEVED in says(signed_in(web, provider))
    assert not is_in(web)


PUBLIC = {
    "nothing": lambda claims: unsigned(claims, "first"),
    "PEM": lambda claims: shared(claims, "first", key("first").as_pem(private=False)),
    "JWK": lambda claims: shared(
        claims, "first", json.dumps(key("first").as_dict(private=False)).encode()
    ),
}


@pytest.mark.parametrize("how", PUBLIC)
def test_a_token_signed_with_what_everybody_knows_lets_nobody_in(web, provider, how):
    """All that it says is right: no signature at all, and the public key as a shared secret."""
    provider.forge = PUBLIC[how]

    assert UNBELIEVED in says(signed_in(web, provider))
    assert not is_in(web)


def test_a_token_that_was_changed_after_it_was_signed_lets_nobody_in(web, provider):
    provider.forge = lambda claims: changed(claims, "first", b"dana", b"dina")

    assert UNBELIEVED in says(signed_in(web, provider))
    assert not is_in(web)


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")  # as a word; providers say it still
@pytest.mark.parametrize("alg", ["ES256", "PS256", "EdDSA", "Ed25519"])
def test_a_provider_may_sign_in_other_ways_than_by_rsa_of_old(web, provider, alg):
    provider.alg = alg

    assert signed_in(web, provider).status_code == 303
    assert is_in(web)


RIGHT = {
    "ended within what clocks differ by": lambda claims: claims | {"exp": claims["iat"] - 59},
    "of several audiences, for us": lambda claims: (
        claims | {"aud": ["shop", CLIENT], "azp": CLIENT}
    ),
}


@pytest.mark.parametrize("how", RIGHT)
def test_a_token_that_is_unusual_and_right_lets_somebody_in(web, provider, how):
    provider.spoil = RIGHT[how]

    assert signed_in(web, provider).status_code == 303
    assert is_in(web)


@pytest.mark.parametrize(
    "said",
    [{}, {"id_token": 7}, {"id_token": "x"}, {"id_token": "a.b.c"}, b"<html>", b"[]", b"\xff"],
    ids=str,
)
def test_an_answer_without_a_token_lets_nobody_in(web, provider, said):
    provider.answers["/token"] = said

    assert signed_in(web, provider).status_code in {403, 502}
    assert not is_in(web)


def test_new_keys_are_asked_for_where_a_token_names_one(client, visit, told, provider, monkeypatch):
    console = create_app(client, **told)
    signed_in(visit(console), provider)
    provider.key, provider.shown = "second", ["second"]
    monkeypatch.setattr("qless_web.accounts.provider._KEYS_AGAIN_S", -1.0)

    assert signed_in(visit(console), provider).status_code == 303
    assert provider.asked.count("/jwks") == 2


# -- What was not begun here


def test_a_state_is_good_once(web, provider):
    address = gone(web)
    cookies = dict(web.browser._cookies)  # noqa: SLF001 - a copy, as a thief would have
    home = provider.agree(address)
    assert back(web, home).status_code == 303
    web.post("/sign-out")

    web.browser._cookies = cookies  # noqa: SLF001 - as above
    answer = back(web, home)

    assert answer.status_code == 400
    assert "No sign-in was begun here" in says(answer)
    assert provider.asked.count("/token") == 1


def test_an_answer_to_somebody_else_s_sign_in_is_none_of_ours(web, visit, app, provider, told):
    """Whoever is led here with another's code would work in that one's name."""
    stranger = visit(create_app(app.extensions["qless_web"].client, **told))
    home = provider.agree(gone(stranger))
    gone(web)

    answer = back(web, home)

    assert answer.status_code == 400
    assert not is_in(web)


@pytest.mark.parametrize(
    "query",
    ["", "state=", "code=x", "state=x&code=y", "state=%00&code=%ff", f"state={'x' * 5000}&code=y"],
)
def test_an_answer_without_a_state_of_ours_is_none(web, redis, provider, query):
    answer = web.get(f"/sign-in/callback?{query}")

    assert answer.status_code == 400
    assert provider.asked == []
    assert not list(redis.scan_iter("ql:web:signin:*"))


def test_a_sign_in_that_took_too_long_has_to_begin_anew(web, provider, clock):
    home = provider.agree(gone(web))
    clock.advance(LASTS_S + 1)

    assert back(web, home).status_code == 400


def test_an_answer_of_another_provider_is_not_taken_to_this_one(web, provider):
    home = provider.agree(gone(web)).replace(urlencode({"iss": provider.url}), "iss=https://evil")

    assert back(web, home).status_code == 400
    assert "/token" not in provider.asked


def test_without_a_provider_there_are_no_such_addresses(guarded):
    browser = guarded.test_client()

    assert browser.get("/sign-in/provider").status_code == 404
    assert browser.get("/sign-in/callback?state=x&code=y").status_code == 404


def test_made_up_codes_soon_have_to_wait_and_the_provider_is_not_asked(
    web, provider, redis, monkeypatch
):
    """Providers lock out a client that brings many."""
    monkeypatch.setitem(throttle.MOST, "from", 3)
    for _ in range(3):
        made_up = provider.agree(gone(web)).replace("code=code-", "code=made-up-")
        assert back(web, made_up).status_code == 403
    home, kept = provider.agree(gone(web)), set(redis.scan_iter("ql:web:signin:*"))

    answer = back(web, home)

    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= throttle.WINDOW_S
    assert "Try again in" in says(answer)
    assert provider.asked.count("/token") == 3
    assert set(redis.scan_iter("ql:web:signin:*")) == kept
    assert all(0 < redis.ttl(each) <= LASTS_S + 60 for each in kept)

    elsewhere = {"REMOTE_ADDR": "192.0.2.7"}
    parts = urlsplit(home)
    there = web.browser.get(f"{parts.path}?{parts.query}", environ_overrides=elsewhere)
    assert there.status_code == 303


def test_those_who_come_in_do_not_count(web, provider, monkeypatch):
    """All of an office come from one address."""
    monkeypatch.setitem(throttle.MOST, "from", 1)

    for _ in range(3):
        assert signed_in(web, provider).status_code == 303


# -- Where the provider says no, or nothing


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("access_denied", "The provider let nobody in: it was refused there."),
        ("server_error", "The provider let nobody in. It said: server_error."),
        ("<img src=x>", "It said: something that is no word of the protocol."),
    ],
)
def test_a_refusal_of_the_provider_is_told(web, error, said):
    asked = parse_qs(urlsplit(gone(web, next=f"{web.prefix}/tags")).query)
    query = {"error": error, "state": asked["state"][0], "error_description": "<b>no</b>"}

    answer = web.get(f"/sign-in/callback?{urlencode(query)}")

    assert answer.status_code == 403
    assert said in says(answer)
    assert "<b>no</b>" not in answer.text
    link = parse(answer.get_data(as_text=True)).one("a", class_="button")
    assert parse_qs(urlsplit(link.attributes["href"]).query)["next"] == [f"{web.prefix}/tags"]


def test_a_provider_that_is_down_is_told_and_asked_again_later(
    client, visit, told, provider, monkeypatch, caplog
):
    place = "/.well-known/openid-configuration"
    provider.answers[place] = 503
    console = create_app(client, **told)

    for _ in range(3):
        answer = visit(console).get("/sign-in/provider")
        assert answer.status_code == 502
        assert AWAY in says(answer)
    assert provider.asked == [place]
    assert "it answered 503" in caplog.text

    provider.answers.clear()
    monkeypatch.setattr("qless_web.accounts.kept._AWAY_S", -1.0)
    assert signed_in(visit(console), provider).status_code == 303


ODD = {"kty": "EC", "crv": "P-192", "x": "AA", "y": "AA", "kid": "odd"}


@pytest.mark.parametrize(
    "wrong",
    [
        (SAYS, {"status": "we are back in ten minutes"}),
        (SAYS, {"issuer": "https://another.example"}),
        (SAYS, {"jwks_uri": "http://evil.example/keys"}),
        ("/jwks", {"status": "we are back in ten minutes"}),
        ("/jwks", {"keys": []}),
        ("/jwks", {"keys": [ODD, {"kty": "oct", "k": "AAAA"}, {"kty": []}, None]}),
    ],
    ids=str,
)
def test_a_wrong_answer_is_not_kept(client, visit, told, provider, monkeypatch, wrong):
    monkeypatch.setattr("qless_web.accounts.kept._AWAY_S", -1.0)
    web, (place, said) = visit(create_app(client, **told)), wrong
    home = provider.agree(gone(web)) if place == "/jwks" else "/sign-in/provider"
    provider.answers[place] = said if "status" in said else provider.said(place) | said

    answer = back(web, home) if place == "/jwks" else web.get(home)
    assert answer.status_code == 502
    assert AWAY in says(answer)

    provider.answers.clear()
    assert signed_in(web, provider).status_code == 303


def test_a_key_that_cannot_be_read_keeps_nobody_from_the_others(web, provider):
    provider.answers["/jwks"] = {"keys": [ODD, None, *provider.said("/jwks")["keys"]]}

    assert signed_in(web, provider).status_code == 303


def test_what_is_known_of_a_provider_is_believed_while_it_says_nothing(
    client, visit, told, provider, monkeypatch
):
    console = create_app(client, **told)
    signed_in(visit(console), provider)
    monkeypatch.setattr("qless_web.accounts.provider._KEPT_S", -1.0)
    provider.answers |= {SAYS: 503, "/jwks": {"keys": []}}

    assert signed_in(visit(console), provider).status_code == 303
    assert provider.asked.count(SAYS) == provider.asked.count("/jwks") == 2

    monkeypatch.setattr("qless_web.accounts.provider._BELIEVED_S", -1.0)
    assert visit(console).get("/sign-in/provider").status_code == 502


@pytest.fixture
def patient(monkeypatch):
    """Wait for a provider for as long as it takes: what is looked at is who waits."""
    monkeypatch.setattr("qless_web.accounts.fetching.SILENT_S", 60.0)
    monkeypatch.setattr("qless_web.accounts.fetching.WHOLE_S", 60.0)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("place", ["itself", "token"])
def test_a_silent_provider_takes_a_part_of_the_threads(client, visit, told, provider, place):
    """Of eight, two; whoever comes to them is told at once."""
    console = create_app(client, **told, threads=8)
    homes = []
    if place == "token":
        browsers = [visit(console) for _ in range(6)]
        homes = [(browser, provider.agree(gone(browser))) for browser in browsers]
    provider.speaks.clear()
    calls = [lambda web=web, home=home: back(web, home) for web, home in homes] or [
        lambda: visit(console).get("/sign-in/provider")
    ] * 6

    with ThreadPoolExecutor(6) as pool:
        answers = [pool.submit(call) for call in calls]
        try:
            eventually(lambda: sum(answer.done() for answer in answers) == 4)
            early = [answer.result().status_code for answer in answers if answer.done()]
        finally:
            provider.speaks.set()
    late = [answer.result().status_code for answer in answers]

    assert early == [502] * 4
    assert sorted(late) == [303] * 2 + [502] * 4


@pytest.mark.usefixtures("patient")
def test_while_somebody_asks_anew_the_others_go_by_what_is_known(
    client, visit, told, provider, monkeypatch
):
    console = create_app(client, **told)
    gone(visit(console))
    monkeypatch.setattr("qless_web.accounts.provider._KEPT_S", -1.0)
    provider.speaks.clear()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(visit(console).get, "/sign-in/provider")
        try:
            eventually(lambda: provider.asked.count(SAYS) == 2)
            second = pool.submit(visit(console).get, "/sign-in/provider")
            assert eventually(second.done)
            assert not first.done()
        finally:
            provider.speaks.set()

    assert {first.result().status_code, second.result().status_code} == {303}


def test_nobody_at_the_address_is_told_as_well(client, visit, told):
    web = visit(create_app(client, **(told | {"oidc_issuer": "http://127.0.0.1:1"})))

    answer = web.get("/sign-in/provider")

    assert answer.status_code == 502
    assert AWAY in says(answer)


@pytest.mark.parametrize(
    "said", [500, 302, {"error": "x"}, b"{}" * 300_000], ids=lambda s: str(s)[:9]
)
def test_a_provider_that_fails_in_the_middle_is_told(web, provider, said):
    home = provider.agree(gone(web))
    provider.answers["/token"] = said

    answer = back(web, home)

    assert answer.status_code in {403, 502}
    assert "/elsewhere" not in provider.asked
    assert not is_in(web)


def test_a_code_that_was_used_elsewhere_is_told(web, provider):
    home = provider.agree(gone(web))
    provider.codes.clear()

    assert "does not know of this sign-in any more" in says(back(web, home))


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://evil.example"},
        {"authorization_endpoint": "http://evil.example/authorize"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": None},
    ],
    ids=str,
)
def test_a_provider_that_leads_elsewhere_or_in_the_clear_is_not_followed(web, provider, change):
    place = "/.well-known/openid-configuration"
    provider.answers[place] = provider.said(place) | change

    answer = web.get("/sign-in/provider")

    assert answer.status_code == 502
    assert "Location" not in answer.headers


def test_no_secret_is_in_a_page_an_address_or_the_log(web, provider, caplog):
    caplog.set_level(logging.DEBUG)
    address = gone(web)
    answer = back(web, provider.agree(address))
    texts = [address, answer.headers["Location"], web.get("/about").text, caplog.text]
    texts.append(repr(web.browser))

    assert answer.status_code == 303
    assert not any(SECRET in text or KEY in text for text in texts)


# -- Settings


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"oidc_issuer": "https://id.example"}, "oidc_issuer needs oidc_client_id"),
        ({"oidc_client_id": "x"}, "oidc_client_id needs oidc_issuer"),
        ({"oidc_issuer": "http://id.example", "oidc_client_id": "x"}, "must be an address"),
        ({"oidc_issuer": "https://u:p@id.example", "oidc_client_id": "x"}, "must be an address"),
        ({"oidc_issuer": "https://id.example", "oidc_client_id": "x", "oidc_roles": "a=admin"},
         "oidc_roles needs oidc_role_claim"),
        ({"oidc_roles": "a=owner"}, "must be values with roles"),
    ],
    ids=str,
)  # fmt: skip
def test_half_a_provider_is_refused_at_the_start(client, settings, problem):
    with pytest.raises(SettingError, match=problem):
        create_app(client, **settings)
