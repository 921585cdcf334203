"""What operators come to do, from the first page to the end, by words and roles alone."""

from __future__ import annotations

import re
from threading import Event, Thread

import pytest
from playwright.sync_api import expect

from qless_core import Client, SerialWorker
from tests.support.pages import ConsolePage
from tests.support.polling import PATIENCE_S
from tests.support.serving import served

pytestmark = pytest.mark.browser


class Charge:
    """A job that fails until somebody mends what it needs."""

    mended = False

    @classmethod
    def process(cls, job):
        if not cls.mended:
            message = f"card of customer {job['customer']} was declined"
            raise RuntimeError(message)


class Pack:
    """A job that fails the first time, and the second time runs until it is told to end."""

    failed = False
    end = Event()

    @classmethod
    def process(cls, _job):
        if not cls.failed:
            cls.failed = True
            message = "the box is too small"
            raise ValueError(message)
        assert cls.end.wait(PATIENCE_S)


#: Milliseconds in which a page shows what happened.
SEEN_MS = 2_000


@pytest.fixture
def worker(client):
    Charge.mended = False
    return SerialWorker(client, ["billing"])


@pytest.fixture
def failures(client, worker):
    """Three failures in one group, by a real worker, and a job that waits for one of them."""
    klass = f"{Charge.__module__}.{Charge.__qualname__}"
    queue = client.queues["billing"]
    jids = [queue.put(klass, {"customer": n}, jid=f"charge-{n}", tags=["eu"]) for n in (1, 2, 3)]
    for _ in jids:
        worker.step()
    queue.put(klass, {"customer": 1}, jid="receipt-1", depends=["charge-1"])
    return jids


@pytest.fixture
def console(page, client):
    with served(client, live_tick_s=0.2) as site:
        yield ConsolePage(page, site.url)


@pytest.fixture
def plain(browser, client):
    """Put a console before somebody whose browser runs no JavaScript."""
    context = browser.new_context(java_script_enabled=False)
    with served(client) as site:
        yield ConsolePage(context.new_page(), site.url)
    context.close()


def state_of(client, jid):
    job = client.jobs[jid]
    return job.state if job else None


@pytest.mark.usefixtures("failures")
def test_find_a_failure_and_read_what_went_wrong(console):
    console.open()
    console.go_to("Failures")
    console.follow("billing-RuntimeError")
    console.follow("charge-2")

    expect(console.main).to_contain_text("RuntimeError: card of customer 2 was declined")
    expect(console.main.get_by_role("heading", level=1)).to_contain_text("Charge")


def test_retry_a_group_and_see_it_run_to_the_end(console, client, worker, failures):
    console.open("/failed/billing-RuntimeError")
    console.press("Retry…")
    console.answer("Retry 3 jobs")

    console.expect_told("Retried 3 jobs")
    assert {state_of(client, jid) for jid in failures} == {"waiting"}

    Charge.mended = True
    console.open("/jobs/charge-1")
    console.expect_live()
    worker.step(), worker.step(), worker.step()
    expect(console.main.get_by_text("complete", exact=True).first).to_be_visible(timeout=SEEN_MS)


@pytest.mark.usefixtures("redis")
def test_a_failed_job_is_retried_and_followed_to_its_end_on_one_page(page, server):
    Pack.failed = False
    Pack.end.clear()
    with Client(server.url, worker_name="packer-1") as client, served(client) as site:
        worker = SerialWorker(client, ["packing"])
        jid = client.queues["packing"].put(f"{Pack.__module__}.{Pack.__qualname__}", {})
        worker.step()
        console = ConsolePage(page, site.url)
        console.open(f"/jobs/{jid}")
        console.expect_live()
        expect(console.state).to_have_text("failed")
        with console.one_document():
            console.press("Retry")
            expect(console.state).to_have_text("waiting", timeout=SEEN_MS)

            step = Thread(target=worker.step, daemon=True)
            step.start()
            expect(console.state).to_have_text("running", timeout=SEEN_MS)

            Pack.end.set()
            expect(console.state).to_have_text("complete", timeout=SEEN_MS)
        step.join()


