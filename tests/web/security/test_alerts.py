"""Alerts: when they go off, that they are told once, again when it failed, and when all is well."""

from __future__ import annotations

import json
import logging

import pytest

from qless_core import Client
from qless_web import create_app
from qless_web.alerts.rules import KINDS
from qless_web.alerts.watching import LEASE_MS, MOST_ATTEMPTS, Watching
from qless_web.console import EXTENSION
from qless_web.settings import SettingError
from tests.support.html import form, question
from tests.support.polling import eventually
from tests.support.processes import Command, children_of
from tests.support.receiver import receiving


@pytest.fixture
def receiver():
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def app(client):
    return create_app(client, alerts_private=True)


@pytest.fixture
def look(app, clock):
    """Look once, as the thread of a process does, after some seconds."""

    def looked(after=0):
        clock.advance(after)
        return app.extensions[EXTENSION].watching.look()

    return looked


@pytest.fixture
def be_late(client, clock):
    """Let a job wait for longer than it should."""
    return lambda: late(client, clock)


@pytest.fixture
def save(app, receiver):
    def saved(name="late", **fields):
        body = {"name": name, "kind": "queue-age", "above": 60, "url": receiver.url, **fields}
        answer = app.test_client().post("/api/v1/alerts/save", json=body)
        assert answer.status_code == 200, answer.json
        return answer

    return saved


def alert(app, name="late"):
    items = app.test_client().get("/api/v1/alerts").json["items"]
    return next(each for each in items if each["name"] == name)


# -- When they go off


def late(client, clock):
    client.queues["mail"].put("A", {})
    clock.advance(61)


def grown(client, _clock):
    for number in range(2):
        client.queues["mail"].put("A", {}, jid=f"f{number}")
        client.queues["mail"].pop().fail("mail-Timeout", "no")


def often(client, clock):
    grown(client, clock)
    minute = int(clock.now()) // 60 - 1
    row = ["" for _ in range(60)]
    row[minute % 60] = "0/2"
    key = client.keys.web(f"minutes:{minute // 60}")
    client.redis.hset(key, mapping={"all": ",".join(row), "q:mail": ",".join(row)})


def alone(_client, _clock):
    """Nobody works."""


def stalled(client, clock):
    client.queues["mail"].put("A", {})
    client.queues["mail"].pop()
    clock.advance(3_600)


def paused(client, _clock):
    client.queues["mail"].pause()


WRONG = {
    "queue-age": (late, 60, ["mail"], "mail: the next job has been waiting for 1 min"),
    "failures": (grown, 1, ["mail-Timeout"], "mail-Timeout: 2 failed jobs."),
    "failure-rate": (often, 1, ["mail"], "mail: 2 failures in 5 minutes."),
    "no-workers": (alone, 0, [], "No worker is at work."),
    "stalled": (stalled, 0, ["mail"], "mail: 1 stalled."),
    "paused": (paused, 300, ["mail"], "mail: paused for 5 min"),
}


def test_every_kind_is_tried_here():
    assert set(WRONG) == set(KINDS)


@pytest.mark.parametrize("kind", WRONG)
def test_it_goes_off_where_it_should_and_not_for_others(kind, client, clock, look, save, receiver):
    make, above, names, text = WRONG[kind]
    save("wrong", kind=kind, above=above)
    save("others", kind=kind, above=above, of="other*")
    make(client, clock)

    look()
    if kind == "paused":
        assert receiver.bodies == []
        look(after=301)

    told = {body["alert"]: body for body in receiver.bodies}
    assert told.keys() == ({"wrong"} if KINDS[kind].of else {"wrong", "others"})
    assert told["wrong"]["state"] == "firing"
    assert told["wrong"]["names"] == names
    assert told["wrong"]["text"].startswith(text)


