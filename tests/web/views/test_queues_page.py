"""The list of queues, and the page of one with its tabs."""

from __future__ import annotations

import re

import pytest

AWKWARD = ["a/b", "a/running", "..", "x.json", "ü ~2F", "q?x=1#y", "<b>&amp;'\"", "a:b.c", "a b"]
TABS = ["", "/stats", "/waiting", "/running", "/stalled", "/scheduled", "/depends", "/recurring"]


def put(client, queue, many, **options):
    for number in range(many):
        client.queues[queue].put("Letter", {}, jid=f"{queue}-{number:03}", **options)


# The list


def test_queues_are_listed_by_name_with_their_counts(client, clock, see):
    put(client, "b", 3)
    put(client, "a", 1, delay=60)
    client.queues["a"].recur("Again", {}, interval=60)
    client.queues["b"].pop()
    clock.advance(5)

    page = see("/queues")

    assert page.row_ids == ["queue-a", "queue-b"]
    # waiting, running, stalled, scheduled, depends, recurring
    assert page.rows[0].cells[2:8] == ["0", "0", "0", "1", "0", "1"]
    assert page.rows[1].cells[2:8] == ["2", "1", "0", "0", "0", "0"]
    assert "0 5 s" in page.rows[1].text


def test_a_queue_shows_how_often_its_jobs_failed_today(client, clock, see):
    put(client, "mail", 2)
    for job in client.queues["mail"].pop(2):
        job.fail("group", "message")

    assert see("/queues").rows[0].cells[9] == "2"

    clock.advance(86_400)
    assert see("/queues").rows[0].cells[9] == "0"


def test_queues_are_found_by_a_part_of_their_name_in_any_case(client, see):
    for name in ("Mail/eu", "mail/us", "export"):
        put(client, name, 1)

    assert see("/queues?q=mail").row_ids == ["queue-Mail~2Feu", "queue-mail~2Fus"]
    assert "No queue has “zzz” in its name" in see("/queues?q=zzz").text


def test_queues_are_ordered_by_what_there_is_most_of(client, see):
    put(client, "a", 1)
    put(client, "b", 3)
    put(client, "c", 2)

    assert see("/queues?sort=waiting").row_ids == ["queue-b", "queue-c", "queue-a"]
    assert see("/queues?sort=nonsense").row_ids == ["queue-a", "queue-b", "queue-c"]


def test_ordered_queues_are_paged_too(client, see):
    for number in range(30):
        put(client, f"q{number:02}", 30 - number)

    pages = [see(f"/queues?sort=waiting&page={number}").row_ids for number in (1, 2)]

    assert pages[0] + pages[1] == [f"queue-q{number:02}" for number in range(30)]
    assert "/queues?sort=waiting" in see("/queues?sort=waiting&page=2").links


def test_a_paused_queue_is_marked_and_can_be_unpaused_everywhere(client, see):
    """B91."""
    put(client, "mail", 1)
    client.queues["mail"].pause()

    for path in ["/", "/queues", *(f"/queues/mail{tab}" for tab in TABS)]:
        page = see(path)
        assert "paused" in page.text.lower(), path
        assert page.all("form", action="/queues/mail/unpause"), path


def test_no_queues_yet_says_how_to_begin(see, server):
    line = f"qless --redis-url {server.url} put mail"
    assert line in see("/queues").text
    assert line in see("/").text


# One queue


@pytest.mark.parametrize("name", AWKWARD)
def test_a_queue_of_any_name_has_its_own_pages(name, client, see):
    """B01, B03, B04."""
    put(client, "a", 1)
    put(client, "x", 1)
    put(client, name, 2)

    rows = {row.one("a", class_="row-link").text: row for row in see("/queues").rows}
    link = rows[name].one("a", class_="row-link").attributes["href"]

    for tab in TABS:
        assert see(link + tab).one("h1").text == name
    assert len(see(f"{link}/waiting").row_ids) == 2


