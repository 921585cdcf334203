"""The audit: each change is in it, with who, what and what came of it; it has an end."""

from __future__ import annotations

import json

from qless_web import create_app, trail
from qless_web.operations import ordering
from qless_web.trail import Entry
from tests.support.polling import eventually


def test_each_change_is_noted_with_who_where_and_what_came_of_it(shop, web):
    shop.fail("a", "b")

    web.post("/jobs/a/retry", environ_overrides={"REMOTE_ADDR": "10.0.0.7"})
    web.post("/api/v1/failures/boom/cancel")
    web.post("/cancel", json=["gone"])

    items = web.get("/api/v1/audit").json["items"]
    assert [each["action"] for each in items] == ["cancel_jobs", "cancel_group", "retry_job"]
    first = items[2]
    assert first["address"] == "10.0.0.7"
    assert first["on"] == {"jid": "a"}
    assert first["outcome"] == "done"
    assert first["counts"] == {"done": 1}
    assert items[1]["on"] == {"group": "boom"}


def test_an_operation_is_noted_when_it_is_ordered_and_then_when_it_ends(shop, operations):
    shop.fail("a", "b")

    found = operations.do("retry", {"group": "boom"}, note="ticket 812")

    end, began = eventually(lambda: _noted(operations, 2))
    assert [began["action"], end["action"]] == ["start_operation", "operation_ended"]
    assert began["on"]["operation"] == found["id"]
    assert began["on"]["action"] == "retry"
    assert began["on"]["group"] == "boom"
    assert began["note"] == end["note"] == "ticket 812"
    assert end["counts"] == {"done": 2}


def test_the_end_of_none_is_noted_before_its_beginning(client, shop, operations, monkeypatch):
    """However long it takes to note who ordered it: its job is put after that."""
    shop.fail(*"abcd")
    write, lone = trail.write, []

    def looking(client_, entry, **more):
        counts = ordering.workshop(client).queues[ordering.QUEUE].counts
        lone.append((entry.action, counts.waiting + counts.running))
        write(client_, entry, **more)

    monkeypatch.setattr("qless_web.trail.write", looking)
    first = operations.order("retry", {"group": "boom"}, options={"canary": 1})["id"]
    operations.until(first, "paused")
    operations.tell(first, "resume")
    operations.until(first)
    operations.undo(first)

    eventually(lambda: _noted(operations, 5))
    began = [each for each in lone if each[0] != "operation_ended"]
    assert began == [("start_operation", 0), ("resume_operation", 0), ("undo_operation", 0)]


def test_what_undoes_one_says_which_and_so_does_the_other(shop, operations):
    shop.fail("a", "b")
    made = operations.do("tag", {"group": "boom"}, options={"tags": ["eu", "vip"]})["id"]
    undo = operations.undo(made)["id"]

    ended, asked, *_ = eventually(lambda: _noted(operations, 4))
    assert asked["on"] == {"operation": made, "by": undo}
    assert ended["on"] == {
        "operation": undo, "action": "undo", "of": made, "undoes": "tag", "group": "boom"
    }  # fmt: skip
    page = operations.web.get(f"/operations/{made}").text
    assert f'href="/operations/{undo}"' in page
    assert "eu, vip" in page
    assert "can be taken off again" not in page
    page = operations.web.get(f"/operations/{undo}").text
    assert f'href="/operations/{made}"' in page
    assert "Undo: Tag 2 jobs of" in page
    assert operations.web.get("/operations").text.count(" · undone</span>") == 1
    page = operations.web.get("/audit").text
    assert page.count(f'href="/operations/{made}"') == 3
    assert page.count(f'href="/operations/{undo}"') == 1
    assert page.count("2 done") == 4  # in the cell and in its title, of each that ended
    assert "1 done" not in page


def test_it_says_why_nothing_was_done_and_what_was_saved(shop, operations):
    shop.fail("a")
    made = operations.do("retry", {"group": "boom"})["id"]
    operations.tell(made, "pause", 409)
    web = operations.web
    web.post("/views/save", data={"name": "mine", "address": "/failures"})
    web.post("/deploys", data={"name": "v7"})
    body = {"name": "Late", "kind": "queue-age", "of": "*", "url": "https://example.com/x"}
    assert web.post("/api/v1/alerts/save", json=body).status_code == 200

    items = eventually(lambda: _noted(operations, 6))
    assert [each["on"] for each in items[:3]] == [
        {"alert": "Late"},
        {"deploy": "v7"},
        {"view": "mine"},
    ]
    (failed,) = [each for each in items if each["outcome"] == "failed"]
    assert failed["why"] == "Nothing was done: the operation is done."


def _noted(operations, number):
    items = operations.web.get("/api/v1/audit").json["items"]
    return items if len(items) == number else None


def test_it_is_searched_by_text_who_action_and_outcome(client, web):
    for number in range(5):
        entry = Entry(
            action="pause_queue", who="dana" if number % 2 else "kim", on={"queue": "mail"}
        )
        trail.write(client, entry, days=1, most=100)
    trail.write(client, Entry(action="retry_job", outcome="failed", why="Boom!"), days=1, most=100)

    def found(query):
        return [each["action"] for each in web.get(f"/api/v1/audit?{query}").json["items"]]

    assert found("who=dana") == ["pause_queue"] * 2
    assert (
        found("action=retry_job") == found("outcome=failed") == found("text=boom") == ["retry_job"]
    )
    assert found("who=nobody") == []
    page = web.get("/audit?who=dana").text
    assert page.count(">pause_queue</code>") == 2


def test_it_is_read_in_parts(client, web):
    for number in range(7):
        trail.write(client, Entry(action=f"act_{number}"), days=1, most=100)

    seen, behind = [], ""
    while True:
        part = web.get(
            "/api/v1/audit", query_string={"limit": 3, **({"behind": behind} if behind else {})}
        )
        seen += [each["action"] for each in part.json["items"]]
        behind = part.json["next"]
        if not behind:
            break

    assert seen == [f"act_{number}" for number in reversed(range(7))]
    for nowhere in ("x", "0-0"):
        assert web.get(f"/api/v1/audit?behind={nowhere}").status_code == 400


def test_it_is_exported_as_lines_of_json(client, web):
    trail.write(client, Entry(action="one", note="ü"), days=1, most=100)

    answer = web.get("/audit?format=ndjson")

    assert "attachment" in answer.headers["Content-Disposition"]
    (line,) = [json.loads(each) for each in answer.text.splitlines()]
    assert (line["action"], line["note"]) == ("one", "ü")


def test_it_keeps_no_more_than_it_may(client, redis):
    for _ in range(400):
        trail.write(client, Entry(action="act"), days=1, most=100)

    assert redis.xlen("ql:web:audit") < 300


def test_a_console_that_may_only_read_writes_none(client, shop, redis):
    shop.fail("a")

    answer = create_app(client, read_only=True).test_client().post("/jobs/a/retry")

    assert answer.status_code == 403
    assert redis.exists("ql:web:audit") == 0
