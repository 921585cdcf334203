"""`qless-web` counts minutes by itself, from its start, whether anybody looks or not."""

from __future__ import annotations

import pytest
import redis as redis_py

from qless_core.embedded import EmbeddedServer
from tests.support.polling import eventually


@pytest.fixture
def own():
    with EmbeddedServer() as server, redis_py.Redis.from_url(server.url) as redis:
        yield server.url, redis


def looks(redis):
    """Whether somebody asked whether it may write, which comes before each turn."""
    return "cmdstat_evalsha" in redis.info("commandstats")


def test_it_looks_without_being_looked_at(qless_web, own):
    url, redis = own
    qless_web.start("--redis-url", url)

    eventually(lambda: looks(redis))


@pytest.mark.parametrize("flags", [["--read-only"], ["--no-count-minutes", "--no-run-operations"]])
def test_it_does_not_where_it_must_not(qless_web, own, flags):
    url, redis = own
    console = qless_web.start("--redis-url", url, *flags)

    assert console.get("/healthz")[0] == 200
    assert not looks(redis)