def test_the_tabs_count_what_they_list(client, clock, see):
    queue = client.queues["mail"]
    queue.put("Slow", {}, jid="stalled")
    queue.pop()
    clock.advance(100)
    queue.put("Now", {}, jid="running", priority=10)
    # A pop hands out jobs whose lock ended first: let the grace period go by for none.
    client.queues["mail"].put("Later", {}, jid="scheduled", delay=60)
    queue.put("After", {}, jid="depends", depends=["running"])
    queue.recur("Again", {}, interval=60, jid="recurring")

    shown = {tab: see(f"/queues/mail/{tab}") for tab in ("stalled", "waiting", "scheduled")}
    shown |= {tab: see(f"/queues/mail/{tab}") for tab in ("depends", "recurring", "running")}

    assert shown["stalled"].row_ids == ["job-stalled"]
    assert shown["waiting"].row_ids == ["job-running"]
    assert shown["scheduled"].row_ids == ["job-scheduled"]
    assert shown["depends"].row_ids == ["job-depends"]
    assert shown["recurring"].row_ids == ["job-recurring"]
    assert shown["running"].row_ids == []
    counts = [each.text for each in shown["running"].all("span", class_="tab-count")]
    assert counts == ["1", "0", "1", "1", "1", "1"]


def test_a_scheduled_job_shows_when_it_is_due_and_waits_once_it_is(client, clock, see):
    put(client, "mail", 1, delay=120)

    assert "in 2 min" in see("/queues/mail/scheduled").rows[0].text

    clock.advance(121)
    assert see("/queues/mail/scheduled").row_ids == []
    assert see("/queues/mail/waiting").row_ids == ["job-mail-000"]


def test_a_job_that_waits_for_others_says_for_how_many(client, see):
    for number in range(3):
        client.queues["mail"].put("First", {}, jid=f"first-{number}")
    client.queues["mail"].put("After", {}, jid="after", depends=["first-0", "first-1", "first-2"])

    assert "waits for 3 jobs" in see("/queues/mail/depends").rows[0].text

    client.queues["mail"].pop().complete()
    client.queues["mail"].pop().complete()
    assert "waits for 1 job" in see("/queues/mail/depends").rows[0].text


def test_a_running_job_shows_its_worker_and_the_time_it_has_left(client, clock, see):
    put(client, "mail", 1)
    client.queues["mail"].pop()
    clock.advance(20)

    row = see("/queues/mail/running").rows[0]

    assert "worker-1" in row.text
    assert "in 40 s" in row.text


def test_a_stalled_job_shows_since_when(client, clock, see):
    put(client, "mail", 1)
    client.queues["mail"].pop()
    clock.advance(90)

    row = see("/queues/mail/stalled").rows[0]

    assert "worker-1" in row.text
    assert "30 s ago" in row.text


def test_a_recurring_job_shows_its_interval_and_what_it_owes(client, clock, see):
    client.queues["mail"].recur("Again", {}, interval=600, jid="again", offset=60)

    assert see("/queues/mail/recurring").rows[0].cells[1] == "10 min"
    assert "in 1 min" in see("/queues/mail/recurring").rows[0].text

    clock.advance(1_300)
    row = see("/queues/mail/recurring").rows[0]
    assert row.cells[5] == "3"
    assert "due" in row.text


def test_the_facts_of_a_queue_are_those_that_count_for_it(client, see):
    put(client, "mail", 1)
    assert "a lock lasts 1 min" in see("/queues/mail").text

    client.config["heartbeat"] = 120
    assert "a lock lasts 2 min" in see("/queues/mail").text

    client.config["mail-heartbeat"] = 30
    client.config["mail-max-concurrency"] = 4
    text = see("/queues/mail").text
    assert "a lock lasts 30 s (set for this queue)" in text
    assert "at most 4 at once" in text


def test_garbage_in_the_options_of_a_queue_is_the_default(client, redis, see):
    """B20."""
    put(client, "mail", 1)
    redis.hset("ql:config", mapping={"mail-heartbeat": "abc", "mail-max-concurrency": "1e400"})

    assert "a lock lasts 1 min · grace period 10 s · no limit" in see("/queues/mail").text


def test_a_queue_that_is_not_known_is_not_found(see):
    for tab in TABS:
        assert "There is no queue called “nowhere”" in see(f"/queues/nowhere{tab}", 404).text


def test_a_tab_that_does_not_exist_is_not_found(client, see):
    put(client, "mail", 1)

    assert "A queue has no tab “nonsense”" in see("/queues/mail/nonsense", 404).text


