"""The page of a recurring job, at the address of a job."""

from __future__ import annotations

import pytest


def recur(client, jid="nightly", queue="reports", interval=3_600, **options):
    return client.queues[queue].recur("Report", {"n": 1}, interval=interval, jid=jid, **options)


def facts(page):
    lines = page.one("div", id="job-facts").all("div")
    return {line.one("dt").text: line.one("dd").text for line in lines}


def why(page):
    return page.one("div", id="job-why").text


def test_it_says_how_often_it_runs_and_when_next(client, clock, see):
    recur(client, offset=600, priority=5, retries=2, tags=["eu"], backlog=3)
    clock.advance(60)

    page = see("/jobs/nightly")

    assert page.one("h1").text == "Report nightly"
    assert page.one("span", class_="badge").text == "recurring"
    assert facts(page) == {
        "jid": "nightly",
        "Queue": "reports",
        "Interval": "every hour",
        "Next run": "in 9 min",
        "Owed": "0",
        "Made so far": "0",
        "Backlog": "at most 3 missed runs give a job",
        "Priority": "5 Change…",
        "Retries": "2",
    }
    assert why(page) == "Makes its next job in 9 min , at the pop that follows."
    assert "/queues/reports/recurring" in page.links


def test_b57_it_says_how_many_jobs_it_owes_and_how_many_it_will_make(client, clock, see):
    recur(client, "free", interval=60)
    recur(client, "capped", interval=60, backlog=3)
    clock.advance(60 * 99 + 1)

    assert facts(see("/jobs/free"))["Owed"] == "100"
    assert "makes up to 100 jobs" in why(see("/jobs/free"))
    assert facts(see("/jobs/capped"))["Owed"] == "100, of which the backlog lets 4 be made"
    assert "makes up to 4 jobs" in why(see("/jobs/capped"))


def test_it_leads_to_the_last_job_it_made_and_back(client, see):
    recur(client)
    (job,) = client.queues["reports"].pop(1)

    page = see("/jobs/nightly")

    assert page.row_ids == [f"job-{job.jid}"]
    assert facts(page)["Made so far"] == "1"
    assert facts(see(f"/jobs/{job.jid}"))["Made by"] == "nightly"
    assert "/jobs/nightly" in see(f"/jobs/{job.jid}").links

    job.cancel()
    assert "no longer there" in see("/jobs/nightly").text


def test_a_paused_queue_makes_no_jobs(client, clock, see):
    recur(client, interval=60)
    client.queues["reports"].pause()
    clock.advance(130)

    assert why(see("/jobs/nightly")) == "Queue reports is paused, so it makes no jobs; 3 are owed."


def test_it_can_be_moved_ranked_tagged_and_cancelled(client, see, web):
    recur(client, tags=["eu"])

    page = see("/jobs/nightly")

    for verb in ("move", "priority", "cancel"):
        assert f"/jobs/nightly/{verb}" in page.links
        assert web.get(f"/jobs/nightly/{verb}").status_code == 200
    assert page.one("form", action="/jobs/nightly/untag")
    assert page.one("form", action="/jobs/nightly/tag")


def test_its_data_is_given_byte_for_byte(client, redis, web, see):
    recur(client)
    redis.hset("ql:r:nightly", "data", '{"n":12345678901234567,"l":[]}')

    assert "12345678901234567" in see("/jobs/nightly").one("section", id="data").text
    assert web.get("/jobs/nightly/data").get_data() == b'{"n":12345678901234567,"l":[]}'


@pytest.mark.parametrize("interval", ["0", "-60", "inf", "nan", "soon", ""])
def test_b23_an_interval_that_makes_no_sense_is_shown_and_can_be_removed(
    interval, client, redis, see
):
    recur(client)
    redis.hset("ql:r:nightly", "interval", interval)

    page = see("/jobs/nightly")

    assert "makes no sense" in why(page)
    assert "/jobs/nightly/cancel" in page.links


def cron(client, jid="nightly", queue="reports", expression="0 3 * * *", **options):
    options = {"timezone": "Europe/Berlin", **options}
    return client.queues[queue].cron("Report", {"n": 1}, expression, jid=jid, **options)


def test_a_cron_job_says_its_expression_and_when_it_runs_next(client, see):
    cron(client, priority=5, retries=2, tags=["eu"], backlog=3)

    page = see("/jobs/nightly")

    assert page.one("h1").text == "Report nightly"
    assert page.one("span", class_="badge").text == "recurring"
    assert facts(page) == {
        "jid": "nightly",
        "Queue": "reports",
        "Cron": "0 3 * * *",
        "In words": "At 03:00 every day",
        "Time zone": "Europe/Berlin",
        "Next run": "in 4 h",
        "Owed": "0",
        "Made so far": "0",
        "Backlog": "at most 3 missed runs give a job",
        "Priority": "5 Change…",
        "Retries": "2",
    }
    assert why(page) == "Makes its next job in 4 h , at the pop that follows."


def test_b57_a_cron_job_says_how_many_jobs_it_owes(client, clock, see):
    cron(client, "free", expression="* * * * *")
    cron(client, "capped", expression="* * * * *", backlog=3)
    clock.advance(60 * 99 + 1)

    assert facts(see("/jobs/free"))["Owed"] == "99"
    assert "makes up to 99 jobs, one for each run missed" in why(see("/jobs/free"))
    assert facts(see("/jobs/capped"))["Owed"] == "99, of which the backlog lets 4 be made"


def test_both_kinds_are_listed_by_next_run_and_counted(client, see):
    recur(client, "hourly", offset=600)
    cron(client, "minutely", expression="* * * * *")
    cron(client, "nightly")

    page = see("/queues/reports/recurring")

    assert page.row_ids == ["job-minutely", "job-hourly", "job-nightly"]
    assert "0 3 * * * Europe/Berlin" in page.text
    assert "Recurring 3" in " ".join(page.text.split())


def test_the_data_of_a_cron_job_is_given_byte_for_byte(client, redis, web, see):
    cron(client)
    redis.hset("ql:cron:nightly", "data", '{"n":12345678901234567,"l":[]}')

    assert "12345678901234567" in see("/jobs/nightly").one("section", id="data").text
    assert web.get("/jobs/nightly/data").get_data() == b'{"n":12345678901234567,"l":[]}'


def test_a_cron_job_whose_runs_nobody_plans_says_so(client, clock, redis, see):
    cron(client, expression="* * * * *")
    redis.delete("ql:cron-runs:nightly")
    redis.zadd("ql:q:reports-cron", {"nightly": "+inf"})
    clock.advance(60)

    assert why(see("/jobs/nightly")).startswith("None of its runs is planned")
    assert see("/queues/reports/recurring").row_ids == ["job-nightly"]
