"""Several jobs on one axis: a group of failures, and a chain."""

from __future__ import annotations

import pytest
from werkzeug.test import Client as Browser

from qless_web import create_app
from qless_web.presenters.lives import chain_lives, group_lives
from qless_web.triage.lives import Item, OneLife
from tests.support.dom import parse


@pytest.fixture
def see(client):
    web = Browser(create_app(client, index=False))

    def page(path, status=200):
        answer = web.get(path)
        assert answer.status_code == status
        return parse(answer.get_data(as_text=True)).one("main")

    return page


def one(jid, *items, state="failed", step=0):
    return OneLife(
        jid=jid, klass="Job", state=state, queue="q", step=step,
        items=tuple(Item(*each) for each in items), cut=False,
    )  # fmt: skip


def bars(row):
    return [(bar.kind, bar.x, bar.width) for bar in row.lane.bars]


def test_what_each_job_waited_and_ran_lies_on_one_axis():
    page = group_lives(
        "boom",
        [
            one("b", (50.0, "put", "q"), (75.0, "popped", "w-1"), (100.0, "failed", "boom")),
            one("a", (0.0, "put", "q"), (50.0, "popped", "w-2"), (75.0, "timed-out", "")),
        ],
        100.0,
    )

    assert [row.jid for row in page.rows] == ["a", "b"]
    assert bars(page.rows[0]) == [("wait", 0.0, 50.0), ("stalled", 50.0, 25.0)]
    assert bars(page.rows[1]) == [("wait", 50.0, 25.0), ("failed", 75.0, 25.0)]


def test_what_goes_on_is_drawn_up_to_now_and_log_lines_end_nothing():
    page = chain_lives(
        "a",
        [one("a", (0.0, "put", "q"), (10.0, "popped", "w"), (20.0, "half", ""), state="running")],
        40.0,
    )

    assert bars(page.rows[0]) == [("wait", 0.0, 25.0), ("run", 25.0, 75.0)]


def test_the_newest_of_a_group_are_drawn(client, clock, see):
    for number in range(3):
        client.queues["mail"].put("Letter", {}, jid=f"j{number}")
        clock.advance(10)
        client.queues["mail"].pop().fail("boom", "no")

    page = see("/failed/boom/timeline")

    assert page.row_ids == ["life-j0", "life-j1", "life-j2"]
    assert "waited 10 s" in page.all("svg", class_="lane")[0].attributes["aria-label"]
    see("/failed/other/timeline", status=404)
    assert "/failed/boom/timeline" in see("/failed/boom").links


def test_a_chain_is_drawn_in_the_order_of_its_steps(client, see):
    queue = client.queues["mail"]
    queue.put("One", {}, jid="a")
    queue.put("Two", {}, jid="b", depends=["a"])
    queue.put("Three", {}, jid="c", depends=["b"])
    queue.put("Four", {}, jid="d", depends=["c"])

    page = see("/jobs/b/timeline")

    assert page.row_ids == ["life-a", "life-b", "life-c", "life-d"]
    assert [row.cells[0].split(" ", 2)[-1] for row in page.rows] == [
        "1 step before", "this job", "1 step after", "2 steps after",
    ]  # fmt: skip
    assert "There is no job nope" in see("/jobs/nope/timeline", status=404).text
    assert "/jobs/b/timeline" in see("/jobs/b").links
    assert "/jobs/b/timeline" in see("/jobs/b/graph").links
