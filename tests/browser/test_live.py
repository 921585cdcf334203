"""Pages that keep up with the queue, in a real browser, without moving what is being read."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from werkzeug.serving import make_server

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_web import create_app
from qless_web.console import EXTENSION
from qless_web.formatting import tilde
from tests.support.polling import eventually

if TYPE_CHECKING:
    from qless_web.live.hub import Hub

pytestmark = pytest.mark.browser


@dataclass
class Served:
    """A console that runs in this process."""

    url: str
    hub: Hub


@pytest.fixture
def serve(client):
    """Serve consoles, with settings of their own, in which the queue `mail` is known."""
    client.redis.zadd("ql:queues", {"mail": 1})
    running = []

    def serve(of=client, **settings):
        app = create_app(of, **{"live_tick_s": 0.2, **settings})
        server = make_server("127.0.0.1", 0, app, threaded=True)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        running.append((app.extensions[EXTENSION].hub, server, thread))
        return Served(f"http://127.0.0.1:{server.server_port}", running[-1][0])

    yield serve
    for hub, server, thread in running:
        hub.close()
        server.shutdown()
        server.server_close()
        thread.join(5)


@pytest.fixture
def served(serve):
    return serve()


@pytest.fixture
def look(page, served):
    """Open a page of the console and wait until it is live; it must never load again."""

    def look(path):
        page.goto(served.url + path)
        live(page)
        page.evaluate("window.sameDocument = true")
        return page

    yield look
    assert page.evaluate("window.sameDocument") is True


def live(page):
    expect(status(page)).to_have_attribute("data-state", "live")


def status(page):
    return page.locator("#live-status")


def rows(page):
    return page.locator("main .row")


def jids(page):
    return [row.removeprefix("job-") for row in page.evaluate(ROW_IDS)]


ROW_IDS = "[...document.querySelectorAll('main .row')].map((row) => row.id)"


def bar(page):
    return page.locator("[data-live-new] button")


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
    page = look("/queues/mail/waiting")
    expect(rows(page)).to_have_count(0)

    client.queues["mail"].put("Send", {}, jid="first")

    expect(rows(page)).to_have_count(1)
    expect(page.locator("#rail [data-nav=queues]")).to_contain_text("1")
    client.queues["mail"].pause()
    expect(page.locator("#queue-head")).to_contain_text("Paused")
    client.queues["mail"].unpause()
    expect(page.locator("#queue-head")).not_to_contain_text("Paused")


def test_a_failed_job_is_followed_until_it_is_complete(look, client):
    queue = client.queues["mail"]
    queue.put("Send", {"to": "a@example.com"}, jid="job")
    queue.pop().fail("mail-Timeout", "no answer")
    page = look("/jobs/job")
    state = page.locator("#job-state")
    expect(state).to_contain_text("failed")

    page.get_by_role("button", name="Retry", exact=True).first.click()
    expect(state).to_contain_text("waiting")
    client.clock.advance(1)
    job = queue.pop()
    expect(state).to_contain_text("running")
    job.complete()
    expect(state).to_contain_text("complete")


def test_what_no_event_tells_is_seen_too(look, client):
    client.queues["mail"].put("Send", {}, jid="job")
    page = look("/jobs/job")

    client.jobs["job"].tag("vip")
    expect(page.locator("#job-tags")).to_contain_text("vip")
    client.jobs["job"].priority = 7

    expect(page.locator("#job-facts")).to_contain_text("7")


def test_the_overview_follows(look, client):
    page = look("/")

    client.queues["mail"].put("Send", {}, jid="job")
    client.queues["mail"].pop().fail("mail-Timeout", "no answer")

    expect(page.locator("#failures")).to_contain_text("mail-Timeout")
    expect(page.locator("#rail [data-nav=failures]")).to_contain_text("1")


@pytest.mark.parametrize("name", ["a/b", "ü ~2F", "q?x=1#y", "<b>&\"'", "a,b", "x" * 300])
def test_names_of_any_kind_are_followed(look, client, name):
    client.queues[name].put("Send", {}, jid=name)
    page = look(f"/jobs/{tilde(name)}")

    client.queues[name].pop()

    expect(page.locator("#job-state")).to_contain_text("running")


# What is being read stays where it is


@pytest.fixture
def three(client):
    """Three jobs that wait, in the order a, b, c."""
    for jid in "abc":
        client.queues["mail"].put("Send", {}, jid=jid)
        client.clock.advance(1)
    return client.queues["mail"]


def test_new_rows_wait_to_be_let_in(look, three):
    page = look("/queues/mail/waiting")
    tick = page.locator("#job-b input[name=jids]")
    tick.check()

    three.put("Send", {}, jid="urgent", priority=9)
    expect(bar(page)).to_be_visible()
    expect(bar(page)).to_have_text("1 new")
    three.put("Send", {}, jid="pressing", priority=8)
    expect(bar(page)).to_have_text("2 new")

    assert jids(page) == ["a", "b", "c"]
    expect(tick).to_be_checked()
    bar(page).click()
    expect(rows(page)).to_have_count(5)
    assert jids(page) == ["urgent", "pressing", "a", "b", "c"]
    expect(tick).to_be_checked()
    expect(bar(page)).to_be_hidden()
    expect(page.locator("#job-urgent a").first).to_be_focused()


def test_rows_that_left_stay_and_are_marked(look, three):
    page = look("/queues/mail/waiting")
    page.locator("#job-a input[name=jids]").check()

    three.pop()

    expect(page.locator("#job-a[data-gone]")).to_be_visible()
    assert jids(page) == ["a", "b", "c"]
    three.pop(2)
    expect(page.locator(".row[data-gone]")).to_have_count(3)
    expect(page.locator("#job-a input[name=jids]")).to_be_checked()


def test_rows_that_come_below_come_by_themselves(look, three):
    page = look("/queues/mail/waiting")

    three.put("Send", {}, jid="d")

    expect(rows(page)).to_have_count(4)
    assert jids(page) == ["a", "b", "c", "d"]
    expect(bar(page)).to_be_hidden()


@pytest.mark.usefixtures("three")
def test_a_row_that_stays_is_brought_up_to_date(look, client):
    page = look("/queues/mail/waiting")

    client.jobs["b"].tag("vip")

    expect(page.locator("#job-b")).to_contain_text("vip")


def test_typing_is_not_disturbed(look, client):
    client.queues["mail"].put("Send", {}, jid="job")
    page = look("/jobs/job")
    box = page.get_by_label("Tag to add")
    box.focus()
    box.press_sequentially("half a wo")

    client.jobs["job"].tag("vip")
    expect(page.locator("#job-tags")).to_contain_text("vip")
    box.press_sequentially("rd")

    expect(box).to_be_focused()
    expect(box).to_have_value("half a word")


def test_an_open_menu_stays_open(look, three):
    page = look("/queues/mail/waiting")
    page.locator("#job-b details summary").click()

    three.put("Send", {}, jid="d")
    expect(rows(page)).to_have_count(4)

    expect(page.locator("#job-b details")).to_have_attribute("open", "")


def test_the_page_does_not_scroll(look, client):
    for number in range(25):
        client.queues["mail"].put("Send", {}, jid=f"j{number:02}")
        client.clock.advance(1)
    page = look("/queues/mail/waiting")
    page.set_viewport_size({"width": 800, "height": 300})
    page.locator("#job-j20").scroll_into_view_if_needed()
    before = page.locator("#job-j20").bounding_box()["y"]

    client.queues["mail"].put("Send", {}, jid="urgent", priority=9)
    expect(page.locator("[data-live-count]")).to_have_text("1")
    client.queues["mail"].pop(3)
    expect(page.locator(".row[data-gone]")).to_have_count(2)

    assert abs(page.locator("#job-j20").bounding_box()["y"] - before) < 60


def test_a_number_that_changed_shows_it(look, client):
    client.queues["mail"].put("Send", {})
    page = look("/queues")
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
        served = serve(client)
        client.queues["mail"].put("Send", {}, jid="first")
        page.goto(f"{served.url}/queues/mail/waiting")
        live(page)

        redis.stop()
        expect(status(page)).to_have_attribute("data-state", "down")
        expect(status(page)).to_contain_text("Redis is down")
        expect(status(page)).to_contain_text("old")
        expect(rows(page)).to_have_count(1)
        with EmbeddedServer(home):
            expect(status(page)).to_have_attribute("data-state", "live", timeout=15_000)
            client.queues["mail"].put("Send", {}, jid="second")
            expect(rows(page)).to_have_count(2)
            served.hub.close()


def test_beyond_the_cap_a_page_asks_from_time_to_time(page, serve, client):
    served = serve(live_max_streams=1)
    taken = served.hub.open(frozenset({"queues"}))
    page.goto(f"{served.url}/queues/mail/waiting")
    expect(status(page)).to_have_attribute("data-state", "polling")

    client.queues["mail"].put("Send", {}, jid="first")

    expect(rows(page)).to_have_count(1, timeout=10_000)
    taken.close()


def test_live_can_be_turned_off_by_the_address(page, served, client):
    asked = asked_for(page)
    page.goto(f"{served.url}/queues/mail/waiting?live=0")
    expect(status(page)).to_have_attribute("data-state", "off")

    client.queues["mail"].put("Send", {}, jid="first")
    page.goto(f"{served.url}/queues?live=poll")
    expect(status(page)).to_have_attribute("data-state", "polling")

    assert "/events" not in asked
    assert served.hub.streams == 0


def test_b81_after_a_session_ended_nothing_more_is_asked(page, served):
    page.route("**/events?*", lambda route: route.fulfill(status=401, body="<h1>Log in</h1>"))
    asked = asked_for(page)
    page.goto(f"{served.url}/queues/mail/waiting")

    expect(status(page)).to_contain_text("sign in again")

    assert asked.count("/events") == 1


def test_b81_204_ends_it_quietly(page, served):
    page.route("**/events?*", lambda route: route.fulfill(status=204))
    page.goto(f"{served.url}/queues/mail/waiting")

    expect(status(page)).to_have_attribute("data-state", "off")


def test_b81_after_bad_answers_of_a_proxy_it_is_back_by_itself(page, served, client):
    answers = [502, 503, 502]

    def answer(route):
        if answers:
            route.fulfill(
                status=answers.pop(), body="<h1>Bad gateway</h1>", content_type="text/html"
            )
        else:
            route.fallback()

    page.route("**/events?*", answer)
    page.goto(f"{served.url}/queues/mail/waiting")
    expect(status(page)).to_have_attribute("data-state", "reconnecting")
    expect(status(page)).to_have_attribute("data-state", "live", timeout=15_000)

    client.queues["mail"].put("Send", {}, jid="first")
    expect(rows(page)).to_have_count(1)


BROKEN = "<main data-topics='[]'><div id='queue-head' data-live='replace'>broken</div></main>"
WATCH = """() => new MutationObserver(() => {
  window.sawBroken ||= document.querySelector("main").textContent.includes("broken");
}).observe(document.body, { subtree: true, childList: true, characterData: true })"""


def test_b81_an_error_as_html_is_not_put_into_the_page(page, served, client):
    client.queues["mail"].put("Send", {}, jid="first")
    page.goto(f"{served.url}/queues/mail/waiting")
    live(page)
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

    expect(rows(page)).to_have_count(3)
    assert not page.evaluate("window.sawBroken")


def test_an_error_page_gives_way_to_the_page_once_there_is_one(page, served, client):
    page.goto(f"{served.url}/queues/new/waiting")
    expect(page.locator("h1")).not_to_have_text("new")

    client.queues["new"].put("Send", {})

    expect(rows(page)).to_have_count(1)


def test_a_job_that_is_canceled_meanwhile_is_said_to_be_gone(look, client):
    client.queues["mail"].put("Send", {}, jid="job")
    page = look("/jobs/job")

    client.jobs["job"].cancel()

    expect(status(page)).to_contain_text("no longer there")
    expect(page.locator("#job-state")).to_contain_text("waiting")


# Many tabs, many pages


def test_b80_seven_tabs_share_one_stream_and_all_follow(context, served, client):
    tabs = [context.new_page() for _ in range(7)]
    for number, tab in enumerate(tabs):
        client.queues[f"q{number}"].put("Send", {})
        tab.goto(f"{served.url}/queues/q{number}/waiting")
    for tab in tabs:
        live(tab)
    eventually(lambda: served.hub.streams == 1)

    client.clock.advance(1)
    for number in range(7):
        client.queues[f"q{number}"].put("Send", {})
    for tab in tabs:
        expect(rows(tab)).to_have_count(2)


def test_b80_when_the_tab_that_listens_is_closed_another_does(context, served, client):
    tabs = [context.new_page() for _ in range(3)]
    for tab in tabs:
        tab.goto(f"{served.url}/queues/mail/waiting")
        live(tab)

    for left in (2, 1):
        tabs.pop(0).close()
        client.clock.advance(1)
        client.queues["mail"].put("Send", {})
        for tab in tabs:
            expect(rows(tab)).to_have_count(3 - left)
    eventually(lambda: served.hub.streams == 1)


def test_b80_going_from_page_to_page_leaves_no_stream_behind(page, served, client):
    client.queues["mail"].put("Send", {}, jid="job")
    for _ in range(5):
        for path in ("/queues", "/queues/mail/waiting", "/jobs/job", "/failed"):
            page.goto(served.url + path)
    page.go_back()
    page.go_back()
    live(page)

    client.clock.advance(1)
    client.queues["mail"].put("Send", {}, jid="job2")

    expect(rows(page)).to_have_count(2)
    eventually(lambda: page.evaluate("1") and served.hub.streams == 1)


def test_each_tab_without_locks_has_its_own_stream(context, served, client):
    context.add_init_script("delete Navigator.prototype.locks")
    tabs = [context.new_page() for _ in range(2)]
    for tab in tabs:
        tab.goto(f"{served.url}/queues/mail/waiting")
        live(tab)

    client.queues["mail"].put("Send", {})

    for tab in tabs:
        expect(rows(tab)).to_have_count(1)
    assert served.hub.streams == 2


def test_a_tab_that_is_hidden_for_long_leaves_and_comes_back(page, served, client):
    page.clock.install()
    page.goto(f"{served.url}/queues/mail/waiting")
    live(page)
    hide = "Object.defineProperty(document, 'hidden', {{ value: {0}, configurable: true }})"
    told = "document.dispatchEvent(new Event('visibilitychange'))"

    page.evaluate(f"{hide.format('true')}; {told}")
    page.clock.run_for(61_000)
    page.evaluate("1")
    client.queues["mail"].put("Send", {})
    eventually(lambda: page.evaluate("1") and served.hub.streams == 0)
    expect(rows(page)).to_have_count(0)
    page.evaluate(f"{hide.format('false')}; {told}")

    expect(rows(page)).to_have_count(1)
    live(page)


def test_a_page_asks_at_most_twice_a_second(page, served, client):
    page.goto(f"{served.url}/queues/mail/waiting")
    live(page)
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
