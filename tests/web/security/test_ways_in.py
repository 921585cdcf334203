"""Those whom a proxy, the host application or a token lets in: as whom, and from where."""

from __future__ import annotations

import pytest

from qless_web import create_app
from qless_web.settings import SettingError
from qless_web.tokens import make
from tests.web.security.conftest import KEY, PASSWORD

PROXY, STRANGER = "10.0.0.5", "10.9.9.9"


def proxied(client, **settings):
    return create_app(
        client, proxy_user_header="X-Forwarded-User", trusted_proxies="10.0.0.0/24", **settings
    )


def ask(app, path="/queues/mail/pause", *, peer=PROXY, user="kim", method="POST", **headers):
    sent = {"X-Forwarded-User": user, **headers} if user is not None else headers
    return app.test_client().open(
        path, method=method, headers=sent, environ_overrides={"REMOTE_ADDR": peer}
    )


def test_a_proxy_of_ours_says_who_somebody_is(client, audit):
    app = proxied(client, default_role="operator")

    assert ask(app).status_code == 303
    assert audit()[0]["user"] == "kim"
    assert "kim</bdi> is <strong>operator</strong>" in ask(app, "/queues", method="GET").text


@pytest.mark.parametrize("peer", [STRANGER, "10.0.1.5", "::1", "127.0.0.1", "nonsense", ""])
def test_nobody_else_can_say_it(client, stored, peer):
    app = proxied(client, default_role="admin")
    before = stored()

    answer = ask(app, peer=peer)

    assert answer.status_code == 401
    assert "Nobody is signed in." in answer.text
    assert stored() == before


def test_an_address_written_as_one_of_the_newer_kind_is_the_same(client):
    assert ask(proxied(client, default_role="operator"), peer=f"::ffff:{PROXY}").status_code == 303


def test_a_forwarded_address_is_no_address_of_a_proxy(client):
    """The neighbour is looked at, not whom it says that it speaks for."""
    app = proxied(client, default_role="admin", proxy_hops=1)

    assert ask(app, peer=STRANGER, **{"X-Forwarded-For": PROXY}).status_code == 401
    assert ask(app, peer=PROXY, **{"X-Forwarded-For": STRANGER}).status_code == 303


@pytest.mark.parametrize("user", ["kim, admin", "kim admin", "<b>", "k\xfcm", "x" * 129, "", None])
def test_a_name_that_nobody_may_have_is_nobody(client, user):
    answer = ask(proxied(client, default_role="admin"), user=user)

    assert answer.status_code in {401, 403}
    assert "<b> has no" not in answer.text


def test_the_file_says_the_role_of_whom_a_proxy_names(client, people):
    app = proxied(client, users_file=people, secret_keys=(KEY,), default_role="none")

    assert ask(app, user="operator").status_code == 303
    assert ask(app, user="viewer").status_code == 403
    refused = ask(app, user="kim")
    assert refused.status_code == 403
    assert "kim has no role here" in refused.text
    assert "rail" not in refused.text
    password = app.test_client().post("/sign-in", data={"name": "admin", "password": PASSWORD})
    assert password.status_code == 303


def test_a_header_without_addresses_of_proxies_is_refused(client):
    with pytest.raises(SettingError, match="needs trusted_proxies"):
        create_app(client, proxy_user_header="X-Forwarded-User")


@pytest.mark.parametrize(
    ("told", "status"),
    [
        (("ann", "operator"), 303),
        (("ann", "admin"), 303),
        (("ann", "viewer"), 403),
        (("ann", "owner"), 403),
        ("ann", 403),
        (None, 401),
        ("", 401),
    ],
)
def test_the_host_application_says_who_somebody_is(client, told, status):
    seen = []
    app = create_app(client, identify=lambda environ: seen.append(environ["PATH_INFO"]) or told)

    assert ask(app, user=None).status_code == status
    assert set(seen) == {"/queues/mail/pause"}
    reads = {401: 401, 403: 403 if told == ("ann", "owner") else 200, 303: 200}[status]
    assert ask(app, "/queues", user=None, method="GET").status_code == reads


def test_a_host_that_fails_lets_nobody_in(client, caplog):
    def broken(_environ):
        message = "the session store is gone"
        raise RuntimeError(message)

    app = create_app(client, identify=broken)

    answer = ask(app, user=None)
    assert answer.status_code == 500
    assert "session store" not in answer.text
    assert "session store" in caplog.text
    assert not client.redis.exists("ql:paused_queues")


@pytest.mark.parametrize(
    ("scope", "status"), [("read", 403), ("operate", 200), ("admin", 200), (None, 401)]
)
def test_programs_come_in_by_token_where_people_sign_in(client, people, tmp_path, scope, status):
    token, line = make("deploy", scope or "read")
    place = tmp_path / "tokens"
    place.write_text(line)
    app = create_app(client, users_file=people, secret_keys=(KEY,), api_token_file=place)
    headers = {"Authorization": f"Bearer {token if scope else 'wrong'}"}

    answer = app.test_client().post("/api/v1/queues/mail/pause", headers=headers)
    metrics = app.test_client().get("/metrics", headers=headers)

    assert answer.status_code == status
    assert metrics.status_code == (200 if scope else 401)
    page = app.test_client().get("/queues", headers=headers)
    assert page.status_code == 303


def test_a_wrong_token_does_not_fall_back_to_a_session(client, people, tmp_path):
    place = tmp_path / "tokens"
    place.write_text(make("deploy", "read")[1])
    app = create_app(client, users_file=people, secret_keys=(KEY,), api_token_file=place)
    browser = app.test_client()
    browser.post("/sign-in", data={"name": "admin", "password": PASSWORD})
    assert browser.post("/api/v1/queues/mail/pause").status_code == 200

    forged = {"Authorization": "Bearer x", "Origin": "https://evil.example"}

    assert browser.post("/api/v1/queues/mail/unpause", headers=forged).status_code == 401
