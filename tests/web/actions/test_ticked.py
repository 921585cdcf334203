"""What is done to the jobs that were ticked in a list."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from qless_web.formatting import tilde
from tests.support.dom import parse
from tests.support.html import question, toasts


def page_of(web, verb, *jids):
    """Open the question about ticked jobs, as the form of a list does."""
    return web.page(f"/ticked/{verb}?{urlencode([('jids', jid) for jid in jids])}")


def test_ticked_failures_are_retried(web, shop, client):
    shop.fail("a", "b", "c")
    page = page_of(web, "retry", "a", "c")
    assert "Retry 2 jobs, each into its own queue?" in page.text

    told = web.follow(web.submit(question(page)))

    assert toasts(told) == "Retried 2 jobs. Report and undo"
    assert client.failures.groups == {"boom": 1}


def test_those_that_cannot_are_left_out_of_the_question(web, shop):
    shop.fail("a")
    shop.run("b")

    page = page_of(web, "retry", "a", "b", "gone")

    assert "2 are left out: 1 has gone, 1 is running." in page.text
    assert question(page).buttons == ["Retry 1 job"]


def test_those_that_changed_since_are_left_out_and_named(web, shop):
    shop.fail("a", "b")
    form = question(page_of(web, "retry", "a", "b"))
    web.post("/jobs/b/retry")

    told = toasts(web.follow(web.submit(form)))

    assert "Retried 1 job. 1 was left out: it is waiting." in told
    assert "b: it is waiting already" in told


def test_ticked_jobs_move_unless_a_worker_is_at_them(web, shop):
    shop.put("a")
    shop.fail("b")
    shop.run("c")
    page = page_of(web, "move", "a", "b", "c")
    assert "1 is left out: it is running." in page.text

    told = web.follow(web.submit(question(page), queue="slow"))

    assert toasts(told) == "Moved to slow: 2 jobs. Report and undo"
    assert [shop.queue(jid) for jid in "abc"] == ["slow", "slow", "mail"]


def test_ticked_jobs_are_cancelled_with_those_that_wait_for_them(web, shop):
    shop.put("a")
    shop.put("b", depends=["a"])
    shop.put("c")
    page = page_of(web, "cancel", "a", "c", "gone")
    assert "Cancel 2 jobs and the 1 job waiting for them?" in page.text
    assert question(page).buttons == ["Cancel 3 jobs"]

    web.submit(question(page))

    assert [shop.state(jid) for jid in "abc"] == ["gone"] * 3


def test_a_ticked_job_that_began_to_run_is_not_cancelled(web, shop, client):
    shop.put("a")
    shop.put("b")
    form = question(page_of(web, "cancel", "a", "b"))
    (running,) = client.queues["mail"].pop(1)

    told = toasts(web.follow(web.submit(form)))

    assert "Cancelled 1 job. 1 was left out: it is running." in told
    assert shop.state(running.jid) == "running"


@pytest.mark.parametrize("verb", ["retry", "move", "cancel"])
def test_without_ticks_there_is_nothing_to_ask(web, verb):
    page = page_of(web, verb)

    assert "No job is ticked." in page.text
    assert question(page).buttons == []


@pytest.mark.parametrize("verb", ["retry", "move", "cancel"])
def test_posted_without_an_answer_it_asks(web, shop, stored, verb):
    shop.fail("a")
    before = stored()

    response = web.post(f"/ticked/{verb}", {"jids": ["a"], "queue": "slow"})

    assert response.status_code == 422
    assert stored() == before


def test_names_come_through_lists_and_questions_as_they_are(web, shop, awkward):
    # A browser sends every end of a line as CR LF.
    sent = awkward.replace("\r\n", "\n").replace("\n", "\r\n")
    shop.fail(awkward)
    web.submit(question(page_of(web, "retry", sent)))
    assert shop.state(awkward) == "waiting"

    web.submit(question(page_of(web, "move", sent)), queue="slow")
    assert shop.queue(awkward) == "slow"

    web.submit(question(page_of(web, "cancel", sent)))
    assert shop.state(awkward) == "gone"


@pytest.mark.parametrize("verb", ["retry", "move", "cancel"])
@pytest.mark.parametrize(
    "group", ["boom", "a/b\r\n~41", "ü" * 5_000], ids=["plain", "awkward", "long"]
)
def test_ticked_in_a_group_they_must_still_have_failed_in_it(web, shop, client, verb, group):
    shop.fail("a", "b", group=group)
    listed = web.page(f"/failed/{tilde(group)}").one("input", name="group").attributes["value"]
    fields = [("jids", "a"), ("jids", "b"), ("group", listed)]
    asked = question(web.page(f"/ticked/{verb}?{urlencode(fields)}"))
    client.commands.bulk_move("", "", [("b", "failed")])
    client.queues["mail"].pop().fail("other", "no")

    told = toasts(web.follow(web.submit(asked, queue="slow")))

    assert "1 job. 1 was left out: it has failed in another group." in told
    assert client.failures.groups == {"other": 1}
    assert shop.state("a") == ("gone" if verb == "cancel" else "waiting")


def test_of_a_long_group_that_is_no_more_nothing_is_left_to_act_on(web, shop, client):
    group = "x" * 5_000
    shop.fail("a", group=group)
    fields = [("jids", "a"), ("group", tilde(group))]
    asked = question(web.page(f"/ticked/retry?{urlencode(fields)}"))
    client.commands.bulk_move("", "", [("a", "failed")])
    client.queues["mail"].pop().fail("other", "no")

    told = toasts(web.follow(web.submit(asked)))

    assert "1 was left out: it has failed in another group." in told
    assert client.failures.groups == {"other": 1}


def test_asked_again_ticked_jobs_keep_the_queue_that_was_chosen(web, shop):
    shop.put("a")

    again = web.post("/ticked/move", {"jids": ["a"], "queue": "slow"})

    assert again.status_code == 422
    assert question(parse(again.text)).value("queue") == "slow"


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"], ids=ascii)
def test_whatever_ends_the_lines_of_a_jid_it_is_that_job(web, shop, end):
    shop.fail(f"a{end}b")

    web.submit(question(page_of(web, "retry", "a\r\nb")))

    assert shop.state(f"a{end}b") == "waiting"


@pytest.mark.parametrize("state", ["waiting", "failed"])
def test_a_job_whose_data_is_no_json_moves_with_the_others(web, shop, client, redis, state):
    for jid in "xyz":
        (shop.put if state == "waiting" else shop.fail)(jid)
    redis.hset("ql:j:y", "data", "not json")
    page = page_of(web, "move", "x", "y", "z")

    told = web.follow(web.submit(question(page), queue="slow"))

    assert toasts(told) == "Moved to slow: 3 jobs. Report and undo"
    assert [redis.hget(f"ql:j:{jid}", "queue") for jid in "xyz"] == ["slow"] * 3
    assert redis.hget("ql:j:y", "data") == "not json"
    assert client.failures.groups == {}