@pytest.mark.usefixtures("failures")
def test_cancel_shows_who_waits_and_asks_before_it_acts(console, client):
    console.open("/jobs/charge-1")
    console.press("Cancel…")

    expect(console.question).to_contain_text("receipt-1")
    assert state_of(client, "charge-1") == "failed"

    console.press("Keep as it is", within=console.question)
    assert state_of(client, "charge-1") == "failed"

    console.press("Cancel…")
    console.answer("Cancel 2 jobs")
    console.expect_told(re.compile("[Cc]ancel"))
    assert [state_of(client, jid) for jid in ("charge-1", "receipt-1")] == [None, None]


@pytest.mark.usefixtures("failures")
def test_pause_a_queue_and_let_it_go_on(console, client):
    console.open("/queues/billing")
    console.press("Pause")
    expect(console.main.get_by_text("paused").first).to_be_visible()
    assert client.queues["billing"].counts.paused

    console.press("Unpause")
    expect(console.main.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    assert not client.queues["billing"].counts.paused


@pytest.mark.usefixtures("failures")
def test_tag_a_job_and_take_the_tag_off(console, client):
    console.open("/jobs/charge-3")
    console.main.get_by_label(re.compile("tag", re.IGNORECASE)).last.fill("a, 'b' <c>")
    console.press("Add")
    expect(console.main.get_by_role("link", name="a, 'b' <c>", exact=True)).to_be_visible()
    assert client.jobs["charge-3"].tags == ["eu", "a, 'b' <c>"]

    console.press("Remove tag eu")
    expect(console.main.get_by_role("link", name="eu", exact=True)).to_have_count(0)
    assert client.jobs["charge-3"].tags == ["a, 'b' <c>"]


@pytest.mark.usefixtures("failures")
def test_a_change_by_somebody_else_arrives_by_itself(console, client):
    console.open("/queues/billing/waiting")
    console.expect_live()

    client.queues["billing"].put("mail.Letter", {}, jid="letter")

    expect(console.row("mail.Letter")).to_be_visible(timeout=SEEN_MS)


def test_ticked_jobs_are_retried_and_the_others_left(console, client, failures):
    console.open("/failed/billing-RuntimeError")
    for jid in ("charge-1", "charge-3"):
        console.row(jid).get_by_role("checkbox").check()
    console.press("Retry…", within=console.ticked)
    console.answer("Retry 2 jobs")

    console.expect_told("Retried 2 jobs")
    assert [state_of(client, jid) for jid in failures] == ["waiting", "failed", "waiting"]


@pytest.mark.usefixtures("failures")
def test_by_keyboard_alone_from_the_overview_to_a_retried_job(console, client):
    console.open()
    page = console.page
    page.keyboard.press("/")
    page.keyboard.type("charge-2")
    page.keyboard.press("Enter")
    expect(console.main.get_by_role("heading", level=1)).to_contain_text("charge-2")

    focused = page.locator(":focus")
    for _ in range(60):
        page.keyboard.press("Tab")
        if focused.inner_text().strip() == "Retry":
            break
    page.keyboard.press("Enter")

    console.expect_told(re.compile("[Rr]etried"))
    assert state_of(client, "charge-2") == "waiting"


def test_without_javascript_everything_is_asked_and_done(plain, client, failures):
    plain.open()
    plain.go_to("Failures")
    plain.follow("billing-RuntimeError")
    plain.press("Retry…")
    plain.answer("Retry 3 jobs")
    plain.expect_told("Retried 3 jobs")
    assert {state_of(client, jid) for jid in failures} == {"waiting"}

    plain.open("/jobs/charge-2")
    plain.press("Cancel…")
    plain.answer("Cancel 1 job")
    assert state_of(client, "charge-2") is None

    plain.open("/queues/billing")
    plain.press("Pause")
    assert client.queues["billing"].counts.paused
