"""Pages read at a replica while it keeps up; else, and after a change, at the primary."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_core.reads import Position, Slice, kept, queue_counts
from qless_web import create_app, create_servers, reading
from qless_web.console import EXTENSION
from qless_web.freshness import Freshness
from qless_web.settings import SettingError, Settings
from tests.support.dom import parse
from tests.support.html import Visitor
from tests.support.nodes import Node
from tests.support.polling import eventually
from tests.support.relay import relay
from tests.support.streams import Listener

PAGES = (
    "/",
    "/queues",
    "/queues/mail",
    "/failed",
    "/jobs/one",
    "/workers",
    "/api/v1/queues",
    "/api/v1/jobs/one",
    "/metrics",
)
#: What each second costs a primary, and what replicas and these tests ask of it.
ASIDE = {"info", "time", "config", "replconf", "ping", "psync", "select", "hello", "client"}


class Pair:
    """A primary, a replica that may only be read, and the way by which it follows."""

    def __init__(self, folder, stack):
        given = {"repl-diskless-sync-delay": 0, "repl-ping-replica-period": 1}
        self.primary = Node(folder / "primary", given)
        stack.callback(self.primary.start().stop)
        self.way = stack.enter_context(relay(self.primary.port))
        follows = {
            "replicaof": f"127.0.0.1 {self.way.port}",
            "user": "reader on >secret ~ql:* +@read +@connection +info",
        }
        self.replica = Node(folder / "replica", {**given, **follows})
        stack.callback(self.replica.start().stop)

    @property
    def read_url(self):
        return f"redis://reader:secret@127.0.0.1:{self.replica.port}/0"

    def is_even(self):
        one, other = (each.redis().info("replication") for each in (self.primary, self.replica))
        return (
            other["master_link_status"] == "up"
            and other["slave_repl_offset"] >= one["master_repl_offset"]
        )


@pytest.fixture
def pair(tmp_path):
    with ExitStack() as stack:
        pair = Pair(tmp_path, stack)
        with Client(pair.primary.url) as client:
            client.queues["mail"].put("Letter", {}, jid="one")
        eventually(pair.is_even)
        yield pair


@pytest.fixture
def app(pair):
    """Make a console that reads at the replica, and has been asked once."""
    with Client(pair.primary.url) as client:
        app = create_app(client, read_url=pair.read_url, live_tick_s=0.1)
        console = app.extensions[EXTENSION]
        assert Browser(app).get("/").status_code == 200
        eventually(lambda: is_read(app))
        yield app
        console.hub.close()
        console.reading.close()


@pytest.fixture
def patient(monkeypatch):
    """Let a replica be read however far it is behind, so that no test depends on its haste."""
    monkeypatch.setattr(reading, "LONGEST_LAG_S", 600.0)


def is_read(app):
    return app.extensions[EXTENSION].reading.standing().is_read


def cautions(browser, path="/queues"):
    answer = browser.get(path)
    assert answer.status_code == 200, answer.text
    return parse(answer.text).one("div", id="cautions").text


def asked(node):
    """Count the commands that a server was asked, but for those aside."""
    told = node.redis().info("commandstats")
    names = [name.removeprefix("cmdstat_").partition("|")[0] for name in told]
    return {name for name in names if name not in ASIDE}


def test_pages_read_at_the_replica_and_ask_the_primary_nothing(pair, app):
    browser = Browser(app)

    def only_the_replica_is_asked():
        eventually(lambda: is_read(app))
        for node in (pair.primary, pair.replica):
            node.ask("CONFIG", "RESETSTAT")
        for path in PAGES:
            assert browser.get(path).status_code == 200, path
        return "zcard" in asked(pair.replica) and not asked(pair.primary)

    assert eventually(only_the_replica_is_asked)
    assert eventually(lambda: "at the replica redis://reader:***@" in browser.get("/about").text)
    app.extensions[EXTENSION].rights.told("", -600.0)  # so that it is asked anew
    html = browser.get("/queues/mail").text
    assert not parse(html).one("div", id="cautions").text
    assert 'class="read-only"' not in html, "the console may write, though not where it reads"


@pytest.mark.usefixtures("patient")
def test_who_changes_something_sees_it_though_the_replica_does_not_have_it(pair, app):
    visitor, other = Visitor(Browser(app)), Browser(app)
    with Client(pair.primary.url) as client:
        beside = create_app(client, read_url=pair.read_url)
        stranger, carried = Browser(beside), Browser(beside)
        stranger.get("/")
        eventually(lambda: is_read(beside))
        pair.way.flows.clear()

        answer = visitor.post("/queues/mail/pause")

        assert "Unpause" in visitor.follow(answer).text
        assert "Unpause" in other.get("/queues/mail").text, "the process knows what it changed"
        assert "Unpause" not in stranger.get("/queues/mail").text, "another one does not"
        told = next(each for each in answer.headers.getlist("Set-Cookie") if "changed" in each)
        name, _, value = told.partition(";")[0].partition("=")
        carried.set_cookie(name, value)
        assert "Unpause" in carried.get("/queues/mail").text, "but is told by who changed it"

        pair.way.flows.set()

        eventually(lambda: is_read(app) and "Unpause" in stranger.get("/queues/mail").text)
        beside.extensions[EXTENSION].reading.close()


@pytest.mark.usefixtures("patient")
def test_who_changes_many_queues_sees_all_of_it_at_the_replica(pair, monkeypatch):
    monkeypatch.setattr(kept, "YOUNG_S", 600.0)  # however slow this machine is
    plans = [queue_counts(Slice(0, 1_000))]
    with Client(pair.primary.url) as client:
        both = reading.Reading.of(client, pair.read_url)
        for rounds in (1, 2):
            for number in range(kept.MANY + 1):
                client.queues[f"queue-{number}"].put("Letter", {})
            both.changed()
            eventually(pair.is_even)
            eventually(lambda: both.look() or both.standing().is_read)
            is_replica, (found,) = both.run(plans)
            assert is_replica
            assert {row.waiting for row in found.rows if row.name != "mail"} == {rounds}
        both.close()


def test_a_replica_that_falls_behind_is_not_read_until_it_has_caught_up(pair, app, monkeypatch):
    browser = Browser(app)
    monkeypatch.setattr(reading, "LONGEST_LAG_S", 1.5)
    pair.way.flows.clear()

    with Client(pair.primary.url) as client:
        client.queues["new"].put("Letter", {})

    assert "behind" in eventually(lambda: cautions(browser))
    assert "new" in browser.get("/queues").text
    assert "at the primary, not at the replica" in browser.get("/about").text

    pair.way.flows.set()
    monkeypatch.setattr(reading, "LONGEST_LAG_S", 5.0)

    eventually(lambda: is_read(app) and not cautions(browser))


def test_pages_go_on_when_the_replica_dies_and_are_whole_until_it_is_back(pair, app):
    browser = Browser(app)

    pair.replica.kill()

    said = eventually(lambda: cautions(browser))
    assert f"not at the replica redis://reader:***@127.0.0.1:{pair.replica.port}/0: " in said
    assert "mail" in browser.get("/api/v1/queues").text

    pair.replica.start(wait=False)

    def is_back():
        assert "mail" in browser.get("/api/v1/queues").text
        return is_read(app)

    eventually(is_back)
    eventually(lambda: not cautions(browser))


def test_pages_go_on_when_the_replica_answers_no_more(pair, app):
    browser = Browser(app)

    pair.replica.pause()

    assert "Timeout" in eventually(lambda: cautions(browser))
    assert "mail" in browser.get("/api/v1/queues").text

    pair.replica.resume()

    eventually(lambda: is_read(app) and not cautions(browser))


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(("way", "says"), [("cut off", "its link"), ("promoted", "no replica")])
def test_a_page_finds_by_itself_that_a_replica_is(way, says, pair, app):
    browser = Browser(app)
    app.extensions[EXTENSION].reading.close()  # nobody looks any more
    if way == "promoted":
        pair.replica.ask("REPLICAOF", "NO", "ONE")
    else:
        pair.way.cut()
        eventually(lambda: pair.replica.redis().info("replication")["master_link_status"] != "up")
    with Client(pair.primary.url) as client:
        client.queues["new"].put("Letter", {})

    page = parse(browser.get("/queues").text)

    assert says in page.one("div", id="cautions").text
    assert "new" in page.text


@pytest.mark.usefixtures("patient")
def test_a_live_page_hears_once_the_replica_has_what_was_announced(pair, app):
    hub = app.extensions[EXTENSION].hub
    listener = Listener(hub.open(frozenset({"queue:mail"})).messages())
    listener.wait_for("ready")
    pair.way.flows.clear()
    with Client(pair.primary.url) as client:
        client.queues["mail"].put("Letter", {})
    listener.wait_for("change", "queue:mail")
    before = len(listener.messages)

    pair.way.flows.set()

    listener.wait_for("change", "queue:mail", after=before)


def told(offset, **more):
    given = {"role": "slave", "stream": "a", "is_linked": True, "silence": ""}
    return Position(offset=offset, **{**given, **more})


def test_a_replica_has_what_the_primary_had_when_it_was_asked_before():
    known = Freshness()

    known.told(10.0, told(100, role="master"), told(99))
    assert known.has_all_until < 10
    known.told(11.0, told(200, role="master"), told(150))
    assert known.has_all_until == 10.0
    known.told(12.0, told(300, role="master"), told(300))
    assert known.has_all_until == 12.0
    assert not known.doubt(told(300))


@pytest.mark.parametrize(
    ("replica", "says"),
    [
        (told(100, role="master"), "no replica"),
        (told(100, is_linked=False), "link"),
        (told(100, stream="b"), "another primary"),
        (told(0, role="", silence="NOPERM"), "NOPERM"),
        (told(99), "lost"),
    ],
)
def test_a_replica_that_cannot_be_relied_on_is_told_by_what_it_says(replica, says):
    known = Freshness()
    known.told(10.0, told(100, role="master"), told(100))
    assert not known.why_not

    known.told(11.0, told(100, role="master"), replica)

    assert says in known.why_not
    assert known.has_all_until == 10.0


def test_what_another_primary_did_a_replica_does_not_have_for_having_much():
    known = Freshness()
    known.told(10.0, told(1_000, role="master"), told(1_000))

    known.told(11.0, told(50, role="master", stream="b"), told(40, stream="b"))

    assert known.has_all_until < 10


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"read_url": "redis+sentinel://a/main"}, "read_url must name the one server"),
        ({"read_url": "http://a"}, "Redis URL"),
        ({"read_url": "redis://b", "redis_url": "redis+cluster://a?namespace={q}:"}, "a cluster"),
        ({"read_url": "redis://b?namespace=x:", "namespace": "y:"}, "namespace"),
    ],
)
def test_an_address_that_cannot_be_a_replica_is_refused(given, says):
    with pytest.raises(SettingError, match=says):
        Settings.build(**given)


def test_another_database_is_refused():
    with pytest.raises(SettingError, match="database 3, but the jobs are in database 0"):
        create_app("redis://a/0", read_url="redis://b/3")


def test_several_servers_have_no_replica_to_read_at():
    with pytest.raises(SettingError, match="read_url is for one server"):
        create_servers(servers={"a": "redis://a"}, read_url="redis://b")
