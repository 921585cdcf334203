"""What operators do with recurring and scheduled jobs, from the rail to the end."""

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
        console.open()
        yield console.page
    context.close()


@pytest.fixture
def nightly(client):
    client.queues["reports"].cron("Report", {"n": [1.10]}, "0 3 * * *", jid="nightly")
    return lambda: client.jobs["nightly"]


def go(page, place, name):
    page.get_by_role("navigation", name="Console", exact=True).get_by_role(
        "link", name=place
    ).click()
    page.get_by_role("link", name=name).first.click()


@pytest.mark.usefixtures("nightly")
def test_a_recurring_job_is_run_now(place, client):
    go(place, "Recurring", "nightly")

    place.locator("#job-actions").get_by_role("button", name="Run now").click()

    expect(place.get_by_text("nightly made the job nightly-1.")).to_be_visible()
    expect(place.get_by_role("row", name="nightly-1")).to_contain_text("waiting")
    assert client.queues["reports"].pop().jid == "nightly-1"


def test_a_cron_expression_is_edited_after_a_mistake(place, nightly):
    go(place, "Recurring", "nightly")
    expect(place.locator("#job-facts")).to_contain_text("At 03:00 every day")
    place.locator("#job-actions").get_by_role("link", name="Edit").click()

    place.get_by_label("Cron expression").fill("0 6 * *")
    place.get_by_label("Retries").fill("4")
    place.get_by_role("button", name="Change 1 recurring job").click()
    expect(place.get_by_role("alert")).to_contain_text("is no cron expression")
    assert nightly().cron == "0 3 * * *"
    expect(place.get_by_label("Retries")).to_have_value("4")
    place.get_by_label("Cron expression").fill("0 6 * * 1-5")
    place.get_by_role("button", name="Change 1 recurring job").click()

    expect(place.get_by_text("Changed nightly: retries, cron expression")).to_be_visible()
    expect(place.locator("#job-facts")).to_contain_text("At 06:00 on Monday through Friday")
    assert (nightly().cron, nightly().retries) == ("0 6 * * 1-5", 4)
    assert nightly().raw_data == '{"n":[1.1]}'


def test_one_recurring_job_is_paused_and_goes_on(place, client, nightly):
    client.queues["reports"].recur("Other", {}, 60, jid="other")
    go(place, "Recurring", "nightly")

    place.locator("#job-actions").get_by_role("button", name="Pause").click()

    expect(place.locator("#job-why")).to_contain_text("It is paused")
    client.clock.advance(3 * 86_400)
    assert {job.jid for job in client.queues["reports"].pop(9)} >= {"other-1"}
    assert nightly().count == 0
    place.locator("#job-actions").get_by_role("button", name="Unpause").click()
    expect(place.get_by_text("nightly goes on with its next run.")).to_be_visible()
    expect(place.locator("#job-actions").get_by_role("button", name="Pause")).to_be_visible()
    assert nightly().next_run > client.now()


def test_many_scheduled_jobs_are_rescheduled(place, client):
    for number in range(4):
        client.queues["mail" if number % 2 else "post"].put(
            "Send", {}, delay=3_600 + number, jid=f"letter-{number}"
        )
    place.get_by_role("navigation", name="Console", exact=True).get_by_role(
        "link", name="Scheduled"
    ).click()
    for number in range(3):
        place.get_by_role("checkbox", name=f"Tick Send letter-{number}").check()
    place.get_by_role("button", name="Reschedule…").click()
    place.get_by_label("How long from now").fill("soon")
    place.get_by_role("button", name="Reschedule 3 jobs").click()
    expect(place.get_by_role("alert")).to_contain_text("“soon” is no delay")

    place.get_by_label("How long from now").fill("2d")
    place.get_by_role("button", name="Reschedule 3 jobs").click()

    expect(place.get_by_text("Due in 2 d: 3 jobs.")).to_be_visible()
    expect(place.get_by_role("row", name="letter-1")).to_contain_text("in 2 d")
    client.clock.advance(3_700)
    (job,) = [*client.queues["mail"].pop(9), *client.queues["post"].pop(9)]
    assert job.jid == "letter-3"