def test_it_is_told_once_and_once_more_when_all_is_well(
    client, be_late, clock, look, save, receiver
):
    save()
    look()
    be_late()
    for _ in range(3):
        look()
        clock.advance(15)
    assert receiver.states == ["firing"]

    client.queues["mail"].pop().complete()
    for _ in range(3):
        look()

    assert receiver.states == ["firing", "recovered"]
    client.queues["mail"].put("A", {})
    look(after=61)
    assert receiver.states == ["firing", "recovered", "firing"]


def test_it_is_told_only_when_it_has_lasted(be_late, look, save, receiver, app):
    save(lasts_s=120)
    be_late()
    look()
    assert alert(app)["state"] == "pending"
    look(after=100)
    assert receiver.bodies == []

    look(after=21)

    assert receiver.states == ["firing"]


def test_what_is_over_before_it_has_lasted_is_never_told(
    client, be_late, look, save, receiver, app
):
    save(lasts_s=120)
    be_late()
    look()
    client.queues["mail"].pop().complete()
    look()

    assert receiver.bodies == []
    assert alert(app)["state"] == "ok"


# -- What is told


def test_slack_gets_a_text_in_which_nothing_is_a_mention(client, look, save, receiver):
    save(shape="slack")
    client.queues["<!channel>"].put("A", {})
    look(after=61)

    (body,) = receiver.bodies
    assert body.keys() == {"text"}
    assert body["text"].startswith("[qless] late: firing. &lt;!channel&gt;: the next job")
    assert receiver.headers[0]["Content-Type"] == "application/json"


def test_the_address_is_shown_to_nobody(app, be_late, look, save, receiver, caplog):
    caplog.set_level(logging.DEBUG)
    receiver.statuses = [500]
    save()
    be_late()
    look()
    web = app.test_client()

    said = web.get("/alerts").text + web.get("/alerts/save?name=late").text
    said += web.get("/api/v1/alerts").text + caplog.text + repr(app.extensions)
    said += web.get("/about").text + web.post("/alerts/late/test").text

    assert "s3cr3t" not in said
    assert "/hook" not in said


# -- When nobody hears it


def test_it_is_sent_again_later_where_the_other_side_has_trouble(
    app, be_late, look, save, receiver
):
    receiver.statuses = [500, 429]
    save()
    be_late()
    look()
    assert len(receiver.bodies) == 1
    assert alert(app)["problem"] == "it answered 500"
    look()
    assert len(receiver.bodies) == 1

    look(after=21)
    assert len(receiver.bodies) == 2
    look(after=41)

    assert receiver.states == ["firing"] * 3
    assert len({body["id"] for body in receiver.bodies}) == 1
    assert alert(app)["problem"] == ""
    look(after=600)
    assert len(receiver.bodies) == 3


@pytest.mark.parametrize("status", [301, 302, 307, 400, 404, 410])
def test_what_another_attempt_cannot_help_is_given_up(app, be_late, look, save, receiver, status):
    receiver.statuses = [status]
    receiver.answers = {"Location": receiver.url}
    save()
    be_late()
    look()
    look(after=3_600)

    assert len(receiver.bodies) == 1
    assert str(status) in alert(app)["problem"]


def test_in_the_end_it_is_given_up(be_late, look, save, receiver, redis):
    receiver.statuses = [500] * 20
    save()
    be_late()
    for _ in range(MOST_ATTEMPTS + 3):
        look(after=601)

    assert len(receiver.bodies) == MOST_ATTEMPTS
    assert redis.hlen("ql:web:alerts:outbox") == 0


def test_another_process_goes_on_with_what_one_has_left(
    server, client, be_late, save, receiver, redis
):
    """One that ends between noting and sending."""
    receiver.statuses = [500]
    save()
    be_late()
    settings = create_app(client, alerts_private=True).extensions[EXTENSION].settings
    assert Watching(client, settings).look()
    redis.delete("ql:web:alerts:leader")
    client.clock.advance(21)

    with Client(server.url, clock=client.clock) as other:
        assert Watching(other, settings).look()

    assert receiver.states == ["firing", "firing"]
    assert receiver.bodies[0]["id"] == receiver.bodies[1]["id"]


