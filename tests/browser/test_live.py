"""Pages that keep up with the queue, in a real browser, without moving what is being read."""

from __future__ import annotations

from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_web.formatting import tilde
from tests.support.pages import ConsolePage
from tests.support.polling import eventually
from tests.support.serving import served

pytestmark = pytest.mark.browser


@pytest.fixture
def serve(client):
    """Serve consoles, with settings of their own, in which the queue `mail` is known."""
    client.redis.zadd("ql:queues", {"mail": 1})
    with ExitStack() as stack:

        def serve(of=client, **settings):
            return stack.enter_context(served(of, **{"live_tick_s": 0.2, **settings}))

        yield serve


@pytest.fixture
def site(serve):
    return serve()


@pytest.fixture
def console(page, site):
    return ConsolePage(page, site.url)


@pytest.fixture
def look(console):
    """Open a page of the console and wait until it is live; it must never load again."""
    with ExitStack() as stack:

        def look(path):
            console.open(path)
            console.expect_live()
            stack.enter_context(console.one_document())
            return console

        yield look


def asked_for(page):
    """Collect the addresses that the page asks for from now on, but for files."""
    asked = []

    def note(request):
        path = urlsplit(request.url).path
        if not path.startswith("/static/"):
            asked.append(path)

    page.on("request", note)
    return asked


# What happens is seen


def test_counts_and_rows_follow(look, client):
    console = look("/queues/mail/waiting")
    expect(console.rows).to_have_count(0)

    client.queues["mail"].put("Send", {}, jid="first")

    expect(console.rows).to_have_count(1)
    expect(console.entry("Queues")).to_contain_text("1")
    client.queues["mail"].pause()
    expect(console.region("queue-head")).to_contain_text("Paused")
    client.queues["mail"].unpause()
    expect(console.region("queue-head")).not_to_contain_text("Paused")


def test_a_failed_job_is_followed_until_it_is_complete(look, client):
    queue = client.queues["mail"]
    queue.put("Send", {"to": "a@example.com"}, jid="job")
    queue.pop().fail("mail-Timeout", "no answer")
    console = look("/jobs/job")
    state = console.state
    expect(state).to_contain_text("failed")

    console.press("Retry")
    expect(state).to_contain_text("waiting")
    client.clock.advance(1)
    job = queue.pop()
    expect(state).to_contain_text("running")
    job.complete()
    expect(state).to_contain_text("complete")


def test_what_no_event_tells_is_seen_too(look, client):
    client.queues["mail"].put("Send", {}, jid="job")
    console = look("/jobs/job")

    client.jobs["job"].tag("vip")
    expect(console.region("job-tags")).to_contain_text("vip")
    client.jobs["job"].priority = 7

    expect(console.region("job-facts")).to_contain_text("7")


def test_the_overview_follows(look, client):
    console = look("/")

    client.queues["mail"].put("Send", {}, jid="job")
    client.queues["mail"].pop().fail("mail-Timeout", "no answer")

    expect(console.region("failures")).to_contain_text("mail-Timeout")
    expect(console.entry("Failures")).to_contain_text("1")


@pytest.mark.parametrize("name", ["a/b", "ü ~2F", "q?x=1#y", "<b>&\"'", "a,b", "x" * 300])
def test_names_of_any_kind_are_followed(look, client, name):
    client.queues[name].put("Send", {}, jid=name)
    console = look(f"/jobs/{tilde(name)}")

    client.queues[name].pop()

    expect(console.state).to_contain_text("running")


# What is being read stays where it is


@pytest.fixture
def three(client):
    """Three jobs that wait, in the order a, b, c."""
    for jid in "abc":
        client.queues["mail"].put("Send", {}, jid=jid)
        client.clock.advance(1)
    return client.queues["mail"]


def test_new_rows_wait_to_be_let_in(look, three):
    console = look("/queues/mail/waiting")
    tick = console.tick("b")
    tick.check()

    three.put("Send", {}, jid="urgent", priority=9)
    expect(console.new_rows).to_be_visible()
    expect(console.new_rows).to_have_text("1 new")
    three.put("Send", {}, jid="pressing", priority=8)
    expect(console.new_rows).to_have_text("2 new")

    assert console.jids() == ["a", "b", "c"]
    expect(tick).to_be_checked()
    console.new_rows.click()
    expect(console.rows).to_have_count(5)
    assert console.jids() == ["urgent", "pressing", "a", "b", "c"]
    expect(tick).to_be_checked()
    expect(console.new_rows).to_be_hidden()
    expect(console.row_of("urgent").get_by_role("link").first).to_be_focused()


