"""The page of one job."""

from __future__ import annotations

import gzip
import json

import pytest
import redis.connection
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import Client as Browser

from qless_web import create_app
from qless_web.formatting import tilde
from qless_web.views import names
from tests.support.dom import parse

AWKWARD = [
    "a/b",
    "..",
    "j/cancel",
    "TEST#33",
    "a?b=c",
    "k:1",
    "ü ~2F",
    "<b>&amp;'\"",
    "a\nb",
    " a ",
]


def put(client, jid="j", queue="mail", klass="Letter", data=None, **options):
    return client.queues[queue].put(klass, {} if data is None else data, jid=jid, **options)


def why(page):
    return page.one("div", id="job-why").text


def facts(page):
    lines = page.one("div", id="job-facts").all("div")
    return {line.one("dt").text: line.one("dd").text for line in lines}


def buttons(page):
    return [
        each.text.rstrip("…")
        for each in page.one("div", id="job-actions")
        if each.tag in {"a", "button"}
    ]


def events(page):
    rows = page.one("table", data_kind="events").one("tbody").all("tr")
    return [row.cells for row in rows]


# What it is


def test_a_job_says_what_it_is(client, clock, see):
    put(client, "9f3c21aa0b3c4d5e8f90123456789abc", priority=10, tags=["eu", "vip"], retries=3)
    client.track("9f3c21aa0b3c4d5e8f90123456789abc")
    clock.advance(61)

    page = see("/jobs/9f3c21aa0b3c4d5e8f90123456789abc")

    assert page.one("h1").text == "Letter 9f3c21aa…"
    assert page.one("span", class_="badge").text == "waiting"
    assert facts(page) == {
        "jid": "9f3c21aa0b3c4d5e8f90123456789abc",
        "Queue": "mail",
        "Priority": "10 Change…",
        "Attempts": "0",
        "Retries left": "3 of 3 Change…",
        "Last put": "1 min ago",
        "Tracked": "1 min ago",
    }
    assert [each.text for each in page.one("div", id="job-tags").all("a")] == ["eu", "vip"]
    copies = [each.attributes["data-copy"] for each in page.all("button", data_behavior="copy")]
    assert copies[0] == "9f3c21aa0b3c4d5e8f90123456789abc"


def test_a_running_job_names_its_worker_and_the_end_of_its_lock(client, clock, see):
    put(client)
    client.queues["mail"].pop()
    clock.advance(15)

    page = see("/jobs/j")

    assert facts(page)["Worker"] == "worker-1 , seen 15 s ago"
    assert facts(page)["Lock ends"] == "in 45 s"
    assert "/workers/worker-1" in page.links


@pytest.mark.parametrize("jid", AWKWARD)
def test_b03_b04_a_job_of_any_name_has_its_own_page(jid, client, web, see):
    put(client, "a")
    put(client, "j")
    put(client, jid, data={"of": jid}, tags=[jid])
    rows = [row.one("a", class_="row-link") for row in see("/queues/mail/waiting").rows]
    (link,) = {each.attributes["href"] for each in rows if each.all("code", title=jid)}

    page = see(link)

    assert facts(page)["jid"] == " ".join(jid.split())
    assert json.loads(web.get(f"{link}/data").get_data()) == {"of": jid}
    see(f"{link}/cancel")
    (tag,) = page.one("div", id="job-tags").links
    assert see(tag).row_ids == [f"job-{link.removeprefix('/jobs/')}"]


def test_a_jid_too_long_for_a_digest_is_spelled_out(client, see):
    jid = "ü" * 400
    put(client, jid)

    (link,) = [row.one("a", class_="row-link").attributes["href"]
               for row in see("/queues/mail/waiting").rows]  # fmt: skip

    assert facts(see(link))["jid"] == jid


@pytest.mark.parametrize("jid", ["x" * 9_000, "ü" * 2_000, "\udcff" * 2_500, "y" * 100_000],
                         ids=lambda jid: ascii(jid)[:9])  # fmt: skip