def test_one_process_looks_at_a_time(client, be_late, save, receiver, redis, app):
    save()
    be_late()
    settings = app.extensions[EXTENSION].settings
    several = [Watching(client, settings) for _ in range(5)]

    assert [each.look() for each in several] == [True, False, False, False, False]
    assert [each.look() for each in several] == [True, False, False, False, False]

    assert receiver.states == ["firing"]
    assert 0 < redis.pttl("ql:web:alerts:leader") <= LEASE_MS


def test_without_alerts_a_look_costs_three_calls(look, redis):
    look()
    redis.config_resetstat()
    look()

    calls = {
        name.removeprefix("cmdstat_"): stats["calls"]
        for name, stats in redis.info("commandstats").items()
    }
    assert calls.get("set", 0) == 2
    assert calls.get("get") == 1
    assert calls.get("hgetall") == 5
    assert set(calls) <= {"set", "get", "hgetall", "time", "config|resetstat", "info"}


# -- Silence, tests, changes


def test_nothing_is_told_while_it_is_silent_and_what_is_still_so_afterwards_is(
    app, be_late, look, save, receiver
):
    save()
    web = app.test_client()
    assert web.post("/alerts/late/silence", data={"for": "2h"}).status_code == 303
    be_late()
    look()
    assert receiver.bodies == []
    assert "silent" in web.get("/alerts").text

    look(after=7_200)
    assert receiver.states == ["firing"]


def test_a_silence_ends_when_it_is_told_to(app, be_late, look, save, receiver):
    save()
    web = app.test_client()
    web.post("/alerts/late/silence", data={"for": "2h"})
    be_late()
    web.post("/alerts/late/silence", data={"for": "0"})

    look()

    assert receiver.states == ["firing"]


def test_the_button_sends_a_test(app, save, receiver):
    save()

    answer = app.test_client().post("/api/v1/alerts/late/test")

    assert answer.status_code == 200
    assert receiver.states == ["test"]
    receiver.statuses = [404]
    refused = app.test_client().post("/api/v1/alerts/late/test")
    assert refused.status_code == 502
    assert "it answered 404" in refused.json["detail"]


def test_an_alert_is_made_and_changed_by_the_page_alone(app, visit, receiver):
    web = visit(app)
    made = web.submit(
        question(web.page("/alerts/save")), name="mail", of="mail*", above="60", url=receiver.url
    )
    assert "Saved the alert mail." in web.follow(made).text
    assert alert(app, "mail")["above"] == 60

    changed = web.submit(question(web.page("/alerts/save?name=mail")), above="90")
    assert changed.status_code == 303
    assert alert(app, "mail")["above"] == 90
    assert web.post("/alerts/mail/test").status_code == 303
    assert len(receiver.bodies) == 1

    page = web.page("/alerts")
    gone = web.submit(question(web.page("/alerts/mail/forget")))
    assert gone.status_code == 303
    assert "mail" in page.text
    assert "No alert yet" in web.page("/alerts").text
    assert form(web.page("/alerts/save"), "Add 1 alert")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"kind": "nonsense"}, "kind"),
        ({"name": " "}, "name"),
        ({"name": "x" * 61}, "name"),
        ({"above": "-1"}, "above"),
        ({"above": "many"}, "above"),
        ({"lasts_s": "1e9"}, "lasts_s"),
        ({"url": "ftp://hooks.example.com/"}, "url"),
        ({"url": "https://"}, "url"),
        ({"url": ""}, "url"),
        ({"url": "https://me:secret@hooks.example.com/"}, "url"),
        ({"url": "https://hooks.example.com/\r\nX: y"}, "url"),
        ({"shape": "xml"}, "shape"),
        ({"of": "x" * 201}, "of"),
    ],
    ids=str,
)
def test_an_alert_that_makes_no_sense_is_refused(app, fields, said, redis):
    good = {"name": "late", "kind": "queue-age", "url": "https://hooks.example.com/x"}

    answer = app.test_client().post("/alerts/save", data={**good, **fields})

    assert answer.status_code == 422
    assert f"The field “{said}” must be" in answer.text
    assert not redis.exists("ql:web:alerts:rules")


