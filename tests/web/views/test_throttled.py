"""Jobs that a throttle keeps back, as any client may have stored them."""

from __future__ import annotations

import pytest


@pytest.fixture
def kept_back(client, redis):
    """Put a job and keep it back, in the way of other dialects."""
    jid = client.queues["q"].put("Job", {}, jid="kept", throttles=["t"], tags=["x"])
    client.track(jid)
    redis.zrem("ql:q:q-work", jid)
    redis.zadd("ql:q:q-throttled", {jid: 1})
    redis.zadd("ql:th:t-pending", {jid: 1})
    redis.hset("ql:j:kept", "state", "throttled")
    redis.rpush("ql:j:kept-history", '[1,"throttled",{"queue":"q"}]')
    return jid


@pytest.mark.usefixtures("kept_back")
def test_a_queue_lists_what_is_kept_back_where_there_is_something(client, see):
    client.queues["plain"].put("Job", {})

    page = see("/queues/q/throttled")

    assert page.row_ids == ["job-kept"]
    assert "Throttled" in page.text
    assert "Throttled" not in see("/queues/plain").text
    assert see("/queues/plain/throttled").row_ids == []


def test_a_job_says_what_keeps_it(kept_back, see):
    assert "A throttle keeps it back" in see(f"/jobs/{kept_back}").text


@pytest.mark.parametrize("path", ["/track", "/tag?tag=x", "/track?state=throttled"])
@pytest.mark.usefixtures("kept_back")
def test_lists_show_it_in_its_state(path, see):
    page = see(path)

    assert page.row_ids == ["job-kept"]
    assert "throttled" in page.text.lower()


@pytest.mark.parametrize("path", ["/", "/queues", "/workers", "/queues/q", "/queues/q/waiting"])
@pytest.mark.usefixtures("kept_back")
def test_no_page_breaks(path, see):
    see(path)