@pytest.mark.parametrize("is_remembered", [True, False])
def test_a_jid_too_long_for_an_address_has_one(client, web, see, monkeypatch, jid, is_remembered):
    client.commands.put("", "mail", jid, "Letter", "{}", 0)  # as other clients may: of any bytes
    monkeypatch.setattr(names, "_remembered", {})
    if not is_remembered:
        monkeypatch.setattr(names, "_remember", lambda _name: None)

    (link,) = [row.one("a", class_="row-link").attributes["href"]
               for row in see("/queues/mail/waiting").rows]  # fmt: skip
    page = see(link)

    assert len(link) < 100
    assert {len(each) < 6_100 for each in page.links} == {True}
    see(f"{link}/cancel")
    assert web.post(f"{link}/track", headers={"HX-Request": "true"}).status_code == 200
    assert client.redis.zscore("ql:tracked", jid) is not None
    client.redis.flushall()
    if not is_remembered:
        assert "too long for an address" in see(link, 404).text


# Why it is where it is, and what can be done


def test_a_running_job_says_how_far_it_is(client, clock, see):
    put(client, "j")
    job = client.queues["mail"].pop()
    assert see("/jobs/j").all("p", class_="progress") == []
    job.progress(30, 40, "letters <b>")
    clock.advance(5)

    shown = see("/jobs/j").one("p", class_="progress")
    assert "30 of 40, 75 %: letters <b>" in shown.text
    assert "said 5 s ago" in shown.text
    assert shown.one("svg").attributes["aria-label"] == "30 of 40, 75 %: letters <b>"
    assert "30 of 40, 75 %: letters <b>" in see("/queues/mail/running").rows[0].text

    job.progress(1_234)
    shown = see("/jobs/j").one("p", class_="progress")
    assert "1,234 done" in shown.text
    assert shown.all("svg") == []
    job.complete()
    assert see("/jobs/j").all("p", class_="progress") == []


def test_a_job_that_was_given_back_says_why(client, see):
    put(client, "j")
    job = client.queues["mail"].pop()
    job.give_back(ran=True, what="died", details={"signal": "SIGKILL", "host": "web-3"})

    assert events(see("/jobs/j"))[0][0] == "Died"
    assert events(see("/jobs/j"))[0][-1] == "signal SIGKILL, host web-3"


def test_a_waiting_job_says_how_many_are_before_it(client, clock, see):
    client.queues["mail"].pop()  # a worker is known
    for number in range(3):
        put(client, f"j{number}")
        clock.advance(1)

    assert why(see("/jobs/j0")) == "It is the next to be popped of mail ."
    assert why(see("/jobs/j1")) == "1 job is before it in the waiting list of mail ."
    assert why(see("/jobs/j2")) == "2 jobs are before it in the waiting list of mail ."
    assert buttons(see("/jobs/j2")) == ["Move", "Track", "Cancel"]


def test_a_waiting_job_says_that_its_queue_is_paused(client, see):
    put(client)
    client.queues["mail"].pause()

    page = see("/jobs/j")

    assert why(page).startswith("Queue mail is paused; it is the next")
    assert "data-paused" in page.one("span", class_="badge").attributes
    assert facts(page)["Queue"] == "mail (paused)"


def test_a_waiting_job_says_that_no_worker_is_there(client, clock, see):
    put(client)
    assert why(see("/jobs/j")).startswith("No worker is known")

    put(client, "other", "other")
    client.queues["other"].pop()
    clock.advance(840)

    assert why(see("/jobs/j")).startswith("No worker was seen since 14 min ago")


def test_a_waiting_job_says_that_its_queue_runs_as_many_as_it_may(client, see):
    client.config["mail-max-concurrency"] = 1
    put(client, "first")
    client.queues["mail"].pop()
    put(client)

    assert "runs 1 of at most 1 jobs" in why(see("/jobs/j"))


