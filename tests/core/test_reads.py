"""What pages read: the same states whichever way a job is looked at, and few round trips."""

from __future__ import annotations

import pytest

from qless_core import reads
from qless_core.options import OPTIONS, as_number, as_whole, number_of
from qless_core.reads.plan import Slice, run
from qless_core.records import WorkerChild, WorkerInfo

PART = Slice(0, 25)


@pytest.fixture
def look(client):
    """Run a read at the time of the client; it must not take more than three round trips."""

    def look(plan):
        trips = 0

        def counted(scope):
            nonlocal trips
            batches = plan(scope)
            replies = None
            while True:
                try:
                    calls = next(batches) if replies is None else batches.send(replies)
                except StopIteration as stop:
                    return stop.value
                trips += 1
                replies = yield calls

        _, (found,) = run(client.redis, client.keys, [counted], now=client.now())
        assert trips <= 3
        return found

    return look


@pytest.fixture
def late(client, clock):
    """Let a lock run out and its worker be warned; answers the job."""
    client.queues["q"].put("Job", {}, jid="late", tags=["t"])
    client.track("late")
    job = client.queues["q"].pop()
    clock.advance(61)
    assert client.queues["q"].pop() is None
    return job


def states(look, jid="late"):
    """Give the state of a job on each page that lists it."""
    counts = look(reads.queue("q")).counts
    tabs = ("running", "stalled", "waiting", "scheduled")
    return {
        "counts": {name for name in tabs if getattr(counts, name)},
        "tabs": {name for name in tabs if look(reads.queue_jobs("q", name, PART)).rows},
        "rows": {
            row.state
            for name in tabs
            for row in look(reads.queue_jobs("q", name, PART)).rows
            if row.jid == jid
        },
        "page": {look(reads.job(jid)).row.state},
        "row": {look(reads.job_row(jid)).state},
        "tagged": {row.state for row in look(reads.tagged("t", PART)).rows},
        "filtered": {name for name in tabs if look(reads.tagged("t", PART, name)).rows},
        "tag counts": set(look(reads.tagged("t", PART)).states),
        "tracked": {row.state for row in look(reads.tracked(PART)).rows},
        "tracked counts": set(look(reads.tracked_states()).states),
        "overview": set(look(reads.overview()).tracked.states),
    }


def test_a_job_in_its_grace_runs_whichever_way_it_is_looked_at(look, late, clock):
    assert {name: {"running"} for name in states(look)} == states(look)
    row = look(reads.job("late")).row
    assert (row.warned, row.in_grace, row.expires) == (True, True, clock.now() + 10)

    clock.advance(10)

    assert {name: {"stalled"} for name in states(look)} == states(look)
    row = look(reads.job("late")).row
    assert (row.warned, row.in_grace, row.expires) == (True, False, clock.now())
    assert late.complete() == "complete"


def test_a_job_that_nobody_warned_yet_is_stalled_whichever_way_it_is_looked_at(client, clock, look):
    client.queues["q"].put("Job", {}, jid="late", tags=["t"])
    client.track("late")
    client.queues["q"].pop()
    clock.advance(61)

    assert {name: {"stalled"} for name in states(look)} == states(look)
    row = look(reads.job("late")).row
    assert (row.warned, row.in_grace) == (False, False)


def test_a_heartbeat_within_the_grace_ends_it(look, late):
    late.heartbeat()

    row = look(reads.job("late")).row

    assert (row.state, row.warned, row.in_grace) == ("running", True, False)


def test_a_worker_shows_the_state_that_its_queue_shows(client, clock, look):
    client.queues["q"].put("Job", {}, jid="a")
    client.queues["q"].pop()
    clock.advance(61)

    (row,) = look(reads.worker("worker-1", PART)).jobs.rows

    assert row.state == "stalled"


def test_a_failure_group_shows_the_state_that_the_queue_shows(redis, look, late):  # noqa: ARG001 - it is there
    redis.lpush("ql:f:g", "late")  # as when somebody meddled

    (row,) = look(reads.failure_jobs("g", PART)).rows

    assert row.state == "running"


def test_the_last_job_of_a_recurring_one_shows_the_state_that_its_queue_shows(client, clock, look):
    client.queues["q"].recur("Job", {}, 3600, jid="r")
    client.queues["q"].pop()
    clock.advance(61)
    client.queues["q"].pop()

    assert look(reads.job("r")).last.state == "running"

    clock.advance(10)
    assert look(reads.job("r")).last.state == "stalled"


def test_pages_of_a_list_are_whole_while_jobs_are_in_doubt(client, clock, look):
    queue = client.queues["q"]
    for number in range(9):
        queue.put("Job", {}, jid=f"j{number}", tags=["t"])
        clock.advance(0.001)
    queue.pop(9)
    clock.advance(61)
    queue.pop(3)  # warns three, and takes none
    clock.advance(5)
    queue.pop(3)
    clock.advance(6)  # now three are past their grace, three in it, and three not warned

    pages = [look(reads.tagged("t", Slice(start, 2))).rows for start in range(0, 10, 2)]

    assert [row.state for page in pages for row in page] == ["stalled"] * 6 + ["running"] * 3
    assert len({row.jid for page in pages for row in page}) == 9
    assert look(reads.tagged("t", PART)).states == {"stalled": 6, "running": 3}
    for state, count in (("stalled", 6), ("running", 3)):
        found = [look(reads.tagged("t", Slice(start, 2), state)) for start in range(0, 8, 2)]
        assert {page.total for page in found} == {count}
        assert [row.state for page in found for row in page.rows] == [state] * count


