"""Tracked jobs."""

from __future__ import annotations

import pytest


def tabs(page):
    links = page.one("nav", class_="tabs").all("a")
    return {each.text.rpartition(" ")[0]: int(each.text.rpartition(" ")[2]) for each in links}


@pytest.fixture
def every_state(client, clock, redis):
    """Track a job in each state."""
    queue = client.queues["mail"]
    for jid in ("failed", "complete", "stalled"):
        queue.put("Letter", {}, jid=jid)
    jobs = {job.jid: job for job in queue.pop(3)}
    jobs["failed"].fail("group", "it broke")
    jobs["complete"].complete()
    clock.advance(100)
    client.queues["other"].put("Letter", {}, jid="running")
    client.queues["other"].pop()
    queue.put("Letter", {}, jid="waiting")
    queue.put("Letter", {}, jid="scheduled", delay=60)
    queue.put("Letter", {}, jid="depends", depends=["waiting"])
    queue.put("Letter", {}, jid="gone")
    for jid in (
        "failed",
        "complete",
        "stalled",
        "running",
        "waiting",
        "scheduled",
        "depends",
        "gone",
    ):
        client.track(jid)
    redis.delete("ql:j:gone")  # as when the original cancels a tracked job
    return client


@pytest.mark.usefixtures("every_state")
def test_those_that_need_attention_come_first_and_states_are_counted(see):
    page = see("/track")

    assert page.row_ids == [
        f"job-{state}"
        for state in ("failed", "stalled", "waiting", "running", "scheduled", "depends",
                      "complete", "gone")
    ]  # fmt: skip
    assert tabs(page) == {
        "All": 8, "Failed": 1, "Stalled": 1, "Waiting": 1, "Running": 1, "Scheduled": 1,
        "Depends": 1, "Complete": 1, "Gone": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "state",
    ["failed", "stalled", "waiting", "running", "scheduled", "depends", "complete", "gone"],
)
@pytest.mark.usefixtures("every_state")
def test_a_tab_keeps_one_state(state, see):
    page = see(f"/track?state={state}")

    assert page.row_ids == [f"job-{state}"]
    assert page.one("a", aria_current="page").text == f"{state.capitalize()} 1"


@pytest.mark.usefixtures("every_state")
def test_b27_one_that_is_gone_is_shown_and_can_be_untracked(see):
    row = see("/track?state=gone").rows[0]

    assert "no longer there" in row.text
    form = row.one("form", action="/jobs/gone/untrack")
    assert form.one("button").text == "Untrack"


@pytest.mark.filterwarnings("ignore:Absolute URLs required")  # since RFC 7231 they are not
@pytest.mark.usefixtures("every_state")
def test_b27_untracking_one_that_is_gone_takes_it_off_the_list(web, see):
    assert web.post("/jobs/gone/untrack").status_code == 303

    assert "job-gone" not in see("/track").row_ids


@pytest.mark.usefixtures("every_state")
def test_every_other_row_offers_to_untrack_too(see):
    for row in see("/track").rows:
        jid = row.attributes["id"].removeprefix("job-")
        assert row.all("form", action=f"/jobs/{jid}/untrack"), jid


def test_b28_every_tracked_job_is_on_exactly_one_page(client, see):
    for number in range(60):
        client.queues["mail"].put("Letter", {}, jid=f"j{number:02}")
        client.track(f"j{number:02}")

    for query in ("", "&state=waiting"):
        seen = [jid for number in (1, 2, 3) for jid in see(f"/track?page={number}{query}").row_ids]
        assert sorted(seen) == [f"job-j{number:02}" for number in range(60)]
    assert "There is no page 4" in see("/track?page=4").text
    assert "/track?state=waiting&page=3" in see("/track?page=4&state=waiting").links


def test_nothing_tracked_says_how_to_begin(see):
    assert see("/track").one(class_="empty").attributes["data-kind"] == "nothing-yet"


def test_a_state_that_no_job_is_in_offers_all_of_them(client, see):
    client.queues["mail"].put("Letter", {}, jid="j")
    client.track("j")

    page = see("/track?state=failed")

    assert "No tracked job is failed" in page.text
    assert "/track" in page.links


@pytest.mark.usefixtures("every_state")
def test_a_state_that_nobody_knows_is_all_of_them(see):
    assert len(see("/track?state=hibernating").rows) == 8


def test_b27_a_list_of_thousands_that_are_gone_is_still_a_page(client, redis, web, see):
    redis.zadd("ql:tracked", {f"gone-{number}": number for number in range(20_000)})
    client.queues["mail"].put("Letter", {}, jid="j")
    client.track("j")

    page = see("/track")

    assert page.row_ids[0] == "job-j"
    assert "States were counted among the newest 2,000 of 20,001 jobs" in page.text
    assert len(web.get("/track").get_data()) < 100_000
    assert len(see("/track?page=700").rows) == 25