def test_a_running_job_can_be_timed_out(client, clock, see):
    put(client)
    client.queues["mail"].pop()

    assert why(see("/jobs/j")).startswith("Worker worker-1 runs it; its lock ends in 1 min")
    assert buttons(see("/jobs/j")) == ["Time out", "Move", "Track", "Cancel"]

    clock.advance(61)
    assert why(see("/jobs/j")).startswith("The lock of worker worker-1 ended 1 s ago")
    assert see("/jobs/j").one("span", class_="badge").text == "stalled"


def test_a_job_whose_lock_ran_out_says_what_the_next_pop_does(client, clock, see):
    put(client)
    client.queues["mail"].pop()
    clock.advance(61)

    assert why(see("/jobs/j")).endswith(
        "the next pop of mail warns that worker and gives it 10 s to finish."
    )
    assert see("/queues/mail/stalled").row_ids == ["job-j"]

    client.queues["mail"].pop()
    page = see("/jobs/j")
    assert page.one("span", class_="badge").text == "running"
    assert why(page) == (
        "The lock of worker worker-1 ended, and it was warned; it may finish until its grace period"
        " ends in 10 s , then the next pop of mail gives it to another worker, or fails it when no"
        " retry is left."
    )
    assert see("/queues/mail/running").row_ids == ["job-j"]

    clock.advance(11)
    page = see("/jobs/j")
    assert page.one("span", class_="badge").text == "stalled"
    assert why(page) == (
        "The grace period of worker worker-1 ended 1 s ago ; the next pop of mail gives it to"
        " another worker, or fails it when no retry is left."
    )


def test_without_a_grace_period_the_next_pop_hands_the_job_on(client, clock, see):
    client.config["grace-period"] = 0
    put(client)
    client.queues["mail"].pop()
    clock.advance(61)

    assert "the next pop of mail gives it to another worker" in why(see("/jobs/j"))


def test_a_job_that_was_timed_out_by_hand_waits_on_every_page(client, see):
    put(client, tags=["vip"])
    client.queues["mail"].pop()
    client.jobs["j"].timeout()
    client.track("j")

    page = see("/jobs/j")

    assert why(page) == "Timed out by hand. It is the next to be popped of mail ."
    assert page.one("span", class_="badge").text == "waiting"
    assert "Time out" not in buttons(page)
    for path in ("/track", "/track?state=waiting", "/tag?tag=vip"):
        (row,) = see(path).rows
        assert "timed out by hand" in row.text
        assert row.one("span", class_="badge").text == "waiting"
    assert "timed out by hand" in see("/queues/mail/waiting").text
    assert see("/track?state=stalled").row_ids == []


@pytest.mark.parametrize(("state", "entry"), [("failed", "Failures"), ("complete", "Completed")])
def test_what_is_done_is_found_under_its_own_entry(state, entry, client, web):
    put(client)
    job = client.queues["mail"].pop()
    if state == "failed":
        job.fail("group", "message")
    else:
        job.complete()

    page = parse(web.get("/jobs/j").get_data(as_text=True))

    assert page.one("nav", class_="rail").one("a", aria_current="page").text.startswith(entry)
    assert page.one("nav", id="crumbs").text.startswith(entry)


def test_a_scheduled_job_says_when_it_is_due_and_then_waits(client, clock, see):
    client.queues["mail"].pop()
    put(client, delay=120)

    assert why(see("/jobs/j")) == "Scheduled: a pop takes it when it is due, in 2 min ."
    assert facts(see("/jobs/j"))["Due"] == "in 2 min"

    clock.advance(121)
    assert see("/jobs/j").one("span", class_="badge").text == "waiting"
    assert "it is due" in why(see("/jobs/j")).lower()


def test_a_failed_job_is_retried_at_once_and_moved_or_cancelled_after_a_question(client, see):
    put(client)
    client.queues["mail"].pop().fail("group", "message")

    page = see("/jobs/j")

    assert why(page).startswith("Failed just now in group group and stays until someone")
    assert buttons(page) == ["Retry", "Move", "Track", "Cancel"]
    assert page.all("form", action="/jobs/j/retry")
    assert {"/jobs/j/move", "/jobs/j/cancel", "/failed/group"} <= set(page.links)


