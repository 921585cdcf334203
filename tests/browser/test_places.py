"""What changes keeps its place: nothing that is being read moves because a number did."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.pages import ConsolePage
from tests.support.serving import served

pytestmark = pytest.mark.browser

WIDTHS = pytest.mark.parametrize("width", [1440, 1024, 390])

MESSAGE = "shop.errors.DeliveryError: partner-7 answered 503 after 10 s"


@pytest.fixture
def console(page, client):
    """Look at a page whose queue `mail` has one job, in a console that asks often."""
    client.queues["mail"].put("Send", {}, jid="first")
    with served(client, live_tick_s=0.2) as site:
        yield ConsolePage(page, site.url)


def tops(page):
    """Measure where each heading and each queue begins, and how high each queue is."""
    return page.evaluate(
        """() => [...document.querySelectorAll("main h2, tr[id^=queue-]")].map((each) => {
            const box = each.getBoundingClientRect();
            return [each.id || each.textContent, box.top, each.id ? box.height : 0];
        })"""
    )


@WIDTHS
@pytest.mark.parametrize("path", ["/", "/queues"])
def test_a_queue_is_as_high_whatever_its_numbers(console, page, client, width, path):
    page.set_viewport_size({"width": width, "height": 900})
    console.open(path)
    console.expect_live()
    row = page.locator("#queue-mail")
    before = row.bounding_box()["height"]
    queue = client.queues["mail"]

    for number in range(1_300):
        queue.put("Send", {}, delay=60 if number % 3 else 0)
    queue.put("Send", {}, depends=["first"])
    queue.recur("Send", {}, interval=60, offset=60)
    queue.pop().fail("mail-Error", "message")
    queue.pop()

    expect(row).to_contain_text("866")
    assert row.bounding_box()["height"] == before


@WIDTHS
def test_nothing_moves_when_something_needs_attention_and_when_it_does_no_more(
    console, page, client, width
):
    page.set_viewport_size({"width": width, "height": 900})
    console.open()
    console.expect_live()
    calm = page.get_by_text("Nothing needs attention.")
    expect(calm).to_be_visible()
    before = [each for each in tops(page) if each[0] in {"In all queues", "Queues", "queue-mail"}]
    assert len(before) == 3

    client.queues["mail"].pause()
    for number in range(8):
        client.queues["other"].put("Send", {})
        client.queues["other"].pop().fail(f"other-{number}", "a long message " * 40)
    attention = page.get_by_role("list", name="Needs attention")
    expect(attention.get_by_role("listitem")).to_have_count(6)
    after = [each for each in tops(page) if each[0] in {"In all queues", "Queues", "queue-mail"}]
    assert after == before

    client.clock.advance(901)
    client.queues["mail"].unpause()
    client.queues["mail"].pop()
    expect(calm).to_be_visible()


@pytest.mark.parametrize("width", [1024, 390])
def test_a_failure_is_told_in_full_with_its_worker(console, page, client, width):
    page.set_viewport_size({"width": width, "height": 900})
    client.queues["mail"].pop().fail("mail-DeliveryError", MESSAGE)

    console.open("/failed/mail-DeliveryError")

    row = console.row_of("first")
    told = row.get_by_text("partner-7 answered 503 after 10 s", exact=True)
    expect(told).to_be_visible()
    assert told.evaluate("(each) => each.scrollWidth <= each.clientWidth")
    expect(row.get_by_role("link", name=client.worker_name)).to_be_visible()


def test_the_button_for_new_rows_covers_no_heading(console, page, client):
    console.open("/queues/mail/waiting")
    console.expect_live()
    for number in range(3):
        client.queues["mail"].put("Send", {}, jid=f"new-{number}")
    expect(console.new_rows).to_be_visible()

    heads = page.locator("thead th").first.bounding_box()
    assert console.new_rows.bounding_box()["y"] >= heads["y"] + heads["height"]


def test_what_can_be_done_with_ticked_rows_is_one_line_on_a_phone(console, page):
    page.set_viewport_size({"width": 390, "height": 844})
    console.open("/queues/mail/waiting")
    console.tick("first").check()

    buttons = console.ticked.locator("button:visible").evaluate_all(
        "(all) => all.map((each) => each.getBoundingClientRect().top)"
    )
    assert len(buttons) == 3
    assert len(set(buttons)) == 1
    assert console.ticked.bounding_box()["height"] < 60


def test_the_way_to_a_job_follows_its_state(console, page, client):
    console.open("/jobs/first")
    console.expect_live()
    way = page.get_by_role("navigation", name="You are here")
    expect(way).to_contain_text("mail")

    client.queues["mail"].pop().complete()

    expect(way).to_contain_text("Completed")
    expect(console.entry("Completed")).to_have_attribute("aria-current", "page")
