"""The host's columns, links, panels and words stand where the how-to says, and break no page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask import url_for
from werkzeug.test import Client as Browser

from qless_web import create_app
from qless_web.extensions import Column, ExtensionError, Extensions, Outside, Panel
from tests.mounting.recipes import here
from tests.support.dom import parse
from tests.support.html import Visitor

PAGE = Path(__file__).parents[2] / "docs/how-to/extend-the-console.md"


@pytest.fixture
def documented(server, redis):  # noqa: ARG001 - `redis` empties the server
    """Run the first block of the page, and visit what it makes."""
    text = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)[0]
    made = {}
    exec(compile(here(text, server), "shop_console.py", "exec"), made)  # noqa: S102 - the page's own code
    return Visitor(Browser(made["console"]))


def put(client, jid="a", data=None, **options):
    data = {"order": "o-12", "amount_cents": 1250, "card_number": "4111"} if data is None else data
    client.queues["mail"].put("shop.Pay", data, jid=jid, **options)


def test_the_how_to_does_what_it_says(documented, client):
    put(client, tags=["vip", "customer:kim"])

    listed = documented.page("/queues/mail/waiting")
    shown = documented.page("/jobs/a")

    assert "Customer" in [each.text for each in listed.all("th")]
    assert "kim" in listed.rows[0].cells
    assert "https://sentry.example.com/issues/?query=jid:a" in shown.links
    assert "https://kibana.example.com/app/logs?q=shop.Pay%20mail" in shown.links
    assert "https://grafana.example.com/d/queue?var-queue=mail" in listed.links
    assert "Order Order o-12 Warehouse north" in shown.text
    assert "12.50 €" in shown.text
    assert "4111" not in shown.text
    assert "[hidden]" in documented.get("/jobs/a/data").text


@pytest.mark.parametrize("name", ["a/b?c=1&d#e", "../..", '"><b>', "ü\n", "javascript:alert(1)"])
def test_a_name_cannot_leave_its_place_in_a_link(client, name):
    extensions = Extensions(
        links=[
            Outside("Log", "https://log.example.com/{queue}/x?jid={jid}"),
            Outside("Dash", "https://dash.example.com/{queue}", of="queue"),
        ]
    )
    client.queues[name].put("K", {}, jid=name)
    web = Visitor(Browser(create_app(client, extensions=extensions)))
    page = parse(web.browser.get(_address(web, "jobs.show", jid=name)).text)

    (link,) = [each for each in page.links if each.startswith("https://log.example.com")]

    assert re.fullmatch(r"https://log\.example\.com/[\w.%~-]*/x\?jid=[\w.%~-]*", link)


def _address(web, endpoint, **names):
    with web.browser.application.test_request_context():
        return url_for(endpoint, **names)


@pytest.mark.parametrize(
    ("url", "of", "said"),
    [
        ("javascript:alert({jid})", "job", "no http or https address"),
        ("/local/{jid}", "job", "no http or https address"),
        ("https://{queue}.example.com/", "job", "the host must not come from a job"),
        ("https://x.example.com/{colour}", "job", "{colour} is none of jid"),
        ("https://x.example.com/{jid}", "queue", "{jid} is none of queue"),
        ("https://x.example.com/", "worker", "of must be"),
    ],
)
def test_a_link_that_makes_no_sense_is_refused_at_the_start(url, of, said):
    with pytest.raises(ExtensionError, match=re.escape(said)):
        Outside("Bad", url, of)


def test_hooks_that_fail_break_no_page_and_are_in_the_log(client, caplog):
    def fails(_given):
        message = "no such table"
        raise LookupError(message)

    extensions = Extensions(
        columns=[Column("Bad", fails), Column("Good", lambda job: job.jid.upper())],
        panels=[Panel("Broken", fails), Panel("Whole", lambda _job: "<b>it</b>")],
        formatters={"order": fails},
    )
    put(client)
    web = Visitor(Browser(create_app(client, extensions=extensions)))

    row = web.page("/queues/mail/waiting").rows[0]
    page = web.page("/jobs/a")

    assert row.cells.count("failed: see the log") == 1
    assert "A" in row.cells
    assert page.text.count("failed: see the log") == 2
    assert "<b>it</b>" in page.text
    assert caplog.text.count("no such table") >= 3


def test_a_console_that_nobody_extends_has_none_of_it(client):
    put(client)
    page = Visitor(Browser(create_app(client))).page("/jobs/a")

    assert "Elsewhere" not in page.text
    assert "12.50" not in page.text