def test_a_complete_job_says_when_it_will_be_forgotten(client, clock, see):
    put(client)
    client.queues["mail"].pop().complete()
    clock.advance(86_400)

    page = see("/jobs/j")

    assert why(page) == "Completed 1 d ago ; its record may be forgotten in 6 d ."
    assert buttons(page) == ["Move", "Track"]
    assert page.one("nav", class_="crumbs").text.startswith("Completed")


def test_a_state_that_nobody_knows_is_shown_as_it_is(client, redis, see):
    put(client)
    redis.hset("ql:j:j", "state", "hibernating")

    assert "'hibernating'" in why(see("/jobs/j"))


def test_tags_are_removed_with_a_cross_and_added_in_a_form(client, see):
    put(client, tags=["a,b", '"q"', " x "])

    page = see("/jobs/j")

    removing = page.all("form", action="/jobs/j/untag")
    values = [form.one("input", name="tag").attributes["value"] for form in removing]
    assert values == ["a,b", '"q"', " x "]
    assert page.one("form", action="/jobs/j/tag").one("input", name="tag")


def test_b21_tags_of_odd_shapes_are_shown(client, redis, see):
    put(client)
    for stored in ('{"a": 1}', "[1, 2]", '["x", null]', '[["x"]]', "nonsense", '["\\ud800"]', "[]"):
        redis.hset("ql:j:j", "tags", stored)
        see("/jobs/j")


# Dependencies


def test_b49_a_job_that_waits_for_a_failed_one_says_so(client, see):
    put(client, "parent")
    put(client, "child", depends=["parent"], klass="Receipt")
    assert why(see("/jobs/child")) == "Waits for Letter parent , which is waiting."

    client.queues["mail"].pop().fail("group", "message")

    child = see("/jobs/child")
    assert (
        why(child)
        == "Waits for Letter parent , which failed: it will not run until that completes."
    )
    assert "1, 1 failed or gone" in child.one("div", id="job-related").text
    assert "/jobs/child/undepend?dependency=parent" in child.links
    parent = see("/jobs/parent")
    assert "1 job waits for it" in why(parent)
    assert parent.one("div", id="job-related").one("span", class_="badge").text == "depends"


def test_a_job_can_be_freed_of_one_or_of_all_it_waits_for(client, see):
    put(client, "p1")
    put(client, "p/2")
    put(client, "child", depends=["p1", "p/2"])

    links = see("/jobs/child").one("div", id="job-related").links

    assert {
        "/jobs/child/undepend",
        "/jobs/child/undepend?dependency=p1",
        "/jobs/child/undepend?dependency=p/2",
    } <= set(links)
    assert ", and for 1 more" in why(see("/jobs/child"))


def test_many_dependents_are_counted_and_some_are_shown(client, see):
    put(client, "parent")
    for number in range(70):
        put(client, f"c{number}", depends=["parent"])

    related = see("/jobs/parent").one("div", id="job-related")

    assert "Blocks 70" in related.text
    shown = len(related.all("li"))
    assert 0 < shown < 70
    assert f"and {70 - shown} more" in related.text


def test_b36_a_dependency_that_is_gone_is_shown_as_gone(client, redis, see):
    put(client, "parent")
    put(client, "child", depends=["parent"])
    redis.delete("ql:j:parent")

    page = see("/jobs/child")

    assert "which is gone" in why(page)
    assert "no longer there" in page.one("div", id="job-related").text


def test_b50_jobs_that_wait_for_each_other_still_show(client, redis, see):
    put(client, "p")
    put(client, "a", depends=["p"])
    for key, member in (("a-dependencies", "a"), ("a-dependents", "a"), ("a-dependencies", "p")):
        redis.sadd(f"ql:j:{key}", member)

    assert "Waits for" in see("/jobs/a").one("div", id="job-related").text


def boxes(page):
    graph = page.one("svg", class_="graph")
    return [each.one("title").text for each in graph.all("a")]


