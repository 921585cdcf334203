"""The data of a job in a real browser: typing filters, and what is copied keeps its digits."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.pages import ConsolePage
from tests.support.polling import eventually

pytestmark = pytest.mark.browser

DATA = {"order": {"id": 12345678901234567890, "odd key": [1.5]}, "note": "ring\ntwice", "n": 1}


@pytest.fixture
def job(page, console, client, context):
    """Open the page of a job with some data."""
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    client.queues["mail"].put("Letter", DATA, jid="j")
    there = ConsolePage(page, console)
    there.open("/jobs/j")
    return there


def copied(page):
    return page.evaluate("navigator.clipboard.readText()")


def test_typing_leaves_the_lines_that_have_a_word_and_enter_looks_through_all(job, page):
    field = page.get_by_role("searchbox", name="Look for a word in the data")

    field.fill("twice")

    expect(job.tree_line("note")).to_be_visible()
    expect(job.tree_line("order")).to_be_hidden()
    expect(job.main.get_by_text("1 shown here")).to_be_visible()
    field.fill("")
    expect(job.tree_line("order")).to_be_visible()
    field.fill("ODD")
    field.press("Enter")
    expect(job.main.get_by_role("link", name='order["odd key"]')).to_be_visible()


def test_a_path_and_a_value_are_copied_with_pointer_and_keyboard(job, page):
    job.tree_line("id").hover()
    job.press("value")
    job.main.get_by_role("button", name="value").and_(page.locator("[data-done=yes]")).wait_for()
    assert copied(page) == "12345678901234567890"

    job.press("path")
    job.main.get_by_role("button", name="path").and_(page.locator("[data-done=yes]")).wait_for()
    assert copied(page) == "order.id"

    job.tree_line("order").focus()
    for key in ("ArrowDown", "ArrowDown", "p"):
        page.keyboard.press(key)
    eventually(lambda: copied(page) == 'order["odd key"]')
    page.keyboard.press("c")
    eventually(lambda: copied(page) == "[1.5]")


def test_a_refresh_leaves_the_buttons_at_the_line_under_the_pointer(job, client):
    job.tree_line("id").hover()

    client.jobs["j"].tag("fresh")

    expect(job.main.get_by_text("fresh").first).to_be_visible()
    expect(job.main.get_by_role("button", name="value")).to_be_visible()


def test_a_refresh_leaves_the_buttons_under_the_pointer_that_is_on_them(job, client):
    job.tree_line("id").hover()
    job.main.get_by_role("button", name="value").hover()

    client.jobs["j"].tag("fresh")

    expect(job.main.get_by_text("fresh").first).to_be_visible()
    expect(job.main.get_by_role("button", name="value")).to_be_visible()


def test_a_job_is_copied_as_text_by_its_link(job, page):
    job.follow("Python")

    page.wait_for_function("navigator.clipboard.readText().then((t) => t.includes('Client('))")
    assert ".queues['mail'].put(" in copied(page)
    assert page.url.endswith("/jobs/j")


def test_a_job_opened_from_a_list_leads_to_its_neighbours(page, console, client, clock):
    for number in range(3):
        clock.advance(1)
        client.queues["mail"].put("Letter", {}, jid=f"j{number}")
    there = ConsolePage(page, console)
    there.open("/queues/mail/waiting")
    there.main.get_by_role("row").filter(has_text="j1").get_by_role("link").first.click()

    place = there.main.get_by_role("navigation", name="In the list")
    expect(place.get_by_text("2 of 3")).to_be_visible()
    place.get_by_role("link", name="Next job").click()
    expect(place.get_by_text("3 of 3")).to_be_visible()
    assert page.url.endswith("/jobs/j2")
    place.get_by_role("link", name="3 of 3").click()
    page.wait_for_url("**/queues/mail/waiting")
    there.open("/jobs/j0")
    page.evaluate("sessionStorage.clear()")
    page.reload()
    expect(place).to_be_hidden()
