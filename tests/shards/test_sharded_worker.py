"""A worker of several shards works each of them, and is told what to do as one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from qless_core.client import Client
from qless_core.errors import BadArgument
from qless_core.shards import ShardedClient
from qless_core.worker.sharded import ShardedWorker
from tests.support.polling import PATIENCE_S, eventually

ROOT = Path(__file__).parents[2]
JOBS = "tests.worker.worker_program"
NAMES = ("a:", "b:", "c:")


@pytest.fixture
def sharded(server, redis):  # noqa: ARG001 - `redis` empties the server
    with ShardedClient([Client(server.url, namespace=name) for name in NAMES]) as sharded:
        yield sharded


@pytest.fixture(params=["serial", "forking"])
def worker(request, server, sharded):  # noqa: ARG001 - the server is empty then
    command = [sys.executable, "-m", "tests.shards.shard_program", server.url, *NAMES]
    with subprocess.Popen(
        [*command, request.param],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        yield process
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def put(tmp_path, sharded):
    def put(what):
        data = {"file": str(tmp_path / "traces"), "gate": str(tmp_path / "gate")}
        for shard in sharded.shards.values():
            shard.queues["q"].put(f"{JOBS}.{what}", data)

    return put


@pytest.fixture
def traces(tmp_path):
    def traces(word):
        with suppress(FileNotFoundError):
            lines = [line.split() for line in (tmp_path / "traces").read_text().splitlines()]
            return [int(pid) for found, _, pid in lines if found == word]
        return []

    return traces


def complete(sharded):
    return len(sharded.jobs.complete())


def children(process):
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def ended(process):
    return process.wait(PATIENCE_S)


def test_jobs_of_all_shards_run_each_shard_in_processes_of_its_own(worker, sharded, put, traces):
    put("quick")

    eventually(lambda: complete(sharded) == len(NAMES))

    assert len(set(traces("ran"))) == len(NAMES)
    worker.send_signal(signal.SIGTERM)
    assert ended(worker) == 0


def test_told_to_stop_what_runs_is_given_back_on_each_shard(worker, sharded, put, traces):
    put("wait")
    eventually(lambda: len(traces("began")) == len(NAMES))

    worker.send_signal(signal.SIGTERM)

    assert ended(worker) == 0
    assert sharded.queues["q"].counts.waiting == len(NAMES)


def test_told_to_quit_what_runs_is_finished(worker, sharded, put, traces, tmp_path):
    put("wait")
    eventually(lambda: len(traces("began")) == len(NAMES))

    worker.send_signal(signal.SIGQUIT)
    (tmp_path / "gate").touch()

    assert ended(worker) == 0
    assert complete(sharded) == len(NAMES)


def test_a_process_that_is_killed_is_started_again_and_the_others_go_on(worker, sharded, put):
    put("quick")
    eventually(lambda: complete(sharded) == len(NAMES))
    before = children(worker)
    os.kill(int(before[0]), signal.SIGKILL)
    eventually(lambda: len({*children(worker)} - {*before}) == 1)

    put("quick")

    eventually(lambda: complete(sharded) == 2 * len(NAMES))
    worker.send_signal(signal.SIGTERM)
    assert ended(worker) == 0
    assert "the worker of the shard a: died (-9)" in worker.stderr.read()


def test_none_goes_on_when_the_parent_is_killed(worker, sharded, put):
    put("quick")
    eventually(lambda: complete(sharded) == len(NAMES))
    left = children(worker)

    worker.kill()
    ended(worker)

    eventually(lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in left))


def test_what_makes_no_sense_is_refused_at_once(sharded):
    with pytest.raises(BadArgument, match="concurrency"):
        ShardedWorker(sharded, "q", concurrency=0)