def test_the_jobs_around_one_are_drawn_with_links_and_listed(client, see):
    for jid, before in (("a", []), ("b", ["a"]), ("j", ["b"]), ("k", ["j"]), ("l/1", ["k"])):
        put(client, jid, depends=before)

    page = see("/jobs/j")
    whole = see("/jobs/j/graph")

    assert "/jobs/j/graph" in page.links
    for shown in (page, whole):
        assert boxes(shown) == [
            "Letter a, waiting", "Letter b, depends", "Letter k, depends", "Letter l/1, depends",
        ]  # fmt: skip
        links = [each.attributes["href"] for each in shown.one("svg", class_="graph").all("a")]
        assert links == ["/jobs/a", "/jobs/b", "/jobs/k", "/jobs/l~2F1"]
        rows = shown.one("table", class_="graph-list").one("tbody").all("tr")
        assert [row.cells for row in rows][1] == ["Letter b", "depends", "waited for", "1", "1"]
    assert see("/jobs/none/graph", 404)


def test_a_job_without_relatives_has_no_graph(client, see):
    put(client)

    assert not see("/jobs/j").all("svg", class_="graph")
    assert "no job waits for it" in see("/jobs/j/graph").text


def test_b36_b50_rings_and_jobs_that_are_gone_are_drawn(client, redis, see):
    put(client, "p")
    put(client, "j", depends=["p"])
    redis.sadd("ql:j:p-dependencies", "j", "lost")
    redis.sadd("ql:j:j-dependents", "p")

    page = see("/jobs/p/graph")

    assert "2 of these jobs wait for one another in a ring" in page.text
    assert sorted(boxes(page)) == ["Letter j, depends, in a ring", "lost lost, gone"]
    assert "no longer there" in page.one("table", class_="graph-list").text


def test_very_many_dependents_stay_within_bounds_and_are_counted(client, web, see):
    put(client, "parent")
    for number in range(120):
        put(client, f"c{number}", depends=["parent"])

    page = see("/jobs/parent/graph")

    assert "96 of the 120 jobs that wait for it are not drawn." in page.text
    assert len(web.get("/jobs/parent").get_data()) < 120_000


# Failure


def test_a_failure_shows_own_frames_and_all_frames_and_raw(client, web, see):
    put(client)
    client.queues["mail"].pop().fail(
        "mail-Timeout",
        "Traceback (most recent call last):\n"
        '  File "/srv/mail.py", line 8, in send\n    post()\n'
        '  File "/venv/lib/python3.12/site-packages/http.py", line 9, in post\n    wait()\n'
        "http.Timeout: no answer\n",
    )

    failure = see("/jobs/j").one("section", id="failure")

    assert "innermost own frame mail.py:8 send" in failure.text
    folded = failure.one("details")
    assert folded.one("summary").text == "1 frame of libraries"
    assert "http.py" in folded.text
    assert "mail.py" not in folded.text
    assert "worker-1" in failure.text
    assert web.get("/jobs/j/failure").get_data(as_text=True).endswith("http.Timeout: no answer\n")


def test_a_job_that_was_retried_still_shows_its_last_failure(client, see):
    put(client)
    client.queues["mail"].pop().fail("group", "message")
    client.queues["mail"].put("Letter", {}, jid="j")

    assert "Last failure" in see("/jobs/j").one("section", id="failure").text


def test_b32_a_message_of_a_megabyte_is_cut_on_the_page_only(client, redis, web, see):
    put(client)
    message = "begins " + "x" * 1_000_000 + " ends"
    client.queues["mail"].pop().fail("group", "short")
    failure = {"group": "group", "message": message, "when": 1, "worker": "w"}
    redis.hset("ql:j:j", "failure", json.dumps(failure))

    page = web.get("/jobs/j").get_data(as_text=True)

    assert len(page) < 500_000
    assert "/jobs/j/failure" in see("/jobs/j").links
    assert web.get("/jobs/j/failure").get_data(as_text=True) == message
    assert web.get("/jobs/none/failure").status_code == 404


