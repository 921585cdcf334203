"""The groups of failures, and the jobs in one of them."""

from __future__ import annotations

from zlib import crc32

import pytest
from werkzeug.test import Client as Browser

from qless_web import create_app
from tests.support.dom import parse

AWKWARD = [
    "a/b",
    "..",
    "a.json",
    "E: x?y#z",
    "ü ~2F",
    "<b>&amp;'\"",
    "a\nb",
    "a\r\nb",
    " a ",
    "%2F",
    "~41",
]

TRACEBACK = """Traceback (most recent call last):
  File "/srv/app/billing.py", line 88, in charge
    gateway.post(order)
shop.errors.Declined: card 4711 has no funds
order 12 stays open
"""


def fail(client, group, many=1, *, queue="mail", klass="Letter", message="it broke", **options):
    """Fail jobs one after another; the last one is the newest."""
    stem = group if len(group) < 40 else f"{crc32(group.encode()):x}"
    for number in range(many):
        client.queues[queue].put(klass, {}, jid=f"{stem}-{number:03}", **options)
        client.queues[queue].pop().fail(group, message)


def group_rows(page):
    return [row.one("a", class_="row-link").text for row in page.rows]


# The groups


def test_groups_are_listed_with_the_largest_first(client, clock, see):
    fail(client, "few", 1)
    fail(client, "many", 3, queue="billing", klass="shop.Charge", message=TRACEBACK)
    clock.advance(65)

    page = see("/failed")

    assert group_rows(page) == ["many", "few"]
    cells = page.rows[0].cells
    assert cells[0] == "many new shop.errors.Declined: card 4711 has no funds"
    assert cells[1] == "3"
    assert cells[3:7] == ["shop.Charge", "billing", "1 min ago", "1 min ago"]
    assert "4 failed jobs in 2 groups" in page.one("h1", id="title").text + page.text


def test_a_group_says_its_share_of_all_failures(client, see):
    fail(client, "few", 1)
    fail(client, "many", 3)

    assert "75 % of all failures" in see("/failed").rows[0].cells[2] + _labels(
        see("/failed").rows[0]
    )


def _labels(row):
    return " ".join(each.attributes.get("aria-label", "") for each in row)


def test_no_failures_is_good_news(see):
    page = see("/failed")

    assert page.one(class_="empty").attributes["data-kind"] == "nothing-wrong"
    assert not page.rows


def test_all_of_a_group_can_be_retried_moved_or_cancelled_after_a_question(client, see, web):
    fail(client, "many", 3)

    links = see("/failed").rows[0].links

    for verb in ("retry", "move", "cancel"):
        assert f"/failed/many/{verb}" in links
        assert web.get(f"/failed/many/{verb}").status_code == 200
    assert any("unfail" in link for link in see("/failed").links)


def test_b28_every_group_is_on_exactly_one_page(client, see):
    for number in range(60):
        fail(client, f"g{number:02}")

    seen = [group for number in (1, 2, 3) for group in group_rows(see(f"/failed?page={number}"))]

    assert sorted(seen) == [f"g{number:02}" for number in range(60)]
    assert "There is no page 4" in see("/failed?page=4").text
    assert "/failed?page=3" in see("/failed?page=4").links


@pytest.mark.parametrize("page", ["0", "-1", "1.5", "1e30", "nan", "", "abc", "٣"])
def test_b24_odd_pages_are_the_first(page, client, see):
    fail(client, "only")

    assert group_rows(see(f"/failed?page={page}")) == ["only"]
    assert len(see(f"/failed/only?page={page}").rows) == 1


def test_the_original_address_for_programs_counts_each_group(client, web):
    assert web.get("/failed.json").get_json() == {}

    fail(client, "few", 1)
    fail(client, "many/é", 3)

    assert web.get("/failed.json").get_json() == {"few": 1, "many/é": 3}


# Names


@pytest.mark.parametrize("name", AWKWARD)
def test_b04_a_group_of_any_name_has_its_own_page(name, client, see):
    fail(client, "a")
    fail(client, name, 2)

    (row,) = (row for row in see("/failed").rows if row.cells[1] == "2")
    link = row.one("a", class_="row-link")

    assert link.attributes["title"] == name
    assert len(see(link.attributes["href"]).rows) == 2
    for verb in ("retry", "cancel", "move"):
        see(f"{link.attributes['href']}/{verb}")


def test_b05_groups_that_look_alike_have_ids_of_their_own(client, see):
    for name in ("err-1", "err-2", "err 1", "err.1", "err:1"):
        fail(client, name)

    ids = see("/failed").row_ids

    assert len(set(ids)) == 5


def test_b09_long_names_are_shortened_and_still_told_apart(client, see):
    names = ["x" * 10_000, "p" * 300 + "1", "p" * 300 + "2", "m" * 200 + "1" + "m" * 200,
             "m" * 200 + "2" + "m" * 200]  # fmt: skip
    for name in names:
        fail(client, name)

    page = see("/failed")
    links = [row.one("a", class_="row-link") for row in page.rows]

    assert {link.attributes["title"] for link in links} == set(names)
    assert len({link.text for link in links}) == len(names)
    assert max(len(link.text) for link in links) < 100
    assert max(len(link.attributes["href"]) for link in links) < 1_100


