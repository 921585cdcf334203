"""What is done to one job: it happens, once, and only if the job is as it was shown."""

from __future__ import annotations

import pytest

from qless_web.actions.action import ACTIONS
from qless_web.actions.form import Form
from qless_web.formatting import Whole, tilde
from tests.support.html import HTMX, form, question, toasts


def at(jid, verb=""):
    return f"/jobs/{tilde(Whole(jid))}" + (f"/{verb}" if verb else "")


# -- Retry


def test_a_failed_job_is_retried(web, shop):
    shop.fail("a")

    told = web.follow(web.post(at("a", "retry")))

    assert shop.state("a") == "waiting"
    assert toasts(told) == "Retried a."


def test_b39_a_double_click_retries_once(web, shop, client):
    shop.fail("a")

    back = {"return_to": f"{web.prefix}/failed"}
    first = toasts(web.follow(web.post(at("a", "retry"), back)))
    second = toasts(web.follow(web.post(at("a", "retry"), back)))

    assert first == "Retried a."
    assert second == "Nothing was done to a: it is waiting already."
    assert client.queues["mail"].counts.waiting == 1
    assert [item.what for item in client.jobs["a"].history].count("put") == 2


def test_b39_a_running_job_is_not_taken_from_its_worker_by_a_late_click(web, shop):
    shop.run("a")

    answer = web.post(at("a", "retry"))

    assert answer.status_code == 409
    assert shop.state("a") == "running"


def test_a_scheduled_job_is_retried_at_once(web, shop):
    shop.put("a", delay=3600)

    web.post(at("a", "retry"))

    assert shop.state("a") == "waiting"


def test_the_question_about_a_job_that_cannot_be_retried_says_why(web, shop):
    shop.run("a")

    page = web.page(at("a", "retry"))

    assert "Job a cannot be retried: it is running now." in page.text
    assert not [each for each in question(page).buttons if "Retry" in each]


def test_what_is_gone_is_not_found(web):
    assert web.post(at("a", "retry")).status_code == 404
    assert web.get(at("a", "retry")).status_code == 404


# -- Cancel


def test_cancelling_asks_first(web, shop):
    shop.put("a")

    asked = web.post(at("a", "cancel"))

    assert asked.status_code == 422
    assert shop.state("a") == "waiting"


def test_a_job_is_cancelled_from_its_question(web, shop):
    shop.put("a")
    page = web.page(at("a", "cancel"))
    assert "Cancel Job a?" in page.text
    assert "rests in the trash" in page.text

    answer = web.submit(question(page))

    assert shop.state("a") == "gone"
    assert answer.headers["Location"] == f"{web.prefix}/queues/mail"
    assert toasts(web.follow(answer)) == "Cancelled a. Report and undo"


def test_b53_the_jobs_that_wait_for_it_are_shown_and_go_with_it_in_one_call(web, shop):
    shop.fail("a")
    shop.put("b", depends=["a"])
    shop.put("c", depends=["a"])
    shop.put("d", depends=["b", "c"])
    page = web.page(at("a", "cancel"))
    assert "Cancel Job a and the 3 jobs waiting for it?" in page.text
    assert {at(jid) for jid in "bcd"} <= {link.removeprefix(web.prefix) for link in page.links}
    assert "Cancel 4 jobs" in question(page).buttons

    answer = web.submit(question(page))

    assert [shop.state(jid) for jid in "abcd"] == ["gone"] * 4
    assert toasts(web.follow(answer)) == "Cancelled 4 jobs. Report and undo"


def test_b53_the_worker_of_a_running_job_is_told(web, shop, redis):
    shop.run("a")
    page = web.page(at("a", "cancel"))
    assert "It is running: worker-1 is told to stop." in page.text
    with redis.pubsub(ignore_subscribe_messages=True) as hearing:
        hearing.subscribe("ql:w:worker-1")
        hearing.get_message(timeout=5)

        web.submit(question(page))

        assert '"event":"canceled"' in hearing.get_message(timeout=5)["data"]


