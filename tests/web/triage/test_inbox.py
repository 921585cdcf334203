"""The inbox of failures: what is new, what is whose, what rests and comes back."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from werkzeug.test import Client as Browser

from qless_core import reads
from qless_web import create_app, keep_index
from qless_web.console import EXTENSION
from qless_web.triage.handling import MOST_GROUPS, handlings
from qless_web.triage.inbox import (
    HOURS,
    Past,
    Pasts,
    View,
    Wish,
    chooser,
    inbox,
    pasts_of,
)
from qless_web.triage.index import NoIndex
from qless_web.triage.schema import GROUP, TABLES
from qless_web.triage.tallies import HOUR_MS
from tests.support.dom import parse
from tests.support.polling import eventually

HOUR = 3_600


def fail(client, group, many=1, *, queue="mail", message="no", worker="w-1-7"):
    """Fail jobs of a class that is called after the queue."""
    for _ in range(many):
        jid = client.queues[queue].put(f"{queue[:1].upper()}Job", {})
        client.commands.pop(queue, worker, 1)
        client.commands.fail(jid, worker, group, message)


def handled(client, group):
    """Read how a group is handled."""
    _, (found,) = reads.run(client.redis, client.keys, [handlings()])
    return found[group]


@pytest.fixture
def console(client, tmp_path):
    """Open the console of a server whose index follows."""
    app = create_app(
        client,
        state_dir=str(tmp_path),
        index_rate=0,
        runbooks={"ship-*": "https://w.example/{group}"},
    )
    keep_index(app)
    index = app.extensions[EXTENSION].index
    yield Console(app, index, client)
    index.close()


class Console:
    """A console with an index, once that knows all failures."""

    def __init__(self, app, index, client):
        self.web, self._index, self._client = Browser(app), index, client

    def settle(self):
        failed = sum(self._client.commands.failed().values())
        eventually(lambda: self._known() == failed)

    def _known(self):
        try:
            with self._index.reading() as connection:
                facts = dict(connection.execute("SELECT name, value FROM meta"))
                (held,) = connection.execute("SELECT sum(count) FROM hours").fetchone()
        except NoIndex:
            return None
        return held if facts.get("complete") else None

    def see(self, path="/failed"):
        self.settle()
        answer = self.web.get(path)
        assert answer.status_code == 200
        return parse(answer.get_data(as_text=True)).one("main")

    def groups(self, path="/failed"):
        return [row.one("a", class_="row-link").text for row in self.see(path).rows]

    def do(self, group, verb, **fields):
        self.settle()
        return self.web.post(f"/failed/{group}/{verb}", data={"expected": "1", **fields})


@pytest.fixture
def groups(client, clock):
    """Fail jobs of three groups: `old` long ago and slowly, `ship-wide` on three hosts, `fresh`."""
    for _ in range(3):
        fail(client, "old")
        clock.advance(2 * HOUR)
    clock.advance(60)
    for number in range(3):
        fail(client, "ship-wide", 2, queue=f"q{number}", worker=f"w-{number}-7")
    clock.advance(60)
    fail(client, "fresh", 9, queue="post")


@pytest.mark.usefixtures("groups")
def test_groups_are_ordered_by_whatever_is_asked_for(console):
    assert console.groups() == ["fresh", "ship-wide", "old"]
    for order, wanted in {
        "name": ["fresh", "old", "ship-wide"],
        "first": ["fresh", "ship-wide", "old"],
        "last": ["fresh", "ship-wide", "old"],
        "rate": ["fresh", "ship-wide", "old"],
        "hosts": ["ship-wide", "fresh", "old"],
        "queues": ["ship-wide", "fresh", "old"],
        "nonsense": ["fresh", "ship-wide", "old"],
    }.items():
        assert console.groups(f"/failed?sort={order}") == wanted, order


@pytest.mark.usefixtures("groups")
def test_a_row_says_class_queue_host_when_and_how_fast(console):
    wide = next(row for row in console.see().rows if "ship-wide" in row.text)

    assert wide.cells[1] == "6"
    assert wide.cells[4:7] == ["QJob", "q0 +2", "w-0 33 % +2"]
    assert "6 failures" in wide.one("svg", class_="rate").attributes["aria-label"]
    assert "https://w.example/ship-wide" in wide.links


@pytest.mark.usefixtures("groups")
def test_what_is_new_since_a_deploy_or_a_time(console, clock, client):
    assert console.groups("/failed?new=1h") == ["fresh", "ship-wide"]
    clock.advance(HOUR)
    at = clock.now()
    assert console.web.post("/api/v1/deploys", json={"name": "v42", "at": at}).status_code == 200
    clock.advance(60)
    fail(client, "newest")
    fail(client, "old", message="in another way")

    page = console.see()
    (value,) = [
        each.attributes["value"] for each in page.all("option") if each.text == "deploy v42"
    ]
    assert set(console.groups(f"/failed?new={value}")) == {"newest", "old"}
    newest = next(row for row in page.rows if "newest" in row.text)
    assert "since deploy v42" in newest.one(class_="row-mark").attributes["title"]


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize(("verb", "view"), [("acknowledge", "acknowledged"), ("mute", "muted")])
def test_a_folded_group_leaves_the_open_ones_with_who_when_and_why(console, verb, view):
    assert console.do("fresh", verb, note="pay-3 is down").status_code == 303

    assert console.groups() == ["ship-wide", "old"]
    (row,) = console.see(f"/failed?show={view}").rows
    assert view in row.text
    assert "pay-3 is down" in row.text
    assert "fresh" in console.groups("/failed?show=all")
    assert "pay-3 is down" in console.see("/failed/fresh").text

    console.do("fresh", "reopen")
    assert "fresh" in console.groups()


@pytest.mark.usefixtures("groups")
def test_a_folded_group_is_back_when_it_fails_in_a_new_way(console, client):
    console.do("fresh", "mute")
    fail(client, "fresh", message="no")
    assert "fresh" not in console.groups()

    fail(client, "fresh", message="quite another thing")

    row = next(row for row in console.see().rows if "fresh" in row.text)
    assert "back: it fails in a way that is new" in row.text


@pytest.mark.usefixtures("groups")
def test_a_folded_group_is_back_when_it_fails_much_faster(console, client, clock):
    console.do("fresh", "acknowledge")
    clock.advance(HOUR)
    fail(client, "fresh", 19)
    assert "fresh" not in console.groups()

    fail(client, "fresh", 1)

    row = next(row for row in console.see().rows if "fresh" in row.text)
    assert "back: 20 failed in an hour, 9 at most before" in row.text


@pytest.mark.usefixtures("groups")
def test_without_an_index_rate_is_told_by_what_came_since(client, clock):
    web = Browser(create_app(client, index=False))
    web.post("/failed/fresh/mute", data={"expected": "1"})
    clock.advance(HOUR)
    fail(client, "fresh", 10)
    assert "fresh" not in parse(web.get("/failed").get_data(as_text=True)).one("main").text

    fail(client, "fresh", 1)

    page = parse(web.get("/failed").get_data(as_text=True)).one("main")
    assert "back: 11 failed in an hour" in page.text
    assert "the index: the setting `index` turns it off" in page.text


@pytest.mark.usefixtures("groups")
def test_a_group_is_assigned_and_noted(console):
    console.do("old", "assign", assignee="dana")
    console.do("old", "note", note="since the move")

    row = next(row for row in console.see().rows if "old" in row.text)
    assert "dana" in row.text
    assert "since the move" in row.text
    api = console.web.get("/api/v1/failures").json["items"]
    assert {each["group"]: each["assignee"] for each in api}["old"] == "dana"

    console.do("old", "assign", assignee="")
    console.do("old", "note", note="")
    assert not console.web.get("/failed").get_data(as_text=True).count("dana")


def test_two_people_who_decide_two_things_at_once_lose_neither(console, client):
    fail(client, "old")
    # Each has the question open, as the group was, when the other answers.
    question = parse(console.web.get("/failed/old/acknowledge").get_data(as_text=True))
    shown = {
        each.attributes["name"]: each.attributes.get("value", "")
        for each in question.all("input", type="hidden")
    }
    console.settle()
    for turn in range(5):
        decided = {
            "note": {"expected": "1", "note": f"note {turn}"},
            "assign": {"expected": "1", "assignee": f"kim {turn}"},
            "acknowledge": {**shown, "note": ""},
        }
        with ThreadPoolExecutor() as people:
            sent = [
                people.submit(console.web.post, f"/failed/old/{verb}", data=data)
                for verb, data in decided.items()
            ]
            answers = [each.result() for each in sent]
        assert {answer.status_code for answer in answers} == {303}
        kept = handled(client, "old")
        assert (kept.note, kept.assignee) == (f"note {turn}", f"kim {turn}")
        assert kept.fold == "acknowledged"
        console.do("old", "reopen")
        kept = handled(client, "old")
        assert (kept.note, kept.fold) == (f"note {turn}", "")


def test_what_makes_no_sense_is_refused_and_nothing_is_kept(console, client, redis):
    fail(client, "old")
    assert console.web.post("/api/v1/failures/none/mute").status_code == 404
    assert console.do("old", "note", note="x" * 2_001).status_code == 400
    api = console.web.post("/api/v1/failures/old/note", json={"note": "x" * 2_001})
    assert api.status_code == 400
    assert "2,000" in api.json["detail"]
    for at in (-1, "soon", 1e12, True):
        assert console.web.post("/api/v1/deploys", json={"name": "v", "at": at}).status_code == 400
    assert console.web.post("/api/v1/deploys", json={"at": 1}).status_code == 400
    assert not list(redis.scan_iter("ql:web:triage:*"))


def test_groups_that_are_noted_are_bounded_and_gone_ones_make_room(console, client, redis):
    fail(client, "old")
    redis.hset("ql:web:triage:groups", mapping={f"note:g{n}": "" for n in range(MOST_GROUPS)})

    console.do("old", "note", note="here")

    assert redis.hkeys("ql:web:triage:groups") == ["note:old"]


def test_the_inbox_takes_three_round_trips_and_writes_nothing(console, client, redis):
    for number in range(60):
        fail(client, f"g{number:02}")
    console.settle()
    console.web.get("/failed")  # asks for the rights
    before = {key: redis.dump(key) for key in redis.scan_iter()}
    seen = []
    pipeline = type(client.redis.pipeline())
    execute = pipeline.execute
    here = threading.get_ident()  # what reads in the background is no part of the page

    def counted(self, *args, **kwargs):
        if threading.get_ident() == here:
            seen.append(len(self))
        return execute(self, *args, **kwargs)

    try:
        pipeline.execute = counted
        answer = console.web.get("/failed?sort=last")
    finally:
        pipeline.execute = execute

    assert answer.status_code == 200
    assert 1 <= len(seen) <= 3
    assert {key: redis.dump(key) for key in redis.scan_iter()} == before


def rows_of(client, part, pasts=None):
    """Give group, count and newest job of each row of a part of the inbox."""
    view = View(part=part, show="open", pasts=pasts, choose=chooser(Wish()))
    _, (found,) = reads.run(client.redis, client.keys, [inbox(view)])
    return [(row.name, row.count, row.newest_jid) for row in found.rows]


def test_groups_that_the_index_knows_and_others_make_one_list(client, redis):
    for number in range(9):
        fail(client, f"g{number}", 1 + number * 5 % 9)
    everything = rows_of(client, reads.Slice(0, 9))
    names = [name for name, _, _ in everything]

    def known(some):
        return Pasts(
            {name: Past(number=1, first=1.0, last=2.0) for name in some}, 2.0, complete=True
        )

    for some in (names[::2], names[1::2], names[:5], names[5:], [*names, "gone"]):
        for start in range(0, 9, 2):
            part = reads.Slice(start, 2)
            assert rows_of(client, part, known(some)) == everything[start : start + 2]

    before = redis.info("commandstats")["cmdstat_lindex"]["calls"]
    rows_of(client, reads.Slice(4, 2), known(names))
    assert redis.info("commandstats")["cmdstat_lindex"]["calls"] - before == 4


def past_of_so_many_hours(hours):
    """Give what is known of 20 groups that fail that long, and the steps SQLite took for it."""
    steps = []
    connection = sqlite3.connect(":memory:")
    connection.executescript(TABLES)
    for grp in range(1, 21):
        connection.execute("INSERT INTO names (id, kind, name) VALUES (?, ?, ?)", (grp, GROUP, grp))
        connection.executemany(
            "INSERT INTO hours VALUES (?, ?, ?, ?, ?)",
            [
                (grp, hour, hour, hour * HOUR_MS + 1_000, hour * HOUR_MS + 2_000)
                for hour in range(1, hours + 1)
            ],
        )
    connection.set_progress_handler(lambda: steps.append(1), 10)
    found = pasts_of(connection, hours * HOUR_MS / 1000)
    connection.close()
    return found.groups, len(steps)


def test_what_is_long_past_costs_nothing():
    day, steps_of_a_day = past_of_so_many_hours(HOURS)
    month, steps_of_a_month = past_of_so_many_hours(30 * HOURS)

    assert (month["7"].first, month["7"].last) == (3_601.0, 30 * HOURS * 3_600.0 + 2)
    assert month["7"].hours == tuple(range(29 * HOURS + 1, 30 * HOURS + 1))
    assert day["7"].hours == tuple(range(1, HOURS + 1))
    assert steps_of_a_month <= 1.1 * steps_of_a_day