# Data


DATA = [
    '{"n":12345678901234567,"f":0.1234567890123456789,"e":1.10}',
    '{"l":[],"o":{}}',
    '{"a":1,"a":2}',
    "null",
    '"s"',
    "5",
    "[]",
    "true",
    '""',
    "NaN",
    "[Infinity]",
    '{"x":-Infinity}',
    "[" * 1_000 + "]" * 1_000,
    "[" * 30_000 + "]" * 30_000,
    '{"s":"\\ud800"}',
    '{"ü":"漢字 🙂 \\u0000"}',
    "this is no JSON at all",
]


@pytest.mark.parametrize("data", DATA, ids=lambda text: text[:24])
def test_b13_b15_b17_b18_data_is_shown_and_given_byte_for_byte(data, client, redis, web, see):
    put(client)
    redis.hset("ql:j:j", "data", data)

    page = see("/jobs/j").one("section", id="data")

    if len(data) < 100 and "\\u" not in data:
        for digits in ("12345678901234567", "0.1234567890123456789", "1.10", "Infinity", "NaN"):
            assert (digits in data) == (digits in page.text)
    raw = web.get("/jobs/j/data")
    assert raw.get_data() == data.encode()
    assert raw.content_type == "text/plain; charset=utf-8"
    download = web.get("/jobs/j/data?download=1")
    assert download.get_data() == data.encode()
    assert download.headers["Content-Disposition"] == 'attachment; filename="j.json"'
    copies = page.all("button", data_behavior="copy")
    assert data in [each.attributes["data-copy"] for each in copies]


def test_data_that_is_no_utf_8_is_given_as_it_is(client, redis, web, see):
    put(client)
    redis.connection_pool.connection_kwargs["encoding_errors"] = "surrogateescape"
    redis.hset("ql:j:j", "data", b'{"s": "\xff"}')

    see("/jobs/j")

    assert web.get("/jobs/j/data").get_data() == b'{"s": "\xff"}'


def test_large_data_does_not_come_along(client, web, see):
    put(client, data={"x": "y" * 5_000_000})

    page = see("/jobs/j").one("section", id="data")

    assert "4.8 MB" in page.text
    assert "too large" in page.text
    assert "/jobs/j/data/tree" in page.links
    assert len(web.get("/jobs/j").get_data()) < 50_000
    assert len(web.get("/jobs/j/data").get_data()) > 5_000_000


def test_data_of_a_job_that_is_not_there_is_404(web):
    assert web.get("/jobs/none/data").status_code == 404
    assert web.get("/jobs/none/data/tree").status_code == 404


def test_megabytes_are_folded_part_by_part_and_each_page_is_small(client, web, see):
    rows = [{"id": 10**18 + n, "text": "y" * 90} for n in range(10_000)]
    put(client, data={"rows": rows, "big": "z" * 200_000, "n": 1})

    whole = see("/jobs/j/data/tree").one("section", id="data")
    part = see("/jobs/j/data/tree?at=/rows&page=100").one("section", id="data")
    one = see("/jobs/j/data/tree?at=/rows/9999/id")

    assert "/jobs/j/data/tree?at=/rows" in whole.links
    assert "/jobs/j/data/tree?at=/big" in whole.links
    assert "9,901\N{EN DASH}10,000 of 10,000" in part.text
    assert f"id : {10**18 + 9_999}" in part.text
    assert str(10**18 + 9_999) in one.text
    for path in ("tree", "tree?at=/rows", "tree?at=/big", "tree?find=y"):
        shown = web.get(f"/jobs/j/data/{path}").get_data()
        assert len(gzip.compress(shown)) < 100_000


def test_a_word_is_found_in_all_of_the_data(client, see):
    put(client, data={"rows": [{"id": n, "Süß/key": "x" * 400} for n in range(500)], "a": "Abc"})

    found = see("/jobs/j/data/tree?find=süß")
    none = see("/jobs/j/data/tree?find=nothing-like-it")

    assert "500 places of “süß”" in found.text
    hits = found.one("ul", class_="data-hits")
    assert len(hits.all("li")) == 50
    assert hits.all("li")[0].text == 'rows[0]["Süß/key"] a key'
    shown = see(hits.links[0].replace("&amp;", "&"))
    assert "Süß/key" in shown.one("section", id="data").text
    assert "No key and no value has it" in none.text


