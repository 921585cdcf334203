"""Children of one job each: they inherit a connection, and none is harmed by what one did there."""

from __future__ import annotations

import threading

from qless_core import Client
from qless_core.worker.lines import Lines
from tests.support.polling import PATIENCE_S, eventually

JOBS = 24


def work(program, *jobs):
    """Have a fresh child run each of these jobs; answers their jids."""
    jids = [program.put(what) for what in jobs]
    program.start("forking", jobs_per_child=1, burst=True)
    assert program.ended() == 0
    return jids


def test_children_of_one_job_each_use_one_connection_after_another(program, redis):
    before = redis.info("stats")["total_connections_received"]

    jids = work(program, *["quick"] * JOBS)

    assert {program.state(jid) for jid in jids} == {"complete"}
    assert len({pid for _, _, pid in program.traces("ran")}) == JOBS
    # The worker itself has some, and a child that is there before the connection is makes its own.
    made = redis.info("stats")["total_connections_received"] - before
    assert made < JOBS


def test_what_a_killed_child_had_on_its_way_disturbs_none_after_it(program):
    killed = [program.put("kills_itself", retries=0, data={"signal": "SIGKILL"}) for _ in range(3)]

    jids = work(program, *["quick"] * 5)

    assert {program.state(jid) for jid in killed} == {"failed"}
    assert {program.state(jid) for jid in jids} == {"complete"}


def test_a_thread_that_a_job_left_behind_disturbs_no_later_child(program):
    jids = work(program, *["asks_on"] * 10)

    assert {program.state(jid) for jid in jids} == {"complete"}


def test_a_server_that_was_restarted_is_reached_by_the_next_child(program, redis):
    program.start("forking", jobs_per_child=1)
    program.put("quick")
    program.at_work()
    eventually(lambda: len(program.traces("ran")) == 1)

    redis.client_kill_filter(_type="normal", skipme=True)
    for number in range(2, 6):
        program.put("quick")
        eventually(lambda number=number: len(program.traces("ran")) == number)


def test_what_is_connected_as_the_worker_ends_is_not_left_open(server, monkeypatch):
    with Client(server.url) as client:
        made, gate = [], threading.Event()
        line = client.line

        def slowly():
            made.append(line())
            assert gate.wait(PATIENCE_S)
            return made[-1]

        monkeypatch.setattr(client, "line", slowly)
        lines = Lines(client, 1)
        lines.open()
        eventually(lambda: made)

        lines.close()
        gate.set()

        eventually(lambda: not made[0].is_connected)
        assert lines.number(0) == 0
        assert len(made) == 1
