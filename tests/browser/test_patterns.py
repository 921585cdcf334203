"""The page of all components: how the parts look and behave wherever they are used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from qless_web import formatting
from tests.support.axe import findings

ROOT = Path(__file__).parents[2]
TIMES = json.loads((ROOT / "tests" / "data" / "relative_time.json").read_text())
LIGHTNESS = "getComputedStyle(document.documentElement).backgroundColor.match(/[\\d.]+/)[0] > 0.5"

pytestmark = pytest.mark.browser


@pytest.fixture
def patterns(page, console):
    """Open the page; whatever the browser complains of fails the test."""
    complaints = []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{console}/patterns")
    page.wait_for_function("document.querySelector('.ticked').dataset.count === '0'")
    yield page
    assert complaints == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing(patterns, theme, width):
    patterns.set_viewport_size({"width": width, "height": 900})
    patterns.emulate_media(color_scheme=theme, reduced_motion="reduce")

    assert findings(patterns) == []


def test_axe_would_find_something(patterns):
    patterns.evaluate("document.querySelector('#search').removeAttribute('aria-label')")
    patterns.evaluate("document.querySelector('#search').removeAttribute('placeholder')")

    assert any(each.startswith("label:") for each in findings(patterns))


@pytest.mark.parametrize("width", [1440, 1024, 899, 641, 390, 320])
def test_the_page_never_scrolls_sideways(patterns, width):
    patterns.set_viewport_size({"width": width, "height": 900})

    assert patterns.evaluate("document.documentElement.scrollWidth") <= width


def test_the_theme_follows_the_system_until_it_is_chosen_and_is_remembered(patterns):
    patterns.emulate_media(color_scheme="dark")
    assert not patterns.evaluate(LIGHTNESS)

    patterns.get_by_role("button", name="Theme: as the system").click()
    assert patterns.evaluate(LIGHTNESS)

    patterns.reload()
    assert patterns.evaluate(LIGHTNESS)
    expect(patterns.get_by_role("button", name="Theme: light")).to_be_visible()


def test_a_question_opens_in_the_panel_with_the_focus_inside_and_gives_it_back(patterns):
    opener = patterns.get_by_role("main").get_by_role("link", name="Cancel…").first
    opener.focus()
    patterns.keyboard.press("Enter")

    panel = patterns.get_by_role("dialog")
    expect(panel.get_by_role("textbox")).to_be_focused()
    expect(panel.get_by_role("button", name="Retry 4,812 jobs")).to_be_visible()

    patterns.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(opener).to_be_focused()


def test_keep_as_it_is_closes_the_panel_and_stays_on_the_page(patterns):
    patterns.get_by_role("main").get_by_role("link", name="Move…").first.click()
    patterns.get_by_role("dialog").get_by_role("link", name="Keep as it is").click()

    expect(patterns.get_by_role("dialog")).to_have_count(0)
    assert patterns.url.endswith("/patterns")


def test_a_double_click_and_a_hasty_key_act_once(patterns):
    held = []
    patterns.route(
        "**/patterns", lambda route: held.append(route) if is_post(route) else route.continue_()
    )
    patterns.evaluate("addEventListener('submit', () => { window.sent = (window.sent ?? 0) + 1 })")
    button = patterns.get_by_role("main").get_by_role("button", name="Retry", exact=True).first
    button.dblclick()
    patterns.keyboard.press("Enter")

    expect(button).to_have_attribute("aria-busy", "true")
    assert patterns.evaluate("window.sent") == 1

    held[0].fulfill(status=200, content_type="text/html", body="<div class=toast>Done</div>")
    expect(patterns.locator("#toasts")).to_contain_text("Done")
    expect(button).not_to_have_attribute("aria-busy", "true")
    assert len(held) == 1


def is_post(route) -> bool:
    """Say whether a request would change something."""
    return route.request.method == "POST"


def test_shift_ticks_a_range_and_the_bar_says_how_many(patterns):
    ticks = patterns.get_by_role("table", name="Jobs").first.get_by_role("checkbox", name="Tick ")
    ticks.nth(1).click()
    ticks.nth(5).click(modifiers=["Shift"])

    expect(patterns.get_by_text("5 ticked")).to_be_visible()

    patterns.get_by_role("button", name="Untick").click()
    expect(patterns.get_by_text("ticked", exact=False).first).to_be_hidden()
    expect(ticks.nth(2)).not_to_be_checked()


def test_the_tick_at_the_top_ticks_all_rows_of_the_page(patterns):
    patterns.get_by_role("checkbox", name="Tick all on this page").check()

    expect(patterns.get_by_text("7 ticked")).to_be_visible()


def test_keys_walk_the_rows_tick_and_search(patterns):
    patterns.keyboard.press("j")
    patterns.keyboard.press("j")
    patterns.keyboard.press("k")
    expect(patterns.locator("#queue-billing a").first).to_be_focused()

    patterns.keyboard.press("/")
    expect(patterns.locator("#search")).to_be_focused()
    patterns.keyboard.press("j")
    expect(patterns.locator("#search")).to_have_value("j")


def test_x_ticks_the_row_the_focus_is_in(patterns):
    patterns.locator("#jobs .row-link").nth(2).focus()
    patterns.keyboard.press("x")

    expect(patterns.get_by_text("1 ticked")).to_be_visible()


def test_a_question_mark_shows_the_keys(patterns):
    patterns.keyboard.press("?")

    expect(patterns.get_by_role("dialog", name="Keys")).to_contain_text("previous row")


def test_a_menu_closes_on_escape_and_keeps_the_focus(patterns):
    menu = patterns.locator("#jobs .menu").first
    menu.locator("summary").click()
    expect(menu.get_by_role("button", name="Retry")).to_be_visible()

    menu.get_by_role("button", name="Retry").focus()
    patterns.keyboard.press("Escape")

    expect(menu.get_by_role("button", name="Retry")).to_be_hidden()
    expect(menu.locator("summary")).to_be_focused()


def test_copying_works_where_the_page_is_not_secure(patterns):
    patterns.evaluate("Object.defineProperty(window, 'isSecureContext', {value: false})")
    patterns.get_by_role("button", name="Copy the jid").click()

    expect(patterns.get_by_role("button", name="Copied")).to_be_focused()


def test_the_stepper_counts(patterns):
    patterns.get_by_role("button", name="more").click()

    expect(patterns.get_by_role("spinbutton", name="Priority")).to_have_value("11")


def test_the_browser_says_times_as_the_server_does(patterns, console):
    module = patterns.evaluate("document.querySelector('script[type=module]').src")
    source = module.replace("console.js", "behaviors/relative-time.js")
    said = patterns.evaluate(
        """async ([source, times]) => {
            const {ago, since, until} = await import(source);
            const say = (each, word) => each.map(([at]) => word(at, times.now));
            const words = {ago, since, until};
            return Object.fromEntries(Object.keys(words).map(
                (name) => [name, say(times[name], words[name])]));
        }""",
        [source, TIMES],
    )

    assert source.startswith(console)
    for name in ("ago", "since", "until"):
        words = [word for _, word in TIMES[name]]
        assert said[name] == words
        assert [getattr(formatting, name)(at, TIMES["now"]) for at, _ in TIMES[name]] == words


def test_without_javascript_nothing_that_needs_it_is_shown(browser, console):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{console}/patterns")

    expect(page.get_by_role("button", name="Theme")).to_have_count(0)
    expect(page.get_by_text("With the ticked jobs:")).to_be_visible()
    page.get_by_label("Menu").click()
    expect(page.get_by_role("navigation", name="Console, folded")).to_be_visible()
    page.locator("#jobs .menu summary").first.click()
    expect(page.locator("#jobs .menu").first.get_by_role("link", name="Cancel…")).to_be_visible()
    context.close()