def test_a_job_that_began_to_run_since_it_was_shown_is_left_alone(web, shop, client):
    shop.put("a")
    asked = question(web.page(at("a", "cancel")))
    client.queues["mail"].pop()

    answer = web.submit(asked)

    assert shop.state("a") == "running"
    assert toasts(web.follow(answer)) == "Nothing was done to a: it is running now."


def test_a_job_that_others_began_to_wait_for_is_left_alone(web, shop):
    shop.put("a")
    asked = question(web.page(at("a", "cancel")))
    shop.put("b", depends=["a"])

    answer = web.submit(asked)

    assert shop.state("a") == "waiting"
    assert "other jobs wait for it" in toasts(web.follow(answer))


def test_where_none_of_them_is_as_it_was_shown_nothing_is_cancelled(web, shop, client):
    shop.put("a")
    shop.put("b", depends=["a"])
    asked = question(web.page(at("a", "cancel")))
    client.queues["mail"].pop()
    client.jobs["b"].undepend("a")

    answer = web.post(at("a", "cancel"), asked.filled({}), **HTMX)

    assert answer.status_code == 409
    assert "Cancelled 0 jobs. 2 were left out" in answer.text
    assert (shop.state("a"), shop.state("b")) == ("running", "waiting")


def test_a_number_that_is_no_longer_right_asks_again(web, shop):
    shop.put("a")
    shop.put("b", depends=["a"])

    asked = web.post(at("a", "cancel"), {"expected": "1"})

    assert asked.status_code == 422
    assert "has changed since you looked" in asked.text
    assert "Cancel 2 jobs" in asked.text
    assert shop.state("a") == "waiting"


def test_very_many_dependents_are_cancelled_only_as_they_were_shown(web, shop):
    shop.fail("a")
    for number in range(501):
        shop.put(f"d{number}", depends=["a"])
    asked = question(web.page(at("a", "cancel")))
    shop.put("late", depends=["a"])

    again = web.submit(asked, typed="502")
    assert again.status_code == 422
    assert "has changed since you looked" in again.text

    web.submit(question(web.page(at("a", "cancel"))), typed="503")
    assert [shop.state(jid) for jid in ("a", "d0", "d500", "late")] == ["gone"] * 4


def test_above_a_hundred_the_number_must_be_typed(web, shop):
    shop.fail("a")
    for number in range(100):
        shop.put(f"d{number}", depends=["a"])
    asked = question(web.page(at("a", "cancel")))
    assert ("typed", "") in asked.fields

    for typed in ("", "100", "no"):
        again = web.submit(asked, typed=typed)
        assert again.status_code == 422
        assert "Type the number 101 to go on; nothing was done." in again.text
    assert shop.state("a") == "failed"

    web.submit(asked, typed="101")
    assert shop.state("a") == "gone"


def test_a_complete_job_has_nothing_to_cancel(web, shop):
    shop.complete("a")

    assert "there is nothing to cancel" in web.page(at("a", "cancel")).text
    assert web.post(at("a", "cancel"), {"expected": "0"}).status_code == 422
    assert shop.state("a") == "complete"


def test_the_second_of_two_cancels_says_that_it_is_gone(web, shop):
    shop.put("a")
    asked = question(web.page(at("a", "cancel")))
    web.submit(asked)

    assert "Job a does not exist; nothing was done." in toasts(
        web.follow(web.submit(asked, return_to=f"{web.prefix}/queues"))
    )


# -- Move


def test_a_job_is_moved_from_its_question(web, shop):
    shop.fail("a")
    shop.put("other", queue="slow")
    page = web.page(at("a", "move"))
    assert "slow" in [each.attributes["value"] for each in page.one("datalist").all("option")]

    answer = web.submit(question(page), queue="slow")

    assert (shop.state("a"), shop.queue("a")) == ("waiting", "slow")
    assert toasts(web.follow(answer)) == "Moved a to slow."


