"""How children come and go, and that nothing crosses between them."""

from __future__ import annotations

import collections
import os
import signal
import threading
from pathlib import Path

import pytest

from qless_core.client import Client
from qless_core.errors import BadArgument, NotPermitted
from qless_core.worker.forking import ForkingWorker
from qless_core.worker.greenlets import GreenletWorker
from qless_core.worker.serial import SerialWorker
from qless_core.worker.threads import ThreadWorker
from tests.support.polling import PATIENCE_S, eventually
from tests.support.processes import children_of

CLASSES = {"serial": SerialWorker, "forking": ForkingWorker, "thread": ThreadWorker}


def ran_by(program):
    """Count the jobs that each process ran."""
    return collections.Counter(pid for _, _, pid in program.traces("ran"))


def put_many(program, count):
    return [program.put("quick") for _ in range(count)]


@pytest.mark.parametrize("kind", ["serial", "forking", "thread", "greenlet"])
def test_a_burst_runs_all_and_ends(program, kind):
    jids = put_many(program, 30)
    options = {} if kind == "serial" else {"concurrency": 3}

    program.start(kind, burst=True, **options)

    assert program.ended() == 0
    assert sorted(jid for _, jid, _ in program.traces("ran")) == sorted(jids)
    assert program.client.workers.counts == []


@pytest.mark.parametrize(("per_child", "most"), [(1, 1), (4, 4), (None, 20)])
def test_a_child_runs_as_many_jobs_as_it_may(program, per_child, most):
    put_many(program, 20)

    program.start("forking", burst=True, jobs_per_child=per_child)

    assert program.ended() == 0
    assert max(ran_by(program).values()) == most
    assert sum(ran_by(program).values()) == 20
    assert program.process.pid not in ran_by(program)


@pytest.mark.parametrize("per_child", [1, 7, None])
@pytest.mark.parametrize("prefetch", [1, 5])
def test_b61_children_share_no_connection(program, per_child, prefetch):
    jids = put_many(program, 100)

    program.start("forking", burst=True, concurrency=4, jobs_per_child=per_child, prefetch=prefetch)

    assert program.ended() == 0
    ran = [jid for _, jid, _ in program.traces("ran")]
    assert sorted(ran) == sorted(jids)
    assert {job.state for job in program.client.jobs.get(*jids)} == {"complete"}
    assert "Traceback" not in program.said


def test_a_child_that_is_old_gives_way_to_another_one_also_when_idle(program):
    program.start("forking", child_age_s=0.3)

    put_many(program, 1)
    eventually(lambda: len(ran_by(program)) == 1)
    first = set(ran_by(program))
    eventually(lambda: not _is_there(*first))
    put_many(program, 1)

    eventually(lambda: len(ran_by(program)) == 2)


def _is_there(pid):
    return Path(f"/proc/{pid}").exists()


def test_a_child_that_has_grown_gives_way_to_another_one(program):
    put_many(program, 5)

    program.start("forking", burst=True, child_memory=1)

    assert program.ended() == 0
    assert len(ran_by(program)) == 5


def test_several_jobs_run_at_once(program):
    for _ in range(3):
        program.put("wait")

    program.start("forking", concurrency=3)

    assert len(set(program.begun(3))) == 3
    names = {found.name for found in program.client.workers.counts} - {"w"}
    assert {name[-1] for name in names} == {"0", "1", "2"}
    assert len({name[:-1] for name in names}) == 1
    program.gate.touch()
    eventually(lambda: len(program.traces("ended")) == 3)


def test_a_child_that_is_killed_while_it_waits_is_replaced(program):
    program.start("forking")
    program.at_work("w-")
    (child,) = children_of(program.process.pid)

    os.kill(child, signal.SIGKILL)
    jid = program.put("quick")

    eventually(lambda: program.state(jid) == "complete")
    assert child not in ran_by(program)


def test_a_death_is_noticed_though_whoever_started_the_worker_ignores_those_ofchildren_of(program):
    program.wrapped = ("sh", "-c", 'trap "" CHLD; exec "$@"', "sh")
    jid = program.put("kills_itself", data={"signal": "SIGKILL"}, retries=0)
    program.start("forking")

    eventually(lambda: program.state(jid) == "failed")

    assert "SIGKILL" in program.client.jobs[jid].failure.message