def test_a_worker_age_of_nothing_leaves_nobody_in_the_pages_as_in_the_command(client, redis, look):
    client.queues["q"].pop()
    redis.hset("ql:config", "max-worker-age", "0")

    assert client.workers.counts == []
    assert look(reads.frame(probe=False)).workers == 0
    assert look(reads.workers(PART, alive=True)).rows == ()
    assert look(reads.workers(PART)).rows[0].gone
    assert look(reads.worker("worker-1", PART)).summary.gone


def test_a_history_without_a_limit_is_never_called_trimmed(client, redis, look):
    client.queues["q"].put("Job", {}, jid="a")
    redis.hset("ql:config", "max-job-history", "0")

    assert not look(reads.job("a")).history_trimmed


@pytest.mark.parametrize("option", [each for each in OPTIONS if each.default is not None])
def test_what_is_no_number_counts_as_the_default_and_nothing_else_does(option):
    if not option.is_number:
        with pytest.raises(KeyError):
            number_of(option.name, None)
        return
    name = option.name.replace("<queue>", "mail")
    assert number_of(name, None) == number_of(name, "often") == option.default
    assert (number_of(name, "0"), number_of(name, "-1"), number_of(name, "1.5")) == (0, -1, 1.5)


@pytest.mark.parametrize(
    ("stored", "number", "whole"),
    [
        ("60", 60, 60),
        ("60.0", 60, 60),
        ("1700000000.25", 1700000000.25, 1700000000),
        (-1.5, -1.5, -1),
        (12345678901234567, 12345678901234567, 12345678901234567),
        (True, 1, 1),
        ("", None, None),
        (None, None, None),
        ("often", None, None),
        ("inf", None, None),
        (float("nan"), None, None),
        ([1], None, None),
    ],
)
def test_numbers_are_read_in_one_way(stored, number, whole):
    assert as_number(stored) == number
    assert isinstance(as_number(stored), type(number))
    assert as_whole(stored) == whole


def test_workers_with_children_take_three_round_trips(look, client, redis, clock):
    children = tuple(WorkerChild(f"w-{slot}", slot) for slot in range(3))
    client.queues["q"].put("Job", {}, jid="a")
    redis.zadd("ql:workers", {child.name: clock.now() for child in children})
    redis.zadd("ql:w:w-2:jobs", {"a": clock.now() + 60})
    client.workers.beat("w", WorkerInfo(children=children, queues=("q",)))
    redis.zadd("ql:workers", {"x": 5})

    found = look(reads.workers(PART, grouped=True))
    flat = look(reads.workers(PART))
    busiest = look(reads.workers(PART, grouped=True, order="running"))
    detail = look(reads.worker("w", PART))

    assert [(row.name, row.children_total) for row in found.rows] == [("w", 3), ("x", 0)]
    assert (found.total, found.everyone, flat.total) == (2, 5, 5)
    assert busiest == found
    assert [each.name for each in found.rows[0].everyone] == ["w", "w-0", "w-1", "w-2"]
    assert found.rows[0].children[2].jobs[0].klass == "Job"
    assert detail.summary.children == found.rows[0].children
    assert (detail.summary.info, detail.parent) == (found.rows[0].info, "")
    assert look(reads.worker("w-1", PART)).parent == "w"
    assert look(reads.worker("x", PART)).summary.info is None


def test_what_another_process_was_asked_is_not_asked_of_this_one(look, client):
    client.workers.beat("w", WorkerInfo(started=5.25))
    client.workers.ask("w", "pause")
    assert look(reads.worker("w", PART)).summary.asked == "pause"

    client.redis.set("ql:w:w:info", '{"started":6}')

    assert look(reads.worker("w", PART)).summary.asked == ""
    assert look(reads.workers(PART)).rows[0].asked == ""


def test_progress_is_that_of_the_run_that_goes_on(look, client, clock):
    queue = client.queues["q"]
    queue.put("Job", {}, jid="a")
    job = queue.pop()
    job.progress(3, 4, "pages")
    clock.advance(1)

    (row,) = look(reads.queue_jobs("q", "running", PART)).rows
    assert (row.progress.done, row.progress.total, row.progress.note) == (3, 4, "pages")
    assert look(reads.job("a")).row.progress == row.progress

    job.retry()
    assert look(reads.job("a")).row.progress is None
    queue.pop()
    assert look(reads.job("a")).row.progress is None
    client.redis.hset("ql:j:a", "progress", "nonsense")
    assert look(reads.job("a")).row.progress is None
