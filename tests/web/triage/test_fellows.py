"""Other jobs of a class: counted by the index on the page of one, and searched for without it."""

from __future__ import annotations

import pytest
import redis as redis_py
from werkzeug.test import Client as Browser

from qless_web import create_app, keep_index
from qless_web.console import EXTENSION
from qless_web.triage import fellows as module
from qless_web.triage.fellows import fellows
from qless_web.triage.index import NoIndex
from tests.support.dom import parse
from tests.support.polling import eventually


@pytest.fixture
def indexed(client, tmp_path):
    """Open the console once so many jobs are in its index."""
    app = create_app(client, state_dir=str(tmp_path), index_rate=0)
    keep_index(app)
    index = app.extensions[EXTENSION].index

    def opened(jobs):
        eventually(lambda: _holds(index, jobs))
        return Browser(app)

    opened.index = index
    yield opened
    index.close()


def _holds(index, jobs):
    try:
        with index.reading() as connection:
            (found,) = connection.execute("SELECT COUNT(*) FROM jobs").fetchone()
            told = connection.execute("SELECT value FROM meta WHERE name = 'complete'").fetchone()
            return found == jobs and told and told[0]
    except NoIndex:
        return False


@pytest.fixture
def letters(client, clock):
    """Put letters one after the other: two complete, one fails, three wait; and a card."""
    queue = client.queues["mail"]
    for number in range(6):
        clock.advance(10)
        queue.put("Letter", {}, jid=f"letter/{number}")
        if number < 3:
            job = queue.pop()
            job.complete() if number < 2 else job.fail("group", "message")
    queue.put("Card", {}, jid="card")


def runs(browser, jid):
    page = parse(browser.get(f"/jobs/{jid}").text).one("div", id="job-runs")
    (counts,) = page.all("ul", class_="run-counts")
    return page, [each.text for each in counts.all("li")]


def test_the_index_counts_the_other_runs_and_shows_the_newest(indexed, letters):  # noqa: ARG001 - puts the jobs
    page, counts = runs(indexed(7), "letter~2F4")

    assert counts == ["waiting 2", "failed 1", "complete 2"]
    strip = page.one("ol", class_="run-strip").all("a")
    states = [each.attributes["data-state"] for each in strip]
    assert states == ["complete", "complete", "failed", "waiting", "waiting"]
    assert strip[2].attributes["href"] == "/jobs/letter~2F2"
    assert "/search?q=klass:Letter+state:failed" in page.links
    assert runs(indexed(7), "card")[1] == ["There are no others."]


def test_classes_and_jids_of_any_bytes_have_others_too(indexed, server, client):
    with redis_py.Redis.from_url(server.url) as raw:
        for jid in (b"j\xff", b"k\xff"):
            name = jid.decode(errors="surrogateescape")
            client.commands.put("", "mail", name, "Letter", "{}", 0)
            raw.hset(b"ql:j:" + jid, "klass", b"app.\xe9")

    _, counts = runs(indexed(2), "j~FF")

    assert counts == ["waiting 1"]


def test_without_an_index_the_page_leads_to_searches(client, letters):  # noqa: ARG001 - puts the jobs
    page, counts = runs(Browser(create_app(client, index=False)), "letter~2F4")

    assert counts == ["failed", "waiting", "running", "complete"]
    assert "/search?q=klass:Letter" in page.links
    assert page.all("ol") == []


def test_of_very_many_jobs_of_a_class_a_part_is_looked_at(indexed, letters, monkeypatch):  # noqa: ARG001 - puts the jobs
    monkeypatch.setattr(module, "LOOKED_AT", 3)
    monkeypatch.setattr(module, "NEWEST_OF", 3)
    indexed(7)

    with indexed.index.reading() as connection:
        found = fellows(connection, "Letter", "letter/0")

    assert (found.looked_at, found.is_all) == (3, False)
    assert sum(count for _, count in found.counts) == 3
    assert {each.jid for each in found.newest} <= {"letter/5", "letter/4", "letter/3"}
    assert found.newest
    page, _ = runs(indexed(7), "letter~2F0")
    assert "Of 3 looked at; there are more." in page.text


def test_a_class_that_the_index_does_not_know_has_no_others(indexed, letters):  # noqa: ARG001 - puts the jobs
    indexed(7)

    with indexed.index.reading() as connection:
        assert fellows(connection, "Nothing", "j").newest == ()
