"""What endangers jobs, or misleads who looks, stands above every page."""

from __future__ import annotations

import pytest
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_core.clock import Clock
from qless_web import create_app
from tests.support.dom import parse

PAGES = ("/", "/queues", "/failed", "/preferences", "/jobs/no-such-job")


class Off(Clock):
    """The clock of a machine that is so many seconds off."""

    def __init__(self, seconds):
        self.seconds = seconds

    def now(self):
        return super().now() + self.seconds


def cautions(app, path):
    page = parse(Browser(app).get(path).get_data(as_text=True))
    return page.one("div", id="cautions").text


@pytest.mark.usefixtures("redis")
@pytest.mark.parametrize(("off", "says"), [(120, "2 min ahead of"), (-3_700, "1 h 1 min behind")])
def test_every_page_says_that_the_clocks_differ(server, off, says):
    with Client(server.url, clock=Off(off)) as client:
        app = create_app(client)

        for path in PAGES:
            assert f"The clock of this console is {says} the clock of Redis" in cautions(app, path)


@pytest.mark.usefixtures("redis")
def test_clocks_that_agree_are_not_spoken_of(server):
    with Client(server.url, clock=Off(1)) as client:
        app = create_app(client)

        assert {cautions(app, path) for path in PAGES} == {""}


def test_every_page_says_that_the_server_may_drop_jobs(redis, client):
    redis.config_set("maxmemory", "200mb")
    redis.config_set("maxmemory-policy", "allkeys-lru")
    try:
        app = create_app(client)
        for path in PAGES:
            assert "drops keys (allkeys-lru), and jobs with them" in cautions(app, path)
    finally:
        redis.config_set("maxmemory-policy", "noeviction")
        redis.config_set("maxmemory", "0")


def test_the_overview_has_the_server_in_a_few_figures(redis, client):
    page = parse(Browser(create_app(client)).get("/").get_data(as_text=True))

    told = page.one("div", id="server-part").text
    version = redis.info("server").get("valkey_version") or redis.info("server")["redis_version"]
    assert version in told
    assert "memory" in told
    assert "clients" in told
