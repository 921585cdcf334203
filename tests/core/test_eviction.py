"""A server that drops keys when it is full is told of at once."""

from __future__ import annotations

import logging

import pytest

from qless_core import cli, eviction, worker_line
from qless_core.client import Client


@pytest.fixture
def policy(redis):
    """Give a function that sets what the server does when it is full."""

    def policy(name, limit):
        redis.config_set("maxmemory-policy", name)
        redis.config_set("maxmemory", limit)

    yield policy
    policy("noeviction", 0)


@pytest.mark.parametrize(
    ("name", "limit", "warns"),
    [
        ("noeviction", "1gb", False),
        ("allkeys-lru", "1gb", True),
        ("volatile-ttl", "1gb", True),
        ("allkeys-lru", 0, False),
    ],
)
def test_b71_a_policy_that_may_take_jobs_is_warned_of(client, policy, caplog, name, limit, warns):
    policy(name, limit)

    assert eviction.warn_of(client) is warns

    assert [record.message.count(f"({name})") for record in caplog.records] == [1] * warns


def test_b71_where_the_server_does_not_tell_nothing_is_said(server, redis, policy, caplog):
    policy("allkeys-lru", "1gb")
    redis.execute_command("ACL", "SETUSER", "shy", "on", ">x", "~*", "&*", "+@all", "-info")
    url = server.url.replace("redis://", "redis://shy:x@").replace("unix://", "unix://shy:x@")
    with Client(url) as client:
        assert not eviction.warn_of(client)
    redis.acl_deluser("shy")
    with Client("redis://127.0.0.1:1/0") as client:
        assert not eviction.warn_of(client)

    assert caplog.records == []


@pytest.mark.parametrize(
    ("main", "words"),
    [(cli.main, ["work", "-q", "q"]), (worker_line.run, ["-q", "q", "--kind", "serial"])],
    ids=["qless work", "qless-worker"],
)
def test_b71_a_worker_warns_when_it_begins(server, policy, caplog, monkeypatch, main, words):
    policy("allkeys-lru", "1gb")
    monkeypatch.setattr("qless_core.worker.serial.SerialWorker.run", lambda _: None)

    with caplog.at_level(logging.WARNING):
        assert main(["--redis-url", server.url, *words]) == 0

    assert "maxmemory-policy" in caplog.text
