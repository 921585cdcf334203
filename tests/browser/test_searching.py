"""The search page: what is typed is completed by what there is, and a facet narrows."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.axe import findings
from tests.support.serving import served
from tests.web.triage.indexes import kept

pytestmark = pytest.mark.browser


def test_a_search_is_completed_narrowed_and_widened(page, client, tmp_path):
    orders = client.queues["orders"]
    for jid, klass in (("one", "shop.Charge"), ("two", "shop.Refund")):
        orders.put(klass, {"user_id": 42}, jid=jid)
        orders.pop().fail("orders-Timeout", "no answer")
    with kept(client, tmp_path), served(client, state_dir=str(tmp_path)) as site:
        page.goto(f"{site.url}/search?q=answer")
        box = page.get_by_label("What to look for")
        box.press("End")
        box.press_sequentially(" klass:shop.R")
        expect(page.locator("#search-ways option")).to_have_attribute(
            "value", "answer klass:shop.Refund"
        )
        page.locator(".facet").get_by_role("link", name="shop.Charge").click()
        expect(page.locator("tr.row")).to_have_count(1)
        expect(box).to_have_value("answer klass:shop.Charge")
        assert findings(page) == []
        page.locator(".facet [data-chosen]").get_by_role("link").click()
        expect(page.locator("tr.row")).to_have_count(2)
