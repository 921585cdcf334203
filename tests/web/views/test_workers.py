"""The list of workers, and the page of one."""

from __future__ import annotations

import pytest

from qless_core.client import Client
from qless_core.records import WorkerChild, WorkerInfo
from qless_web import create_app
from tests.support.html import forms

ODD = ["w@host.example:12/3", "a,b:c", "..", "<b>&amp;'\"", "ü ~2F"]


@pytest.fixture
def worker_called(server, clock):
    """Make a function that gives the client of a worker."""
    clients = []

    def make(name):
        clients.append(Client(server.url, clock=clock, worker_name=name))
        return clients[-1]

    yield make
    for each in clients:
        each.close()


@pytest.fixture
def told(clock):
    """Make what a worker tells of itself."""

    def make(**more):
        return WorkerInfo(
            **{
                "host": "web-3.example",
                "pid": 4711,
                "kind": "forking",
                "version": "1.2.3",
                "queues": ("mail", "sms-*"),
                "concurrency": 2,
                "started": clock.now() - 7_200,
                **more,
            }
        )

    return make


def pairs(page):
    """Give the facts of a page, by their terms."""
    lines = page.one("dl", class_="pairs").all("div")
    return {line.one("dt").text: line.one("dd").text for line in lines}


def test_workers_stay_in_the_order_of_their_names(clock, worker_called, see):
    for name in ("w-2", "w-3", "w-1"):
        worker_called(name).queues["mail"].pop()
        clock.advance(10)

    assert see("/workers").row_ids == ["worker-w-1", "worker-w-2", "worker-w-3"]


def test_a_worker_shows_what_it_runs_and_lost_and_where(client, clock, worker_called, see):
    client.queues["mail"].put("Letter", {}, jid="a")
    client.queues["sms"].put("Text", {}, jid="b")
    worker = worker_called("w-1")
    worker.queues["mail"].pop()
    clock.advance(70)
    worker.queues["sms"].pop()

    row = see("/workers").rows[0]

    assert row.cells[1:3] == ["working", "mail sms"]
    assert row.cells[5:7] == ["1", "1"]
    assert "just now" in row.text


def test_a_worker_that_was_not_seen_for_long_is_marked_and_can_be_forgotten(
    client, clock, worker_called, see
):
    """B65."""
    worker_called("old").queues["mail"].pop()
    clock.advance(3_601)
    client.config["max-worker-age"] = 3_600

    row = see("/workers").rows[0]

    assert "data-gone" in row.attributes
    assert "Forget" in row.text
    assert "counts as gone" in see("/workers/old").text


@pytest.mark.parametrize("name", ODD)
def test_a_worker_of_any_name_has_a_page(name, client, worker_called, see):
    """B65."""
    client.queues["mail"].put("Letter", {}, jid="a")
    worker_called(name).queues["mail"].pop()

    (link,) = [each for each in see("/workers").rows[0].links if "forget" not in each][:1]

    page = see(link)
    assert page.one("h1").text == name.strip()
    assert page.row_ids == ["job-a"]


def test_five_thousand_workers_are_paged(redis, clock, see):
    """B31, B65."""
    redis.zadd("ql:workers", {f"w-{number:04}": clock.now() - 3_600 for number in range(5_000)})
    redis.zadd("ql:workers", {"alive": clock.now()})

    page = see("/workers")
    last = see("/workers?page=201")

    assert page.row_ids[0] == "worker-alive"
    assert len(page.row_ids) == 25
    assert "25 of 5,001 workers" in page.text
    assert last.row_ids == ["worker-w-4999"]


def test_a_worker_with_thousands_of_jobs_is_paged(redis, clock, see):
    """B31."""
    jids = [f"job-{number:04}" for number in range(5_000)]
    redis.zadd("ql:w:busy:jobs", {jid: clock.now() + 60 for jid in jids})
    redis.zadd("ql:workers", {"busy": clock.now()})

    page = see("/workers/busy?page=2")

    assert page.row_ids[0] == "job-job-0025"
    assert "50 of 5,000 jobs" in page.text


def test_workers_are_found_by_a_part_of_their_name(redis, clock, see):
    redis.zadd("ql:workers", {"web-1": clock.now(), "Mail-1": clock.now()})

    assert see("/workers?q=mail").row_ids == ["worker-Mail-1"]
    assert "No worker has “zzz” in its name" in see("/workers?q=zzz").text


def test_a_worker_that_is_not_known_is_not_found(see):
    assert "There is no worker called “nobody”" in see("/workers/nobody", 404).text


def test_a_worker_that_is_not_listed_but_holds_jobs_is_shown(redis, clock, see):
    redis.zadd("ql:w:ghost:jobs", {"gone": clock.now() - 5})

    page = see("/workers/ghost")

    assert "not on the list of workers" in page.text
    assert "no longer there" in page.rows[0].text


def test_a_worker_tells_what_it_is(client, told, see):
    client.queues["mail"].put("Letter", {})
    client.workers.beat("w", told(queues=("mail", "sms-*", "never")))

    row = see("/workers").rows[0]
    page = see("/workers/w")

    assert "forking · 2 at once · pid 4711 on web-3.example" in row.text
    assert row.cells[1:3] == ["idle", "mail sms-* never"]
    assert pairs(page) == {
        "Host": "web-3.example",
        "Process": "4711",
        "Kind": "forking",
        "Jobs at once": "2",
        "Version": "1.2.3",
        "Started": "2 h ago",
        "Queues": "mail sms-* never",
    }
    # A pattern leads nowhere, and neither does a queue that there never was.
    assert [each.text for each in page.one("dl", class_="pairs").all("a")] == ["mail"]


