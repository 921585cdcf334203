"""A server in a folder outlives its owner where somebody else is attached to it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import redis

from qless_core.embedded import EmbeddedServer

ROOT = Path(__file__).parents[2]
OWNER = """\
import sys
from qless_core.embedded import EmbeddedServer

with EmbeddedServer(sys.argv[1]) as server:
    print(server.owner_pid, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def owner():
    """Start a process that owns the server in a folder; it ends when it reads a line."""
    started = []

    def owner(folder):
        process = subprocess.Popen(
            [sys.executable, "-c", OWNER, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        started.append(process)
        assert process.stdout.readline() == f"{process.pid}\n"
        return process

    yield owner
    for process in started:
        process.kill()
        process.communicate()


def ask(url, *command):
    with redis.Redis.from_url(url) as connection:
        return connection.execute_command(*command)


def following(server):
    found = []
    thread = threading.Thread(target=lambda: found.append(server.take_over()))
    thread.start()
    return thread, found


@pytest.mark.parametrize("how", ["ends", "is killed"])
@pytest.mark.parametrize("name", ["data", "long" * 30])
def test_one_that_is_attached_takes_over_with_data_and_address(tmp_path, owner, how, name):
    process = owner(tmp_path / name)
    with EmbeddedServer(tmp_path / name) as server:
        address = server.url
        assert (server.owned, server.owner_pid) == (False, process.pid)
        ask(address, "SET", "name", "value")
        thread, found = following(server)

        process.kill() if how == "is killed" else print(file=process.stdin, flush=True)
        thread.join(20)

        assert found == [True]
        assert (server.owned, server.url, server.owner_pid) == (True, address, os.getpid())
        assert ask(address, "GET", "name") == b"value"


def test_of_several_one_takes_over_and_the_others_follow_it(tmp_path, owner):
    process = owner(tmp_path)
    servers = [EmbeddedServer(tmp_path).start() for _ in range(3)]
    follows = [following(server) for server in servers]

    process.kill()
    for thread, _ in follows:
        thread.join(20)

    try:
        assert sorted(found[0] for _, found in follows) == [False, False, True]
        assert {server.owner_pid for server in servers} == {os.getpid()}
        assert ask(servers[0].url, "PING")
    finally:
        for server in servers:
            server.stop()


def test_an_owner_has_nobody_to_follow(tmp_path):
    with EmbeddedServer(tmp_path) as server:
        assert server.take_over()
    assert not EmbeddedServer(tmp_path).take_over()
