"""What is wrong without having failed is found and said."""

from __future__ import annotations

import json

import pytest
from werkzeug.test import Client as Browser

from qless_core.reads.queues import QueueSummary
from qless_core.reads.workers import WorkerSummary
from qless_core.records import WorkerInfo
from qless_web import create_app, keep_index
from qless_web.console import EXTENSION
from qless_web.presenters.why import still, why_still
from qless_web.triage.inbox import Past
from qless_web.triage.trouble import LARGE, together_of
from tests.support.dom import parse
from tests.support.polling import eventually


@pytest.fixture
def trouble(client):
    web = Browser(create_app(client, index=False))

    def page(address):
        answer = web.get(address)
        assert answer.status_code == 200
        return parse(answer.get_data(as_text=True)).one("main")

    return page


@pytest.fixture
def see(trouble):
    return lambda: trouble("/trouble").text


def test_an_empty_server_has_no_trouble(see):
    assert "No trouble was found" in see()


def test_each_kind_of_trouble_is_found(client, clock, redis, see):
    queue = client.queues["mail"]
    dead = queue.put("Letter", {}, jid="dead")
    queue.put("Stamp", {}, jid="late", depends=[dead])
    queue.pop().fail("shop", "no")
    queue.recur("Nightly", {}, 60, jid="nightly")
    queue.put("Big", {"x": "y" * LARGE}, jid="big")
    client.queues["held"].put("Letter", {})
    client.queues["held"].pause()
    redis.zadd("ql:workers", {"w-fast-1": clock.now() + 900})
    redis.zadd("ql:tracked", {f"j{n}": n for n in range(1_001)})
    clock.advance(400)

    page = see()

    assert "mail has 1 waiting job, and nothing runs" in page
    assert "held has 1 waiting job and is paused" in page
    assert "Nightly nightly of mail was due" in page
    assert "Letter dead failed in shop , and 1 job waits for it" in page
    assert "Worker w-fast-1 was seen 8 min 20 s from now" in page
    assert "Big big of mail has" in page
    assert "There are 1,001 tracked jobs: more than 1,000." in page


def test_all_that_the_overview_counts_is_there(client, clock, trouble):
    for name in ("a", "b", "c", "d", "e"):
        client.queues[name].put("Letter", {})
        client.queues[name].pop()
    clock.advance(61)  # their locks have ended
    client.queues["deserted"].put("Letter", {})
    clock.advance(61)
    queue = client.queues["held"]
    queue.put("Letter", {}), queue.put("Letter", {})
    queue.pop()
    queue.pause()  # one waits, though one still runs
    client.queues["mail"].put("Letter", {})
    client.queues["mail"].pop().fail("mail-Timeout", "no answer")

    overview, page = trouble("/"), trouble("/trouble")

    head = overview.one(id="attention").one(class_="section-head")
    shown = [
        page.one("section", aria_labelledby=f"trouble-{key}").one(class_="note").text
        for key in ("stalled", "stuck", "failing")
    ]
    assert shown == ["5", "2", "1"]
    assert head.all("span")[0].text == "8"
    assert "and 1 more" in overview.one("ul", class_="attention").text
    assert overview.one("ul", class_="attention").links[-1] == "/trouble"
    assert "a has 1 stalled job: its worker has gone silent." in page.text
    assert "mail-Timeout has 1 failed job, the last just now ." in page.text


def test_what_is_in_order_is_not_reported(client, clock, see):
    queue = client.queues["mail"]
    queue.recur("Nightly", {}, 3_600, jid="nightly", offset=60)
    queue.put("Letter", {})
    clock.advance(30)

    page = see()

    assert "No trouble was found" in page
    assert "Every queue with work moves." in page
    assert "not known without the index" in page


def row(**facts):
    counts = dict.fromkeys(("running", "stalled", "scheduled", "depends", "recurring"), 0)
    return QueueSummary(
        **{"name": "mail", "waiting": 5, "paused": False, "next_since": 0.0, **counts, **facts}
    )


def crew(*queues, state="running", seen=1_000.0):
    return WorkerSummary("w-1", seen, 0, 0, info=WorkerInfo(queues=queues, state=state))


def said(summary, *workers):
    return "".join(part.text or " … " for part in why_still(summary, workers, 1_000.0))


@pytest.mark.parametrize(
    ("summary", "workers", "reason"),
    [
        (row(paused=True), (), "and is paused"),
        (row(), (), "and no worker is known"),
        (row(), (crew("mail", seen=10.0),), "and no worker was seen since"),
        (row(), (crew("post", "letters-*"),), "and none of the 1 worker that is alive polls it"),
        (row(), (crew("*", "!mail"),), "none of the 1"),
        (row(), (crew("ma*", state="paused"),), "is paused or stopping, as w-1"),
        (row(), (crew("mail"),), "though w-1 polls it, and nothing runs"),
        (row(), (WorkerSummary("w-1", 1_000.0, 0, 0),), "and nothing runs; the next was put"),
    ],
)
def test_a_queue_that_stands_still_says_why(summary, workers, reason):
    assert still(summary, 1_000.0)
    assert reason in said(summary, *workers)


def test_a_queue_that_moves_or_has_no_work_does_not_stand_still():
    assert not still(row(running=1), 1_000.0)
    assert still(row(running=1, paused=True), 1_000.0)
    assert not still(row(waiting=0), 1_000.0)
    assert not still(row(next_since=990.0), 1_000.0)


def test_groups_that_began_within_a_minute_are_told_together():
    pasts = {
        name: Past(number=n, first=first, last=9e9)
        for n, (name, first) in enumerate(
            {"a": 100.0, "b": 130.0, "c": 155.0, "d": 500.0, "e": 900.0, "f": 901.0}.items()
        )
    }
    assert together_of(pasts) == ((("e", "f"), 900.0), (("a", "b", "c"), 100.0))


def test_the_index_tells_of_jobs_that_are_begun_again_and_again(client, clock, tmp_path):
    client.queues["mail"].put("Letter", {}, jid="again", retries=9)
    for _ in range(5):
        client.queues["mail"].pop().retry()
    client.queues["mail"].pop().fail("shop", "no")
    client.queues["post"].put("Letter", {}, jid="other")
    client.queues["post"].pop().fail("post", "no")
    app = create_app(client, state_dir=str(tmp_path), index_rate=0)
    keep_index(app)
    index, web = app.extensions[EXTENSION].index, Browser(app)

    def page():
        return parse(web.get("/trouble").get_data(as_text=True)).one("main").text

    try:
        eventually(lambda: index.status(clock.now()).is_complete)
        assert "Letter again was begun 6 times" in page()
        assert "2 groups began" in page()
    finally:
        index.close()
    assert json.dumps(page())
