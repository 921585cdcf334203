"""More of what operators come to do: with many jobs, with options, for those who come after."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from qless_core import Client
from qless_core.records import WorkerInfo
from tests.support.pages import ConsolePage
from tests.support.serving import served

pytestmark = pytest.mark.browser

#: Milliseconds in which work in the background is done.
DONE_MS = 15_000


@pytest.fixture
def shop(server, redis):  # noqa: ARG001 - `redis` empties the server
    """Connect by the clock of the server, as operations work by it."""
    with Client(server.url, worker_name="web-7-4101") as client:
        yield client


@pytest.fixture
def console(page, shop):
    with served(shop, working=True, live_tick_s=0.2) as site:
        yield ConsolePage(page, site.url)


@pytest.fixture
def plain(browser, shop):
    """Put a console before somebody whose browser runs no JavaScript."""
    context = browser.new_context(java_script_enabled=False)
    with served(shop, live_max_streams=0) as site:
        yield ConsolePage(context.new_page(), site.url)
    context.close()


@pytest.fixture
def failed(shop):
    """Let three jobs fail, the first the oldest."""
    queue = shop.queues["billing"]
    for number in (1, 2, 3):
        queue.put("shop.Charge", {"customer": number}, jid=f"charge-{number}")
        queue.pop().fail("billing-Timeout", f"TimeoutError: no answer to {number}")


def states(client):
    found = [client.jobs[f"charge-{number}"] for number in (1, 2, 3)]
    return [each.state if each else None for each in found]


@pytest.mark.usefixtures("failed")
def test_failures_are_retried_as_an_operation_and_its_report_is_read(console, shop):
    console.open("/operations/new?action=retry&group=billing-Timeout")
    console.page.get_by_label("Jobs a second").fill("500")
    console.page.get_by_label("Note").fill("ticket 812")
    console.answer("Preview 3 jobs")

    expect(console.main).to_contain_text("shop.Charge")
    assert states(shop) == ["failed"] * 3
    console.answer("Retry 3 jobs")

    expect(console.main.get_by_text("done", exact=True).first).to_be_visible(timeout=DONE_MS)
    assert states(shop) == ["waiting"] * 3
    expect(console.main).to_contain_text("3 of 3 jobs")
    expect(console.main.get_by_role("button", name="Retry 3 jobs")).to_be_hidden()
    console.go_to("Operations")
    expect(console.main).to_contain_text("Retry")


@pytest.mark.usefixtures("failed")
def test_cancelled_jobs_come_back_from_the_trash(console, shop):
    console.open("/operations/new?action=cancel&group=billing-Timeout")
    console.answer("Preview 3 jobs")
    console.answer("Cancel 3 jobs")
    expect(console.main.get_by_text("done", exact=True).first).to_be_visible(timeout=DONE_MS)
    assert states(shop) == [None] * 3

    console.press("Undo…")
    console.question.get_by_role("button", name=re.compile("^Undo")).click()
    console.expect_told("It is being undone")
    console.open("/failed/billing-Timeout")
    expect(console.row("charge-1")).to_be_visible(timeout=DONE_MS)
    assert states(shop) == ["failed"] * 3


def test_a_job_is_put_and_seen_without_javascript(plain, shop):
    shop.queues["mail"].put("shop.Letter", {}, jid="first")
    plain.open("/queues/mail/waiting")
    plain.press("Put a job…")
    plain.page.get_by_label("Class").fill("shop.Letter")
    plain.page.get_by_label("Data").fill('{"to": "kim"}')
    plain.question.locator("summary").click()
    plain.page.get_by_label("Jid", exact=True).fill("second")
    plain.answer("Put 1 job")

    plain.expect_told("Put")
    assert shop.jobs["second"].data == {"to": "kim"}
    plain.open("/queues/mail/waiting")
    expect(plain.row("second")).to_be_visible()


@pytest.mark.usefixtures("failed")
def test_a_bad_value_is_mended_in_the_data_and_the_job_retried(console, shop):
    console.open("/jobs/charge-2")
    console.press("Edit…")
    data = console.question.get_by_label("Data")
    data.fill('{"customer": ')
    console.question.get_by_role("button").first.click()
    expect(console.question.get_by_role("alert")).to_be_visible()
    data.fill('{"customer": 12345678901234567890}')
    console.question.get_by_role("button").first.click()
    console.expect_told(re.compile("data", re.IGNORECASE))

    console.press("Retry")
    expect(console.state).to_have_text("waiting")
    assert shop.redis.hget("ql:j:charge-2", "data") == '{"customer": 12345678901234567890}'


def test_an_option_is_changed_and_taken_back_without_javascript(plain, shop):
    plain.open("/config")
    row = plain.row("How long a job stays locked").first
    row.locator("summary").click()
    row.get_by_role("link", name="Set…").click(timeout=4_000)
    plain.question.get_by_label(re.compile("value", re.IGNORECASE)).fill("90")
    plain.answer("Set 1 option")
    assert shop.config["heartbeat"] == 90

    plain.open("/config")
    plain.press("Undo the last change…")
    plain.question.get_by_role("button", name=re.compile("^Undo")).click()
    assert "heartbeat" not in shop.redis.hgetall("ql:config")


def test_looks_are_chosen_without_javascript_and_stay(plain):
    plain.open("/preferences")
    plain.page.get_by_role("combobox", name="Theme").select_option("dark")
    plain.page.get_by_label("Rows", exact=True).select_option("compact")
    plain.page.get_by_label("Time zone").select_option("Asia/Tokyo")
    plain.press("Keep this")
    plain.expect_told("kept in this browser")

    plain.open("/queues")
    root = plain.page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    expect(root).to_have_attribute("data-density", "compact")


@pytest.mark.usefixtures("failed")
def test_the_jobs_of_one_customer_are_found(console):
    console.open("/search?q=data.customer:2")
    expect(console.main.get_by_role("link", name=re.compile("charge-2"))).to_be_visible()
    expect(console.main.get_by_role("link", name=re.compile("charge-1"))).to_have_count(0)


@pytest.mark.usefixtures("failed")
def test_a_group_is_acknowledged_so_that_the_next_on_call_knows(console):
    console.open("/failed")
    row = console.row("billing-Timeout")
    row.locator("summary").click()
    row.get_by_role("link", name=re.compile("Acknowledge")).click()
    console.question.get_by_label("Note").fill("pay-3 is down")
    console.question.get_by_role("button").first.click()

    console.open("/failed")
    expect(console.row("billing-Timeout")).to_have_count(0)
    console.main.get_by_role("link", name=re.compile("^Acknowledged")).click()
    expect(console.row("billing-Timeout")).to_contain_text("pay-3 is down")


def test_a_worker_is_asked_to_pause_and_the_page_says_so(console, shop):
    shop.workers.beat("web-7-4101", WorkerInfo(host="web-7", pid=4101, queues=("billing",)))
    console.open("/workers")
    console.follow("web-7-4101")
    console.press("Pause")

    console.expect_told(re.compile("[Aa]sked"))
    expect(console.main).to_contain_text(re.compile("asked to pause"))


@pytest.mark.usefixtures("failed")
def test_a_view_that_one_saves_is_there_for_the_next(console, browser, shop):
    console.open("/queues?q=bill&sort=failures")
    console.page.get_by_role("navigation", name="Console", exact=True).get_by_role(
        "link", name="Save this view…"
    ).click()
    console.question.get_by_label("Name").fill("Billing by failures")
    console.answer("Save 1 view")
    console.expect_told("Saved the view")

    other = browser.new_context()
    with served(shop, live_max_streams=0) as site:
        colleague = ConsolePage(other.new_page(), site.url)
        colleague.open()
        colleague.go_to("Billing by failures")
        expect(colleague.page).to_have_url(re.compile(r"/queues\?q=bill&sort=failures$"))
        expect(colleague.row("billing")).to_be_visible()
    other.close()


@pytest.mark.usefixtures("failed")
def test_on_a_phone_from_the_menu_to_a_retried_job(console, shop):
    page = console.page
    page.set_viewport_size({"width": 390, "height": 844})
    console.open()
    page.get_by_label("Menu").click()
    page.get_by_role("navigation", name="Console, folded").get_by_role(
        "link", name=re.compile("Failures")
    ).click()
    console.follow("billing-Timeout")
    console.follow("charge-1")
    console.press("Retry")

    console.expect_told(re.compile("[Rr]etried"))
    assert states(shop) == ["waiting", "failed", "failed"]
