"""What stands out in failed jobs against completed ones, and two jobs side by side."""

from __future__ import annotations

import json

import pytest
from werkzeug.test import Client as Browser

from qless_web import create_app
from qless_web.extensions import Extensions, hide
from qless_web.triage.comparing import Trait, query_for, wilson
from qless_web.triage.query import parse as parse_query
from tests.support.dom import parse


def work(client, number, customer, *, worker="worker-1", fails=False, klass="Letter"):
    """Complete a job, or fail it; the failed ones are tagged."""
    data = {"customer": customer, "order": number, "lines": [{"sku": "x"}]}
    jid = client.queues["mail"].put(klass, data, tags=["eu"])
    client.commands.pop("mail", worker, 1)
    if fails:
        client.commands.fail(jid, worker, "shop", "no")
    else:
        client.commands.complete(jid, worker, "mail", json.dumps(data))
    return jid


@pytest.fixture
def web(client):
    return Browser(create_app(client, index=False))


def see(web, path, status=200):
    answer = web.get(path)
    assert answer.status_code == status
    return parse(answer.get_data(as_text=True)).one("main")


@pytest.fixture
def poisoned(client):
    """Fail jobs of one customer on one host; complete those of others, and a few of theirs."""
    for number in range(40):
        work(client, number, "acme" if number % 20 else "globex", worker="w-9-7", fails=True)
        work(client, number, ("acme", "globex", "initech")[number % 3], worker=f"w-{number % 9}-7")


@pytest.mark.usefixtures("poisoned")
def test_the_poisoned_customer_and_the_bad_host_stand_out_and_nothing_else(web):
    page = see(web, "/failed/shop/compare")

    rows = {" ".join(row.cells[0].split()[:2]): row.cells for row in page.rows}
    assert set(rows) == {"data.customer acme", "host w-9"}
    assert rows["data.customer acme"][2] == "38"
    assert rows["data.customer acme"][4] == "14"
    assert "times as often" in rows["data.customer acme"][0]
    assert "40 failed against 40 completed" in page.text
    leads = [link.attributes["href"] for row in page.rows for link in row.all("a")]
    assert sorted(leads) == [
        "/search?q=group:shop+data.customer:acme",
        "/search?q=group:shop+host:w-9",
    ]


def test_few_jobs_are_called_too_few_and_nothing_is_claimed(client, web):
    for number in range(5):
        work(client, number, "acme", fails=True)
        work(client, number, "globex")

    page = see(web, "/failed/shop/compare")

    assert "too few" in page.text
    assert "times as often" not in page.text


def test_without_completed_jobs_it_says_what_most_of_the_failed_have(client, web):
    for number in range(20):
        work(client, number, "acme", fails=True)
        work(client, number, "acme", klass="Other")

    page = see(web, "/failed/shop/compare")

    assert "No completed job of this class" in page.text
    assert "data.customer acme" in {row.cells[0] for row in page.rows}


def test_where_nothing_differs_nothing_stands_out(client, web):
    for number in range(30):
        for fails in (True, False):
            work(client, number % 3, ("a", "b", "c")[number % 3], fails=fails)

    assert "Nothing stands out" in see(web, "/failed/shop/compare").text


def test_hidden_data_is_not_compared(client):
    web = Browser(create_app(client, extensions=Extensions(redact=hide("customer")), index=False))
    for number in range(30):
        work(client, number, "acme", fails=True)
        work(client, number, "globex")

    assert "acme" not in see(web, "/failed/shop/compare").text


@pytest.mark.parametrize(
    ("trait", "query"),
    [
        (Trait("tag", "tag", "very hot"), 'group:"a b" tag:"very hot"'),
        (Trait("data", "user.name", 'say "*"'), r'group:"a b" data.user.name:"say \"*\""'),
        (Trait("key", "gift", "is there"), 'group:"a b" data.gift:*'),
        (Trait("data", "first name", "x"), ""),
        (Trait("data", "note", "x" * 80), ""),
        (Trait("runs", "runs", "3"), ""),
    ],
)
def test_what_stands_out_is_searched_for_where_the_language_has_a_word_for_it(trait, query):
    assert query_for(trait, "a b") == query
    parse_query(query)


def test_the_bounds_of_a_share_are_honest():
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(3, 3)
    assert low < 0.4
    assert high == 1.0
    assert wilson(900, 1000)[0] > 0.85


def test_two_jobs_side_by_side_differ_where_they_do(client, web):
    a = work(client, 1, "acme", fails=True)
    b = work(client, 1, "globex")

    page = see(web, f"/compare?a={a}&b={b}")

    table = page.one("table", id="pair")
    lines = {row.all("td")[0].text.removesuffix(" differs"): row for row in table.all("tr")[1:]}
    assert [cell.text for cell in lines["data.customer"].all("td")[1:]] == ["acme", "globex"]
    assert "data-differs" in lines["data.customer"].attributes
    assert "data-differs" in lines["state"].attributes
    assert "data-differs" not in lines["tags"].attributes
    assert "data-differs" not in lines["data.order"].attributes
    assert "data-differs" not in lines["class"].attributes


def test_a_job_that_is_not_there_is_said(web):
    assert "There is no job nope" in see(web, "/compare?a=nope&b=", status=404).text
    assert see(web, "/compare").one("form", class_="filter")