@pytest.mark.parametrize("at", ["/none", "/a/0/x", "a", "/" * 300, "/a/1e400", "/a/-1"])
def test_a_part_that_is_not_there_is_404(at, client, web):
    put(client, data={"a": [1]})

    for path in ("data", "data/tree"):
        assert web.get(f"/jobs/j/{path}", query_string={"at": at}).status_code == 404


def test_b15_a_part_is_given_digit_for_digit(client, redis, web):
    put(client)
    redis.hset("ql:j:j", "data", '{"a": [1.50, 12345678901234567890], "b/c": " é "}')

    parts = {at: web.get("/jobs/j/data", query_string={"at": at}).text
             for at in ("/a/0", "/a/1", "/a", "/b~1c")}  # fmt: skip

    assert parts == {
        "/a/0": "1.50", "/a/1": "12345678901234567890", "/a": "[1.50, 12345678901234567890]",
        "/b~1c": '" é "',
    }  # fmt: skip


@pytest.mark.parametrize("data", DATA, ids=lambda text: text[:24])
def test_data_of_any_kind_has_a_page_of_its_own(data, client, redis, see):
    put(client)
    redis.hset("ql:j:j", "data", data)

    see("/jobs/j/data/tree")
    see("/jobs/j/data/tree?find=1")


# As text


@pytest.mark.parametrize("form", ["python", "curl", "markdown"])
@pytest.mark.parametrize("jid", AWKWARD)
def test_a_job_of_any_name_is_had_as_text(jid, form, client, web, see):
    put(client, jid, data={"of": jid}, tags=[jid])
    (link,) = [each for each in see(f"/jobs/{tilde(jid)}").links if each.endswith(f"/as/{form}")]

    answer = web.get(link)

    assert answer.status_code == 200
    assert answer.content_type == "text/plain; charset=utf-8"
    assert "Letter" in answer.text


def test_what_cannot_be_had_as_text_is_404(client, web):
    put(client)

    assert web.get("/jobs/none/as/python").status_code == 404
    assert web.get("/jobs/none/as/markdown").status_code == 404
    assert web.get("/jobs/j/as/cobol").status_code == 404


def test_the_line_for_the_shell_leads_to_this_console_under_its_prefix(client):
    put(client)
    app = DispatcherMiddleware(lambda *_: pytest.fail("outside"), {"/ops": create_app(client)})

    text = Browser(app).get("/ops/jobs/j/as/curl").text

    assert "curl http://localhost/ops/api/v1/queues/mail/put" in text


# History


def test_what_happened_is_listed_with_the_newest_first(client, clock, see):
    put(client)
    clock.advance(12)
    job = client.queues["mail"].pop()
    job.log("half way", {"pid": 1234, "ratio": 0.5})
    clock.advance(61)
    job.fail("mail-Timeout", "no answer")

    found = events(see("/jobs/j"))

    assert [row[0] for row in found] == ["Failed", "half way", "Popped", "Put"]
    assert [row[3] for row in found[:1]] == ["1 min 1 s"]
    assert found[0][4] == "worker worker-1 , group mail-Timeout"
    assert found[3][4] == "queue mail"
    # Defect 12 of the original: integers of a log line are no dates.
    assert found[1][4] == "pid 1234, ratio 0.5"


