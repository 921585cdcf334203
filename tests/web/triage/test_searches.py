"""What searches find: the index and a walk through Redis say the same."""

from __future__ import annotations

import json

import pytest

from qless_core import reads
from qless_core.client import Client
from qless_web.triage import scanning, schema, searching
from qless_web.triage.entry import Entry
from qless_web.triage.index import Index
from qless_web.triage.query import parse
from qless_web.triage.scanning import scan
from qless_web.triage.searching import Search
from qless_web.triage.store import Store
from tests.support.polling import eventually
from tests.web.triage.indexes import fact, find, jids, kept

#: Searches, and the jids that they find among those of `shop`.
SEARCHES = [
    ("klass:shop.Charge", "abcd"),
    ("class:SHOP.charge", "abcd"),
    ("klass:shop.*", "abcdefgh"),
    ("klass:*ail", "efg"),
    ("queue:orders state:failed", "ab"),
    ("group:orders-Timeout", "a"),
    ("group:orders-*", "ab"),
    ("group:*", "ab"),
    ("-group:*", "cdefghx"),
    ("worker:w-7-100 state:failed", "ab"),
    ("host:w-7 state:running", "c"),
    ("tag:vip", "ae"),
    ("tag:v*", "ae"),
    ("-tag:*", "bcdfghx"),
    ("tag:vip -state:failed", "e"),
    ("state:waiting", "dx"),
    ("state:running or state:complete", "ch"),
    ("state:scheduled", "ef"),
    ("state:depends", "g"),
    ("age:<1h state:failed", "ab"),
    ("age:>1h", ""),
    ("(group:orders-* or group:mail-*) age:<1h", "ab"),
    ("(group:orders-* or group:mail-*) age:>1h", ""),
    ("(group:orders-* or queue:orders) state:failed", "ab"),
    ("put:<1h", "abcdefghx"),
    ("put:>1h", ""),
    ("put:<1h state:waiting", "dx"),
    ("put:<1h age:<1h state:failed", "ab"),
    ("attempt:1", "abch"),
    ("attempt:>=1 -state:failed", "ch"),
    ("priority:>0", "d"),
    ("priority:10", "d"),
    ("jid:a", "a"),
    ("connection", "a"),
    ("CONNECTION réset", "a"),
    ('"connection reset"', "a"),
    ('"reset connection"', ""),
    ("connection -peer", ""),
    ("connec*", "a"),
    ('"by pe*"', ""),
    ("*nnection", "a"),
    ("con*tion", "a"),
    ("vip", "ae"),
    ("charge", "abcd"),
    ("timeout", "a"),
    ("message:boom", "b"),
    ("message:charge", ""),
    ("data.user_id:42", "ab"),
    ("data.user_id:4*", "abc"),
    ("data.user_id:*", "abcd"),
    ("-data.user_id:*", "efghx"),
    ("data.user_id:>42", "cd"),
    ("data.user_id:<=42", "ab"),
    ("data.to.region:EU", "a"),
    ("data.to.region:e*", "a"),
    ("data.items:5", "b"),
    ("data.paid:true", "b"),
    ("data.note:null", "b"),
    ("(data.user_id:42 or klass:shop.Mail) -tag:vip", "bfg"),
    ('(boom or "connection reset") host:w-7', "ab"),
    ("-(boom or klass:shop.*)", "x"),
    ("!!", ""),
    ("'; drop table jobs; --", ""),
    ('"a OR b NOT c NEAR(d)"', ""),
    ("pattern:*", "ab"),
    ("klass:nothing", ""),
    ("", "abcdefghx"),
]


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """Give searches all the time they want, however busy the machine is."""
    monkeypatch.setattr(searching, "BUDGET_S", 60.0)
    monkeypatch.setattr(searching, "_SAMPLE_S", 60.0)


