"""Jobs go from one shard to another: none is lost, none is there twice, whoever dies in between."""

from __future__ import annotations

import pytest

from qless_core.errors import BadArgument
from qless_core.shards.moving import Mover


@pytest.fixture
def fields(sharded):
    """Read what a job says of itself, but which connection it came by."""

    def fields(jid):
        (found,) = [
            record
            for shard in sharded.shards.values()
            for record in [shard.commands.get(jid) or shard.commands.recur_get(jid)]
            if record
        ]
        return found

    return fields


def in_each_state(shard, queue="q"):
    """Put a job into each state in which it can go; their jids."""
    waiting = shard.queues[queue]
    jids = [
        waiting.put("Job", {"big": 12345678901234567890}, tags=["t", "u"], priority=7, jid="old"),
        waiting.put("Job", {}, delay=3600, jid="later"),
        waiting.put("Job", {"\x00": "é\u2028"}, jid="failed", priority=99),
        waiting.recur("Job", {}, 60, offset=1e6, jid="often"),
        waiting.cron("Job", {}, "@yearly", jid="yearly"),
    ]
    waiting.pop().fail("group", "why")
    shard.track("old")
    return jids


def away_from(sharded, queue="q"):
    """Name a shard that a queue is not placed on, and the one that it is."""
    home = sharded.queues[queue].shard
    return next(name for name in sharded.shards if name != home), home


def test_a_queue_is_gathered_on_its_shard_with_all_that_its_jobs_had(sharded, fields):
    source, home = away_from(sharded)
    jids = in_each_state(sharded.shards[source])
    before = [fields(jid) for jid in jids]

    moved = sharded.gather("q")

    assert (moved.done, moved.left) == (len(jids), {})
    assert [fields(jid) for jid in jids] == before
    assert {sharded.whereabouts.find(jid) for jid in jids} == {home}
    assert sharded.shards[source].commands.shard_leaving(10) == []
    assert sharded.shards[home].tags.jids("t").jids == ("old",)
    assert [job.jid for job in sharded.jobs.tracked().jobs] == ["old"]
    for shard in sharded.shards.values():
        assert [*shard.audit()] == []


def test_what_is_left_behind_holds_nothing_of_them(sharded, redis):
    source, _ = away_from(sharded)
    shard = sharded.shards[source]
    in_each_state(shard)
    sharded.gather("q")
    shard.queues["q"].forget()

    left = {key for key in redis.scan_iter(f"{shard.namespace}*") if ":s:" not in key}

    assert left == {f"{shard.namespace}workers"}


def test_jobs_that_run_or_wait_for_each_other_stay_and_say_why(sharded):
    source, _ = away_from(sharded)
    queue = sharded.shards[source].queues["q"]
    queue.put("Job", {}, jid="runs", priority=9)
    queue.pop()
    queue.put("Job", {}, jid="first")
    queue.put("Job", {}, jid="then", depends=["first"])

    moved = sharded.gather("q")

    assert (moved.done, moved.left) == (
        0,
        {"runs": "running", "first": "dependents", "then": "depends"},
    )
    assert sharded.jobs["runs"].state == "running"


def test_a_job_that_a_limit_keeps_back_waits_there(sharded):
    source, home = away_from(sharded)
    queue = sharded.shards[source].queues["q"]
    queue.throttle.maximum = 1
    queue.put("Job", {}, jid="runs", priority=9)
    queue.put("Job", {}, jid="kept")
    assert len(queue.pop(2)) == 1
    assert sharded.jobs["kept"].state == "throttled"

    sharded.gather("q")

    assert sharded.shards[home].queues["q"].pop().jid == "kept"


def test_a_shard_is_drained_into_the_others(sharded):
    shard = sharded.shards["a:"]
    for number in range(30):
        shard.queues[f"queue-{number}"].put("Job", {})

    moved = sharded.drain("a:")

    assert moved.done == 30
    assert all(not len(shard.queues[f"queue-{number}"]) for number in range(30))
    counts = [len([*sharded.shards[name].queues]) for name in ("b:", "c:")]
    assert (sum(counts), min(counts) > 5) == (30, True)


def test_only_one_of_several_shards_can_be_drained(sharded):
    with pytest.raises(BadArgument, match="no shard 'x' can be drained"):
        sharded.drain("x")


class DiedError(Exception):
    """The mover died here."""


@pytest.mark.parametrize("lost", ["before", "after"])
@pytest.mark.parametrize("command", ["shard_leave", "shard_arrive", "shard_settle"])
@pytest.mark.parametrize("time", [1, 2])
def test_whoever_dies_on_the_way_a_job_is_on_one_shard_in_the_end(
    sharded, monkeypatch, fields, command, lost, time
):
    """It dies before the call was carried out, or after, the first or the second time."""
    source, home = away_from(sharded)
    jids = in_each_state(sharded.shards[source])
    before = [fields(jid) for jid in jids]
    calls = []

    def dies(call):
        def method(*args):
            calls.append(args)
            if len(calls) == time and lost == "before":
                raise DiedError
            reply = call(*args)
            if len(calls) == time:
                raise DiedError
            return reply

        return method

    with monkeypatch.context() as patch:
        for shard in sharded.shards.values():
            patch.setattr(shard.commands, command, dies(getattr(shard.commands, command)))
        with pytest.raises(DiedError):
            sharded.gather("q")

    sharded.gather("q")

    assert [fields(jid) for jid in jids] == before
    assert {sharded.whereabouts.find(jid) for jid in jids} == {home}
    assert sharded.shards[source].commands.shard_leaving(10) == []


def test_a_job_that_cannot_arrive_comes_back(sharded):
    source, home = away_from(sharded)
    sharded.shards[source].queues["q"].put("Job", {"mine": 1}, jid="twice")
    sharded.shards[home].queues["other"].put("Job", {"theirs": 1}, jid="twice")

    moved = sharded.gather("q")

    assert moved.left == {"twice": "exists"}
    assert sharded.shards[source].jobs["twice"]["mine"] == 1
    assert sharded.shards[home].jobs["twice"]["theirs"] == 1
    assert sharded.shards[source].commands.shard_leaving(10) == []


def test_a_journey_to_a_shard_that_is_not_known_here_waits(sharded, caplog):
    source, _ = away_from(sharded)
    sharded.shards[source].queues["q"].put("Job", {}, jid="j")
    sharded.shards[source].commands.shard_leave("journey@elsewhere", "j")

    mover = Mover(sharded.shards, source)
    mover.resume()

    assert mover.moved.left == {"j": "on its way"}
    assert "'elsewhere', which is not here" in caplog.text
