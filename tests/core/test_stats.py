from __future__ import annotations

import datetime as dt

import pytest

from qless_core.errors import BadArgument
from qless_core.histogram import STARTS, Bin, Histogram

EMPTY = (0,) * 148


def with_counts(**counts):
    found = list(EMPTY)
    for name, count in counts.items():
        found[int(name[1:])] = count
    return Histogram(tuple(found))


def test_the_bins_are_seconds_then_minutes_then_hours_then_days():
    assert len(STARTS) == 148
    assert STARTS[:3] == (0, 1, 2)
    assert STARTS[59:62] == (59, 60, 120)
    assert STARTS[118:121] == (59 * 60, 3600, 7200)
    assert STARTS[-7:] == (23 * 3600, 86400, 2 * 86400, 3 * 86400, 4 * 86400, 5 * 86400, 6 * 86400)
    assert list(Histogram(EMPTY))[59] == Bin(59, 60, 0)
    assert list(Histogram(EMPTY))[-1] == Bin(6 * 86400, None, 0)


def test_a_percentile_lies_within_the_bin_that_holds_it():
    histogram = with_counts(b0=90, b60=10)

    assert histogram.total == 100
    assert histogram.percentile(45) == pytest.approx(0.5)
    assert histogram.percentile(95) == pytest.approx(90)
    assert Histogram(EMPTY).percentile(50) is None
    assert with_counts(b147=1).percentile(99) == 6 * 86400


def test_the_statistics_of_a_day_tell_of_waiting_and_running(client, clock):
    """Q11."""
    queue = client.queues["q"]
    for wait, run in ((1, 10), (3, 130)):
        queue.put("Job", {})
        clock.advance(wait)
        job = queue.pop()
        clock.advance(run)
        client.config["heartbeat"] = 1000
        job.complete()

    stats = queue.stats()

    assert (stats.wait.count, stats.wait.mean) == (2, 2)
    assert stats.wait.std == pytest.approx(2**0.5)
    assert [bin_.start for bin_ in stats.wait.histogram if bin_.count] == [1, 3]
    assert [bin_.start for bin_ in stats.run.histogram if bin_.count] == [10, 120]
    assert (stats.failed, stats.failures, stats.retries) == (0, 0, 0)


def test_a_day_may_be_given_as_a_date_a_moment_or_epoch_seconds(client, clock):
    queue = client.queues["q"]
    queue.put("Job", {})
    queue.pop().fail("group", "message")
    day = dt.datetime.fromtimestamp(clock.now(), dt.UTC)

    today = [day, day.date(), day.replace(tzinfo=None), clock.now(), None]

    assert [client.stats.get("q", each).failures for each in today] == [1] * 5
    assert queue.stats(day - dt.timedelta(days=1)).failures == 0
    assert queue.stats(day.strftime("%Y-%m-%d")).failures == 1
    assert queue.stats("2020-01-31").failures == 0


@pytest.mark.parametrize("day", ["yesterday", "", "2026-13-01", True, float("nan"), [], object()])
def test_what_is_no_day_is_refused(client, day):
    with pytest.raises(BadArgument, match=r"2026-11-30.*not "):
        client.stats.get("q", day)
