"""What was done by minute, where pages and the API show it."""

from __future__ import annotations

import pytest

from qless_web.live.counting import Counting
from qless_web.settings import Settings
from qless_web.triage import deploys
from tests.support.stored import everything

#: An hour begins, but no day.
BEGIN = 1_700_002_800.0


@pytest.fixture
def counted(client, clock):
    """Count two minutes: three jobs of mail done and one failed, then one of video done."""
    clock.advance(BEGIN - clock.now())
    counting = Counting(client, Settings.build())
    counting.look()
    for minute in (("mail", "mail", "mail", "mail"), ("video",)):
        for number, queue in enumerate(minute):
            client.queues[queue].put("Work", {})
            job = client.queues[queue].pop()
            if number < 3:
                job.complete()
            else:
                job.fail("group", "message")
        clock.advance(60)
        counting.look()


def chart(page):
    return page.one("svg", class_="throughput")


@pytest.mark.usefixtures("counted")
def test_the_overview_shows_all_queues(see):
    page = see("/")

    assert "4 completed, 1 failure; 1,438 minutes not counted" in page.text
    assert "4 completed, 1 failure" in chart(page).attributes["aria-label"]


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize(
    ("queue", "words"), [("mail", "3 completed, 1 failure"), ("video", "1 completed, 0 failures")]
)
def test_a_queue_shows_its_own(see, queue, words):
    assert words in chart(see(f"/queues/{queue}")).attributes["aria-label"]


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize("path", ["/", "/queues/mail"])
def test_a_deploy_is_drawn_as_a_line(client, see, path):
    deploys.mark(client, deploys.Deploy("v7", client.now() - 90))

    page = see(path)

    assert len(page.all("svg", class_="deploy")) == 1
    assert chart(page).attributes["aria-label"].endswith("not counted; deploy v7")


@pytest.mark.usefixtures("counted")
def test_each_row_has_its_last_hour_in_words_too(see):
    sparks = [each.attributes["aria-label"] for each in see("/queues").all("svg", class_="spark")]

    assert [each.partition(";")[0] for each in sparks] == [
        "last hour: 3 completed, 1 failure",
        "last hour: 1 completed, 0 failures",
    ]


def test_every_chart_has_a_table_behind_it(counted, see):  # noqa: ARG001 - by order of use
    for path in ("/", "/queues/mail"):
        page = see(path)
        charts = [each for each in page.all("figure", class_="chart") if each.all("svg")]
        assert charts
        assert [each for each in charts if not each.all("table")] == []


def test_before_anything_was_counted_it_says_what_counts(client, see):
    client.queues["mail"].put("Work", {})

    assert "nothing was counted yet" in see("/").text
    assert not see("/queues").all("svg", class_="spark")


@pytest.mark.usefixtures("counted")
def test_the_api_gives_the_minutes(web):
    found = web.get("/api/v1/stats/throughput?queue=mail&minutes=3").json

    assert (found["completed"], found["failures"], found["missed"]) == (3, 1, 1)
    assert found["minutes"] == [
        {"start": BEGIN - 60, "completed": None, "failures": None},
        {"start": BEGIN, "completed": 3, "failures": 1},
        {"start": BEGIN + 60, "completed": 0, "failures": 0},
    ]
    assert web.get("/api/v1/stats/throughput").json["completed"] == 4
    assert len(web.get("/api/v1/stats/throughput?minutes=1440").json["minutes"]) == 1_440


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize(
    ("query", "status"), [("minutes=1441", 400), ("minutes=0", 400), ("queue=no", 404)]
)
def test_the_api_refuses_what_there_is_not(web, query, status):
    assert web.get(f"/api/v1/stats/throughput?{query}").status_code == status


@pytest.mark.usefixtures("counted")
def test_looking_writes_nothing(clock, see, redis):
    clock.advance(60)
    before = everything(redis)
    for path in ("/", "/queues", "/queues/mail"):
        see(path)

    assert everything(redis) == before