def test_a_running_job_is_moved_only_where_it_was_shown_running(web, shop):
    shop.run("a")
    assert web.post(at("a", "move"), {"queue": "slow"}).status_code == 409
    assert shop.queue("a") == "mail"
    page = web.page(at("a", "move"))
    assert "worker-1 loses it" in page.text

    web.submit(question(page), queue="slow")

    assert (shop.state("a"), shop.queue("a")) == ("waiting", "slow")


def test_b39_a_job_that_has_just_completed_moves_when_told_to(web, shop):
    shop.complete("a")

    web.submit(question(web.page(at("a", "move"))), queue="slow")

    assert (shop.state("a"), shop.queue("a")) == ("waiting", "slow")


@pytest.mark.parametrize("queue", ["", "   "])
def test_moving_needs_a_queue(web, shop, queue):
    shop.put("a")

    answer = web.post(at("a", "move"), {"queue": queue})

    assert answer.status_code == 400
    assert "“queue” is missing" in answer.text


def test_who_waits_for_the_end_is_guarded_all_the_same(app, shop):
    shop.run("a")

    with app.test_request_context():
        guarded = ACTIONS["move_job"].perform(Form({"queue": ["slow"]}, patient=True), jid="a")
        assert (guarded.status, shop.queue("a")) == (409, "mail")
        ACTIONS["move_job"].perform(Form({"queue": ["slow"]}, guarded=False), jid="a")

    assert shop.queue("a") == "slow"


# -- Priority, tags, tracking


def test_the_priority_changes(web, shop, client):
    shop.put("a")
    asked = question(web.page(at("a", "priority")))
    assert asked.value("priority") == "0"

    answer = web.submit(asked, priority="-7")

    assert client.jobs["a"].priority == -7
    assert toasts(web.follow(answer)) == "a has priority -7."


@pytest.mark.parametrize("wanted", ["", "high", "1.5", "1e3", "nan", "9999999", "1\x00"])
def test_what_is_no_priority_is_refused(web, shop, client, wanted):
    shop.put("a", priority=3)

    assert web.post(at("a", "priority"), {"priority": wanted}).status_code == 400
    assert client.jobs["a"].priority == 3


def test_b21_a_tag_is_one_whole_text(web, shop, client, awkward):
    shop.put("a")

    web.post(at("a", "tag"), {"tag": [awkward, "  "]})
    assert client.jobs["a"].tags == [awkward]

    web.post(at("a", "untag"), {"tag": awkward})
    assert client.jobs["a"].tags == []


def test_b39_removing_a_tag_that_is_gone_is_no_error(web, shop):
    shop.put("a", tags=["x"])

    assert web.post(at("a", "untag"), {"tag": "y"}).status_code == 303


@pytest.mark.parametrize("verb", ["tag", "untag"])
def test_a_blank_tag_is_refused(web, shop, client, verb):
    shop.put("a", tags=["x"])

    assert web.post(at("a", verb), {"tag": "  "}).status_code == 400
    assert client.jobs["a"].tags == ["x"]


def test_a_tag_with_an_end_of_line_is_removed_as_browsers_send_it(web, shop, client):
    shop.put("a", tags=["a\nb", "c"])

    web.post(at("a", "untag"), {"tag": "a\r\nb"})

    assert client.jobs["a"].tags == ["c"]


def test_tracking_begins_and_ends(web, shop, client):
    shop.put("a")

    assert toasts(web.follow(web.post(at("a", "track")))) == "Tracking a."
    assert client.jobs["a"].tracked
    assert toasts(web.follow(web.post(at("a", "track")))) == "a is tracked already."
    assert toasts(web.follow(web.post(at("a", "untrack")))) == "No longer tracking a."
    assert not client.jobs["a"].tracked


def test_a_tracked_job_that_is_gone_can_be_untracked(web, shop, redis):
    shop.put("a")
    web.post(at("a", "track"))
    redis.delete("ql:j:a")

    assert web.post(at("a", "untrack"), {"return_to": f"{web.prefix}/track"}).status_code == 303
    assert redis.zcard("ql:tracked") == 0