def test_what_is_kept_is_no_more_than_may_be(app, save):
    for number in range(50):
        save(f"a{number}")
    full = {"name": "b", "kind": "stalled", "url": "https://hooks.example.com/"}

    answer = app.test_client().post("/api/v1/alerts/save", json=full)

    assert answer.status_code == 409
    assert "50 alerts" in answer.json["detail"]
    save("a1", above=5)


def test_rules_of_a_file_count_and_no_page_changes_them(client, be_late, tmp_path, receiver):
    place = tmp_path / "alerts.toml"
    place.write_text(
        f'[[alert]]\nname = "late"\nkind = "queue-age"\nabove = 60\nurl = "{receiver.url}"\n'
    )
    app = create_app(client, alerts_file=place, alerts_private=True)
    be_late()
    app.extensions[EXTENSION].watching.look()
    assert receiver.states == ["firing"]

    saved = app.test_client().post(
        "/api/v1/alerts/save", json={"name": "late", "kind": "stalled", "url": receiver.url}
    )
    assert saved.status_code == 409
    assert "is from a file" in saved.json["detail"]
    assert app.test_client().post("/api/v1/alerts/late/forget").status_code == 404
    assert alert(app)["is_fixed"]


@pytest.mark.parametrize(
    "text",
    [
        "alert = 1",
        '[[alert]]\nname = "a"',
        '[[alert]]\nname = "a"\nkind = "stalled"\nurl = "s3cr3t"',
        "[[alert]]\nextra = 1",
        "[[nonsense]]",
        "= s3cr3t",
    ],
)
def test_a_file_that_makes_no_sense_stops_the_start(client, tmp_path, text):
    place = tmp_path / "alerts.toml"
    place.write_text(text)

    with pytest.raises(SettingError) as refused:
        create_app(client, alerts_file=place)

    assert "s3cr3t" not in str(refused.value)


def test_what_others_wrote_in_redis_breaks_nothing(app, be_late, save, receiver, redis):
    save()
    look = app.extensions[EXTENSION].watching.look
    redis.hset("ql:web:alerts:rules", mapping={"x": "[", "y": "[]", "z": '{"kind": "stalled"}'})
    redis.hset("ql:web:alerts:state", mapping={"late": '{"since": "x"}', "gone": "{}"})
    redis.hset("ql:web:alerts:outbox", mapping={"a": "1", "b": '{"message": {}}'})
    redis.hset("ql:web:alerts:silence", "late", "soon")
    assert app.test_client().get("/alerts").status_code == 200
    redis.hset("ql:web:alerts:state", "late", json.dumps({"state": "ok"}))
    be_late()

    look()

    assert receiver.states == ["firing"]
    assert not redis.hexists("ql:web:alerts:state", "gone")


# -- In processes


def test_of_several_processes_one_tells_it_and_when_it_dies_another_goes_on(
    server, redis, tmp_path, receiver
):
    with Client(server.url) as client:
        client.queues["mail"].pause()
        app = create_app(client, alerts_private=True)
        body = {"name": "held", "kind": "paused", "above": 0, "url": receiver.url}
        assert app.test_client().post("/api/v1/alerts/save", json=body).status_code == 200
        command = Command(tmp_path)
        try:
            flags = ("--redis-url", server.url, "--alerts-every-s", "1", "--alerts-private")
            consoles = [command.start(*flags) for _ in range(2)]
            eventually(lambda: receiver.states == ["firing"])
            leader = int(redis.get("ql:web:alerts:leader").split("-")[0])
            redis.pexpire("ql:web:alerts:leader", 1_000)
            for console in consoles:
                if leader in worker_pids(console.process.pid):
                    console.end()
            client.queues["mail"].unpause()
            eventually(lambda: receiver.states == ["firing", "recovered"])
        finally:
            command.end()


def worker_pids(pid):
    return {pid, *children_of(pid)}
