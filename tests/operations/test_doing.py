"""Operations by the API: seen before, done in the background, steered, reported and undone."""

from __future__ import annotations

import json
import re
import socket

import pytest

from qless_web.formatting import tilde
from qless_web.operations import ordering
from qless_web.operations.background import bury
from qless_web.operations.verbs import VERBS
from tests.support.dom import parse
from tests.support.polling import eventually
from tests.support.stored import everything

#: Keys that only tell of what was done.
_OURS = ("ql:web:", "ql:s:")


def jobs(redis):
    """Read all that is stored of jobs and queues."""
    return {key: value for key, value in everything(redis).items() if not key.startswith(_OURS)}


def test_a_dry_run_says_exactly_what_would_be_done_and_does_nothing(shop, redis, operations):
    shop.fail(*(f"job-{number}" for number in range(30)))
    shop.fail("slow", queue="slow")
    redis.delete("ql:j:job-3")
    before = jobs(redis)

    found = operations.order("retry", {"group": "boom"}, status=200, dry_run=True)

    assert found["total"] == 31
    assert found["excluded"] == {"gone": 1}
    assert found["queues"] == {"mail": 29, "slow": 1}
    assert found["classes"] == {"Job": 30}
    assert found["sample"][0] == "job-0"
    assert found["odd"][0]["jid"] == "job-3"
    assert jobs(redis) == before
    assert operations.web.get("/api/v1/operations").json["total"] == 0


def test_a_group_is_retried_and_each_job_is_in_the_report(shop, redis, operations):
    shop.fail("a", "b", "c")
    redis.delete("ql:j:b")

    found = operations.do("retry", {"group": "boom"}, options={"queue": "slow"})

    assert (found["total"], found["done"], found["skipped"], found["failed"]) == (3, 2, 1, 0)
    assert found["left"] == {"gone": 1}
    assert shop.queue("a") == shop.queue("c") == "slow"
    told = [
        (each["jid"], each["outcome"], each["reason"]) for each in operations.report(found["id"])
    ]
    assert told == [("a", "done", ""), ("b", "left", "gone"), ("c", "done", "")]
    csv = operations.web.get(found["report"] + "?format=csv").text.splitlines()
    assert csv[0] == "jid,outcome,reason,when"
    assert csv[2].startswith("b,left,gone,")


