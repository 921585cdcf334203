"""The page of completed jobs."""

from __future__ import annotations


def complete(client, clock, many):
    for number in range(many):
        client.queues["mail"].put("Letter", {}, jid=f"job-{number}", tags=["eu"])
        client.queues["mail"].pop().complete()
        clock.advance(1)


def test_completed_jobs_are_listed_newest_first(client, clock, see):
    complete(client, clock, 3)

    page = see("/completed")

    assert page.row_ids == ["job-job-2", "job-job-1", "job-job-0"]
    assert "Letter" in page.rows[0].text
    assert "1 s ago" in page.rows[0].text


def test_every_completed_job_is_on_exactly_one_page(client, clock, see):
    """B28."""
    complete(client, clock, 60)

    pages = [see(f"/completed?page={number}").row_ids for number in (1, 2, 3)]

    assert [len(ids) for ids in pages] == [25, 25, 10]
    assert len({jid for ids in pages for jid in ids}) == 60


def test_the_page_says_how_long_completed_jobs_stay(client, see):
    client.config["jobs-history"] = 3600
    client.config["jobs-history-count"] = 10

    assert "Kept for 1 h, the newest 10 at most" in see("/completed").text


def test_a_completed_job_whose_data_is_gone_keeps_its_row(client, redis, clock, see):
    """B36."""
    complete(client, clock, 2)
    redis.delete("ql:j:job-0")

    page = see("/completed")

    assert page.row_ids == ["job-job-1", "job-job-0"]
    assert "no longer there" in page.rows[1].text
    assert not page.rows[1].all("input")


def test_nothing_completed_yet_says_so(see):
    assert "No job has completed yet" in see("/completed").text
