"""The clock of the server is set while workers work: what they hold, wait for and took ahead."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from qless_core.client import Client
from tests.support.nodes import Node
from tests.support.polling import eventually
from tests.worker.conftest import JOBS

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")

HOUR_S = 3600

#: What a server takes for the time: that of the system, and as many seconds as a file says.
CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

int gettimeofday(struct timeval *now, void *zone) {
  int (*real)(struct timeval *, void *) = dlsym(RTLD_NEXT, "gettimeofday");
  int code = real(now, zone);
  long ahead = 0;
  FILE *file = fopen(getenv("AHEAD"), "r");
  if (file) {
    if (fscanf(file, "%ld", &ahead) != 1) ahead = 0;
    fclose(file);
  }
  now->tv_sec += ahead;
  return code;
}

time_t time(time_t *where) {
  struct timeval now;
  gettimeofday(&now, NULL);
  if (where) *where = now.tv_sec;
  return now.tv_sec;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clock")
    source, library = folder / "clock.c", folder / "clock.so"
    source.write_text(CLOCK)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.fixture
def jump(program, tmp_path, monkeypatch, library):
    """Give the program a server whose clock can be set; answers what sets it."""
    ahead = tmp_path / "ahead"
    with monkeypatch.context() as environment:
        environment.setenv("LD_PRELOAD", str(library))
        environment.setenv("AHEAD", str(ahead))
        node = Node(tmp_path / "node").start()

    def jump(seconds):
        before = client.now()
        ahead.write_text(str(seconds))
        eventually(lambda: abs(client.now() - before - seconds) < HOUR_S / 2)

    with Client(node.url) as client:
        program.url, program.client = node.url, client
        yield jump
        program.kill_all()
    node.stop()


@pytest.mark.parametrize("seconds", [HOUR_S, -HOUR_S])
@pytest.mark.parametrize("kind", ["serial", "forking"])
def test_a_worker_finishes_its_job_and_takes_others_though_the_clock_is_set(
    program, jump, kind, seconds
):
    jid = program.put("wait")
    program.start(kind)
    program.begun()

    jump(seconds)
    program.gate.touch()

    eventually(lambda: program.state(jid) == "complete")
    other = program.put("quick")
    eventually(lambda: program.state(other) == "complete")
    assert program.what(jid) == ["put", "popped", "done"]
    assert len(program.traces("began")) == 1


def test_a_job_that_was_taken_ahead_after_the_clock_was_set_is_not_begun_after_its_lock(
    program, jump
):
    program.client.config["heartbeat"] = 1
    program.client.config["grace-period"] = 600
    program.start("serial", prefetch=2)
    eventually(lambda: program.client.redis.info("clients")["blocked_clients"])
    jump(HOUR_S)
    data = {"file": str(program.file), "gate": str(program.gate)}
    first, second = program.client.queues["q"].put_many(
        [(f"{JOBS}.wait", data, {"priority": 1}), (f"{JOBS}.quick", data)]
    )
    program.begun()

    lock_over = program.client.jobs[second].expires_at
    assert program.state(second) == "running"
    eventually(lambda: program.client.now() > lock_over)
    program.client.config["heartbeat"] = 60
    program.gate.touch()

    eventually(lambda: program.state(second) == "complete")
    eventually(lambda: program.state(first) == "complete")
    assert program.what(second) == ["put", "popped", "not-begun", "popped", "done"]
