"""What is done to whole groups of failures: to the end, and only to what was shown."""

from __future__ import annotations

import threading

import pytest

from qless_core.client import Client
from qless_core.testing import FrozenClock
from qless_web import create_app
from qless_web.formatting import tilde
from tests.support.dom import parse
from tests.support.html import HTMX, question, toasts

MANY = 5_000


def at(group, verb):
    return f"/failed/{tilde(group)}/{verb}"


@pytest.fixture
def many(client):
    """Let 5,000 jobs fail in one group, in two queues."""
    with client.redis.pipeline(transaction=False) as pipe:
        for number in range(MANY):
            jid, queue = f"j{number:04}", f"q{number % 2}"
            failure = '{"group":"boom","message":"no","when":1600000000,"worker":"w"}'
            fields = {
                "jid": jid,
                "klass": "Job",
                "data": "{}",
                "state": "failed",
                "queue": queue,
                "priority": 0,
                "retries": 5,
                "remaining": 2,
                "tags": "[]",
                "failure": failure,
                "worker": "",
                "expires": "",
            }
            pipe.hset(f"ql:j:{jid}", mapping=fields)
            pipe.lpush("ql:f:boom", jid)
        pipe.sadd("ql:failures", "boom")
        pipe.hset("ql:s:stats:1599955200:q0", mapping={"failed": MANY // 2, "failures": 9})
        pipe.hset("ql:s:stats:1599955200:q1", mapping={"failed": MANY // 2, "failures": 9})
        pipe.execute()


# -- Asking


def test_the_question_says_the_exact_number_and_what_is_left_out(web, shop, redis):
    shop.fail(*(f"j{number}" for number in range(6)))
    redis.delete("ql:j:j1", "ql:j:j2")
    redis.hset("ql:j:j3", "state", "running")

    page = web.page(at("boom", "retry"))

    assert "Retry 3 jobs of boom into their own queues?" in page.text
    assert "3 are left out: 2 have gone, 1 is running." in page.text
    assert question(page).buttons == ["Retry 3 jobs"]


@pytest.mark.parametrize("verb", ["retry", "cancel", "move"])
def test_nothing_is_done_before_the_question_is_answered(web, shop, stored, verb):
    shop.fail("a", "b")
    before = stored()

    assert web.get(at("boom", verb)).status_code == 200
    assert web.post(at("boom", verb), {"queue": "slow"}).status_code == 422
    assert stored() == before


def test_an_empty_group_has_no_button(web):
    page = web.page(at("none", "retry"))

    assert "There is nothing in none now." in page.text
    assert question(page).buttons == []


@pytest.mark.usefixtures("many")
def test_above_a_hundred_the_number_must_be_typed(web, client):
    asked = question(web.page(at("boom", "retry")))

    again = web.submit(asked, typed="4999")
    assert again.status_code == 422
    assert "Type the number 5,000 to go on" in again.text
    assert client.failures.groups == {"boom": MANY}

    told = web.follow(web.submit(asked, typed="5,000"))
    assert toasts(told) == "Retried 5,000 jobs. Report and undo"
    assert client.failures.groups == {}


def test_asked_again_it_keeps_the_queue_that_was_chosen(web, shop):
    shop.fail(*(f"j{number}" for number in range(101)))
    asked = question(web.page(at("boom", "move")))

    again = web.submit(asked, queue="slow", typed="7")

    assert again.status_code == 422
    assert question(parse(again.text)).value("queue") == "slow"


# -- Acting


@pytest.mark.usefixtures("many")
def test_a_group_is_retried_to_the_end_each_job_into_its_own_queue(web, client):
    web.submit(question(web.page(at("boom", "retry"))), typed="5000")

    counts = {queue.name: queue.waiting for queue in client.queues.counts}
    assert counts == {"q0": MANY // 2, "q1": MANY // 2}
    assert client.jobs["j0000"].retries_left == 5
    assert [client.queues[name].stats(1_600_000_000).failed for name in ("q0", "q1")] == [0, 0]


@pytest.mark.usefixtures("many")
def test_a_group_moves_to_one_queue(web, client):
    asked = question(web.page(at("boom", "move")))

    told = web.follow(web.submit(asked, typed="5000", queue="slow"))

    assert toasts(told) == "Moved to slow: 5,000 jobs. Report and undo"
    assert client.queues["slow"].counts.waiting == MANY
    assert client.queues["q0"].stats(1_600_000_000).failed == 0


@pytest.mark.usefixtures("many")
def test_a_group_is_cancelled_to_the_end_but_for_what_others_need(web, client, shop):
    shop.put("needs", depends=["j2500"])

    told = web.follow(web.submit(question(web.page(at("boom", "cancel"))), typed="5000"))

    assert "Cancelled 4,999 jobs." in toasts(told)
    assert "1 was left out: it has other jobs waiting for it." in toasts(told)
    assert "j2500: other jobs wait for it" in toasts(told)
    assert client.failures.groups == {"boom": 1}
    assert (shop.state("needs"), shop.state("j2500")) == ("depends", "failed")


def test_what_failed_since_the_question_is_not_touched(web, shop, client):
    shop.fail("a", "b")
    asked = question(web.page(at("boom", "retry")))
    shop.fail("later")
    client.commands.bulk_move("", "", [("a", "failed")])

    told = web.follow(web.submit(asked))

    assert toasts(told) == "Retried 1 job. Report and undo"
    assert client.failures.groups == {"boom": 1}
    assert [shop.state(jid) for jid in ("a", "b", "later")] == ["waiting", "waiting", "failed"]


@pytest.mark.parametrize("verb", ["retry", "cancel"])
def test_what_failed_since_is_not_touched_even_where_all_that_was_shown_has_left(
    web, shop, client, clock, verb
):
    shop.fail("a", "b")
    asked = question(web.page(at("boom", verb)))
    client.commands.bulk_move("", "", [("a", "failed"), ("b", "failed")])
    clock.advance(60)
    shop.fail("later")

    web.submit(asked)

    assert shop.state("later") == "failed"


def test_what_is_still_there_is_retried_where_the_newest_has_left(web, shop, client, clock):
    shop.fail("a", "b")
    clock.advance(1)  # failures tell whole seconds
    asked = question(web.page(at("boom", "retry")))
    client.commands.bulk_move("", "", [("b", "failed")])
    clock.advance(60)
    shop.fail("later")

    web.submit(asked)

    assert [shop.state(jid) for jid in ("a", "later")] == ["waiting", "failed"]


@pytest.mark.parametrize("pause", [0.25, 60])
@pytest.mark.parametrize("others", [0, 3])
@pytest.mark.parametrize("verb", ["retry", "cancel"])
def test_what_failed_since_is_not_touched_where_the_newest_failed_anew_itself(  # noqa: PLR0913, PLR0917 - fixtures
    web, shop, client, clock, verb, others, pause
):
    shop.fail("a", "b", "c", "d", "newest")
    clock.advance(1)  # failures tell whole seconds
    asked = question(web.page(at("boom", verb)))
    clock.advance(pause)
    client.commands.bulk_move("", "", [(jid, "failed") for jid in ("newest", *"bcd"[:others])])
    shop.fail("k", "l")
    client.commands.priority("newest", 1_000)
    client.queues["mail"].pop().fail("boom", "again")

    web.submit(asked)

    assert [shop.state(jid) for jid in ("k", "l", "newest")] == ["failed"] * 3
    assert shop.state("a") == ("waiting" if verb == "retry" else "gone")


def test_of_all_groups_it_is_the_same(web, shop, client, clock):
    shop.fail("a", "newest")
    clock.advance(1)
    asked = question(web.page("/unfail"))
    clock.advance(60)
    client.commands.bulk_move("", "", [("newest", "failed"), ("a", "failed")])
    shop.fail("k")
    for _ in range(2):
        client.queues["mail"].pop().fail("boom", "again")

    web.submit(asked)

    assert [shop.state(jid) for jid in ("k", "a", "newest")] == ["failed"] * 3


def test_one_bad_job_does_not_stop_the_rest(web, shop, redis, client):
    shop.fail(*(f"j{number}" for number in range(6)))
    asked = question(web.page(at("boom", "retry")))
    redis.delete("ql:j:j1")
    redis.hset("ql:j:j2", "failure", "not JSON")
    redis.hset("ql:j:j3", "state", "running")
    redis.hset("ql:j:j4", "failure", '{"group":"other"}')

    told = toasts(web.follow(web.submit(asked)))

    assert "Retried 2 jobs. 4 were left out: " in told
    for line in ("j1: it has gone", "j3: it is running now", "j2: it has failed in another group"):
        assert line in told
    assert (shop.state("j0"), shop.state("j5")) == ("waiting", "waiting")
    assert client.failures.groups == {"boom": 3}


def test_the_second_submission_of_one_question_does_nothing_more(web, shop, client):
    shop.fail("a", "b")
    asked = question(web.page(at("boom", "retry")))
    web.follow(web.submit(asked))
    client.queues["mail"].pop(2)

    assert toasts(web.follow(web.submit(asked))) == "Nothing was left to do."
    assert client.queues["mail"].counts.running == 2


@pytest.mark.usefixtures("many")
def test_two_at_once_do_it_once(server, clock):
    clients = [Client(server.url, clock=clock) for _ in range(2)]
    done = []

    def work(client):
        for report in client.failures.retry("boom"):
            done.extend(report.done)

    threads = [threading.Thread(target=work, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(done) == [f"j{number:04}" for number in range(MANY)]
    assert clients[0].failures.groups == {}
    assert sum(queue.waiting for queue in clients[0].queues.counts) == MANY
    for client in clients:
        client.close()


@pytest.mark.usefixtures("many")
def test_many_that_stay_do_not_hide_those_behind_them(client, redis, monkeypatch):
    monkeypatch.setattr("qless_core.bulk.WINDOW", 100)
    for number in range(1_000):
        redis.hset(f"ql:j:j{number:04}", "state", "running")

    reports = list(client.failures.retry("boom"))

    assert sum(len(report.done) for report in reports) == MANY - 1_000
    assert sum(len(report.left) for report in reports) == 1_000


class HurriedClock(FrozenClock):
    """Stands still for Redis, and hurries where somebody waits: 3 s pass between two looks."""

    def __init__(self):
        super().__init__()
        self.looks = 0

    def monotonic(self):
        self.looks += 1
        return self.looks * 3.0


@pytest.mark.usefixtures("many")
def test_where_the_time_is_up_it_says_how_far_it_came_and_leaves_the_rest_to_others(server, visit):
    with Client(server.url, clock=HurriedClock()) as client:
        web = visit(create_app(client))

        told = web.follow(web.submit(question(web.page(at("boom", "retry"))), typed="5000"))

        done = MANY - client.failures.groups["boom"]
        assert 0 < done < MANY
        said = f"Retried {done:,} jobs. The others are done in the background. Report and undo"
        assert toasts(told) == said
        (operation,) = client.redis.zrange("ql:web:operations", 0, -1)
        assert client.redis.hget(f"ql:web:operation:{operation}", "at") == str(done)
        assert client.redis.exists(f"ql:web:ops:j:{operation}-1")
        while client.failures.groups:
            asked = question(web.page(at("boom", "retry")))
            web.submit(asked, typed=asked.value("expected"))
        assert sum(queue.waiting for queue in client.queues.counts) == MANY


# -- Where it leads


def test_from_the_page_of_an_emptied_group_it_leads_to_all_failures(web, shop):
    shop.fail("a")
    back = {"return_to": f"{web.prefix}/failed/boom"}
    fields = question(web.page(at("boom", "retry"))).filled(back)

    assert web.post(at("boom", "retry"), fields).headers["Location"] == f"{web.prefix}/failed"
    shop.fail("b", "c")
    fields = question(web.page(at("boom", "retry"))).filled(back)
    answer = web.post(at("boom", "retry"), fields, **HTMX)
    assert answer.headers["HX-Redirect"] == f"{web.prefix}/failed"


def test_b09_a_group_of_any_name_is_the_one_acted_on(web, shop, awkward, client):
    shop.fail("a", group=awkward)
    shop.fail("b", group=f"{awkward}x")

    told = web.follow(web.submit(question(web.page(at(awkward, "retry")))))

    assert toasts(told) == "Retried 1 job. Report and undo"
    assert client.failures.groups == {f"{awkward}x": 1}


@pytest.mark.parametrize("verb", ["retry", "cancel", "move"])
def test_b09_groups_that_share_ten_thousand_characters_are_told_apart(web, shop, client, verb):
    one, other = "x" * 10_000 + "1", "x" * 10_000 + "2"
    shop.fail("a", group=one)
    shop.fail("b", group=other)

    web.submit(question(web.page(at(one, verb))), queue="slow")

    assert client.failures.groups == {other: 1}


# -- All groups


def test_everything_that_failed_goes_back_each_job_into_its_own_queue(web, shop, client, awkward):
    shop.fail("a", group="boom", queue="qa")
    shop.fail("b", "c", group=awkward, queue="qb")
    page = web.page("/unfail")
    assert "Retry 3 jobs of 2 groups, each into its own queue?" in page.text
    asked = question(page)
    shop.fail("later", group=awkward)

    told = web.follow(web.submit(asked))

    assert toasts(told) == "Retried 3 jobs."
    assert [shop.queue(jid) for jid in "abc"] == ["qa", "qb", "qb"]
    assert client.failures.groups == {awkward: 1}


def test_without_failures_there_is_nothing_to_retry(web):
    page = web.page("/unfail")

    assert "Nothing has failed." in page.text
    assert question(page).buttons == []


@pytest.mark.parametrize("seen", ["boom", "boom:a", "boom:a:x", ":", "a:b:c:1"])
def test_a_form_that_no_question_of_ours_wrote_is_refused(web, shop, client, seen):
    shop.fail("a")

    assert web.post("/unfail", {"expected": "1", "seen": seen}).status_code == 400
    assert client.failures.groups == {"boom": 1}
