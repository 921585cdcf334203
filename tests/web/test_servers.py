"""Several servers in one console: each at its own addresses, and nothing of one in another."""

from __future__ import annotations

import pytest
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_web import create_app, create_servers
from qless_web.console import EXTENSION
from qless_web.settings import SettingError
from tests.support.html import Visitor, question
from tests.support.receiver import receiving

NAMES = ("shop", "mail eu")

#: What stands where nothing is known.
NOTHING = "\u2013"


@pytest.fixture
def clients(server, redis):  # noqa: ARG001 - `redis` empties the server
    """Give a client of each of two databases."""
    urls = [f"{server.url}?db={number}" for number in (0, 1)]
    with Client(urls[0]) as first, Client(urls[1]) as second:
        first.queues["orders"].put("Order", {}, jid="same")
        second.queues["letters"].put("Letter", {}, jid="same")
        second.queues["letters"].pop().fail("boom", "no")
        yield dict(zip(NAMES, (first, second), strict=True))


@pytest.fixture
def several(server):
    def make(**settings):
        servers = {name: f"{server.url}?db={number}" for number, name in enumerate(NAMES)}
        return create_servers(**{"servers": servers, **settings})

    return make


@pytest.fixture
def receiver():
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def web(several, clients, prefix):  # noqa: ARG001 - there is something to see
    app = several()
    return Visitor(
        Browser(DispatcherMiddleware(_nothing, {prefix: app}) if prefix else app), prefix
    )


def _nothing(_environ, start_response):
    start_response("404 Not Found", [])
    return []


def test_the_list_leads_to_each_with_what_is_there(web):
    rows = {row.cells[0]: row for row in web.page("/").rows}

    assert [row.cells[2] for row in rows.values()] == ["1", "1"]
    assert [row.cells[4] for row in rows.values()] == ["0", "1"]
    for row in rows.values():
        page = web.page(row.links[0].removeprefix(web.prefix))
        assert page.one("h1").text == "Overview"


def test_each_shows_its_own_jobs_alone(web):
    shop, mail = "/servers/shop", "/servers/mail~20eu"

    assert "Order" in web.page(f"{shop}/jobs/same").one("h1").text
    assert "Letter" in web.page(f"{mail}/jobs/same").one("h1").text
    assert web.get(f"{shop}/queues/letters").status_code == 404
    assert web.get(f"{mail}/api/v1/queues/orders").status_code == 404


def test_every_link_of_a_server_stays_with_it_but_those_that_choose(web):
    home = f"{web.prefix}/servers/shop"
    page = web.page("/servers/shop/queues")
    chooser = page.one("details", class_="servers-menu")

    outside = [link for link in page.links if link.startswith("/") and not link.startswith(home)]

    assert chooser.one("summary").text == "Server: shop"
    assert (
        outside
        == [each for each in chooser.links if each != f"{home}/"]
        == [f"{web.prefix}/servers/mail~20eu/", f"{web.prefix}/"]
    )


def test_an_action_changes_the_server_it_was_asked_on_alone(web, clients):
    asked = question(web.page("/servers/mail~20eu/jobs/same/retry"))

    answer = web.submit(asked)

    assert answer.headers["Location"].startswith(f"{web.prefix}/servers/mail~20eu/")
    assert clients["mail eu"].jobs["same"].state == "waiting"
    assert clients["shop"].jobs["same"].klass_name == "Order"


@pytest.mark.parametrize("path", ["/queues", "/servers/nowhere/", "/servers", "/servers/"])
def test_what_is_no_server_is_not_there(web, path):
    answer = web.get(path)

    assert answer.status_code == 404
    assert "All of them" in answer.text


def test_an_address_without_its_slash_leads_to_it(web):
    answer = web.get("/servers/shop")

    assert answer.status_code == 308
    assert answer.headers["Location"] == f"{web.prefix}/servers/shop/"


def test_one_that_is_gone_does_not_hide_the_others(server, clients):  # noqa: ARG001 - as above
    app = create_servers(servers={"here": server.url, "gone": "unix:///nowhere/there.sock"})
    web = Visitor(Browser(app))

    here, gone = web.page("/").rows

    assert here.cells[2] == "1"
    assert NOTHING in gone.cells
    assert web.get("/servers/here/queues").status_code == 200
    assert web.get("/servers/gone/queues").status_code == 503
    assert web.get("/healthz").json == {"status": "ok"}


def test_where_one_has_to_be_somebody_the_list_tells_nobody_what_is_there(server, clients):  # noqa: ARG001 - as above
    app = create_servers(servers={"shop": server.url}, identify=lambda _environ: None)

    (row,) = Visitor(Browser(app)).page("/").rows

    assert row.cells == ["shop", *[NOTHING] * 6]


def test_no_password_is_shown(several):
    app = create_servers(servers={"shop": "redis://:secret@127.0.0.1:1/0"})

    assert "secret" not in Visitor(Browser(app)).get("/").text
    assert "secret" not in repr(several().consoles["shop"].extensions["qless_web"].settings)


def test_settings_count_for_each(several, clients):  # noqa: ARG001 - as above
    web = Visitor(Browser(several(read_only=True, prefix="/ops", live_max_streams=10)), "/ops")

    assert web.post("/servers/shop/queues/orders/pause").status_code == 403
    assert [
        console.extensions["qless_web"].settings.live_max_streams
        for console in several(live_max_streams=10).consoles.values()
    ] == [5, 5]


@pytest.mark.parametrize(
    "servers",
    ["redis://a", "=redis://a", "a=redis://a a=redis://b", "a/b=redis://a", {"": "redis://a"}],
    ids=str,
)
def test_names_that_make_no_sense_are_refused(servers):
    with pytest.raises(SettingError, match="must be names"):
        create_servers(servers=servers)


def test_an_alert_says_of_which_server_it_is(several, clients, receiver):  # noqa: ARG001 - as above
    rule = {"name": "few", "kind": "no-workers", "above": 5, "url": receiver.url}

    for name, app in several(alerts_private=True).consoles.items():
        web = app.test_client()
        assert web.post("/api/v1/alerts/save", json=rule).status_code == 200
        assert web.post("/api/v1/alerts/few/test").status_code == 200
        assert receiver.bodies[-1]["console"] == f"qless {name}"
        assert app.extensions[EXTENSION].watching.look()
        assert receiver.bodies[-1]["state"] == "firing"
        assert receiver.bodies[-1]["console"] == f"qless {name}"


def test_create_app_says_that_it_makes_a_console_of_one():
    with pytest.raises(SettingError, match="create_servers makes one of several"):
        create_app(servers={"a": "redis://a"})
