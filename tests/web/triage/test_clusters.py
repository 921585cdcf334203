"""The clusters of a group: exact of the index, bounded without it."""

from __future__ import annotations

from collections import Counter

import pytest
from werkzeug.test import Client as Browser

from qless_core import reads
from qless_web import create_app, keep_index
from qless_web.console import EXTENSION
from qless_web.triage import clusters
from qless_web.triage.index import NoIndex
from qless_web.triage.schema import KLASS, QUEUE, WORKER
from qless_web.triage.tallies import HOUR_MS
from tests.support.polling import eventually

WORDS = ("gateway", "ledger", "courier", "printer", "mailbox", "archive", "billing", "scanner")


def fail(client, group, message, *, worker="w-1-77"):
    """Fail a job, as a worker of that name."""
    jid = client.queues["mail"].put("Letter", {})
    client.commands.pop("mail", worker, 1)
    client.commands.fail(jid, worker, group, message)
    return jid


@pytest.fixture
def groups(client, clock):
    """Fail jobs in two groups: eight ways each, by turns, a minute apart."""
    failed = Counter()
    for number in range(40):
        clock.advance(60)
        word = WORDS[number * number // 7 % len(WORDS)]
        group = ("shop", "post")[number % 2]
        fail(
            client,
            group,
            f"{word} lost order {number} of 'c{number}' after {number}.5s",
            worker=f"w-{number % 3}-{number}",
        )
        failed[group, word] += 1
    return failed


@pytest.fixture
def indexed(client, tmp_path):
    """Open the console of a server, once its jobs, so many, are in the index."""
    app = create_app(client, state_dir=str(tmp_path), index_rate=0)
    keep_index(app)
    index = app.extensions[EXTENSION].index

    def browser(jobs):
        eventually(lambda: _holds(index, jobs))
        return Browser(app)

    browser.index = index
    yield browser
    index.close()


def _holds(index, jobs):
    try:
        with index.reading() as connection:
            facts = dict(connection.execute("SELECT name, value FROM meta"))
            (held,) = connection.execute("SELECT count(*) FROM jobs").fetchone()
    except NoIndex:
        return False
    return bool(facts.get("complete")) and held == jobs


@pytest.fixture
def plain(client):
    """Open the console of a server without an index."""
    return Browser(create_app(client, index=False))


def told(browser, group):
    answer = browser.get(f"/api/v1/failures/clusters?group={group}")
    assert answer.status_code == 200
    return answer


def counts(rows):
    return Counter({row["pattern"].split()[0]: row["count"] for row in rows})


def test_the_index_gives_each_pattern_with_its_exact_count_and_times(groups, indexed, client):
    answer = told(indexed(40), "shop")

    wanted = Counter({word: n for (group, word), n in groups.items() if group == "shop"})
    assert counts(answer.json) == wanted
    assert [row["count"] for row in answer.json] == sorted(wanted.values(), reverse=True)
    assert answer.headers["Qless-Complete"] == "true"
    assert answer.headers["Qless-Covered"] == "20"
    for row in answer.json:
        job = client.jobs[row["example_jid"]]
        assert job.failure.message.startswith(row["pattern"].split()[0])
        assert job.failure.when == row["last_seen"] >= row["first_seen"]


@pytest.mark.usefixtures("groups")
def test_without_an_index_the_same_is_found_by_a_look(plain, indexed):
    looked = told(plain, "shop")

    assert looked.json == told(indexed(40), "shop").json
    assert looked.headers["Qless-Complete"] == "true"


@pytest.mark.usefixtures("groups")
def test_a_look_reads_so_many_and_says_so(client):
    _, (found,) = reads.run(client.redis, client.keys, [clusters.look("shop", 5)])
    made = clusters.of_look(found, 0.0)

    assert made.covered == 5 == sum(row.count for row in made.rows)
    assert found.total == 20
    assert not made.complete


def test_a_look_stops_where_messages_are_huge(client, monkeypatch):
    monkeypatch.setattr(clusters, "MOST_BYTES", 25_000)
    for number in range(5):
        fail(client, "big", f"no {number} " + "x" * 10_000)

    _, (found,) = reads.run(client.redis, client.keys, [clusters.look("big")])

    assert len(found.found) == 2


@pytest.mark.usefixtures("groups")
def test_what_is_retried_leaves_its_cluster(client, indexed):
    browser = indexed(40)
    gone = told(browser, "post").json[0]["example_jid"]
    before = counts(told(browser, "post").json)
    client.jobs[gone].cancel()

    eventually(lambda: counts(told(browser, "post").json) != before)

    assert told(browser, "post").json != []
    assert (before - counts(told(browser, "post").json)).total() == 1


@pytest.mark.usefixtures("groups")
def test_hours_and_names_are_counted_as_the_jobs_are(indexed):
    indexed(40)
    with indexed.index.reading() as connection:

        def ask(query):
            return sorted(connection.execute(query).fetchall())

        assert ask("SELECT grp, hour, count, first, last FROM hours") == ask(
            f"SELECT grp, since / {HOUR_MS}, count(*), min(since), max(since) "  # noqa: S608 - a number
            "FROM jobs GROUP BY 1, 2"
        )
        for kind, column in ((KLASS, "name"), (QUEUE, "name"), (WORKER, "host")):
            field = {KLASS: "klass", QUEUE: "queue", WORKER: "worker"}[kind]
            assert ask(f"SELECT grp, name, count FROM affected WHERE kind = {kind}") == ask(  # noqa: S608 - of our own
                f"SELECT j.grp, n.{column}, count(*) FROM jobs j "  # noqa: S608 - of our own
                f"JOIN names n ON n.id = j.{field} GROUP BY 1, 2"
            )


@pytest.fixture
def looks(indexed, clock):
    """Look at a group; gives what is found, and whether its jobs were counted for that."""

    def look(group):
        asked = []
        with indexed.index.reading() as connection:
            connection.set_trace_callback(asked.append)
            found = clusters.of_index(connection, group, clock.now())
            connection.set_trace_callback(None)
        assert found.covered == sum(row.count for row in found.rows)
        return found, any("FROM jobs" in each for each in asked)

    return look


@pytest.mark.usefixtures("groups")
def test_a_group_is_counted_again_only_when_a_job_of_it_changes(client, indexed, looks, clock):
    indexed(40)
    before, _ = looks("shop")
    fail(client, "post", "something else")
    indexed(41)
    found, is_counted = looks("shop")
    assert (found.rows, is_counted) == (before.rows, False)

    gone, back = before.rows[0].example_jid, client.queues["mail"].put("Letter", {})
    client.jobs[gone].cancel()
    client.commands.pop("mail", "w-1-77", 1)
    client.commands.fail(back, "w-1-77", "shop", "gateway lost order 1 of 'c1' after 1.5s")
    eventually(lambda: looks("shop")[0].rows != before.rows and looks("shop")[0].covered == 20)
    assert gone not in {row.example_jid for row in looks("shop")[0].rows}

    # A job for a job, in the same hour: as many as before, and others.
    assert looks("shop")[1] is False
    clock.advance(3600)
    assert looks("shop")[1], "the axis of what failed when has another end by now"


def test_used_up_retries_are_told_apart_by_class_host_and_history(client, clock, indexed):
    for klass, worker in (("Letter", "w-1-7"), ("Letter", "w-2-7"), ("Parcel", "w-1-7")):
        client.queues["mail"].put(klass, {}, retries=0)
        client.commands.pop("mail", worker, 1)
    clock.advance(10_000)
    client.queues["mail"].pop(9)
    clock.advance(10_000)
    client.queues["mail"].pop(9)

    rows = told(indexed(3), "failed-retries-mail").json

    assert {row["pattern"] for row in rows} == {
        "Retries used up · Letter · on w-1 · each lock ran out",
        "Retries used up · Letter · on w-2 · each lock ran out",
        "Retries used up · Parcel · on w-1 · each lock ran out",
    }


def test_a_group_that_is_not_there_has_no_clusters(client, plain, indexed):
    fail(client, "shop", "no")
    assert told(indexed(1), "other").json == told(plain, "other").json == []


def test_the_group_must_be_named(plain):
    answer = plain.get("/api/v1/failures/clusters")
    assert answer.status_code == 400
    assert "group" in answer.json["detail"]