@pytest.mark.parametrize(
    ("action", "options"),
    [
        ("move", {"queue": "slow", "delay": 60}),
        ("cancel", {}),
        ("priority", {"priority": 5}),
        ("tag", {"tags": ["x"]}),
        ("untag", {"tags": ["old"]}),
        ("edit", {"set": {"n": 2}}),
        ("untrack", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_action_is_done_and_undone(shop, client, redis, operations, action, options):
    shop.fail("a", "b")
    for jid in ("a", "b"):
        client.commands.tag("add", jid, "old")
        client.track(jid)
    before = {jid: client.commands.get(jid) for jid in ("a", "b")}

    found = operations.do(action, {"jids": ["a", "b"]}, options=options)
    changed = {jid: client.commands.get(jid) for jid in ("a", "b")}
    back = operations.undo(found["id"])

    assert found["done"] == 2
    assert changed != before
    assert back["done"] == 2, back
    for jid in ("a", "b"):
        after = client.commands.get(jid)
        assert (after.state, after.queue, after.priority) == ("failed", "mail", 0)
        assert after.data == before[jid].data
        assert set(after.tags) == set(before[jid].tags)
        assert after.tracked
    assert operations.look(found["id"])["undone_by"] == back["id"]
    assert redis.llen("ql:f:boom") == 2


def test_a_thousand_cancelled_jobs_come_back_equal_in_every_field(shop, client, redis, operations):
    queue = client.queues["mail"]
    queue.put_many(
        ("Job", {"n": number}, {"jid": f"job-{number}", "tags": ["old", f"t{number % 7}"]})
        for number in range(1_000)
    )
    for job in queue.pop(600):
        job.fail("boom", f"{job.jid} went wrong")
    for number in range(0, 1_000, 13):
        client.track(f"job-{number}")
    before = jobs(redis)
    jids = [f"job-{number}" for number in range(1_000)]

    found = operations.do("cancel", {"jids": jids})
    assert redis.keys("ql:j:*") == []
    back = operations.undo(found["id"])

    assert (found["done"], back["done"]) == (1_000, 1_000)
    after = jobs(redis)
    assert set(after) == set(before)
    for key, (kind, value) in before.items():
        if kind == "list" and key.startswith("ql:f:"):
            continue  # compared below, by what it lists
        assert after[key] == (kind, value), key
    assert set(redis.lrange("ql:f:boom", 0, -1)) == {f"job-{n}" for n in range(1_000)} - {
        jid for jid in jids if shop.state(jid) != "failed"
    }


def test_what_waits_for_a_cancelled_job_goes_along_or_keeps_it(shop, operations):
    shop.put("first")
    shop.put("second", depends=["first"])
    shop.put("third", depends=["second"])

    kept = operations.do("cancel", {"jids": ["first", "second"]})
    assert kept["left"] == {"dependents": 2}
    assert shop.state("first") == "waiting"

    gone = operations.do("cancel", {"jids": ["first"]}, options={"dependents": True})
    assert (gone["total"], gone["done"]) == (3, 3)
    assert shop.state("third") == "gone"
    back = operations.undo(gone["id"])
    assert back["done"] == 3
    assert [shop.state(jid) for jid in ("first", "second", "third")] == [
        "waiting",
        *["depends"] * 2,
    ]


def test_chosen_together_those_that_wait_are_cancelled_first(shop, operations):
    shop.put("first")
    shop.put("second", depends=["first"])

    assert operations.do("cancel", {"jids": ["first", "second"]})["done"] == 2


def test_an_edit_changes_fields_and_nothing_else_and_retries(client, operations):
    client.queues["mail"].put("Job", {}, jid="a")
    client.redis.hset("ql:j:a", "data", '{"n": 1.10, "list": [] }')
    client.queues["mail"].pop().fail("boom", "no")

    found = operations.do("edit", {"jids": ["a"]}, options={"set": {"n": 3}, "retry": True})

    assert found["done"] == 1
    assert client.redis.hget("ql:j:a", "data") == '{"n": 3, "list": [] }'
    assert client.jobs["a"].state == "waiting"


@pytest.fixture
def odd_jobs(shop, client, redis):
    """Put jobs in every state, some tagged, tracked, of that priority, or with data of any kind."""
    shop.fail("failed", "plain", "bad-data", "gone", "gone-tracked")
    client.commands.priority("failed", 7)
    for jid, data in (("listed", "[1,2]"), ("text", '"x"'), ("object", '{"k":1}')):
        shop.put(jid, priority=7 if jid == "text" else 0)
        redis.hset(f"ql:j:{jid}", "data", data)
    redis.hset("ql:j:bad-data", "data", "{no json")
    shop.run("running", queue="runs")
    shop.run("timed-out", queue="stands")
    client.commands.timeout("timed-out")
    shop.complete("complete", queue="done")
    shop.put("later", delay=600, queue="later", tags=["old"])
    shop.put("waits", depends=["object"], queue="waits")
    client.commands.tag("add", "plain", "old", "new")
    client.commands.tag("add", "complete", "old")
    for jid in ("failed", "complete", "gone-tracked", "running"):
        client.track(jid)
    redis.delete("ql:j:gone", "ql:j:gone-tracked")
    return [
        *("failed", "plain", "bad-data", "gone", "gone-tracked", "listed", "text", "object"),
        *("running", "timed-out", "complete", "later", "waits", "never-was"),
    ]


@pytest.mark.parametrize("chosen", ["jids", "group"])
@pytest.mark.parametrize(
    ("action", "options"),
    [
        ("retry", {}),
        ("move", {"queue": "slow"}),
        ("cancel", {}),
        ("cancel", {"dependents": True}),
        ("priority", {"priority": 0}),
        ("priority", {"priority": 7}),
        ("tag", {"tags": ["old"]}),
        ("tag", {"tags": ["old", "new"]}),
        ("untag", {"tags": ["old"]}),
        ("untag", {"tags": ["nobody"]}),
        ("edit", {"set": {"k": 1}}),
        ("edit", {"data": "[]"}),
        ("edit", {"set": {"k": 1}, "retry": True}),
        ("time_out", {}),
        ("untrack", {}),
    ],
    ids=str,
)
def test_what_is_foreseen_is_what_is_done(odd_jobs, operations, action, options, chosen):
    selection = {"jids": odd_jobs} if chosen == "jids" else {"group": "boom"}
    body = {"action": action, "selection": selection, "options": options}

    foreseen = operations.order(**body, status=200, dry_run=True)
    done = operations.do(**body)

    assert done["left"] == foreseen["excluded"]
    assert done["done"] == foreseen["total"] - sum(foreseen["excluded"].values())


@pytest.mark.parametrize("action", ["retry", "move"])
def test_a_queue_that_is_not_there_yet_is_said_to_be_new(shop, operations, action):
    shop.fail("a", queue="mail")

    def foreseen(queue):
        body = {"selection": {"jids": ["a"]}, "options": {"queue": queue}}
        return operations.order(action, status=200, dry_run=True, **body)["new_queue"]

    assert (foreseen("mail"), foreseen("maul")) == ("", "maul")
    form = {"action": action, "jids": "a", "queue": "maul"}
    made = operations.web.post("/operations/new", data=form, follow_redirects=True)
    assert "There is no queue “maul” yet: it is a new one." in parse(made.text).text


def test_a_tracked_job_that_is_gone_is_untracked(odd_jobs, redis, operations):
    done = operations.do("untrack", {"jids": odd_jobs})

    assert done["done"] == 4
    assert redis.zcard("ql:tracked") == 0


@pytest.mark.usefixtures("odd_jobs")
def test_a_complete_job_is_not_edited(redis, operations):
    done = operations.do("edit", {"jids": ["complete", "object"]}, options={"data": "[]"})

    assert done["left"] == {"complete": 1}
    assert redis.hget("ql:j:complete", "data") == '{"n":1}'


def test_data_that_is_no_object_is_left_alone(client, operations):
    client.queues["mail"].put("Job", [1], jid="a")

    found = operations.do("edit", {"jids": ["a"]}, options={"set": {"n": 3}})

    assert (found["done"], found["failed"], found["left"]) == (0, 1, {"data": 1})


def test_a_canary_waits_and_the_rest_follows_by_one_order(shop, client, operations):
    shop.fail(*"abcdef")
    made = operations.order("retry", {"group": "boom"}, options={"canary": 2})["id"]

    first = operations.until(made, "paused")
    assert (first["done"], first["why"]) == (2, "canary")
    assert [shop.state(jid) for jid in "abc"] == ["waiting", "waiting", "failed"]
    one, two = client.queues["mail"].pop(2)
    one.complete()
    two.fail("again", "no")
    seen = operations.look(made)
    assert (seen["failed_again"], seen["ended_again"]) == (1, 2)
    assert (
        "Of 2 that have ended since, 1 failed again: 50 %."
        in operations.web.get(f"/operations/{made}").text
    )
    operations.tell(made, "resume")

    assert operations.until(made)["done"] == 6


def test_it_stops_when_too_many_fail_again_and_can_be_resumed(shop, client, operations):
    shop.fail(*(f"job-{number}" for number in range(200)))
    options = {"rate": 100, "stop_percent": 50}
    made = operations.order("retry", {"group": "boom"}, options=options)["id"]

    def work():
        for job in client.queues["mail"].pop(50):
            job.fail("again", "no")
        return operations.look(made)["state"] == "stopped"

    eventually(work)

    found = operations.look(made)
    assert found["why"] == "failing"
    assert 20 <= found["failed_again"] == found["ended_again"]
    assert found["done"] < 200
    operations.tell(made, "resume")
    assert operations.until(made, "done", "stopped")["done"] > found["done"]


def test_a_slow_one_is_paused_resumed_and_stopped(shop, operations):
    shop.fail(*(f"job-{number}" for number in range(50)))
    made = operations.order("retry", {"group": "boom"}, options={"rate": 5})["id"]
    eventually(lambda: operations.look(made)["done"] > 1)

    assert operations.tell(made, "pause")["state"] == "paused"
    rests = operations.look(made)["done"]
    operations.tell(made, "resume")
    eventually(lambda: operations.look(made)["done"] > rests)
    assert operations.tell(made, "stop")["state"] == "stopped"

    assert operations.look(made)["done"] < 50
    assert operations.tell(made, "pause", 409)["type"] == "urn:qless:nothing-done"


def test_a_slow_one_lets_others_have_their_turn(shop, operations):
    shop.fail(*(f"job-{number}" for number in range(60)))
    shop.fail("other", group="other")
    slow = operations.order("retry", {"group": "boom"}, options={"rate": 10})["id"]
    eventually(lambda: operations.look(slow)["done"] > 0)

    assert operations.do("retry", {"group": "other"})["done"] == 1
    assert operations.look(slow)["done"] < 60
    operations.tell(slow, "stop")


def test_there_must_be_a_job_in_what_was_chosen(redis, web):
    body = {"action": "retry", "selection": {"group": "none"}}

    answer = web.post("/api/v1/operations", json=body)

    assert answer.status_code == 409
    assert "There is no job" in answer.json["detail"]
    assert redis.keys("ql:web:operation*") == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"action": "explode", "selection": {"group": "g"}}, "must be one of cancel"),
        ({"selection": {"group": "g"}}, "“action” is missing"),
        ({"action": "retry"}, "“selection” is missing"),
        ({"action": "retry", "selection": {}}, "with one of"),
        ({"action": "retry", "selection": {"jids": []}}, "a list of 1 to"),
        ({"action": "retry", "selection": {"jids": [1]}}, "not empty"),
        ({"action": "move", "selection": {"group": "boom"}}, "“queue” of move is missing"),
        (
            {"action": "retry", "selection": {"group": "boom"}, "options": {"tags": ["x"]}},
            "There is no option “tags” of retry",
        ),
        (
            {"action": "retry", "selection": {"group": "boom"}, "options": {"rate": 0}},
            "“rate” must be jobs a second",
        ),
        (
            {"action": "retry", "selection": {"group": "boom"}, "options": {"delay": 10**400}},
            "“delay” must be seconds",
        ),
        ({"action": "retry", "selection": {"q": "a\ud800"}}, "half a character"),
        (
            {"action": "priority", "selection": {"group": "boom"}, "options": {"priority": 1.5}},
            "must be a whole number",
        ),
        ({"action": "edit", "selection": {"group": "boom"}}, "An edit takes either"),
        ({"action": "retry", "selection": {"q": "state:"}}, ""),
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else "",
)
def test_what_makes_no_sense_is_refused_with_a_sentence(shop, redis, web, body, problem):
    shop.fail("a")
    before = {*jobs(redis), *redis.keys("ql:web:operation*")}

    answer = web.post("/api/v1/operations", json=body)

    assert answer.status_code == 400
    assert answer.content_type == "application/problem+json"
    assert problem in answer.json["detail"]
    assert {*jobs(redis), *redis.keys("ql:web:operation*")} == before


