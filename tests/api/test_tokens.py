"""Tokens: who has one, what it is good for, and that nothing ever shows it."""

from __future__ import annotations

import hmac
import logging
import subprocess
import sys

import pytest
from werkzeug.test import Client as Browser

from qless_web import create_app
from qless_web.settings import SettingError
from qless_web.tokens import Tokens, digest_of, make
from tests.support.processes import ROOT
from tests.web.conftest import Lint


@pytest.fixture
def tokens(tmp_path):
    """Make a token of each scope, and the file that has them."""
    reader, line = make("grafana", "read")
    operator, other = make("deploy", "operate")
    place = tmp_path / "tokens"
    place.write_text(f"# who may\n\n{line}\n   {other}  \n")
    return place, reader, operator


@pytest.fixture
def guarded(client, tokens):
    """Ask an API that wants tokens."""
    return Browser(Lint(create_app(client, api_token_file=tokens[0])))


def bearing(token):
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer  "},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer \xff"},
        {"Authorization": "Basic Z3JhZmFuYTp4"},
    ],
    ids=str,
)
def test_without_a_token_that_somebody_has_nothing_is_read_or_done(guarded, shop, stored, headers):
    shop.fail("a")
    before = stored()

    for answer in (
        guarded.get("/api/v1/queues", headers=headers),
        guarded.get("/api/v1/openapi.json", headers=headers),
        guarded.post("/api/v1/jobs/a/retry", headers=headers),
    ):
        assert answer.status_code == 401
        assert answer.content_type == "application/problem+json"
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert stored() == before


def test_a_token_to_read_reads_and_changes_nothing(guarded, tokens, shop, stored, audit):
    shop.fail("a")
    before = stored()

    assert guarded.get("/api/v1/queues", headers=bearing(tokens[1])).status_code == 200
    refused = guarded.post("/api/v1/jobs/a/retry", headers=bearing(tokens[1]))

    assert refused.status_code == 403
    assert "this needs operator, and token:grafana is viewer" in refused.json["detail"]
    assert stored() == before
    (record,) = audit()
    assert (record["outcome"], record["user"]) == ("refused", "token:grafana")


def test_a_token_to_operate_does_both_and_the_audit_names_it(guarded, tokens, shop, audit):
    shop.fail("a")

    assert guarded.get("/api/v1/queues", headers=bearing(tokens[2])).status_code == 200
    assert guarded.post("/api/v1/jobs/a/retry", headers=bearing(tokens[2])).status_code == 200

    assert shop.state("a") == "waiting"
    (record,) = audit()
    assert (record["outcome"], record["user"]) == ("done", "token:deploy")


def test_a_token_needs_no_origin_and_minds_none(guarded, tokens, shop):
    shop.fail("a")
    from_elsewhere = {"Origin": "https://ci.example", "Sec-Fetch-Site": "cross-site"}

    answer = guarded.post("/api/v1/jobs/a/retry", headers={**bearing(tokens[2]), **from_elsewhere})

    assert answer.status_code == 200


def test_a_token_does_not_open_the_pages_to_other_sites(guarded, tokens, shop, stored):
    shop.fail("a")
    before = stored()

    answer = guarded.post(
        "/jobs/a/retry", headers={**bearing(tokens[2]), "Origin": "https://evil.example"}
    )

    assert answer.status_code == 403
    assert stored() == before


def test_a_token_does_not_open_a_console_that_is_read_only(client, tokens, shop):
    shop.fail("a")
    api = Browser(create_app(client, api_token_file=tokens[0], read_only=True))

    answer = api.post("/api/v1/jobs/a/retry", headers=bearing(tokens[2]))

    assert answer.status_code == 403
    assert "read-only" in answer.json["detail"]


def test_the_pages_go_on_without_tokens(guarded):
    assert guarded.get("/").status_code == 200


def test_options_needs_no_token(guarded):
    assert guarded.options("/api/v1/queues").status_code == 200


def test_what_depends_on_a_token_says_so(guarded, tokens):
    answer = guarded.get("/api/v1/queues", headers=bearing(tokens[1]))

    assert "Authorization" in answer.headers["Vary"]


def test_no_token_is_in_the_log_the_settings_or_an_answer(client, tokens, caplog):
    caplog.set_level(logging.DEBUG)
    app = create_app(client, api_token_file=tokens[0])
    api = Browser(app)

    answers = [
        api.get("/api/v1/queues", headers=bearing(token)) for token in (*tokens[1:], "wr0ng")
    ]

    said = caplog.text + repr(app.extensions) + repr(Tokens.read(tokens[0]).known)
    said += "".join(answer.text for answer in answers)
    for secret in (*tokens[1:], "wr0ng", digest_of(tokens[1]), digest_of(tokens[2])):
        assert secret not in said


def test_every_token_is_compared_and_in_constant_time(tokens, monkeypatch):
    compared = []
    compare = hmac.compare_digest
    monkeypatch.setattr(
        "qless_web.tokens.hmac.compare_digest",
        lambda one, other: compared.append(one) or compare(one, other),
    )
    known = Tokens.read(tokens[0])

    assert known.find(tokens[1]).name == "grafana"
    assert len(compared) == 2
    assert known.find("wrong") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no token"),
        ("# nobody\n", "names no token"),
        ("deploy operate s3cr3t", "line 1"),
        ("deploy owner sha256:" + "0" * 64, "line 1"),
        ("de/ploy read sha256:" + "0" * 64, "line 1"),
        ("deploy read sha256:" + "0" * 63, "line 1"),
        (f"a read sha256:{'0' * 64}\na read sha256:{'1' * 64}", "two tokens named a"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_without_a_word_of_it(client, tmp_path, text, said):
    place = tmp_path / "tokens"
    place.write_text(text)

    with pytest.raises(SettingError, match=said) as refused:
        create_app(client, api_token_file=place)

    assert "s3cr3t" not in str(refused.value)


def test_a_file_that_is_not_there_stops_the_start(client, tmp_path):
    with pytest.raises(SettingError, match="api_token_file cannot be read"):
        create_app(client, api_token_file=tmp_path / "none")


def test_the_command_makes_a_token_and_its_line(client, tmp_path):
    made = subprocess.run(
        [sys.executable, "-m", "qless_web", "--new-token", "deploy:operate"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    token, line = made.stdout.splitlines()
    place = tmp_path / "tokens"
    place.write_text(line)

    api = Browser(create_app(client, api_token_file=place))

    assert token not in line
    assert api.get("/api/v1/queues", headers=bearing(token)).status_code == 200


def test_the_command_refuses_a_scope_that_there_is_not():
    for wanted in ("deploy:owner", "de ploy:read", ":read"):
        made = subprocess.run(
            [sys.executable, "-m", "qless_web", "--new-token", wanted],
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
        )
        assert made.returncode == 2
        assert "NAME:SCOPE" in made.stderr


def test_the_command_refuses_to_start_with_a_file_that_makes_no_sense(tmp_path):
    place = tmp_path / "tokens"
    place.write_text("nonsense")
    started = subprocess.run(
        [sys.executable, "-m", "qless_web", "-F", "--port", "0", "--api-token-file", place],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )

    assert started.returncode == 2
    assert "line 1" in started.stderr
