"""Every page in a real browser: axe finds nothing, nothing is logged, nothing is too wide."""

from __future__ import annotations

import pytest

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_web.demo import seeds
from tests.support.axe import findings
from tests.support.every_page import every_page
from tests.support.serving import served

pytestmark = pytest.mark.browser

WIDTHS = (1440, 390)
#: Each theme, and the rules that it is held against; in the other one only colours differ.
THEMES = {"light": (), "dark": ("color-contrast",)}


@pytest.fixture(scope="module")
def shop():
    """One seeded console for all tests of this module: they only look."""
    with EmbeddedServer() as server, Client(server.url) as client:
        seeds.plant(client)
        with served(client, live_max_streams=0) as site:
            yield site.url, client


@pytest.fixture(scope="module")
def paths(shop):
    _, client = shop
    return every_page(client)


def test_every_page_is_fit_for_everybody(page, shop, paths):
    console, _ = shop
    complaints, wide, found = [], [], {}
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))

    for path in paths:
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        page.goto(console + path)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            for theme, rules in THEMES.items():
                page.emulate_media(color_scheme=theme)
                if wrong := findings(page, *rules):
                    found[f"{path} in {theme}, {width} wide"] = wrong
            if page.evaluate("document.documentElement.scrollWidth") > width:
                wide.append(f"{path}, {width} wide")

    assert len(paths) > 35
    assert {path: wrong[:3] for path, wrong in found.items()} == {}
    assert wide == []
    assert [said for said in complaints if "404" not in said] == []