def test_what_is_not_there_is_not_found(web):
    for path in ("", "/report"):
        assert web.get(f"/api/v1/operations/00000000000000ff{path}").status_code == 404
        assert web.get(f"/api/v1/operations/none{path}").status_code == 404
    for verb in ("pause", "resume", "stop", "undo"):
        assert web.post(f"/api/v1/operations/00000000000000ff/{verb}").status_code == 404


@pytest.mark.parametrize("verb", VERBS)
def test_ticked_rows_of_a_group_are_all_that_an_operation_with_options_is_about(
    verb, shop, operations
):
    shop.fail(*"abc")
    bar = operations.web.get("/failed/boom").text
    assert f'name="action" value="{verb}" formaction="/operations/new"' in bar
    # As a browser sends the bar: with the name of the group.
    ticked = {"action": verb, "jids": ["a", "b"], "group": "boom"}

    asked = operations.web.get("/operations/new", query_string=ticked).text

    fields = re.findall(r'name="(jids|group)" value="([^"]*)"', asked)
    assert fields == [("jids", "a"), ("jids", "b")]
    more = {"queue": "mail", "priority": "7", "tags": "vip", "set": "n: 1", "expected": "2"}
    made = operations.web.post("/operations/new", data=ticked | more, follow_redirects=True)
    assert made.request.path.startswith("/operations/")
    found = operations.look(made.request.path.rpartition("/")[2])
    assert (found["action"], found["total"]) == (verb, 2)