def test_each_attempt_has_a_lane_with_wait_and_run_apart(client, clock, see):
    put(client)
    clock.advance(12)
    client.queues["mail"].pop().fail("group", "message")
    clock.advance(30)
    put(client)
    clock.advance(4)
    client.queues["mail"].pop()
    clock.advance(30)

    story = see("/jobs/j").one("div", id="job-story")

    attempts = story.one("section", id="attempts").one("table").one("tbody").all("tr")
    assert [row.cells[:5] for row in attempts] == [
        ["1", "worker-1 mail", "failed", "12 s", "under 1 s"],
        ["2", "worker-1 mail", "running", "4 s", "30 s"],
    ]
    assert [row.one("svg", class_="lane").attributes["aria-label"] for row in attempts] == [
        "waited 12 s, under 1 s · failed",
        "waited 4 s, running",
    ]
    head = "2 attempts · in all waited 16 s · ran under 1 s · running for 30 s"
    assert head in story.text


def test_trimmed_history_has_a_gap(client, clock, see):
    client.config["max-job-history"] = 5
    put(client)
    for _ in range(6):
        clock.advance(10)
        client.queues["mail"].pop().fail("group", "message")
        put(client)

    page = see("/jobs/j")
    story = page.one("div", id="job-story")

    assert "older entries were trimmed here" in page.one("table", data_kind="events").text
    assert story.all("rect", data_kind="gap")
    assert "1 attempt known" in story.text


def test_history_of_old_clients_is_read(client, redis, see):
    put(client)
    redis.delete("ql:j:j-history")
    old = [{"q": "mail", "put": 100, "popped": 110, "failed": 120, "worker": "old-1"}]
    redis.hset("ql:j:j", "history", json.dumps(old))

    assert [row[0] for row in events(see("/jobs/j"))] == ["Failed", "Popped", "Put"]


@pytest.mark.parametrize(
    "item",
    ['["soon", "put"]', "[]", "{}", "nonsense", '[1, "put", "text"]', '[1e400, "x", {}]',
     '[5, {"a": 1}, {}]', '[-5, "popped", {"worker": 7}]', '[3, "log", {"k": {"k": [1, 2]}}]'],
)  # fmt: skip
def test_history_that_makes_no_sense_is_no_error(item, client, redis, see):
    put(client)
    redis.rpush("ql:j:j-history", item)
    client.queues["mail"].pop()

    see("/jobs/j")


def test_b54_times_in_the_future_are_never_negative(client, clock, see):
    clock.advance(1_000)
    put(client)
    clock.advance(-1_000)
    client.queues["mail"].pop()

    page = see("/jobs/j")

    assert "NaN" not in page.text
    assert [row[3] for row in events(page)] == ["0 s", "\u2013"]
    assert why(page).startswith("Worker worker-1 runs it; its lock ends in 1 min")


def test_a_job_with_hardly_any_fields_is_shown(redis, see):
    redis.hset("ql:j:j", "klass", "Letter")

    assert see("/jobs/j").one("h1").text == "Letter j"


# What is not there


def test_a_missing_job_is_404_and_says_what_may_have_become_of_it(client, see):
    client.config["jobs-history"] = 3_600

    page = see("/jobs/none", status=404)

    assert "kept for 1 h" in page.text
    assert "cancelled" in page.text
    assert "/search?q=none" in page.links


@pytest.mark.parametrize("path", ["j", "none", "j/graph", "j/data/tree", "j/as/curl"])
def test_no_page_of_a_job_takes_more_than_three_round_trips(path, client, web, monkeypatch):
    put(client, "first")
    put(client, "j", depends=["first"])
    web.get("/jobs/j")
    trips = []
    send = redis.connection.AbstractConnection.send_packed_command
    monkeypatch.setattr(
        redis.connection.AbstractConnection,
        "send_packed_command",
        lambda *args, **options: trips.append(args) or send(*args, **options),
    )

    web.get(f"/jobs/{path}")

    assert 0 < len(trips) <= 3


def test_the_page_of_a_running_job_offers_nothing_where_it_is_read_only(client):
    put(client, tags=["vip"])
    client.queues["mail"].pop()
    web = Browser(create_app(client, read_only=True))

    page = parse(web.get("/jobs/j").get_data(as_text=True)).one("main")

    assert not page.all("form", method="post")
    assert page.one("div", id="job-actions").text.count("read-only") == 4
