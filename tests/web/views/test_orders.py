"""Lists are put in an order where Redis can tell it at once, and the heading says which it is."""

from __future__ import annotations

from importlib import import_module

import pytest


def sorted_heads(page):
    """Give the headings that order a list, with the one that does now."""
    heads = [each for each in page.all("th") if each.all("a", class_="sort")]
    return {each.text.strip("▴▾ "): each.attributes.get("aria-sort") for each in heads}


def jids(page):
    return [each.attributes["id"] for each in page.all("tr", class_="row")]


def test_tags_are_ordered_by_use_and_by_name(client, see):
    for number, tag in enumerate(["b", "a", "b", "c", "c", "c"]):
        client.queues["mail"].put("Send", {}, jid=f"job-{number}", tags=[tag])

    by_use, by_name = see("/tags"), see("/tags?sort=name")

    assert jids(by_use) == ["tag-c", "tag-b", "tag-a"]
    assert sorted_heads(by_use) == {"Tag": None, "Jobs": "descending"}
    assert jids(by_name) == ["tag-a", "tag-b", "tag-c"]
    assert sorted_heads(by_name) == {"Tag": "ascending", "Jobs": None}


def test_tags_by_name_go_on_from_page_to_page(client, see):
    for number in range(30):
        client.queues["mail"].put("Send", {}, jid=f"job-{number}", tags=[f"t{number:02}"])

    first, second = see("/tags?sort=name"), see("/tags?sort=name&page=2")

    assert jids(first)[-1] == "tag-t24"
    assert jids(second) == [f"tag-t{number}" for number in range(25, 30)]
    assert any(
        "sort=name" in each.attributes["href"] and "page=2" in each.attributes["href"]
        for each in first.all("a")
        if each.text == "Next"
    )


def test_completed_jobs_are_turned_round(client, clock, see):
    queue = client.queues["mail"]
    for jid in ("first", "second", "third"):
        queue.put("Send", {}, jid=jid)
        clock.advance(1)
        queue.pop().complete()

    newest, oldest = see("/completed"), see("/completed?sort=oldest")

    assert jids(newest) == ["job-third", "job-second", "job-first"]
    assert sorted_heads(newest) == {"Completed": "descending"}
    assert jids(oldest) == ["job-first", "job-second", "job-third"]
    assert sorted_heads(oldest) == {"Completed": "ascending"}
    (turn,) = oldest.all("a", class_="sort")
    assert turn.attributes["href"] == "/completed"


def test_workers_that_were_seen_last_come_first(clock, redis, see):
    for name, ago in (("a", 50), ("b", 10), ("c", 30)):
        redis.zadd("ql:workers", {name: clock.now() - ago})

    assert jids(see("/workers")) == ["worker-a", "worker-b", "worker-c"]
    latest = see("/workers?sort=seen")
    assert jids(latest) == ["worker-b", "worker-c", "worker-a"]
    assert sorted_heads(latest) == {"Worker": None, "Running": None, "Seen": "descending"}


def test_workers_that_run_the_most_come_first_with_what_their_children_run(
    client, redis, see, monkeypatch
):
    monkeypatch.setattr(import_module("qless_core.reads.workers"), "ORDERED_AT_MOST", 3)
    for name, running in (("a", 0), ("b", 1), ("c", 0), ("c-0", 2), ("d", 5)):
        redis.zadd("ql:workers", {name: client.now()})
        jobs = {f"{name}-{number}": client.now() + 60 for number in range(running)}
        if jobs:
            redis.zadd(f"ql:w:{name}:jobs", jobs)

    busiest = see("/workers?sort=running")

    assert jids(busiest) == ["worker-c", "worker-b", "worker-a", "worker-d"]
    assert sorted_heads(busiest) == {"Worker": None, "Running": "descending", "Seen": None}
    assert jids(see("/workers?sort=running&size=10&page=2")) == []


@pytest.mark.parametrize("path", ["/tags", "/workers", "/completed", "/queues"])
def test_an_order_that_there_is_none_of_is_the_usual_one(client, see, path):
    client.queues["mail"].put("Send", {}, tags=["a"])
    client.queues["mail"].pop().complete()

    assert sorted_heads(see(f"{path}?sort=nonsense")) == sorted_heads(see(path))
