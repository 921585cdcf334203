"""An operator puts a job by hand, makes a mistake, and mends another one's data."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.pages import ConsolePage
from tests.support.serving import served

pytestmark = pytest.mark.browser


@pytest.fixture(params=["with JavaScript", "without"])
def place(request, browser, client):
    """Put a console before somebody whose browser runs JavaScript, or none."""
    context = browser.new_context(java_script_enabled=request.param == "with JavaScript")
    with served(client, live_tick_s=0.2) as site:
        console = ConsolePage(context.new_page(), site.url)
        console.open("/queues/mail")
        yield console.page
    context.close()


@pytest.fixture(autouse=True)
def broken(client):
    """Let there be a job with a mistake in its data."""
    client.queues["mail"].put("shop.Welcome", {"to": "kmi"}, jid="broken")


def test_a_job_is_put_after_a_mistake_and_another_is_mended(place, client, redis):
    place.get_by_role("link", name="Put a job").click()
    place.locator("#ask").get_by_label("Class").fill("shop.Welcome")
    place.locator("#ask").get_by_label("Data").fill('{"to": "kim",}')
    place.get_by_role("button", name="Put 1 job").click()

    expect(place.get_by_role("alert")).to_contain_text("line 1, column 14")
    expect(place.locator("#ask").get_by_label("Class")).to_have_value("shop.Welcome")
    place.locator("#ask").get_by_label("Data").fill('{"to": "kim", "n": 1.10}')
    place.get_by_text("More: retries, tags").click()
    place.locator("#ask").get_by_label("Tags").fill("vip\nby hand")
    place.locator("#ask").get_by_label("Jid").fill("made")
    place.get_by_role("button", name="Put 1 job").click()

    expect(place.get_by_role("heading", level=1)).to_contain_text("made")
    assert redis.hget("ql:j:made", "data") == '{"to": "kim", "n": 1.10}'
    assert client.jobs["made"].tags == ["vip", "by hand"]

    place.goto(place.url.replace("/made", "/broken"))
    place.locator("#data").get_by_role("link", name="Edit").click()
    place.locator("#ask").get_by_label("Data").fill('{"to": "kim"}')
    place.get_by_role("button", name="Edit 1 job").click()

    expect(place.get_by_text("Changed the data of broken.")).to_be_visible()
    expect(place.locator("#data")).to_contain_text('"kim"')