def test_a_worker_shows_its_job_and_the_time_that_is_left(client, clock, worker_called, told, see):
    client.queues["mail"].put("Letter", {}, jid="a")
    worker_called("w").queues["mail"].pop()
    client.workers.beat("w", told())
    clock.advance(15)

    assert see("/workers").rows[0].cells[3:5] == ["Letter a", "ends in 45 s"]


def test_children_are_grouped_under_their_worker(client, clock, worker_called, told, see):
    children = tuple(WorkerChild(f"w-{slot}", 4712 + slot, clock.now()) for slot in range(12))
    for number, child in enumerate(children):
        if number < 3:
            client.queues["mail"].put("Letter", {}, jid=f"job-{number}")
        worker_called(child.name).queues["mail"].pop()
    client.workers.beat("w", told(children=children))
    worker_called("w-mail").queues["mail"].pop()

    page = see("/workers")
    parent = see("/workers/w")
    child = see("/workers/w-1")

    assert page.row_ids == ["worker-w", "worker-w-mail"]
    assert page.one(id="workers-count").text == "2, with 12 children"
    assert page.rows[0].cells[5:7] == ["3", "0"]
    assert "12 children" in page.rows[0].text
    assert parent.row_ids == [f"worker-w-{slot}" for slot in range(12)]
    assert parent.rows[1].cells[1:3] == ["working", "Letter job-1"]
    assert "pid 4713" in parent.rows[1].text
    assert parent.rows[3].cells[1] == "idle"
    assert pairs(child)["Child of"] == "w"
    assert child.row_ids == ["job-job-1"]


def test_children_whose_worker_is_not_known_stand_for_themselves(worker_called, see):
    worker_called("w-0").queues["mail"].pop()
    worker_called("w-0-1").queues["mail"].pop()
    worker_called("w-0-1-2").queues["mail"].pop()

    # A child has no children: a name may end in numbers by chance.
    assert see("/workers").row_ids == ["worker-w-0", "worker-w-0-1-2"]


def test_hundreds_of_children_are_not_all_shown(client, clock, redis, told, see):
    children = tuple(WorkerChild(f"w-{slot}", slot, clock.now()) for slot in range(300))
    redis.zadd("ql:workers", {child.name: clock.now() for child in children})
    client.workers.beat("w", told(children=children))

    page = see("/workers/w")

    assert len(page.row_ids) == 64
    assert "and 236 more" in page.text
    assert "300 children" in see("/workers").rows[0].text


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        ("running", ["pause", "stop", "forget"]),
        ("paused", ["resume", "stop", "forget"]),
        ("stopping", ["forget"]),
        ("failing", ["pause", "stop", "forget"]),
    ],
)
def test_a_worker_is_asked_what_fits_its_state(client, told, see, state, offered):
    client.workers.beat("w", told(state=state))

    for path in ("/workers", "/workers/w"):
        page = see(path)
        links = {each.attributes["hx-get"] for each in page.all("a") if "hx-get" in each.attributes}
        acting = {form.address for form in forms(page) if form.method == "post"}
        found = {address.rpartition("/")[2] for address in links | acting}
        assert found == set(offered), path
    words = {"paused": "It is paused", "stopping": "It is stopping"}
    words["failing"] = "its children die before they work"
    assert words.get(state, "seen just now") in see("/workers/w").text


def test_what_a_worker_is_asked_is_shown_until_it_obeys(client, told, see):
    client.workers.beat("w", told())
    client.workers.ask("w", "pause")

    assert "asked to pause" in see("/workers").rows[0].text
    page = see("/workers/w")
    assert "It is asked to pause, and hears of it within seconds." in page.text
    assert "Resume" in page.text

    client.workers.beat("w", told(state="paused"))
    assert "asked to" not in see("/workers/w").text


def test_a_worker_that_beats_no_more_is_silent_and_asked_nothing(client, clock, told, see):
    client.workers.beat("w", told())
    clock.advance(31)

    page = see("/workers/w")

    assert see("/workers").rows[0].cells[1] == "silent"
    assert "It gave no sign of life since" in page.text
    assert "Stop" not in page.text


def test_a_worker_of_another_client_is_asked_nothing(worker_called, see):
    worker_called("w").queues["mail"].pop()

    page = see("/workers/w")

    assert "Forget" in page.text
    assert "Stop" not in page.text


def test_what_a_worker_told_oddly_breaks_no_page(redis, clock, see):
    redis.zadd("ql:workers", {"w": clock.now(), "x": clock.now()})
    redis.set("ql:w:w:info", '{"host":5,"pid":"<b>","queues":{"a":1},"children":[{"name":"w"}]}')
    redis.lpush("ql:w:x:info", "a list")
    redis.set("ql:w:w:asked", "nonsense")

    assert see("/workers").row_ids == ["worker-w", "worker-x"]
    assert see("/workers/w").one("h1").text == "w"
    assert see("/workers/x").one("h1").text == "x"


def test_a_read_only_console_offers_no_requests(client, told, visit):
    client.workers.beat("w", told())
    page = visit(create_app(client, read_only=True)).page("/workers/w")

    asked = [form.address for form in forms(page) if form.method == "post"]
    assert asked == ["/preferences"]  # of the reader's own browser
    assert not [each for each in page.all("a") if "hx-get" in each.attributes]