def test_a_spare_that_is_killed_is_replaced(program):
    program.start("forking", jobs_per_child=1)
    program.at_work("w-")
    children = eventually(lambda: len(found := children_of(program.process.pid)) == 3 and found)

    for child in children:
        os.kill(child, signal.SIGKILL)
    jids = put_many(program, 3)

    eventually(lambda: all(program.state(jid) == "complete" for jid in jids))


@pytest.mark.parametrize("kind", ["serial", "forking", "thread", "greenlet"])
def test_b68_workers_of_each_kind_outlive_a_restart_of_redis(program, kind, tmp_path):
    from qless_core.embedded import EmbeddedServer  # noqa: PLC0415 - this test's alone

    place = tmp_path / "redis"
    with EmbeddedServer(place) as server:
        program.url, program.client = server.url, Client(server.url)
        program.start(kind)
        jid = program.put("quick")
        eventually(lambda: program.state(jid) == "complete")
    with EmbeddedServer(place):
        jid = program.put("quick")
        eventually(lambda: program.state(jid) == "complete")
        program.send(signal.SIGTERM)

        assert program.ended() == 0
        program.client.close()
    assert "Traceback" not in program.said


def test_on_another_thread_than_the_main_one_nothing_is_forked(client):
    caught = []

    def run():
        try:
            ForkingWorker(client, "q").run()
        except BadArgument as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(PATIENCE_S)

    assert "main thread" in str(caught[0])


@pytest.mark.parametrize("kind", [ForkingWorker, ThreadWorker])
def test_a_worker_of_nobody_is_refused(client, kind):
    with pytest.raises(BadArgument, match="concurrency"):
        kind(client, "q", concurrency=0)


def test_greenlets_say_what_they_need(client):
    with pytest.raises(BadArgument, match=r"monkey.patch_all\(\)"):
        GreenletWorker(client, "q")


@pytest.mark.parametrize("kind", CLASSES)
def test_b63_a_user_who_may_not_listen_is_told_so_at_the_start(server, redis, kind):
    redis.acl_setuser(
        "deaf", enabled=True, nopass=True, keys=["*"], commands=["+@all"], reset_channels=True
    )
    client = Client(f"{server.url}?username=deaf&password=any", worker_name="w")
    try:
        with pytest.raises(NotPermitted, match="channel"):
            CLASSES[kind](client, "q").run()
        assert client.workers.counts == []
    finally:
        redis.acl_deluser("deaf")


@pytest.mark.parametrize("how", ["exit", "error", "return"])
def test_a_process_that_a_job_forked_does_not_go_on_as_a_worker(program, how):
    program.put("forks", data={"how": how}, retries=0)
    program.start("forking")
    (pid,) = program.begun()
    jids = [program.put("wait", retries=0) for _ in range(2)]

    program.begun(2)
    os.kill(pid, signal.SIGKILL)
    program.begun(3)
    program.gate.touch()

    eventually(lambda: [program.state(jid) for jid in jids] == ["failed", "complete"])
    assert sorted(jid for _, jid, _ in program.traces("began")[1:]) == sorted(jids)
    assert [pid for _, _, pid in program.traces("ended")] != [pid]
    assert "SystemExit" not in program.said


def title_of(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0 ").decode()


def test_ps_tells_who_is_who(program):
    pytest.importorskip("setproctitle")
    program.put("wait")
    program.start("forking", concurrency=2)
    program.at_work("w-")
    children = eventually(lambda: len(found := children_of(program.process.pid)) == 2 and found)

    assert title_of(program.process.pid) == "qless: w looks after 2 of its kind"
    eventually(lambda: all("works q" in title_of(pid) for pid in children))
    assert all(title_of(pid).startswith("qless: w-") for pid in children)


def test_b63_an_idle_worker_asks_next_to_nothing(program, redis):
    """Counted by signs of life, of which there is one every few seconds."""
    program.start("forking", concurrency=4)
    seen = lambda: program.client.workers["w"].seen  # noqa: E731 - looked at again and again
    eventually(lambda: len(program.client.workers) == 5)
    first = eventually(seen)
    eventually(lambda: seen() > first)
    since = seen()
    before = calls(redis)

    eventually(lambda: redis.zscore("ql:workers", "w") > since)

    # The sign of life, and what the four do who wait: at most a look each.
    assert calls(redis) - before <= 5


def calls(redis):
    """Count what workers had the script do, and how often they began to wait."""
    found = redis.info("commandstats")
    names = ("fcall", "evalsha", "bzpopmin", "subscribe")
    return sum(found.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in names)