# -- Time out, undepend


def test_a_running_job_is_timed_out_after_asking(web, shop):
    shop.run("a")
    assert web.post(at("a", "timeout")).status_code == 422
    page = web.page(at("a", "timeout"))
    assert "worker-1 loses it at once" in page.text

    web.submit(question(page))

    assert shop.state("a") == "stalled"


def test_what_does_not_run_cannot_be_timed_out(web, shop):
    shop.put("a")

    assert web.post(at("a", "timeout"), {"expected": "1"}).status_code == 409
    assert "has no lock to take away" in web.page(at("a", "timeout")).text


def test_a_dependency_is_taken_off_after_asking(web, shop, client):
    shop.put("a")
    shop.put("b")
    shop.put("c", depends=["a", "b"])
    assert web.post(at("c", "undepend"), {"dependency": "a"}).status_code == 422

    web.submit(question(web.page(at("c", "undepend") + "?dependency=a")))
    assert client.jobs["c"].dependencies == ["b"]

    web.submit(question(web.page(at("c", "undepend"))))
    assert shop.state("c") == "waiting"


def test_a_dependency_that_is_none_is_refused(web, shop, client):
    shop.put("a")
    shop.put("c", depends=["a"])

    answer = web.post(at("c", "undepend"), {"dependency": "z", "expected": "1"})

    assert answer.status_code == 409
    assert client.jobs["c"].dependencies == ["a"]
    assert web.post(at("a", "undepend"), {"expected": "1"}).status_code == 409


# -- Recurring jobs


@pytest.fixture(params=["by interval", "by cron expression"])
def recurring(request, client):
    queue, options = client.queues["mail"], {"jid": "again", "priority": 1, "tags": ["x"]}
    if request.param == "by interval":
        queue.recur("Job", {}, interval=60, **options)
    else:
        queue.cron("Job", {}, "* * * * *", **options)
    return lambda: client.jobs["again"]


def test_a_recurring_job_takes_priority_tags_and_another_queue(web, recurring):
    web.post(at("again", "priority"), {"priority": "9"})
    web.post(at("again", "tag"), {"tag": "y"})
    web.post(at("again", "untag"), {"tag": "x"})
    web.submit(question(web.page(at("again", "move"))), queue="slow")

    job = recurring()
    assert (job.priority, job.tags, job.queue_name) == (9, ["y"], "slow")


def test_a_recurring_job_is_cancelled_after_asking(web, recurring):
    page = web.page(at("again", "cancel"))
    assert "Cancel the recurring job Job again?" in page.text
    assert "It makes no more jobs." in page.text

    web.submit(question(page))

    assert recurring() is None


# -- How they answer


def test_htmx_gets_a_message_and_a_sign_that_something_changed(web, shop):
    shop.fail("a")

    answer = web.post(at("a", "retry"), **HTMX)

    assert answer.status_code == 200
    assert answer.headers["HX-Trigger"] == "qless:changed"
    assert "Retried a." in answer.text
    assert "<html" not in answer.text


def test_htmx_is_told_what_was_not_done(web, shop):
    shop.put("a")

    answer = web.post(at("a", "retry"), **HTMX)

    assert answer.status_code == 409
    assert answer.headers["HX-Trigger"] == "qless:changed"
    assert 'data-tone="warning"' in answer.text
    assert web.post(at("z", "retry"), **HTMX).status_code == 404


def test_htmx_leaves_the_page_of_a_job_that_is_gone(web, shop):
    shop.put("a")
    asked = question(web.page(at("a", "cancel")))
    fields = asked.filled({"return_to": web.prefix + at("a")})

    answer = web.post(at("a", "cancel"), fields, **HTMX)

    assert answer.headers["HX-Redirect"] == f"{web.prefix}/queues/mail"
    assert toasts(web.page("/queues/mail")) == "Cancelled a. Report and undo"


