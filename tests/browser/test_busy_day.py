"""Pages amid the traffic of the demo, many times as fast as it is."""

from __future__ import annotations

import pytest

from qless_core import Client
from qless_web.demo.workers import Crew
from tests.support.figures import PAGES, held, shown
from tests.support.polling import eventually
from tests.support.serving import served

pytestmark = pytest.mark.browser

#: How many jobs come through while the pages are open.
RUSH = 150


@pytest.fixture
def shop(server, redis):  # noqa: ARG001 - `redis` empties the server
    """Give a client with the server's own time; the shop is furnished, and nobody works yet."""
    with Client(server.url) as client:
        Crew(server.url).furnish()
        yield client


def test_after_a_rush_every_number_on_every_page_is_what_redis_holds(context, server, shop):
    def wrong():
        truth = held(shop)
        return {
            f"{path}: {name}": (number, truth.get(name, 0))
            for path, page in pages.items()
            for name, number in shown(page).items()
            if number != truth.get(name, 0)
        }

    with served(shop) as site:
        pages = {path: context.new_page() for path in PAGES}
        for path, page in pages.items():
            page.goto(site.url + path)
        numbers = {path: len(shown(page)) for path, page in pages.items()}
        enough = held(shop)["completed"] + RUSH
        crew = Crew(server.url, pace=400)
        crew.start()
        try:
            eventually(lambda: held(shop)["completed"] >= enough, within=60)
        finally:
            crew.stop()

        eventually(lambda: not wrong() or None, within=60)
        assert min(numbers.values()) > 5
        assert held(shop)["completed"] >= enough
