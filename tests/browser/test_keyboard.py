"""The console by keys alone: the palette below the search box, and single keys in lists."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.support.axe import findings
from tests.support.pages import ConsolePage
from tests.support.serving import served

pytestmark = pytest.mark.browser


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


@pytest.fixture
def failed(client):
    """Let three jobs fail, the first the oldest."""
    queue = client.queues["mail"]
    for number in (1, 2, 3):
        queue.put("Send", {}, jid=f"send-{number}")
        queue.pop().fail("mail-Error", "no answer")


def palette(console):
    return console.page.get_by_role("listbox", name="Commands and places")


def test_the_palette_leads_to_a_queue_by_a_part_of_its_name(console, client):
    client.queues["thumbnails"].put("Draw", {})
    console.open("/failed")
    page = console.page

    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name=re.compile("Go to"))
    expect(box).to_be_focused()
    expect(box).to_have_attribute("aria-expanded", "true")
    page.keyboard.type("umbn")
    option = palette(console).get_by_role("option", name="thumbnails queue")
    expect(option).to_be_visible()
    assert findings(page) == []

    page.keyboard.press("ArrowDown")
    expect(option).to_have_attribute("aria-selected", "true")
    assert box.get_attribute("aria-activedescendant") == option.get_attribute("id")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/queues/thumbnails$"))


def test_the_palette_does_what_the_page_can_do_and_opens_its_questions(console, client):
    client.queues["mail"].put("Send", {})
    console.open("/queues/mail")
    page = console.page

    page.keyboard.press("Control+k")
    page.keyboard.type("pau")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    console.expect_told("Paused mail")
    assert client.queues["mail"].counts.paused

    page.keyboard.press("Control+k")
    page.keyboard.type("save this")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    console.question.get_by_label("Name").fill("Mail at noon")
    console.answer("Save 1 view")
    console.expect_told("Saved the view Mail at noon")

    console.open("/")
    page.keyboard.press("Control+k")
    page.keyboard.type("noon")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/queues/mail$"))


@pytest.mark.usefixtures("failed")
def test_escape_closes_the_palette_and_enter_alone_searches(console):
    console.open()
    page = console.page
    page.keyboard.press("/")
    page.keyboard.type("send-2")
    expect(palette(console)).to_be_visible()
    page.keyboard.press("Escape")
    expect(palette(console)).to_be_hidden()

    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/jobs/send-2$"))


def test_without_javascript_the_button_of_the_palette_is_the_search(plain, client):
    client.queues["mail"].put("Send", {})
    plain.open()
    plain.page.get_by_role("searchbox", name=re.compile("Go to")).fill("mail")
    plain.page.get_by_role("button", name=re.compile("Search and commands")).click()
    expect(plain.page).to_have_url(re.compile("/(queues/mail|search)"))


@pytest.mark.usefixtures("failed")
def test_rows_are_gone_through_ticked_and_retried_by_single_keys(console, client):
    console.open("/failed/mail-Error")
    press = console.page.keyboard.press

    press("j"), press("x"), press("j"), press("j"), press("x"), press("k")
    expect(console.row_of("send-2").get_by_role("link").first).to_be_focused()
    assert [console.tick(f"send-{n}").is_checked() for n in (1, 2, 3)] == [True, False, True]

    press("r")
    console.answer("Retry 2 jobs")
    console.expect_told("Retried 2 jobs")
    assert [client.jobs[f"send-{n}"].state for n in (1, 2, 3)] == ["waiting", "failed", "waiting"]


@pytest.mark.usefixtures("failed")
def test_one_row_is_retried_cancelled_after_a_question_and_opened_by_keys(console, client):
    console.open("/failed/mail-Error")
    press = console.page.keyboard.press

    press("j"), press("r")
    console.expect_told("Retried")
    assert client.jobs["send-3"].state == "waiting"

    press("j"), press("c")
    expect(console.question).to_contain_text("Cancel")
    assert client.jobs["send-2"].state == "failed"
    press("Escape")

    press("k"), press("j"), press("o")
    expect(console.page).to_have_url(re.compile("/jobs/send-"))


@pytest.mark.usefixtures("failed")
def test_no_key_acts_while_somebody_types(console):
    console.open("/queues")
    console.page.get_by_label("Part of a queue's name").focus()
    console.page.keyboard.type("g?jxr")

    expect(console.page.get_by_label("Part of a queue's name")).to_have_value("g?jxr")
    assert console.page.url.endswith("/queues")


def test_g_and_a_letter_lead_to_a_place_and_the_table_of_keys_says_which(console):
    console.open()
    press = console.page.keyboard.press
    press("?")
    dialog = console.page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("next row")
    assert findings(console.page) == []
    press("Escape")

    press("g"), press("w")
    expect(console.page).to_have_url(re.compile("/workers$"))


def test_single_keys_can_be_switched_off_and_on_again(console, client):
    client.queues["mail"].put("Send", {}, jid="a")
    console.open("/queues/mail/waiting")
    page = console.page
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").get_by_role(
        "button", name="Switch single keys off"
    ).click()
    expect(page).to_have_url(re.compile("/queues/mail/waiting$"))
    expect(page.locator("body")).to_have_attribute("data-keys", "off")

    (
        page.keyboard.press("?"),
        page.keyboard.press("j"),
        page.keyboard.press("g"),
        page.keyboard.press("w"),
    )
    expect(page.get_by_role("dialog", name="Keys")).to_have_count(0)
    assert page.evaluate("document.activeElement === document.body")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name=re.compile("Go to"))).to_be_focused()

    console.open("/help/keys")
    console.press("Switch single keys on")
    # The page that comes back has read its scripts by then.
    expect(page.locator("body:not([data-keys=off])")).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


def test_every_key_of_the_table_does_something(console):
    """A key that the script does not know would be a promise that nobody keeps."""
    console.open()
    known = console.page.locator("#keys [data-does]").evaluate_all(
        "(keys) => [...new Set(keys.map((key) => key.dataset.does))].sort()"
    )
    source = console.page.request.get(
        console.page.evaluate("document.querySelector('script[type=module]').src").replace(
            "console.js", "behaviors/shortcuts.js"
        )
    ).text()
    doing = re.search(r"const doing = \{(.*?)\n\};", source, re.DOTALL)[1]

    assert known == sorted(re.findall(r"^  (\w+):", doing, re.MULTILINE))