def test_one_that_has_been_undone_is_not_undone_again(shop, operations):
    shop.fail("a")
    found = operations.do("retry", {"group": "boom"})
    operations.undo(found["id"])

    assert "undone before" in operations.tell(found["id"], "undo", 409)["detail"]


def test_one_that_was_undone_while_it_was_paused_goes_on_no_more(client, shop, operations):
    """What it did after that could not be undone a second time."""
    shop.fail(*"abcde")
    made = operations.order("retry", {"group": "boom"}, options={"canary": 2})["id"]
    assert operations.until(made, "paused")["done"] == 2
    assert "Go on with the other 3" in operations.web.get(f"/operations/{made}").text

    undone = operations.undo(made)

    assert (undone["done"], undone["left"]) == (2, {"untouched": 3})
    assert "has been undone" in operations.tell(made, "resume", 409)["detail"]
    run = int(client.redis.hget(f"ql:web:operation:{made}", "run"))
    assert client.commands.operation_start(made, run) == 0
    found = operations.look(made)
    assert (found["state"], found["why"], found["done"]) == ("stopped", "", 2)
    assert "Go on with" not in operations.web.get(f"/operations/{made}").text


def test_one_that_is_through_cannot_be_resumed(shop, operations):
    shop.fail("a")
    found = operations.do("retry", {"group": "boom"})

    assert "is done" in operations.tell(found["id"], "resume", 409)["detail"]