@pytest.fixture(scope="module")
def shop(server):
    """Put jobs of every kind; the client goes by the server's clock."""
    with Client(server.url, worker_name="w-7-100") as client:
        client.redis.flushall()
        orders, mail = client.queues["orders"], client.queues["mail"]
        orders.put("shop.Charge", {"user_id": 42, "to": {"region": "eu"}}, jid="a", tags=["vip"])
        orders.pop().fail("orders-Timeout", "Connection reset by peer")
        orders.put(
            "shop.Charge", {"user_id": 42, "items": [3, 5], "paid": True, "note": None}, jid="b"
        )
        orders.pop().fail("orders-Error", "boom")
        orders.put("shop.Charge", {"user_id": 43}, jid="c")
        orders.pop()
        orders.put("shop.Charge", {"user_id": 142.0}, jid="d", priority=10)
        mail.put("shop.Mail", {}, jid="e", tags=["vip"], delay=600)
        mail.put("shop.Mail", {}, jid="f", delay=600)
        mail.put("shop.Mail", {}, jid="g", depends=["d"])
        mail.put("shop.Done", {}, jid="h")
        mail.pop().complete()
        mail.put("Other", "no object", jid="x")
        yield client
        client.redis.flushall()


@pytest.fixture(scope="module")
def index(shop, tmp_path_factory):
    with kept(shop, tmp_path_factory.mktemp("state")) as index:
        yield index


@pytest.mark.parametrize(("query", "found"), SEARCHES, ids=[each[0] for each in SEARCHES])
def test_the_index_finds(query, found, index):
    assert "".join(jids(index, query)) == found


@pytest.mark.parametrize(("query", "found"), SEARCHES, ids=[each[0] for each in SEARCHES])
def test_a_walk_finds_the_same(query, found, shop, index):
    now = fact(index, "as_of")
    scanned = walk(shop, query, now=now)

    assert "".join(sorted(scanned.jids)) == found
    assert scanned.is_over


def walk(shop, query, *, now=0.0, start=0, count=100):
    plan = scan(parse(query), now=now, start=start, count=count)
    return reads.run(shop.redis, shop.keys, [plan], now=now)[1][0]


@pytest.mark.parametrize(("most", "of_each"), [(1_000, 50), (1_000, 1), (2, 50), (1, 1), (3, 2)])
@pytest.mark.parametrize("count", [1, 2, 100])
def test_a_walk_goes_on_where_it_stopped(most, of_each, count, shop, monkeypatch):
    monkeypatch.setattr(scanning, "STEP", most)
    monkeypatch.setattr(scanning, "_OF_EACH", of_each)
    start, found, covered = 0, [], [0]
    while start is not None:
        step = walk(shop, "klass:shop.*", start=start, count=count)
        assert len(step.jids) <= count
        found += step.jids
        start = step.next
        covered.append(step.covered)
        assert start is None or covered[-1] > covered[-2]

    assert sorted(found) == list("abcdefgh")
    assert step.covered == step.of == 9


def test_tracked_jobs_are_found_and_lost(shop, index):
    shop.track("d")
    eventually(lambda: jids(index, "tracked:yes") == ["d"])
    shop.untrack("d")
    eventually(lambda: jids(index, "tracked:yes") == [])


def test_a_lock_that_ends_and_a_moment_that_comes_change_the_state_without_a_word(index):
    later = fact(index, "as_of") + 86_400

    assert jids(index, "state:stalled", later) == ["c"]
    assert jids(index, "state:running", later) == []
    assert jids(index, "state:waiting", later) == ["d", "e", "f", "x"]
    facets = {facet.name: dict(facet.values) for facet in find(index, "queue:mail", later).facets}
    assert facets["state"] == {"waiting": 3, "depends": 1}


def test_facets_count_all_that_was_found(index):
    found = find(index, "klass:shop.*")

    facets = {facet.name: dict(facet.values) for facet in found.facets}
    assert (found.total, found.certainty, found.sampled) == (8, "exact", 8)
    assert facets["klass"] == {"shop.Charge": 4, "shop.Mail": 3, "shop.Done": 1}
    assert facets["host"] == {"w-7": 3}
    assert facets["tag"] == {"vip": 2}
    assert facets["group"] == {"orders-Error": 1, "orders-Timeout": 1}


