from __future__ import annotations

import statistics

import pytest

DAY = 86400


def run(lua, now, seconds, jid="j"):
    lua("config.set", 0, "heartbeat", 10_000_000)
    lua.put(now, jid)
    lua.pop(now)
    lua("complete", now + seconds, jid, "w", "q", "{}")


def test_a_day_without_jobs(lua):
    stats = lua.json("stats", 1, "q", 1)

    empty = {"count": 0, "mean": 0, "std": 0, "histogram": [0] * 148}
    assert stats == {"retries": 0, "failed": 0, "failures": 0, "wait": empty, "run": empty}


def test_mean_and_deviation_are_those_of_the_samples(lua):
    samples = [3, 8.5, 1, 70, 4000, 12.25]
    for number, seconds in enumerate(samples):
        run(lua, 100, seconds, f"j-{number}")

    figures = lua.json("stats", 0, "q", 100)["run"]

    assert figures["count"] == 6
    assert figures["mean"] == pytest.approx(statistics.mean(samples))
    assert figures["std"] == pytest.approx(statistics.stdev(samples))
    assert sum(figures["histogram"]) == 6


@pytest.mark.parametrize(
    ("seconds", "field", "position"),
    [
        (0, "s0", 0),
        (0.9, "s0", 0),
        (59.9, "s59", 59),
        (60, "m1", 60),
        (3599, "m59", 118),
        (3600, "h1", 119),
        (86399, "h23", 141),
        (86400, "d1", 142),
        (6 * 86400, "d6", 147),
        (7 * 86400, "d7", None),
    ],
)
def test_durations_fall_into_buckets(lua, redis, seconds, field, position):
    run(lua, DAY, seconds)

    day = DAY + (DAY + seconds - DAY) // DAY * DAY
    assert redis.hget(f"ql:s:run:{day:.0f}:q", field) == "1"
    histogram = lua.json("stats", 0, "q", day)["run"]["histogram"]
    assert [place for place, count in enumerate(histogram) if count] == (
        [] if position is None else [position]
    )


def test_days_are_those_of_utc_and_printed_as_integers(lua, redis):
    run(lua, 1600000000.25, 1.5)

    assert redis.exists("ql:s:run:1599955200:q", "ql:s:wait:1599955200:q") == 2


def test_several_jobs_of_one_pop_are_counted_each(lua):
    for number in range(4):
        lua.put(number, f"j-{number}")

    lua.pop(10, 4)

    wait = lua.json("stats", 10, "q", 10)["wait"]
    assert (wait["count"], wait["mean"]) == (4, 8.5)


def test_old_days_are_cleared_when_a_new_one_begins(lua, redis):
    run(lua, 5 * DAY, 1)
    lua.put(5 * DAY, "f")
    lua.pop(5 * DAY)
    lua("fail", 5 * DAY, "f", "w", "g", "m")
    assert len(list(redis.scan_iter(f"ql:s:*:{5 * DAY}:q"))) == 3

    run(lua, 35 * DAY, 1)
    assert len(list(redis.scan_iter(f"ql:s:*:{5 * DAY}:q"))) == 3

    run(lua, 36 * DAY, 1)
    assert len(list(redis.scan_iter(f"ql:s:*:{5 * DAY}:q"))) == 0
    assert len(list(redis.scan_iter(f"ql:s:*:{35 * DAY}:q"))) == 2


def test_a_day_ends_by_itself_in_a_queue_that_sleeps(lua, redis):
    lua("config.set", 0, "stats-history", 3)
    run(lua, 1_700_000_000, 1)

    for key in redis.scan_iter("ql:s:*"):
        assert 4 * DAY < redis.ttl(key) <= 5 * DAY


def test_the_bars_of_old_histograms_are_cleared_when_a_new_day_begins(lua, redis):
    for day in (2, 3, 4):
        run(lua, day * DAY, 5, f"j-{day}")
    before = lua.json("stats", 0, "q", 3 * DAY)["run"]
    redis.expire(f"ql:s:run:{3 * DAY}:q", 5000)

    run(lua, 11 * DAY, 1)

    after = lua.json("stats", 0, "q", 3 * DAY)["run"]
    assert (sum(before["histogram"]), sum(after["histogram"])) == (1, 0)
    assert [after[name] for name in ("count", "mean", "std")] == [1, 5, 0]
    assert 0 < redis.ttl(f"ql:s:run:{3 * DAY}:q") <= 5000
    assert sum(lua.json("stats", 0, "q", 3 * DAY)["wait"]["histogram"]) == 0
    assert sum(lua.json("stats", 0, "q", 2 * DAY)["run"]["histogram"]) == 0
    assert sum(lua.json("stats", 0, "q", 4 * DAY)["run"]["histogram"]) == 1


@pytest.mark.parametrize("kind", ["stats", "wait", "run"])
@pytest.mark.parametrize("foreign", ["string", "set", "hash"])
def test_figures_are_left_out_where_something_else_lies_under_their_key(lua, redis, kind, foreign):
    lua("config.set", 0, "grace-period", 0)
    key = f"ql:s:{kind}:0:q"
    for jid in ("done", "failed", "stalled"):
        lua.put(1, jid)
    if foreign == "string":
        redis.set(key, "x")
    elif foreign == "set":
        redis.sadd(key, "x")
    else:
        redis.hset(key, mapping=dict.fromkeys(("failures", "failed", "retries", "total"), "x"))
    before = lua.stored()[key]

    assert sorted(lua.popped(2, 3)) == ["done", "failed", "stalled"]
    assert lua("complete", 3, "done", "w", "q", "{}") == "complete"
    assert lua("fail", 3, "failed", "w", "g", "m") == "failed"
    assert lua.popped(100) == ["stalled"]
    lua.put(101, "failed")
    lua("cancel", 102, "failed")

    assert lua.job("done")["state"] == "complete"
    if foreign != "hash":
        assert lua.stored()[key] == before


def test_an_old_day_under_whose_key_something_else_lies_stops_no_new_one(lua, redis):
    redis.set(f"ql:s:run:{3 * DAY}:q", "x")
    redis.hset(f"ql:s:wait:{3 * DAY}:q", mapping=dict.fromkeys(range(20_000), "x"))

    run(lua, 11 * DAY, 1)

    assert lua.json("stats", 0, "q", 11 * DAY)["run"]["count"] == 1


def test_a_queue_of_a_very_long_name_costs_no_more_memory_for_its_figures(lua, redis):
    queue = "q" * 300_000
    lua.put(400 * DAY, "j", queue=queue)
    redis.config_resetstat()

    assert lua.popped(400 * DAY, queue=queue) == ["j"]

    assert redis.info("commandstats")["cmdstat_del"]["calls"] == 1
    assert redis.info("commandstats")["cmdstat_hkeys"]["calls"] == 3
    names = redis.zrange("ql:queues", 0, -1)
    assert names == [queue]


@pytest.mark.parametrize("option", ["stats-history", "histogram-history"])
@pytest.mark.parametrize("days", ["0", "-3", "1e300", "0.5"])
def test_no_length_of_history_stops_a_queue(lua, days, option):
    lua("config.set", 0, option, days)

    run(lua, 1_700_000_000, 1)

    assert lua.json("stats", 0, "q", 1_700_000_000)["run"]["count"] == 1


def test_figures_that_are_no_numbers_begin_anew(lua, redis):
    redis.hset("ql:s:run:0:q", mapping={"total": "x", "mean": "y", "vk": "nan"})

    run(lua, 10, 5)

    figures = lua.json("stats", 0, "q", 0)["run"]
    assert (figures["count"], figures["mean"]) == (1, 5)
