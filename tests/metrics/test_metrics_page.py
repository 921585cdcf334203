"""`/metrics`, as Prometheus reads it."""

from __future__ import annotations

import re

import pytest
from prometheus_client.parser import text_string_to_metric_families
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_web import create_app
from tests.web.conftest import Lint


@pytest.fixture
def page(measured):
    """Read the page; answers the value of a sample by name and labels."""
    answer = Browser(Lint(create_app(measured))).get("/metrics")
    assert answer.status_code == 200
    families = list(text_string_to_metric_families(answer.text))
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def test_every_name_begins_with_ours(page):
    assert len(page) > 30
    assert {name for name, *_ in page if not name.startswith("qless_")} == set()


def test_queues_are_told_by_state(page):
    states = {
        dict(labels)["state"]: value
        for (name, *labels), value in page.items()
        if name == "qless_queue_jobs" and dict(labels)["queue"] == "queue"
    }

    assert states == {
        "waiting": 4, "running": 1, "stalled": 0, "scheduled": 1, "depends": 1, "throttled": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("qless_queue_recurring", 1),
        ("qless_queue_paused", 0),
        ("qless_queue_oldest_waiting_seconds", 16),
        ("qless_queue_failed_today", 1),
        ("qless_queue_completed_total", 2),
        ("qless_queue_popped_total", 4),
        ("qless_queue_failures_total", 1),
        ("qless_queue_retries_total", 0),
        ("qless_queue_run_seconds_sum", 6),
        ("qless_queue_run_seconds_count", 2),
        ("qless_queue_wait_seconds_sum", 54),
        ("qless_queue_wait_seconds_count", 4),
    ],
)
def test_a_queue_has_its_figures(page, name, value):
    assert page[(name, ("queue", "queue"))] == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("qless_up", 1),
        ("qless_failed_jobs_all", 1),
        ("qless_workers", 1),
        ("qless_queues", 2),
        ("qless_paused_queues", 1),
        ("qless_tracked_jobs", 1),
        ("qless_kept_jobs", 2),
        ("qless_queues_left_out", 0),
        ("qless_groups_left_out", 0),
    ],
)
def test_the_whole_has_its_figures(page, name, value):
    assert page[(name,)] == value


def test_failures_are_told_by_group(page):
    assert page[("qless_failed_jobs", ("group", "FailureType"))] == 1


def test_names_of_any_kind_can_be_read(client):
    odd = ['a"b', "a\\b", "a\nb", "ü", "{}", "bytes \udcff"]
    for name in odd:
        client.queues[name].put("Job", {})

    answer = Browser(create_app(client)).get("/metrics")
    told = {
        sample.labels["queue"]
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
        if sample.name == "qless_queue_jobs"
    }

    assert told == {*odd[:-1], "bytes \\xff"}


def test_without_redis_it_says_that_redis_is_down():
    with Client("redis://:s3cr3t@127.0.0.1:1/0") as nobody:
        answer = Browser(create_app(nobody)).get("/metrics")

    assert answer.status_code == 200
    assert re.findall(r"^qless\w+ .*", answer.text, re.MULTILINE) == ["qless_up 0.0"]


def test_it_can_be_switched_off(client):
    assert Browser(create_app(client, metrics=False)).get("/metrics").status_code == 404


def test_who_asks_for_openmetrics_gets_it(client):
    accept = {"Accept": "application/openmetrics-text; version=1.0.0"}

    answer = Browser(create_app(client)).get("/metrics", headers=accept)

    assert answer.content_type.startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


def test_it_is_not_kept_by_caches(client):
    assert Browser(create_app(client)).get("/metrics").headers["Cache-Control"] == "no-store"