def test_the_newest_come_first_and_pages_follow_one_another(index):
    every = find(index, "").jids
    parts = [find(index, "", offset=offset, count=4).jids for offset in (0, 4, 8, 12)]

    assert sum(parts, ()) == every
    # Some are of one millisecond.
    with index.reading() as connection:
        since = dict(connection.execute("SELECT jid, since FROM jobs").fetchall())
    moments = [since[jid] for jid in every]
    assert moments == sorted(moments, reverse=True)
    assert len(set(moments)) > 1


# Many


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Write an index of jobs without a Redis: half of them failed."""
    index = Index(tmp_path_factory.mktemp("many"))
    connection, _ = index.open()
    store = Store(connection)
    store.put([(f"{at:05}", job(at)) for at in range(4_000)])
    store.tell(jobs=store.jobs, complete=1, as_of=2_000.0)
    connection.close()
    return index


def job(at):
    failed = at % 2 == 1
    return Entry(
        jid=f"{at:05}", state="failed" if failed else "waiting", klass=f"K{at % 5}", queue="q",
        worker="", group="g" if failed else "", message="boom" if failed else "",
        data=json.dumps({"n": at}), tags=(), priority=0, attempt=0, put_at=None,
        since=1_000_000 + at, until=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    "query", ["state:failed", "boom", "boom state:failed", "-state:waiting", "data.n:>=0 boom"]
)
def test_more_than_can_be_counted_are_told_by_a_fair_sample(query, many, monkeypatch):
    monkeypatch.setattr(searching, "EXACT", 500)
    monkeypatch.setattr(searching, "_FEW", 100)
    monkeypatch.setattr(searching, "_SAMPLED", 600)

    found = find(many, query, 2_000.0, count=10)

    assert found.jids == tuple(f"{at:05}" for at in range(3_999, 3_979, -2))
    assert found.certainty == ("exact" if query in {"state:failed", "-state:waiting"} else "about")
    assert 1_600 < found.total < 2_400
    assert 600 <= found.sampled < 1_000
    shares = {value: count / found.sampled for value, count in found.facets[2].values}
    assert set(shares) == {"K0", "K1", "K2", "K3", "K4"}
    assert all(0.1 < share < 0.3 for share in shares.values())


@pytest.mark.parametrize(
    ("query", "told_by"),
    [
        ("state:waiting age:<996s", "jobs_state (state=? AND since>?)"),
        ("state:waiting put:>1h", "jobs_put_at (state=? AND put_at<?)"),
        ("put:>1h", "jobs_put_at (state=? AND put_at<?)"),
        ("(group:g or group:h*) age:<996s", "jobs_grp (grp=?)"),
        ("(group:h* or queue:nowhere)", "jobs_queue (queue=?)"),
    ],
)
def test_one_index_tells_which_jobs_are_so(query, told_by, many, monkeypatch):
    monkeypatch.setattr(searching, "_FEW", 100)
    asked = []

    with many.reading() as connection:
        connection.set_trace_callback(asked.append)
        Search(connection, parse(query), 2_000.0).page(0, 10)
        connection.set_trace_callback(None)
        led = [each for each in asked if "jobs.id IN (SELECT id" in each]
        plan = [step for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {led[-1]}")]

    assert len(led) == 1
    assert any(told_by in step for step in plan), plan
    assert not any(step.startswith("SCAN jobs") for step in plan), plan


def test_regions_are_fair(many):
    with many.reading() as connection:
        counts = connection.execute(
            "SELECT id >> ?, count(*) FROM jobs GROUP BY 1", (schema.SHIFT,)
        ).fetchall()

    assert len(counts) == schema.REGIONS
    assert all(30 < count < 100 for _, count in counts)


def test_what_takes_too_long_gives_what_there_is_and_says_so(many, monkeypatch):
    monkeypatch.setattr(searching, "BUDGET_S", 0.0)
    monkeypatch.setattr(searching, "_STEPS", 20)

    with many.reading() as connection:
        found = Search(connection, parse("*oom"), 2_000.0).page(0, 10)
        assert not found.is_whole
        assert found.certainty == "at least"
        # The connection is as good as before.
        monkeypatch.setattr(searching, "BUDGET_S", 20.0)
        assert Search(connection, parse("*oom"), 2_000.0).page(0, 10).total == 2_000