@pytest.mark.filterwarnings("ignore:Absolute URLs required")  # since RFC 7231 they are not
def test_b09_a_name_of_ten_thousand_characters_is_reached_and_acted_on(client, see, web):
    other, name = "x" * 9_999 + "y", "x" * 10_000
    fail(client, other)
    fail(client, name, 2)
    (row,) = (row for row in see("/failed").rows if row.cells[1] == "2")
    link = row.one("a", class_="row-link").attributes["href"]

    page = see(link)

    assert len(page.rows) == 2
    assert page.one("pre").text == name
    assert all(len(each) < 4_000 for each in page.links)
    asked = see(f"{link}/retry")
    assert "Retry 2 jobs" in asked.text
    form = asked.one("form", action=f"{link}/retry")
    fields = {each.attributes["name"]: each.attributes["value"] for each in form.all("input")}
    assert web.post(f"{link}/retry", data=fields).status_code == 303
    assert web.get("/failed.json").get_json() == {other: 1}


def test_b09_a_digest_that_names_nothing_is_404(client, see):
    fail(client, "x" * 10_000)

    assert "no group by this address" in see("/failed/~~" + "0" * 40, status=404).text
    see("/failed/~~" + "0" * 40 + "/retry", status=404)


def test_a_name_that_looks_like_a_digest_is_still_its_own(client, see):
    name = "~~" + "0" * 40
    fail(client, name)

    link = see("/failed").rows[0].one("a", class_="row-link").attributes["href"]

    assert see(link).one("h1").text == name


# One group


def test_jobs_of_a_group_are_listed_with_the_newest_first(client, clock, see):
    for number in range(3):
        client.queues["mail"].put("Letter", {}, jid=f"j{number}", tags=["vip"], retries=number)
        client.queues["mail"].pop().fail("group", f"number {number}")
        clock.advance(10)

    page = see("/failed/group")

    assert page.row_ids == ["job-j2", "job-j1", "job-j0"]
    cells = page.rows[0].cells
    assert cells[1] == "Letter j2 number 2"
    assert cells[2:7] == ["mail", "worker-1", "vip", "2 of 2", "10 s ago"]


def test_rows_can_be_ticked_and_the_group_goes_along(client, see):
    fail(client, "a/b", 2)

    page = see("/failed/a~2Fb")

    assert [each.attributes["value"] for each in page.all("input", name="jids")] == [
        row.attributes["id"].removeprefix("job-").replace("~2F", "/") for row in page.rows
    ]
    assert page.one("input", name="group").attributes["value"] == "a~2Fb"
    assert {"/ticked/retry", "/ticked/cancel", "/ticked/move"} <= {
        each.attributes.get("formaction", "") for each in page.all("button")
    }


def test_b28_every_job_of_a_group_is_on_exactly_one_page(client, see):
    fail(client, "group", 130)

    pages = [see(f"/failed/group?page={number}") for number in range(1, 7)]
    seen = [jid for page in pages for jid in page.row_ids]

    assert len(seen) == 130
    assert len(set(seen)) == 130
    assert [len(page.rows) for page in pages] == [25, 25, 25, 25, 25, 5]
    assert "101\u2013125 of 130 jobs" in pages[4].text


def test_a_page_past_the_end_says_so_and_leads_back(client, see):
    fail(client, "group", 30)

    page = see("/failed/group?page=9")

    assert "There is no page 9" in page.text
    assert "/failed/group?page=2" in page.links


def test_a_group_that_is_not_there_is_404_but_an_open_page_is_only_told(client, web):
    fail(client, "group")
    assert web.get("/failed/group").status_code == 200

    client.jobs["group-000"].cancel()

    assert web.get("/failed/group").status_code == 404
    assert web.get("/failed/group", headers={"HX-Request": "true"}).status_code == 200


def test_b36_a_job_that_is_gone_is_a_row_that_says_so(client, redis, see):
    fail(client, "group", 3)
    redis.delete("ql:j:group-001")
    redis.delete("ql:j:group-002")

    page = see("/failed/group")

    assert page.row_ids == ["job-group-002", "job-group-001", "job-group-000"]
    assert page.text.count("no longer there") == 2
    assert group_rows(see("/failed")) == ["group"]


def test_b32_pages_stay_small_where_messages_are_large(client, web):
    for number in range(25):
        client.queues["mail"].put("Letter", {"x": "y" * 200_000}, jid=f"j{number}")
        client.queues["mail"].pop().fail("group", "m" * 30_000 + "\n" * 1_000)

    for path in ("/failed", "/failed/group", "/jobs/j1"):
        assert len(web.get(path).get_data()) < 500_000, path


def test_a_failure_without_group_message_or_sense_still_shows(client, redis, see):
    """B48: exhausted retries leave the worker empty; others leave worse."""
    fail(client, "group", 3)
    redis.hset("ql:j:group-000", "failure", '{"group": null, "when": "soon"}')
    redis.hset("ql:j:group-001", "failure", "not json")
    redis.hset("ql:j:group-002", "failure", '["a", "list"]')

    assert len(see("/failed/group").rows) == 3
    assert "\u2013" in see("/failed").rows[0].cells[6]


def test_read_only_offers_no_action(client):
    fail(client, "group", 2)
    web = Browser(create_app(client, read_only=True))

    for path in ("/failed", "/failed/group"):
        page = parse(web.get(path).get_data(as_text=True)).one("main")
        assert not page.all("form", method="post"), path
        assert "read-only" in page.text
