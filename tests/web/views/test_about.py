"""The page about the console."""

from __future__ import annotations

import re
from pathlib import Path

from werkzeug.test import Client as Browser

import qless_web
from qless_core.client import Client
from qless_web import create_app
from qless_web.extensions import Column, Extensions
from qless_web.presenters.about import HTMX
from qless_web.views import about
from tests.support.dom import parse


def test_it_tells_versions_and_the_server(see, redis):
    page = see("/about")

    assert redis.info()["valkey_version"] in page.text
    assert f"htmx {HTMX}" in page.text
    assert "Licence MIT" in page.text


def test_the_htmx_it_names_is_the_one_it_serves():
    script = Path(qless_web.__file__).parent / "static" / "vendor" / "htmx.min.js"

    assert f'version="{HTMX}"' in script.read_text(encoding="utf-8")


def test_it_says_why_it_is_read_only(client):
    web = Browser(create_app(client, read_only=True))

    page = parse(web.get("/about").get_data(as_text=True)).one("main")

    assert "Read-only: this console is read-only" in page.text


def test_it_says_that_anybody_may_do_anything_and_that_nothing_is_added(see):
    page = see("/about")

    assert "whoever reaches this console, as admin; nobody has to sign in" in page.text
    assert "shown as it is: no redaction hook is set" in page.text
    assert "no columns, links, panels or formatters of an application" in page.text


def test_it_says_who_looks_what_they_may_do_and_what_the_application_adds(client, tmp_path):
    users = tmp_path / "users"
    users.write_text("dana operator - queues=mail* actions=retry_*\n")
    extensions = Extensions(
        columns=[Column("Team", lambda _: "shop"), Column("Cost", lambda _: "1")],
        formatters={"cents": str},
        redact=lambda _, data: data,
    )
    app = create_app(
        client, users_file=str(users), identify=lambda _: "dana", extensions=extensions
    )

    page = parse(Browser(app).get("/about").get_data(as_text=True)).one("main")

    assert "dana, as operator; of the queues mail* alone; by the actions retry_*" in page.text
    assert "shown as the redaction hook of the application lets it" in page.text
    assert "2 columns, 1 formatter" in page.text


def test_it_warns_when_the_server_may_drop_jobs(redis, see):
    redis.config_set("maxmemory", "200mb")
    redis.config_set("maxmemory-policy", "allkeys-lru")
    try:
        page = see("/about")
    finally:
        redis.config_set("maxmemory-policy", "noeviction")
        redis.config_set("maxmemory", "0")

    assert "drops keys (allkeys-lru)" in page.text


def test_it_tells_where_redis_is_without_the_password(redis, server):
    redis.execute_command("ACL", "SETUSER", "kim", "on", ">hush-hush", "~*", "&*", "+@all")
    with Client(server.url.replace("unix://", "unix://kim:hush-hush@")) as client:
        html = Browser(create_app(client)).get("/about").get_data(as_text=True)
    redis.execute_command("ACL", "DELUSER", "kim")

    assert "hush-hush" not in html
    assert "kim:***@" in html


def test_a_user_who_may_not_ask_the_server_still_sees_the_rest(redis, server):
    redis.execute_command("ACL", "SETUSER", "kim", "on", ">x", "~*", "&*", "+@read", "+time")
    with Client(server.url.replace("unix://", "unix://kim:x@")) as client:
        page = parse(Browser(create_app(client)).get("/about").get_data(as_text=True)).one("main")
    redis.execute_command("ACL", "DELUSER", "kim")

    assert "This Redis user may not ask the server about itself" in page.text
    assert "this Redis user may only read" in page.text


def test_it_names_what_there_is_to_read_and_nothing_else(see, monkeypatch, tmp_path):
    root = Path(qless_web.__file__).parents[1]
    text = see("/about").text
    assert "in these folders of the checkout" in text
    assert [each for each in re.findall(r"docs/\S+/", text) if not (root / each).is_dir()] == []
    assert re.search(r"qless \d+\.\d+\.\d+", text)

    monkeypatch.setattr(about, "__file__", str(tmp_path / "qless_web" / "views" / "about.py"))

    text = see("/about").text
    assert "docs/" not in text
    assert "python -m pydoc qless_core" in text


def test_no_path_of_the_machine_is_shown(see):
    page = see("/about")

    assert str(Path(qless_web.__file__).parents[1]) not in page.text
    assert "docs/tutorial/" in page.text