def test_a_forgotten_queue_that_is_still_paused_says_so(client, redis, see):
    """B91."""
    client.queues["mail"].pause()
    redis.delete("ql:queues")

    for tab in TABS:
        assert "paused" in see(f"/queues/mail{tab}").text


# Paging


@pytest.mark.parametrize("state", ["waiting", "running", "stalled", "scheduled", "depends"])
def test_every_job_of_a_queue_is_on_exactly_one_page(state, client, clock, see):
    """B28."""
    queue = client.queues["mail"]
    queue.put("First", {}, jid="first", delay=9_999_999)
    options = {"scheduled": {"delay": 500}, "depends": {"depends": ["first"]}}.get(state, {})
    put(client, "mail", 130, **options)
    if state in {"running", "stalled"}:
        queue.pop(130)
    if state == "stalled":
        clock.advance(61)

    pages = [see(f"/queues/mail/{state}?page={number}") for number in range(1, 7)]

    listed = [jid for page in pages for jid in page.row_ids if jid != "job-first"]
    assert len(listed) == len(set(listed)) == 130
    assert [len(page.row_ids) for page in pages[:5]] == [25] * 5
    total = "131" if state == "scheduled" else "130"
    assert f"25 of {total} jobs" in pages[0].text


def test_scheduled_jobs_that_are_due_follow_the_waiting_ones_page_by_page(client, clock, see):
    """B28."""
    put(client, "mail", 30)
    for number in range(40):
        client.queues["mail"].put("Due", {}, jid=f"due-{number:02}", delay=number + 1)
    clock.advance(100)

    pages = [see(f"/queues/mail/waiting?page={number}").row_ids for number in (1, 2, 3)]

    assert [len(page) for page in pages] == [25, 25, 20]
    listed = [jid for page in pages for jid in page]
    assert listed[30:] == [f"job-due-{number:02}" for number in range(40)]
    assert len(set(listed)) == 70


def test_recurring_jobs_are_paged(client, see):
    """B28."""
    for number in range(60):
        client.queues["mail"].recur("Again", {}, interval=60, jid=f"again-{number}")

    pages = [see(f"/queues/mail/recurring?page={number}").row_ids for number in (1, 2, 3)]

    assert [len(page) for page in pages] == [25, 25, 10]
    assert len({jid for page in pages for jid in page}) == 60


ODD_PAGES = ["0", "-1", "1.5", "1e30", "nan", "", "abc", "99999999", "9" * 400, "2x"]


@pytest.mark.parametrize("number", ODD_PAGES)
@pytest.mark.parametrize(
    "path", ["/queues", "/queues/mail/waiting", "/queues/mail/recurring", "/workers", "/completed"]
)
def test_odd_page_numbers_are_the_first_page_or_lead_back(path, number, client, see):
    """B24."""
    put(client, "mail", 1)
    client.queues["mail"].recur("Again", {}, interval=60)
    client.queues["sms"].put("Text", {})
    client.queues["sms"].pop().complete()

    page = see(f"{path}?page={number}")

    if number.startswith("9"):
        assert "There is no page" in page.text
        assert path in page.links
    else:
        assert len(page.row_ids) > 0


@pytest.mark.parametrize("day", ["nan", "0", "2024-02-30", "", "9999-12-31", "0001-01-01", "1e9"])
def test_odd_days_are_never_an_error(day, client, see):
    """B24."""
    put(client, "mail", 1)

    assert "Completed" in see(f"/queues/mail?date={day}").text


# Jobs that are gone


@pytest.mark.parametrize("state", ["waiting", "running", "scheduled", "depends", "recurring"])
def test_a_listed_job_that_no_longer_exists_keeps_its_row(state, client, redis, see):
    """B36."""
    queue = client.queues["mail"]
    queue.put("First", {}, jid="first", delay=9_999)
    options = {"scheduled": {"delay": 500}, "depends": {"depends": ["first"]}}.get(state, {})
    if state == "recurring":
        queue.recur("Again", {}, interval=60, jid="ghost")
    else:
        queue.put("Ghost", {}, jid="ghost", **options)
    if state == "running":
        queue.pop()
    redis.delete("ql:j:ghost", "ql:r:ghost")

    row = next(r for r in see(f"/queues/mail/{state}").rows if r.attributes["id"] == "job-ghost")

    assert "no longer there" in row.text
    assert "/jobs/ghost" in row.links
    assert not row.all("input")
    assert see("/") is not None


