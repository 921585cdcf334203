"""The page of options."""

from __future__ import annotations

from werkzeug.test import Client as Browser

from qless_core.client import Client
from qless_core.options import OPTIONS
from qless_web import create_app
from tests.support.dom import parse


def row_of(page, name):
    return next(row for row in page.all("tr") if row.cells and name in row.cells[:2])


def test_every_option_is_there_with_its_default_and_meaning(see):
    page = see("/config")

    for option in OPTIONS:
        assert option.help in row_of(page, option.name).text
    assert "60 seconds as by default" in row_of(page, "heartbeat").text


def test_what_was_set_is_told_from_the_default(client, see):
    client.config["heartbeat"] = 120

    page = see("/config")

    assert row_of(page, "heartbeat").cells[1:3] == ["120 seconds 2 min", "60 seconds"]
    assert "1 set, the rest as by default" in page.text


def test_options_of_queues_are_grouped_by_queue(client, see):
    client.config["a/b-heartbeat"] = 30
    client.config["mail-max-concurrency"] = 1

    page = see("/config")

    assert row_of(page, "a/b-heartbeat").cells[0] == "a/b"
    assert "/queues/a~2Fb" in page.links
    assert row_of(page, "mail-max-concurrency").cells[2] == "1 job"


def test_garbage_in_the_options_is_shown_and_explained(redis, see):
    """B20."""
    redis.hset("ql:config", mapping={"heartbeat": "abc", "grace-period": "-5", "jobs-history": ""})

    page = see("/config")

    assert "60 seconds" in row_of(page, "heartbeat").cells[1]
    assert "stored is “abc”, which is no number: the default counts" in page.text
    assert "grace-period must be at least 0 seconds" in page.text


def test_what_is_no_option_is_shown_raw(redis, see):
    redis.hset("ql:config", "<b>theirs", "<i>" + "x" * 5_000)

    page = see("/config")

    row = row_of(page, "<b>theirs")
    assert row.cells[1].startswith("<i>xxx")
    assert len(row.cells[1]) == 200


def test_commands_lead_to_the_redis_of_this_console(see, server):
    assert f"qless --redis-url {server.url} config set heartbeat 120" in see("/config").text


def test_commands_hide_the_password_and_say_so(redis, server):
    redis.execute_command("ACL", "SETUSER", "kim", "on", ">hush", "~*", "&*", "+@all")
    url = server.url.replace("unix://", "unix://kim:hush@")
    with Client(url, namespace="a&b:") as client:
        html = Browser(create_app(client)).get("/config").get_data(as_text=True)
    redis.execute_command("ACL", "DELUSER", "kim")
    text = parse(html).one("main").text

    assert "hush" not in html
    assert "--namespace 'a&b:' config set heartbeat 120" in text
    assert "unix://kim:***@" in text
    assert "The password is masked" in text
