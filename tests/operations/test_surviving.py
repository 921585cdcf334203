"""An operation goes on after the death of every process, and no job is done twice or forgotten."""

from __future__ import annotations

import contextlib
import os
import signal
from collections import Counter

import pytest

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_web.operations import freezing
from qless_web.operations import operation as store
from qless_web.operations.options import Options
from qless_web.operations.selection import Selection
from tests.support.polling import eventually
from tests.support.processes import Command, children_of
from tests.support.shop import start_operation

JOBS = 3_000


@pytest.fixture
def own():
    with EmbeddedServer() as server, Client(server.url) as client:
        yield server.url, client


@pytest.fixture
def qless_web(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    command = Command(home)
    yield command
    command.end()


def kill_all(console):
    """Kill a console and its processes, so that none has a moment to tidy up."""
    pid = console.process.pid
    for each in [*children_of(pid), pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
    console.process.wait(10)


def test_killed_in_the_middle_it_is_finished_by_the_next(qless_web, own):
    url, client = own
    queue = client.queues["mail"]
    queue.put_many(("Job", {}, {"jid": f"job-{number}"}) for number in range(JOBS))
    while jobs := queue.pop(500):
        for job in jobs:
            job.fail("boom", "no")
    made = freezing.freeze(
        client,
        action="retry",
        selection=Selection(group="boom"),
        options=Options(rate=JOBS / 3),
        asked=freezing.Asked(),
        search=tuple,
        keep_s=3_600,
    )

    def state():
        found = store.load(client, made.id)
        assert found is not None
        return found

    console = qless_web.start("--redis-url", url)
    start_operation(client, made)
    eventually(lambda: state().at > JOBS // 10)
    kill_all(console)
    at = state().at
    assert at < JOBS
    qless_web.start("--redis-url", url)

    eventually(lambda: state().state == "done", within=60)
    found = state()
    assert (found.done, found.skipped) == (JOBS, 0)
    puts = Counter(
        sum('"put"' in item for item in client.redis.lrange(f"ql:j:job-{number}-history", 0, -1))
        for number in range(JOBS)
    )
    assert puts == {2: JOBS}
    assert client.redis.llen("ql:f:boom") == 0