def test_a_page_carries_whole_jids_in_its_links(client, see):
    jid = "0123456789abcdef" * 4
    client.queues["mail"].put("Letter", {}, jid=jid)

    row = see("/queues/mail/waiting").rows[0]

    assert f"/jobs/{jid}" in row.links
    assert row.one("input", name="jids").attributes["value"] == jid


def test_lists_never_carry_the_data_or_whole_messages(client, web):
    """B32."""
    client.config["max-failure-message"] = 0
    for number in range(5):
        client.queues["mail"].put("Big", {"x": "y" * 1_000_000}, jid=f"big-{number}")
    for job in client.queues["mail"].pop(5):
        job.fail("group", "z" * 1_000_000)
    client.queues["mail"].put("Big", {"x": "y" * 1_000_000})

    for path in ("/", "/queues/mail/waiting"):
        assert len(web.get(path).data) < 100_000


# Statistics


def test_the_statistics_of_a_day_count_what_happened(client, clock, see):
    queue = client.queues["mail"]
    put(client, "mail", 3)
    clock.advance(10)
    first, second, third = queue.pop(3)
    for job in (first, second):
        clock.advance(2)
        job.complete()
    third.fail("group", "message")

    page = see("/queues/mail")

    figures = {each.one("dt").text: each.all("dd")[0].text for each in page.all(class_="stat")}
    assert figures == {"Completed": "2", "Failures": "1", "Still failed": "1", "Retries": "0"}
    timings = [each.text for each in page.all("dl", class_="figures")]
    assert timings[0].startswith("mean 10 s deviation 0 s median 10 s")
    assert timings[1].startswith("mean 3 s deviation 1.4 s")


def test_another_day_can_be_chosen(client, clock, see):
    """The clock begins on 2023-11-14."""
    put(client, "mail", 1)
    client.queues["mail"].pop().complete()
    clock.advance(86_400)

    today = see("/queues/mail")
    before = see("/queues/mail?date=2023-11-14")

    assert "Today 2023-11-15" in today.text
    assert "/queues/mail?date=2023-11-14" in today.links
    assert "Completed 0" in today.text
    assert "2023-11-14 UTC" in before.text
    assert "Completed 1" in before.text


def test_statistics_are_never_negative(client, redis, clock, see):
    """B54, and the original's 7th defect."""
    put(client, "mail", 1)
    day = int(clock.now()) // 86_400 * 86_400
    redis.hset(f"ql:s:stats:{day}:mail", mapping={"failed": "-1", "failures": "-3", "retries": "x"})
    redis.hset(f"ql:s:wait:{day}:mail", mapping={"total": "1", "mean": "-100", "vk": "nan"})
    redis.hset(f"ql:s:wait:{day}:mail", "s-100", "1")

    text = see("/queues/mail").text

    assert not re.search(r"(?<!\d)-\d", text)
    assert "nan" not in text.lower()
    assert "mean 0 s" in text
    assert see("/queues").rows[0].cells[9] == "0"


# JSON, as at the original's addresses


def test_the_counts_are_there_as_json(client, web):
    put(client, "mail", 2)
    client.queues["mail"].pause()

    expected = {
        "name": "mail",
        "waiting": 2,
        "running": 0,
        "stalled": 0,
        "scheduled": 0,
        "depends": 0,
        "recurring": 0,
        "paused": True,
    }
    assert web.get("/queues.json").json == [expected]
    assert web.get("/queues/mail.json").json == expected


def test_no_queues_are_an_empty_list_in_json(web):
    """B14."""
    assert web.get("/queues.json").data.strip() == b"[]"
    assert web.get("/queues/nowhere.json").json["waiting"] == 0


def test_a_queue_called_like_a_json_address_is_not_mistaken_for_one(client, see, web):
    """B01."""
    put(client, "x", 1)
    put(client, "x.json", 2)

    (link,) = [each for each in see("/queues").links if each.startswith("/queues/x~")]

    assert see(link).one("h1").text == "x.json"
    assert web.get("/queues/x.json").json["name"] == "x"