def test_a_started_one_without_a_job_gets_one_again(shop, client, operations):
    shop.fail("a")
    made = operations.order("retry", {"group": "boom"})["id"]
    operations.until(made)
    key = f"ql:web:operation:{made}"
    client.redis.hset(key, mapping={"state": "queued", "at": 0, "done": 0})
    assert ordering.mend(client) == 0  # whoever ordered it just now does that
    client.redis.hset(key, "ordered", client.now() - 60)

    assert ordering.mend(client) == 1
    assert operations.until(made)["left"] == {"waiting": 1}


def test_what_a_dead_process_of_this_host_did_is_taken_from_it(client):
    name = f"{socket.gethostname()}-4194304-dead"
    dead = ordering.workshop(client, name)
    dead.queues["operations"].put("Job", {}, jid="a")
    assert dead.queues["operations"].pop().jid == "a"

    assert bury(ordering.workshop(client, "me")) == 1
    assert dead.jobs["a"].state == "stalled"


def test_from_the_page_of_a_group_it_is_prepared_shown_and_started(shop, operations):
    name = "a/b " + "long " * 300
    shop.fail(*(f"job-{number}" for number in range(101)), group=name)
    web = operations.web
    (link,) = re.findall(r'href="(/operations/new[^"]*)"', web.get(f"/failed/{tilde(name)}").text)

    asked = web.get(link.replace("&amp;", "&"))
    assert "Retry 101 jobs" in asked.text
    assert "Type <strong>" not in asked.text  # nothing is done by looking
    assert "There is no job of" in web.get("/operations/new?action=retry&group=none").text
    shown = web.post("/operations/new", data={"action": "retry", "group": name, "queue": "slow"})
    assert shown.status_code == 303
    page = shown.headers["Location"]
    assert "Type <strong>101</strong> to go on" in web.get(page).text
    assert shop.state("job-0") == "failed"
    start = f"{page}/start"
    assert web.post(start, data={"expected": "101"}).status_code == 422
    assert web.post(start, data={"expected": "101", "typed": "101"}).status_code == 303

    assert operations.until(page.rpartition("/")[2])["done"] == 101
    assert shop.queue("job-100") == "slow"
    assert web.get(page).text.count('class="badge" data-state="complete"') == 1
