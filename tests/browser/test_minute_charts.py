"""Charts and the tables behind them: fit for everybody, with gaps and without."""

from __future__ import annotations

import pytest

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_web import minutes
from qless_web.demo import seeds
from tests.support.axe import findings
from tests.support.serving import served

pytestmark = pytest.mark.browser

OPEN_TABLES = "document.querySelectorAll('details.behind').forEach(each => { each.open = true })"


@pytest.fixture(scope="module")
def shop():
    """Seed a console for a day, of which nobody counted three hours."""
    with EmbeddedServer() as server, Client(server.url) as client:
        seeds.plant(client)
        hour = int(client.now()) // 3600
        for back in (6, 7, 8):
            client.redis.delete(minutes.hour_key(client.keys, hour - back))
        with served(client, live_max_streams=0) as site:
            yield site.url


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("path", ["/", "/queues", "/queues/mail"])
def test_charts_and_their_tables_are_fit_for_everybody(page, shop, path, width, theme):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(shop + path)
    page.evaluate(OPEN_TABLES)

    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_gap_is_seen_and_said(page, shop):
    page.goto(shop)
    chart = page.locator("svg.throughput")

    assert "180 minutes not counted" in chart.get_attribute("aria-label")
    assert chart.locator(".gap").count() == 1
    assert chart.locator(".gap").bounding_box()["width"] > chart.bounding_box()["width"] / 9


def test_a_table_can_be_opened_and_says_what_the_chart_does(page, shop):
    page.goto(f"{shop}/queues/mail")
    behind = page.locator("figure:has(svg.throughput) details.behind")
    behind.locator("summary").click()

    rows = behind.locator("tbody tr")
    assert rows.count() in {24, 25}
    completed = [int(each) for each in rows.locator("td:nth-child(2)").all_inner_texts()]
    label = page.locator("svg.throughput").get_attribute("aria-label")
    assert f": {sum(completed)} completed" in label
