"""Three incidents, each found from the overview in five clicks at most by who knows nothing of it.

One host on which everything of a group fails, one customer whose orders cannot be charged, one
version after which a class fails; among groups that have failed for days.
"""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from qless_core.client import Client
from qless_core.testing import FrozenClock
from qless_web.triage.deploys import Deploy, mark
from tests.support.serving import served
from tests.web.triage.indexes import kept

pytestmark = pytest.mark.browser

#: Jobs that fail in each incident, and others of the same class that complete.
MANY = 24
CLICKS = 5


class Shop:
    """A shop in which time goes on as it is told."""

    def __init__(self, url):
        self.clock = FrozenClock()
        self.client = Client(url, clock=self.clock)
        self.client.redis.flushall()
        self.jobs = 0

    def work(self, klass, group="", *, worker="w-1-7", **data):
        """Complete a job, or fail it, five seconds later than the one before."""
        self.clock.advance(5)
        self.jobs += 1
        number = self.jobs
        data = {"customer": number % 11, "version": "2026.11.2", "order": number, **data}
        jid = self.client.queues["mail"].put(klass, data)
        self.client.commands.pop("mail", worker, 1)
        if group:
            self.client.commands.fail(jid, worker, group, f"cannot charge order {number}")
        else:
            self.client.commands.complete(jid, worker, "mail", json.dumps(data))

    def night(self):
        """Let some groups fail for days, then the three begin within an hour."""
        for group in ("mail-Timeout", "stock-Conflict", "hooks-Refused"):
            for number in range(MANY + 6):
                self.work("shop.Old", group, worker=f"w-{number % 5}-7")
        self.clock.advance(2 * 86_400)
        mark(self.client, Deploy("2026.11.3", self.clock.now()))
        for number in range(MANY):
            self.work("shop.Export", "exports-KeyError", version="2026.11.3")
            self.work("shop.Export")
            host = f"w-{number % 5}-7"
            self.work("shop.Charge", "orders-Declined", worker=host, customer=4711)
            self.work("shop.Charge", worker=host)
        for number in range(MANY):
            self.work("shop.Letter", "letters-OSError", worker=f"w-9-{number % 3 + 7}")
            self.work("shop.Letter", worker=f"w-{number % 5}-7")


class Operator:
    """Somebody before the console who counts clicks."""

    def __init__(self, page, address):
        self.page = page
        self.clicks = 0
        page.goto(address)

    def click(self, text, *, within="main"):
        """Press the first link of that name."""
        self.press(self.page.locator(within).get_by_role("link", name=text).first)

    def press(self, what):
        """Press something; that is a click."""
        self.clicks += 1
        what.click()

    def finds(self, text):
        """Say that it is the first thing that stands out."""
        expect(self.page.locator("#contrasts tbody tr").first).to_contain_text(text)


@pytest.fixture(scope="module")
def night(server, tmp_path_factory):
    """Serve a console of that night; gives its first page."""
    folder = tmp_path_factory.mktemp("state")
    shop = Shop(server.url)
    with shop.client:
        shop.night()
        with (
            kept(shop.client, folder),
            served(shop.client, state_dir=str(folder)) as site,
        ):
            yield site.url
        shop.client.redis.flushall()


def test_a_bad_host_is_found_by_what_needs_attention(page, night):
    operator = Operator(page, night)

    operator.click("letters-OSError")
    operator.click("What stands out")
    operator.finds("host w-9")
    operator.click("w-9")
    expect(page.locator("tr.row")).to_have_count(MANY)
    assert operator.clicks <= CLICKS


def test_a_poisoned_customer_is_found_by_the_group_that_began_lately(page, night):
    operator = Operator(page, night)

    operator.click("The latest to begin")
    expect(page.get_by_role("heading", name="Failures", exact=True)).to_be_visible()
    latest = page.locator("#groups tbody tr .row-link")
    expect(latest.nth(1)).to_contain_text("orders-Declined")
    operator.press(latest.nth(1))
    operator.click("What stands out")
    operator.finds("data.customer 4711")
    operator.click("4711")
    expect(page.locator("tr.row")).to_have_count(MANY)
    assert operator.clicks <= CLICKS


def test_a_bad_deploy_is_found_by_what_is_new_since_it(page, night):
    operator = Operator(page, night)

    operator.click("Failures", within="nav.rail")
    since = page.get_by_label("New since")
    operator.clicks += 1
    since.select_option(label="deploy 2026.11.3")
    operator.press(page.get_by_role("button", name="Show"))
    expect(page.locator("#groups tbody tr")).to_have_count(3)
    operator.click("exports-KeyError")
    operator.click("What stands out")
    operator.finds("data.version 2026.11.3")
    assert operator.clicks <= CLICKS