def test_rows_that_left_stay_and_are_marked(look, three):
    console = look("/queues/mail/waiting")
    console.tick("a").check()

    three.pop()

    expect(console.gone).to_have_count(1)
    assert console.jids() == ["a", "b", "c"]
    three.pop(2)
    expect(console.gone).to_have_count(3)
    expect(console.tick("a")).to_be_checked()


def test_groups_of_failures_stay_where_they_are_read(look, client):
    def fail(group, times=1):
        for _ in range(times):
            client.queues["mail"].put("Send", {})
            client.queues["mail"].pop().fail(group, "no")

    fail("old", 2)
    fail("quick")
    console = look("/failed")

    fail("quick", 3)
    fail("fresh")

    expect(console.row("quick").locator("[data-label='jobs']")).to_have_text("4")
    expect(console.new_rows).to_contain_text("1 new")
    expect(console.rows.locator(".name")).to_have_text(["old", "quick"])
    console.new_rows.click()
    expect(console.rows.locator(".name")).to_have_text(["quick", "old", "fresh"])


def test_rows_that_come_below_come_by_themselves(look, three):
    console = look("/queues/mail/waiting")

    three.put("Send", {}, jid="d")

    expect(console.rows).to_have_count(4)
    assert console.jids() == ["a", "b", "c", "d"]
    expect(console.new_rows).to_be_hidden()


@pytest.mark.usefixtures("three")
def test_a_row_that_stays_is_brought_up_to_date(look, client):
    console = look("/queues/mail/waiting")

    client.jobs["b"].tag("vip")

    expect(console.row_of("b")).to_contain_text("vip")


def test_typing_is_not_disturbed(look, client):
    client.queues["mail"].put("Send", {}, jid="job")
    console = look("/jobs/job")
    box = console.main.get_by_label("Tag to add")
    box.focus()
    box.press_sequentially("half a wo")

    client.jobs["job"].tag("vip")
    expect(console.region("job-tags")).to_contain_text("vip")
    box.press_sequentially("rd")

    expect(box).to_be_focused()
    expect(box).to_have_value("half a word")


def test_an_open_menu_stays_open(look, three):
    console = look("/queues/mail/waiting")
    console.menu("b").locator("summary").click()

    three.put("Send", {}, jid="d")
    expect(console.rows).to_have_count(4)

    expect(console.menu("b")).to_have_attribute("open", "")


def test_the_page_does_not_scroll(look, client):
    for number in range(25):
        client.queues["mail"].put("Send", {}, jid=f"j{number:02}")
        client.clock.advance(1)
    console = look("/queues/mail/waiting")
    console.page.set_viewport_size({"width": 800, "height": 300})
    console.row_of("j20").scroll_into_view_if_needed()
    before = console.row_of("j20").bounding_box()["y"]

    client.queues["mail"].put("Send", {}, jid="urgent", priority=9)
    expect(console.new_rows).to_have_text("1 new")
    client.queues["mail"].pop(3)
    expect(console.gone).to_have_count(2)

    assert abs(console.row_of("j20").bounding_box()["y"] - before) <= 1


def test_a_number_that_changed_shows_it(look, client):
    client.queues["mail"].put("Send", {})
    page = look("/queues").page
    page.evaluate(
        """() => {
          window.glowed = 0;
          new MutationObserver((all) => {
            const changed = all.filter((each) => each.target.classList.contains("changed"));
            window.glowed += changed.length;
          }).observe(document.body, { subtree: true, attributeFilter: ["class"] });
        }"""
    )

    client.queues["mail"].put("Send", {})

    eventually(lambda: page.evaluate("window.glowed") > 0)


# What the header says


