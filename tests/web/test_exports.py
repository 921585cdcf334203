"""Whole lists as files: each job once, exact, safe for spreadsheets, in little memory."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc

import pytest
from flask import url_for
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_core.reads import run
from qless_core.reads.stretch import Source, stretch
from qless_web import create_app
from qless_web.extensions import Extensions, hide
from tests.support.shop import Shop


@pytest.fixture
def address(app):
    def write(endpoint, **values):
        with app.test_request_context():
            return url_for(endpoint, **values)

    return write


def lines(answer):
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def table(answer):
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


def begin(client):
    shop = Shop(client)
    shop.fail("failed")
    shop.complete("complete")
    shop.put("running")
    client.queues["mail"].pop()
    shop.put("waiting", tags=["x"])
    shop.put("scheduled", delay=1_000)
    shop.put("depends", depends=["waiting"])
    client.queues["mail"].recur("Again", {}, interval=60, offset=60, jid="r")
    client.queues["mail"].cron("Again", {}, "0 3 * * *", jid="c")
    client.track("waiting")


def stored(redis):
    return {key: redis.dump(key) for key in sorted(redis.scan_iter(count=1000))}


LISTS = {
    "/export/queues/mail/waiting": ["waiting"],
    "/export/queues/mail/running": ["running"],
    "/export/queues/mail/stalled": [],
    "/export/queues/mail/scheduled": ["scheduled"],
    "/export/queues/mail/depends": ["depends"],
    "/export/queues/mail/recurring": ["r", "c"],
    "/export/failed/boom": ["failed"],
    "/export/failed": ["failed"],
    "/export/completed": ["complete"],
    "/export/tracked": ["waiting"],
    "/export/scheduled": ["scheduled"],
    "/export/recurring": ["r", "c"],
    "/export/tags/x": ["waiting"],
}


@pytest.mark.parametrize(("path", "jids"), LISTS.items(), ids=list(LISTS))
def test_each_list_can_be_had_whole_in_both_formats(web, client, redis, path, jids):
    begin(client)
    before = stored(redis)

    as_json, as_csv = web.get(path), web.get(f"{path}?format=csv")

    assert [each["jid"] for each in lines(as_json)] == jids
    assert [each["jid"] for each in table(as_csv)] == jids
    assert as_json.content_type == "application/x-ndjson"
    assert as_csv.content_type == "text/csv; charset=utf-8"
    assert 'filename="qless-' in as_csv.headers["Content-Disposition"]
    assert stored(redis) == before


def test_queues_and_workers_can_be_had(web, client):
    begin(client)

    assert [each["waiting"] for each in lines(web.get("/export/queues"))] == [1]
    assert lines(web.get("/export/queues/mail/waiting"))[0]["at"] is None
    assert [each["name"] for each in table(web.get("/export/workers?format=csv"))] == ["worker-1"]


def test_pages_of_lists_lead_there(web, client):
    begin(client)

    for page in ("/queues/mail/waiting", "/failed/boom", "/completed", "/tag?tag=x", "/queues"):
        links = [link for link in web.page(page).links if "/export/" in link]
        assert len(links) == 2, page
        for link in links:
            assert web.get(link.removeprefix(web.prefix)).status_code == 200


def test_names_may_be_anything(web, client, address, awkward):
    client.commands.put("", awkward, awkward, awkward, "{}", 0, tags=[awkward])

    for endpoint, values in (
        ("exports.queue", {"queue": awkward, "state": "waiting"}),
        ("exports.tag", {"tag": awkward}),
    ):
        path = address(endpoint, **values)
        (found,) = lines(web.get(path))
        assert (found["jid"], found["klass"], found["tags"]) == (awkward, awkward, [awkward])
        (row,) = table(web.get(f"{path}?format=csv"))
        assert row["jid"] == awkward


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_no_cell_is_a_formula_to_a_spreadsheet(web, client, text):
    client.queues["mail"].put(text, text, jid=f"a{text}", tags=[text], priority=-5)

    (row,) = table(web.get("/export/queues/mail/waiting?format=csv&data=1"))

    assert row["klass"] == f"'{text}"
    assert row["priority"] == "-5"
    assert not any(value.startswith(("=", "+", "@", "\t", "\r")) for value in row.values() if value)


def test_data_comes_along_where_asked_for_byte_for_byte_in_one_line(web, client, redis):
    client.queues["mail"].put("K", {}, jid="a")
    redis.hset("ql:j:a", "data", '{\n "n": 1.10,\r\n "t": "a\\nb"}')
    client.queues["mail"].put("K", {}, jid="b")
    redis.hset("ql:j:b", "data", "{half\n")

    answer = web.get("/export/queues/mail/waiting?data=1")

    first, second = sorted(answer.text.splitlines())
    assert '"n": 1.10' in first
    assert json.loads(first)["data"] == {"n": 1.1, "t": "a\nb"}
    assert json.loads(second)["data"] == "{half\n"
    assert "data" not in lines(web.get("/export/queues/mail/waiting"))[0]


def test_what_is_hidden_is_hidden_here(client, visit):
    client.queues["mail"].put("K", {"card": "4111"}, jid="a")
    web = visit(create_app(client, extensions=Extensions(redact=hide("card"))))

    for kind in ("csv", "ndjson"):
        text = web.get(f"/export/queues/mail/waiting?data=1&format={kind}").text
        assert "4111" not in text
        assert "[hidden]" in text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/export/completed?format=xml", 400),
        ("/export/nothing", 404),
        ("/export/queues/mail/nothing", 404),
    ],
)
def test_what_makes_no_sense_is_refused(web, path, status):
    assert web.get(path).status_code == status


def test_without_redis_it_says_so_before_it_begins(visit):
    with Client("unix:///nowhere/there.sock") as nobody:
        assert visit(create_app(nobody)).get("/export/completed").status_code == 503


# -- Long lists


def walk(client, source, size, meanwhile=None):
    """Read a list a stretch at a time; `meanwhile` is called after each."""
    met, mark = [], None
    while True:
        plan = stretch(source, mark, size)
        _, (found,) = run(client.redis, client.keys, (plan,), now=client.now())
        met += [row.jid for row in found.rows]
        mark = found.mark
        if mark is None:
            return met
        if meanwhile:
            meanwhile(met)


@pytest.mark.parametrize("falling", [False, True])
@pytest.mark.parametrize(
    "scores",
    [[1.5] * 300, [n / 7 for n in range(300)], [n // 40 for n in range(300)]],
    ids=["one", "each its own", "forty alike"],
)
def test_each_is_met_once_and_in_order(client, redis, scores, falling):
    redis.zadd("ql:list", {f"j{n:03}": score for n, score in enumerate(scores)})
    source = Source(key="ql:list", falling=falling)

    met = walk(client, source, 40)

    assert met == redis.zrange("ql:list", 0, -1, desc=falling)


@pytest.mark.parametrize("is_list", [False, True])
def test_what_comes_and_goes_meanwhile_moves_no_other_out_of_sight(client, redis, is_list):
    names = [f"j{n:04}" for n in range(1_000)]
    key = "ql:f:g" if is_list else "ql:list"
    if is_list:
        redis.lpush(key, *names)
    else:
        redis.zadd(key, dict.fromkeys(names, 1))

    def meanwhile(met):
        gone = met[-120:]
        if is_list:
            for name in gone:
                redis.lrem(key, 1, name)
            if len(met) < 500:
                redis.lpush(key, f"new-{len(met)}")
        else:
            redis.zrem(key, *gone)
            redis.zadd(key, {f"a-{len(met)}": 1})

    met = walk(client, Source(key=key, is_list=is_list), 100, meanwhile)

    assert set(names) <= set(met)
    assert len([each for each in met if each in set(names)]) == len(names)


def test_a_long_list_takes_no_more_memory_than_a_short_one(client):
    browser = Browser(create_app(client))

    def peak(jobs):
        client.queues[f"q{jobs}"].put_many([("K", {"n": n}) for n in range(jobs)])
        tracemalloc.start()
        answer = browser.get(f"/export/queues/q{jobs}/waiting?format=csv", buffered=False)
        count = sum(chunk.count(b"\n") for chunk in answer.iter_encoded())
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == jobs + 1
        return found

    peak(500)  # what is made once

    assert peak(10_000) < peak(1_000) * 3


def test_it_reads_no_further_than_it_is_read(client, redis):
    client.queues["mail"].put_many([("K", {"n": n}) for n in range(2_000)])
    before = redis.info("commandstats").get("cmdstat_hmget", {"calls": 0})["calls"]

    answer = Browser(create_app(client)).get("/export/queues/mail/waiting", buffered=False)
    next(answer.iter_encoded())

    assert redis.info("commandstats")["cmdstat_hmget"]["calls"] - before <= 600
