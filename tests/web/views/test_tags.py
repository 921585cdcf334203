"""Tags, and the jobs with one of them."""

from __future__ import annotations

import pytest

AWKWARD = [
    "a,b",
    '"q"',
    "'",
    "🙂",
    " x ",
    "a&b=c",
    "a/b",
    "..",
    "a#b?c",
    "<b>",
    "a\nb",
    "%2F",
    "~~" + "0" * 40,
]


def put(client, jid, tags, queue="mail", **options):
    return client.queues[queue].put("Letter", {}, jid=jid, tags=tags, **options)


def test_tags_are_listed_with_the_most_used_first(client, see):
    put(client, "a", ["once", "often"])
    put(client, "b", ["often"])

    page = see("/tags")

    assert [row.cells[:2] for row in page.rows] == [["often", "2"], ["once", "1"]]
    assert "2 in use" in page.text


def test_b28_every_tag_is_on_exactly_one_page(client, see):
    for number in range(60):
        put(client, f"j{number}", [f"t{number:02}"])

    seen = [id_ for number in (1, 2, 3) for id_ in see(f"/tags?page={number}").row_ids]

    assert sorted(seen) == [f"tag-t{number:02}" for number in range(60)]
    assert "There is no page 9" in see("/tags?page=9").text


def test_no_tags_says_how_to_begin(see):
    assert see("/tags").one(class_="empty").attributes["data-kind"] == "nothing-yet"


@pytest.mark.parametrize("tag", [*AWKWARD, "long " * 1_000])
def test_b21_each_tag_is_one_whole_string(tag, client, web, see):
    put(client, "j", [tag])
    put(client, "k", ["other"])

    (row,) = (row for row in see("/tags").rows if row.one("a").attributes["title"] == tag)
    link = row.one("a").attributes["href"]
    page = see(link)

    assert page.row_ids == ["job-j"]
    assert len(link) < 1_100
    if len(tag) < 1_000:
        original = web.get("/tag", query_string={"tag": tag})
        assert "job-j" in original.get_data(as_text=True)


@pytest.mark.filterwarnings("ignore:Absolute URLs required")  # since RFC 7231 they are not
def test_the_original_address_without_a_tag_leads_to_all_tags(web):
    assert web.get("/tag").headers["Location"] == "/tags"
    assert web.get("/tag?tag=").status_code == 404


def test_failed_and_waiting_jobs_come_first_and_completed_ones_last(client, see):
    put(client, "complete", ["t"])
    client.queues["mail"].pop().complete()
    put(client, "scheduled", ["t"], delay=60)
    put(client, "waiting", ["t"], "other")
    put(client, "failed", ["t"])
    client.queues["mail"].pop().fail("group", "message")

    page = see("/tag?tag=t")

    assert page.row_ids == ["job-failed", "job-waiting", "job-scheduled", "job-complete"]
    assert see("/tag?tag=t&state=failed").row_ids == ["job-failed"]
    assert "No job with this tag is running" in see("/tag?tag=t&state=running").text


def test_b28_every_job_with_a_tag_is_on_exactly_one_page(client, see):
    for number in range(130):
        put(client, f"j{number:03}", ["t"])

    seen = [jid for number in range(1, 7) for jid in see(f"/tag/t?page={number}").row_ids]

    assert sorted(seen) == [f"job-j{number:03}" for number in range(130)]


def test_b36_a_tagged_job_that_is_gone_is_a_row_that_says_so(client, redis, see):
    put(client, "j", ["t"])
    redis.delete("ql:j:j")

    assert "no longer there" in see("/tag?tag=t").rows[0].text
    assert see("/tag?tag=t&state=gone").row_ids == ["job-j"]


@pytest.mark.parametrize("address", ["/tag?tag=none", "/tag/none", "/tag/none?state=failed"])
def test_a_tag_that_no_job_has_says_so(see, address):
    assert "No job has this tag" in see(address, 404).text


def test_a_page_that_is_open_when_the_tag_goes_is_told_so(web):
    answer = web.get("/tag/none", headers={"HX-Request": "true"})

    assert answer.status_code == 200
    assert "No job has this tag" in answer.get_data(as_text=True)