def test_redis_goes_and_comes_back(page, serve, tmp_path):
    home = tmp_path / "r"
    redis = EmbeddedServer(home).start()
    with Client(redis.url) as client:
        site = serve(client)
        console = ConsolePage(page, site.url)
        client.queues["mail"].put("Send", {}, jid="first")
        console.open("/queues/mail/waiting")
        console.expect_live()

        redis.stop()
        console.expect_live("down")
        expect(console.live_state).to_contain_text("Redis is down")
        expect(console.live_state).to_contain_text("old")
        expect(console.rows).to_have_count(1)
        with EmbeddedServer(home):
            console.expect_live(within_ms=15_000)
            client.queues["mail"].put("Send", {}, jid="second")
            expect(console.rows).to_have_count(2)
            site.hub.close()


def test_beyond_the_cap_a_page_asks_from_time_to_time(page, serve, client):
    site = serve(live_max_streams=1)
    console = ConsolePage(page, site.url)
    taken = site.hub.open(frozenset({"queues"}))
    console.open("/queues/mail/waiting")
    console.expect_live("polling")

    client.queues["mail"].put("Send", {}, jid="first")

    expect(console.rows).to_have_count(1, timeout=10_000)
    taken.close()


def test_live_can_be_turned_off_by_the_address(page, console, site, client):
    asked = asked_for(page)
    console.open("/queues/mail/waiting?live=0")
    console.expect_live("off")

    client.queues["mail"].put("Send", {}, jid="first")
    console.open("/queues?live=poll")
    console.expect_live("polling")

    assert "/events" not in asked
    assert site.hub.streams == 0


def test_updates_are_held_until_they_shall_go_on(look, page, site, client):
    console = look("/queues/mail/waiting")
    button = page.get_by_role("button", name="Hold updates")
    button.click()
    expect(console.live_state).to_contain_text("held")
    eventually(lambda: site.hub.streams == 0)

    client.queues["mail"].put("Send", {}, jid="first")
    client.queues["mail"].put("Send", {}, jid="second")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(console.rows).to_have_count(0)
    button.click()

    expect(console.rows).to_have_count(2)
    console.expect_live()
    expect(button).to_have_attribute("aria-pressed", "false")


def test_b81_after_a_session_ended_nothing_more_is_asked(page, console):
    page.route("**/events?*", lambda route: route.fulfill(status=401, body="<h1>Log in</h1>"))
    asked = asked_for(page)
    console.open("/queues/mail/waiting")

    expect(console.live_state).to_contain_text("sign in again")

    assert asked.count("/events") == 1


def test_b81_204_ends_it_quietly(page, console):
    page.route("**/events?*", lambda route: route.fulfill(status=204))
    console.open("/queues/mail/waiting")

    console.expect_live("off")


def test_b81_after_bad_answers_of_a_proxy_it_is_back_by_itself(page, console, client):
    answers = [502, 503, 502]

    def answer(route):
        if answers:
            route.fulfill(
                status=answers.pop(), body="<h1>Bad gateway</h1>", content_type="text/html"
            )
        else:
            route.fallback()

    page.route("**/events?*", answer)
    console.open("/queues/mail/waiting")
    console.expect_live("reconnecting")
    console.expect_live(within_ms=15_000)

    client.queues["mail"].put("Send", {}, jid="first")
    expect(console.rows).to_have_count(1)


BROKEN = "<main data-topics='[]'><div id='queue-head' data-live='replace'>broken</div></main>"
WATCH = """() => new MutationObserver(() => {
  window.sawBroken ||= document.querySelector("main").textContent.includes("broken");
}).observe(document.body, { subtree: true, childList: true, characterData: true })"""


def test_b81_an_error_as_html_is_not_put_into_the_page(page, console, client):
    client.queues["mail"].put("Send", {}, jid="first")
    console.open("/queues/mail/waiting")
    console.expect_live()
    broken = []

    def answer(route):
        if route.request.headers.get("hx-request"):
            broken.append(route.request.url)
            route.fulfill(status=500, body=BROKEN, content_type="text/html")
        else:
            route.fallback()

    page.evaluate(WATCH)
    page.route("**/queues/**", answer)
    client.clock.advance(1)
    client.queues["mail"].put("Send", {}, jid="second")
    eventually(lambda: page.evaluate("1") and broken)
    page.unroute("**/queues/**")
    client.clock.advance(1)
    client.queues["mail"].put("Send", {}, jid="third")

    expect(console.rows).to_have_count(3)
    assert not page.evaluate("window.sawBroken")


