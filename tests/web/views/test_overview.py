"""The first page: what needs attention, then everything at a glance."""

from __future__ import annotations

import pytest

TRACEBACK = """Traceback (most recent call last):
  File "mail.py", line 3, in process
Timeout: no answer"""


def put(client, queue, many, **options):
    for number in range(many):
        client.queues[queue].put("Letter", {}, jid=f"{queue}-{number:03}", **options)


def lines(page):
    return [each.text for each in page.one("ul", class_="attention").all("li")]


def figures(page):
    return {each.one("dt").text: each.all("dd")[0].text for each in page.all(class_="stat")}


def test_an_empty_server_shows_every_part_and_how_to_begin(see):
    """B14."""
    page = see("/")

    assert "No queues yet" in page.text
    assert "No job is failed." in page.text
    assert "No worker was seen." in page.text
    assert "No job is tracked." in page.text
    assert "No job has a tag." in page.text
    assert set(figures(page).values()) == {"0"}


def test_the_sums_count_every_queue(client, see):
    put(client, "a", 2)
    put(client, "b", 3)
    put(client, "c", 1, delay=60)
    client.queues["c"].recur("Again", {}, interval=60)
    first, second = client.queues["b"].pop(2)
    first.complete()
    second.fail("group", "message")

    shown = figures(see("/"))

    assert shown["Waiting"] == "3"
    assert shown["Scheduled"] == shown["Recurring"] == shown["Failed"] == shown["Completed"] == "1"


def test_nothing_wrong_is_said_kindly(client, see):
    put(client, "mail", 1)

    page = see("/")

    assert "Nothing needs attention." in page.text
    assert not page.all("ul", class_="attention")


def test_stalled_jobs_need_attention(client, clock, see):
    put(client, "mail", 2)
    client.queues["mail"].pop(2)
    clock.advance(61)

    page = see("/")

    assert lines(page) == ["mail: 2 stalled their workers have gone silent"]
    assert "/queues/mail/stalled" in page.links


def test_a_queue_with_work_that_nobody_takes_needs_attention(client, clock, see):
    put(client, "export", 3)
    clock.advance(59)
    assert "Nothing needs attention." in see("/").text

    clock.advance(781)
    assert lines(see("/")) == ["export: 3 waiting no worker was seen next job waits 14 min"]

    client.queues["other"].pop()
    assert lines(see("/")) == ["export: 3 waiting no worker takes them next job waits 14 min"]


def test_a_queue_that_is_worked_on_needs_none(client, clock, see):
    put(client, "export", 3)
    clock.advance(840)
    client.queues["export"].pop()

    assert "Nothing needs attention." in see("/").text


def test_a_paused_queue_with_work_needs_attention_and_can_be_unpaused(client, clock, see):
    """B91."""
    put(client, "mail", 1)
    client.queues["mail"].pause()
    client.queues["idle"].put("Letter", {})
    client.queues["idle"].pop().complete()
    client.queues["idle"].pause()
    clock.advance(3_600)

    page = see("/")

    assert len(lines(page)) == 1
    assert lines(page)[0].startswith("mail is paused 1 waits")
    assert page.one(class_="attention").all("form", action="/queues/mail/unpause")


def test_groups_that_fail_now_need_attention_until_they_stop(client, clock, see):
    put(client, "mail", 2)
    for job in client.queues["mail"].pop(2):
        job.fail("mail-Timeout", TRACEBACK)

    assert lines(see("/")) == ["mail-Timeout: 2 failed no answer last just now"]

    clock.advance(901)
    assert "Nothing needs attention." in see("/").text


def test_failures_are_shown_by_group_the_largest_first_and_the_newest_apart(client, clock, see):
    put(client, "mail", 6)
    for number, job in enumerate(client.queues["mail"].pop(6)):
        clock.advance(1)
        job.fail("many" if number < 4 else "few", f"message {number}")

    page = see("/")

    assert page.one(id="failures").row_ids == ["group-many", "group-few"]
    assert page.one(id="failures").rows[0].cells[1] == "4"
    assert [row.cells[1] for row in page.one(id="newest").rows] == ["few", "many"]
    assert "message 5" in page.one(id="newest").rows[0].text


def test_a_group_whose_jobs_are_gone_is_still_counted(client, redis, see):
    """B36."""
    put(client, "mail", 1)
    client.queues["mail"].pop().fail("group", "message")
    redis.delete("ql:j:mail-000")

    assert see("/").one(id="failures").rows[0].cells[1] == "1"


def test_workers_that_live_are_shown_with_what_they_run(client, redis, clock, see):
    put(client, "mail", 1)
    client.queues["mail"].pop()
    redis.zadd("ql:workers", {"gone": clock.now() - 90_000})

    text = see("/").one(id="workers-part").text

    assert "1 seen of late" in text
    assert "worker-1 1 running" in text
    assert "gone" not in text


def test_tracked_jobs_are_counted_by_state(client, redis, see):
    put(client, "mail", 3)
    for number in range(3):
        client.track(f"mail-{number:03}")
    client.queues["mail"].pop()
    redis.delete("ql:j:mail-000")

    part = see("/").one(id="tracked-part")

    assert [each.text for each in part.all("li")] == ["waiting 1", "running 1", "no longer there 1"]


def test_a_flood_of_tracked_jobs_does_not_slow_the_overview(redis, clock, web):
    """B27: the states of the newest are looked up, the rest is a number."""
    redis.zadd("ql:tracked", {f"dead-{number}": clock.now() - number for number in range(20_000)})

    before = redis.info("commandstats").get("cmdstat_hmget", {}).get("calls", 0)
    html = web.get("/").get_data(as_text=True)
    after = redis.info("commandstats")["cmdstat_hmget"]["calls"]

    assert "the newest 500 of 20,000" in html
    assert after - before < 520


def test_the_tags_used_most_are_shown(client, see):
    put(client, "a", 3, tags=["eu", "<b>"])
    put(client, "b", 1, tags=["vip"])

    part = see("/").one(id="tags-part")

    assert [each.text for each in part.all("a", class_="chip")][:2] in (
        ["eu 3", "<b> 3"],
        ["<b> 3", "eu 3"],
    )


def test_of_many_queues_those_with_the_most_jobs_are_shown_by_name(client, see):
    """B29."""
    for number in range(40):
        put(client, f"q{number:02}", 2 if number >= 20 else 1)

    page = see("/")

    shown = page.one(id="queues").row_ids
    assert len(shown) == 25
    assert shown == sorted(shown)
    assert set(shown) >= {f"queue-q{number}" for number in range(20, 40)}
    assert "the 25 with the most jobs of 40" in page.text


def test_attention_is_short_and_says_how_much_more_there_is(client, see):
    for number in range(7):
        put(client, f"q{number}", number + 1)
        client.queues[f"q{number}"].pause()

    shown = lines(see("/"))

    assert [line.split(" is ")[0] for line in shown[:4]] == ["q6", "q5", "q4", "q3"]
    assert shown[4] == "and 3 more"


@pytest.mark.parametrize("path", ["/", "/queues", "/queues/mail/waiting", "/workers", "/completed"])
def test_a_page_names_what_makes_it_refresh(path, client, see):
    put(client, "mail", 1)

    assert see(path).attributes["data-topics"] != "[]"
    assert [each for each in see(path) if "data-live" in each.attributes]