def test_htmx_stays_on_a_list_that_a_job_leaves(web, shop):
    shop.put("a")
    asked = question(web.page(at("a", "cancel")))
    fields = asked.filled({"return_to": f"{web.prefix}/queues/mail/waiting"})

    answer = web.post(at("a", "cancel"), fields, **HTMX)

    assert "HX-Redirect" not in answer.headers
    assert "Cancelled a." in answer.text


def test_the_way_back_stays_in_the_console(web, shop):
    for bad in (
        "https://evil.example/",
        "//evil.example/x",
        "/\\evil.example",
        "/ops/../../x",
        "x",
    ):
        shop.fail("a")
        answer = web.post(at("a", "retry"), {"return_to": bad})
        assert answer.headers["Location"] == web.prefix + at("a")


def test_a_question_leads_back_to_where_it_was_asked(web, shop):
    shop.put("a")
    came_from = f"http://localhost{web.prefix}/queues/mail/waiting?page=2"

    page = web.page(at("a", "cancel"), Referer=came_from)

    assert question(page).value("return_to") == f"{web.prefix}/queues/mail/waiting?page=2"
    page = web.page(at("a", "cancel"), Referer="http://evil.example/queues/mail")
    assert question(page).value("return_to") == web.prefix + at("a")


# -- Awkward names


def test_b03_b04_every_action_concerns_the_full_name(web, shop, awkward):
    other = "j"
    shop.fail(awkward, group=awkward, queue=awkward)
    shop.fail(other)

    web.post(at(awkward, "retry"))
    assert (shop.state(awkward), shop.queue(awkward)) == ("waiting", awkward)
    web.submit(question(web.page(at(awkward, "move"))), queue="slow")
    assert shop.queue(awkward) == "slow"
    web.post(at(awkward, "track"))
    page = web.page(at(awkward, "cancel"))
    told = web.follow(web.submit(question(page)))

    assert shop.state(awkward) == "gone"
    assert "Cancelled" in toasts(told)
    assert shop.state(other) == "failed"


def test_names_of_dependents_come_back_from_the_question_as_they_are(web, shop, awkward):
    shop.put("a")
    shop.put(awkward, depends=["a"])

    web.submit(question(web.page(at("a", "cancel"))))

    assert (shop.state("a"), shop.state(awkward)) == ("gone", "gone")


def test_the_buttons_of_the_page_of_a_failed_job_work(web, shop):
    shop.fail("a")

    web.submit(form(web.page(at("a")), "Retry"))

    assert shop.state("a") == "waiting"


def test_of_many_jobs_that_a_job_waits_for_some_are_named_and_the_rest_counted(web, shop):
    first = [f"first-{number:02}" for number in range(13)]
    for jid in first:
        shop.put(jid)
    shop.put("a", depends=first)

    page = web.page(at("a", "undepend"))

    assert "first-09" in page.text
    assert "first-10" not in page.text
    assert "and 3 more" in page.text


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"], ids=ascii)
def test_whatever_ends_the_lines_of_a_name_it_is_that_one(web, shop, client, end):
    name = f"a{end}b"
    shop.put(name, queue=name, tags=[name])
    shop.put("c", depends=[name])

    # As browsers send it: from a field that is not seen, and from one of one line.
    web.post(at(name, "untag"), {"tag": "a\r\nb"})
    web.post(at("c", "undepend"), {"dependency": "a\r\nb", "expected": "1"})
    web.submit(question(web.page(at("c", "move"))), queue="ab")

    assert client.jobs[name].tags == []
    assert (shop.state("c"), shop.queue("c")) == ("waiting", name)


def test_a_queue_that_is_called_as_typed_is_the_one_meant(web, shop):
    shop.put("a", queue="a\nb")
    shop.put("b", queue="ab")
    shop.put("c")

    web.submit(question(web.page(at("c", "move"))), queue="ab")

    assert shop.queue("c") == "ab"