def test_an_error_page_gives_way_to_the_page_once_there_is_one(console, client):
    console.open("/queues/new/waiting")
    expect(console.main.get_by_role("heading", level=1)).not_to_have_text("new")

    client.queues["new"].put("Send", {})

    expect(console.rows).to_have_count(1)


def test_a_job_that_is_canceled_meanwhile_is_said_to_be_gone(look, client):
    client.queues["mail"].put("Send", {}, jid="job")
    console = look("/jobs/job")

    client.jobs["job"].cancel()

    expect(console.live_state).to_contain_text("no longer there")
    expect(console.state).to_contain_text("waiting")


# Many tabs, many pages


def test_b80_seven_tabs_share_one_stream_and_all_follow(context, site, client):
    tabs = [ConsolePage(context.new_page(), site.url) for _ in range(7)]
    for number, tab in enumerate(tabs):
        client.queues[f"q{number}"].put("Send", {})
        tab.open(f"/queues/q{number}/waiting")
    for tab in tabs:
        tab.expect_live()
    eventually(lambda: site.hub.streams == 1)

    client.clock.advance(1)
    for number in range(7):
        client.queues[f"q{number}"].put("Send", {})
    for tab in tabs:
        expect(tab.rows).to_have_count(2)


def test_b80_when_the_tab_that_listens_is_closed_another_does(context, site, client):
    tabs = [ConsolePage(context.new_page(), site.url) for _ in range(3)]
    for tab in tabs:
        tab.open("/queues/mail/waiting")
        tab.expect_live()

    for left in (2, 1):
        tabs.pop(0).page.close()
        client.clock.advance(1)
        client.queues["mail"].put("Send", {})
        for tab in tabs:
            expect(tab.rows).to_have_count(3 - left)
    eventually(lambda: site.hub.streams == 1)


def test_b80_going_from_page_to_page_leaves_no_stream_behind(page, console, site, client):
    client.queues["mail"].put("Send", {}, jid="job")
    for _ in range(5):
        for path in ("/queues", "/queues/mail/waiting", "/jobs/job", "/failed"):
            console.open(path)
    page.go_back()
    page.go_back()
    console.expect_live()

    client.clock.advance(1)
    client.queues["mail"].put("Send", {}, jid="job2")

    expect(console.rows).to_have_count(2)
    eventually(lambda: page.evaluate("1") and site.hub.streams == 1)


def test_each_tab_without_locks_has_its_own_stream(context, site, client):
    context.add_init_script("delete Navigator.prototype.locks")
    tabs = [ConsolePage(context.new_page(), site.url) for _ in range(2)]
    for tab in tabs:
        tab.open("/queues/mail/waiting")
        tab.expect_live()

    client.queues["mail"].put("Send", {})

    for tab in tabs:
        expect(tab.rows).to_have_count(1)
    assert site.hub.streams == 2


def test_a_tab_that_is_hidden_for_long_leaves_and_comes_back(page, console, site, client):
    page.clock.install()
    console.open("/queues/mail/waiting")
    console.expect_live()
    hide = "Object.defineProperty(document, 'hidden', {{ value: {0}, configurable: true }})"
    told = "document.dispatchEvent(new Event('visibilitychange'))"

    page.evaluate(f"{hide.format('true')}; {told}")
    page.clock.run_for(61_000)
    page.evaluate("1")
    client.queues["mail"].put("Send", {})
    eventually(lambda: page.evaluate("1") and site.hub.streams == 0)
    expect(console.rows).to_have_count(0)
    page.evaluate(f"{hide.format('false')}; {told}")

    expect(console.rows).to_have_count(1)
    console.expect_live()


def test_a_page_asks_at_most_twice_a_second(page, console, client):
    console.open("/queues/mail/waiting")
    console.expect_live()
    moments = []
    clock = client.redis.time

    def note(request):
        if request.headers.get("hx-request"):
            moments.append(clock())

    page.on("request", note)
    while len(moments) < 4:
        client.queues["mail"].put("Send", {})
        page.evaluate("1")

    seconds = [whole + micro / 1e6 for whole, micro in moments]
    assert seconds[-1] - seconds[0] > 1.2
