"""Data set L, small: it is as the script would have it, and has what it promises."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from benchmarks.dataset import BAD_CUSTOMER, BAD_DEPLOY, BAD_HOST, GROUPS, PATTERNS, build
from benchmarks.index import QUERIES
from qless_core.client import Client
from qless_web.triage.query import parse


@pytest.fixture(scope="module")
def built(server):
    """Build the smallest part of it that has everything."""
    with Client(server.url) as client:
        client.redis.flushall()
        yield client, build(client, 0.002)
        client.redis.flushall()


def test_the_audit_finds_nothing_wrong(built):
    client, _ = built

    assert client.audit().is_clean


def test_it_has_what_it_says(built):
    client, told = built
    counts = client.queues.counts

    for state in ("waiting", "scheduled", "running", "recurring"):
        assert sum(getattr(each, state) for each in counts) == told.counts[state]
    assert sum(client.jobs.failed().values()) == told.counts["failed"] == GROUPS * PATTERNS
    assert client.redis.zcard("ql:completed") == told.counts["completed"]


def test_each_group_has_forty_kinds_of_messages(built):
    client, _ = built
    for group in (BAD_HOST[0], BAD_CUSTOMER[0], BAD_DEPLOY[0]):
        jids = client.redis.lrange(f"ql:f:{group}", 0, -1)
        messages = [
            json.loads(client.redis.hget(f"ql:j:{jid}", "failure"))["message"] for jid in jids
        ]

        kinds = Counter(tuple(message.split()[:3]) for message in messages)
        assert set(kinds.values()) == {1}
        assert len(kinds) == PATTERNS


def test_the_incidents_are_in_it(built):
    client, _ = built

    def failed(group):
        jids = client.redis.lrange(f"ql:f:{group}", 0, -1)
        return [client.redis.hgetall(f"ql:j:{jid}") for jid in jids]

    hosts = [json.loads(job["failure"])["worker"].rpartition("-")[0] for job in failed(BAD_HOST[0])]
    assert hosts.count(BAD_HOST[1]) > 30
    users = [json.loads(job["data"])["user_id"] for job in failed(BAD_CUSTOMER[0])]
    assert users.count(BAD_CUSTOMER[1]) > 30
    versions = [json.loads(job["data"])["version"] for job in failed(BAD_DEPLOY[0])]
    assert versions.count(BAD_DEPLOY[1]) > 30


def test_the_listed_queries_are_fifty_and_make_sense():
    queries = [line for line in QUERIES.read_text().splitlines() if line and line[0] != "#"]

    assert len(queries) == len({*queries}) == 50
    assert all(parse(query) for query in queries)
