from __future__ import annotations

import contextlib
import fcntl
import http.client
import os
import re
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from qless_core import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer
from tests.support.polling import eventually
from tests.support.processes import get, is_alive

EVERYWHERE = "0.0.0.0"  # noqa: S104 - what the command is to refuse


@pytest.fixture
def url():
    with EmbeddedServer() as server:
        yield server.url


def refused(done, *words):
    """Check that the command said one sentence, and no traceback."""
    assert done.returncode in {1, 2}
    assert not done.stdout
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert all(word in done.stderr for word in words), done.stderr


# -- Refusals ------------------------------------------------------------------------------------


def test_another_address_than_this_machines_needs_a_word(qless_web, url):
    refused(
        qless_web.run("-F", "-p", "0", "--host", EVERYWHERE, "--redis-url", url),
        EVERYWHERE,
        "--allow-anonymous",
    )

    served = qless_web.start("--host", EVERYWHERE, "--allow-anonymous", "--redis-url", url)
    assert served.get("/healthz")[0] == 200


def test_a_name_that_is_not_known_is_refused(qless_web):
    refused(qless_web.run("-F", "--host", "no-such-host.invalid"), "no-such-host.invalid")


def test_a_port_in_use_is_refused(qless_web, url):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])

        for mode in (["-F"], []):
            refused(qless_web.run(*mode, "-p", port, "--redis-url", url), port)


def test_a_senseless_redis_url_is_refused_without_its_password(qless_web):
    done = qless_web.run("-F", "--redis-url", "http://user:hunter2@localhost")

    refused(done, "redis://")
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize(
    "flag", ["--redis-ur=%s", "--port=%s", "--threads=%s", "--prefix=%s", "--host=%s", "%s"]
)
@pytest.mark.parametrize(
    "address", ["redis://:s3cret@h", "redis://s3cret@h", "redis://h?pwd=s3cret"]
)
def test_a_redis_url_in_the_wrong_place_is_not_shown(qless_web, flag, address):
    done = qless_web.run("-F", flag % address)

    assert done.returncode in {1, 2}
    assert done.stderr
    assert "s3cret" not in done.stderr + done.stdout


def test_a_misspelt_flag_is_refused(qless_web):
    done = qless_web.run("--read-onyl")

    assert done.returncode == 2
    assert "--read-onyl" in done.stderr


@pytest.mark.parametrize("other", ["--demo", "--embedded"])
def test_a_redis_of_its_own_and_another_are_one_too_many(qless_web, other):
    refused(qless_web.run("-F", other, "--redis-url", "redis://localhost"), other)


def test_a_server_program_that_is_missing_is_named(qless_web):
    for mode in (["-F"], []):
        done = qless_web.run(*mode, "-p", "0", "--embedded", QLESS_REDIS_SERVER="/no/such/server")
        refused(done, "/no/such/server")


def test_a_pid_file_that_cannot_be_made_is_named(qless_web, url):
    place = "/proc/no/such.pid"
    refused(qless_web.run("-p", "0", "--pid-file", place, "--redis-url", url), place)


@pytest.mark.parametrize("mode", [["-F"], []], ids=["foreground", "daemon"])
def test_a_pid_file_that_is_something_else_is_refused_and_left_alone(qless_web, url, mode):
    letter, link, pipe = (qless_web.home / name for name in ("letter", "link", "pipe"))
    letter.write_text("Dear reader\n")
    link.symlink_to(letter)
    os.mkfifo(pipe)

    for place in (letter, link, pipe, Path(os.devnull), qless_web.home):
        for order in (["--status"], ["--kill"], [*mode, "-p", "0", "--redis-url", url]):
            refused(qless_web.run(*order, "--pid-file", str(place)), str(place))
    assert letter.read_text() == "Dear reader\n"
    assert link.is_symlink()


def test_a_link_to_nothing_is_no_pid_file(qless_web, url):
    link, target = qless_web.home / "link", qless_web.home / "target"
    link.symlink_to(target)

    refused(qless_web.run("-F", "-p", "0", "--redis-url", url, "--pid-file", str(link)), str(link))
    assert not target.exists()


@pytest.mark.parametrize("mode", [["-F"], []], ids=["foreground", "daemon"])
@pytest.mark.parametrize("place", ["/proc/no/such/log", "/proc/version/log", "/"])
def test_an_access_log_that_cannot_be_written_is_named(qless_web, url, mode, place):
    refused(qless_web.run(*mode, "-p", "0", "--redis-url", url, "--access-log", place), place)


@pytest.mark.parametrize(
    "name", ["'ql:'", '"ql:"', "{ql:", "ql}:", "{}:", "q l:", "q\nl:", "{a}{b:"]
)
def test_a_namespace_that_must_be_a_slip_is_refused(qless_web, name):
    refused(qless_web.run("-F", "-p", "0", "--namespace", name), "namespace")


def test_a_port_held_by_a_console_without_its_pid_file_names_the_process(qless_web, url):
    port, pid = daemon(qless_web, "--redis-url", url)
    (qless_web.home / "state" / "qless-web" / f"qless-web-{port}.pid").unlink()

    for mode in (["-F"], []):
        refused(qless_web.run(*mode, "-p", str(port), "--redis-url", url), str(port), f"pid {pid}")


def test_the_version_is_told(qless_web):
    assert qless_web.run("--version").stdout.startswith("qless-web ")


# -- The daemon ----------------------------------------------------------------------------------


def daemon(qless_web, *args):
    """Start one on a free port; returns (port, pid)."""
    done = qless_web.run("-p", "0", *args)
    assert done.returncode == 0, done.stderr
    port = int(done.stdout.split("/ (pid")[0].rpartition(":")[2])
    return port, qless_web.daemons[-1]


def test_a_daemon_is_started_asked_about_and_stopped(qless_web, url):
    port, pid = daemon(qless_web, "--redis-url", url)
    assert get(port, "/healthz")[0] == 200
    state = qless_web.home / "state" / "qless-web"
    assert state.stat().st_mode & 0o777 == 0o700
    assert (state / f"qless-web-{port}.pid").read_text() == f"{pid}\n"

    asked = qless_web.run("-S", "-p", str(port))
    assert (asked.returncode, asked.stdout) == (0, f"running (pid {pid})\n")
    refused(qless_web.run("-p", str(port), "--redis-url", url), "already running", str(pid))

    killed = qless_web.run("--kill", "-p", str(port))
    assert (killed.returncode, killed.stdout) == (0, f"stopped (pid {pid})\n")
    eventually(lambda: not is_alive(pid))
    assert not (state / f"qless-web-{port}.pid").exists()
    for order in ("--status", "--kill"):
        asked = qless_web.run(order, "-p", str(port))
        assert (asked.returncode, asked.stdout) == (3, "not running\n")


def test_a_pid_file_left_by_a_killed_daemon_is_nobodys(qless_web, url):
    port, pid = daemon(qless_web, "--redis-url", url)

    os.kill(pid, signal.SIGKILL)

    eventually(lambda: qless_web.run("-S", "-p", str(port)).returncode == 3)
    again = qless_web.run("-p", str(port), "--redis-url", url)
    assert again.returncode == 0, again.stderr
    assert qless_web.run("-K", "-p", str(port)).returncode == 0


def test_a_pid_file_with_the_number_of_another_process_is_nobodys(qless_web, tmp_path):
    place = tmp_path / "file.pid"
    place.write_text(f"{os.getpid()}\n")

    assert qless_web.run("-K", "--pid-file", str(place)).returncode == 3
    assert is_alive(os.getpid())


def test_a_console_that_only_starts_is_not_killed_yet(qless_web, tmp_path):
    with (tmp_path / "file.pid").open("w") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)

        refused(qless_web.run("-K", "--pid-file", str(tmp_path / "file.pid")), "only starting")


def test_a_killed_daemon_leaves_no_server_behind(qless_web):
    done = qless_web.run("-p", "0", "--demo")
    pid = qless_web.daemons[-1]
    folder = Path(done.stdout.split("unix://")[1].strip()).parent
    assert folder.exists()

    os.kill(pid, signal.SIGKILL)

    eventually(lambda: not folder.exists())


def test_the_pid_and_the_log_are_where_they_are_told_to_be(qless_web, url):
    port, pid = daemon(
        qless_web, "--redis-url", url, "--pid-file", "here.pid", "--log-file", "here.log"
    )

    assert (qless_web.home / "here.pid").read_text() == f"{pid}\n"
    assert (qless_web.home / "here.log").exists()
    assert qless_web.run("-K", "--pid-file", "here.pid").returncode == 0
    assert port


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux lists them so")
def test_a_daemon_keeps_nothing_open_that_it_does_not_use(qless_web, url):
    _, pid = daemon(qless_web, "--redis-url", url, "--log-file", "here.log")

    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for each in (str(pid), *children):
        opened = {fd.name: str(fd.readlink()) for fd in Path(f"/proc/{each}/fd").iterdir()}
        assert {name for name, to in opened.items() if to.endswith("here.log")} == {"1", "2"}
        assert {name for name, to in opened.items() if to == os.devnull} == {"0"}


def test_a_daemon_reloads_on_hup(qless_web, url):
    port, pid = daemon(qless_web, "--redis-url", url)

    os.kill(pid, signal.SIGHUP)

    assert eventually(lambda: get(port, "/healthz")[0] == 200)
    assert is_alive(pid)
    assert qless_web.run("-K", "-p", str(port)).returncode == 0


# -- The foreground ------------------------------------------------------------------------------


def stream(port):
    """Open the event stream and read its first line."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/events")
    answer = connection.getresponse()
    assert answer.status == 200
    assert answer.readline()
    return connection, answer


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_open_streams_end_cleanly_when_the_console_stops(qless_web, number):
    served = qless_web.start("--demo")
    folder = Path(served.redis_url.removeprefix("unix://")).parent
    streams = [stream(served.port) for _ in range(5)]

    assert served.end(number) == 0

    for connection, answer in streams:
        answer.read()  # raises IncompleteRead for a stream that was cut
        connection.close()
    assert qless_web.complaints == ""
    eventually(lambda: not folder.exists())


@pytest.fixture
def scrap():
    """Make a folder for all temporary files, its path short enough for sockets in it."""
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp") as folder:
        yield Path(folder)


def processes_of(served, folder):
    """List the processes of a console, and those it started with a file of the folder."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pgid=,stat=,command="],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [
        line
        for line in listed.splitlines()
        if not line.split()[1].startswith("Z")
        and (line.split()[0] == str(served.process.pid) or str(folder) in line)
    ]


@contextlib.contextmanager
def hanging_request(port):
    """Begin a request whose end never comes."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(
            b"POST /queues/mail/pause HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\n\r\nx="
        )
        yield


@pytest.mark.parametrize("requests", [0, 2], ids=["nothing runs", "requests hang"])
def test_ctrl_c_ends_all_within_three_seconds_and_leaves_nothing(qless_web, scrap, requests):
    served = qless_web.start("--demo", TMPDIR=str(scrap))
    streams = [stream(served.port) for _ in range(5)]
    with contextlib.ExitStack() as stack:
        for _ in range(requests):
            stack.enter_context(hanging_request(served.port))
        assert served.get("/healthz")[0] == 200
        # The console, its worker, the crew of the demo, the server and the one who watches it.
        assert len(processes_of(served, scrap)) >= 5
        assert list(scrap.iterdir())
        clock = Clock()
        end = clock.monotonic() + 3

        os.killpg(served.process.pid, signal.SIGINT)

        assert served.process.wait(3) == 0
        left = end - clock.monotonic()
        eventually(lambda: not processes_of(served, scrap), within=left)
    assert list(scrap.iterdir()) == []
    for connection, answer in streams:
        answer.read()
        connection.close()


def test_connections_that_ask_nothing_do_not_delay_the_end(qless_web, url):
    served = qless_web.start("--redis-url", url)
    with socket.create_connection(("127.0.0.1", served.port)):
        assert served.get("/healthz")[0] == 200

        assert served.end(signal.SIGTERM) == 0

    assert qless_web.complaints == ""


def test_streams_end_cleanly_too_when_the_console_is_killed(qless_web):
    served = qless_web.start("--demo")
    folder = Path(served.redis_url.removeprefix("unix://")).parent
    connection, answer = stream(served.port)

    served.process.kill()

    answer.read()
    connection.close()
    eventually(lambda: not folder.exists())


def test_a_closed_terminal_stops_it(qless_web, url):
    served = qless_web.start("--redis-url", url)

    assert served.end(signal.SIGHUP) == 0


def test_everything_is_served_under_a_prefix(qless_web, url):
    served = qless_web.start("--redis-url", url, "--prefix", "/ops/qless")

    assert served.url.endswith("/ops/qless/")
    assert served.get("/ops/qless/healthz")[0] == 200
    assert served.get("/healthz")[0] == 404


def test_settings_come_from_the_environment_too(qless_web, url):
    served = qless_web.start(QLESS_WEB_PREFIX="/from/env", REDIS_URL=url)

    assert served.url.endswith("/from/env/")
    assert served.redis_url == url


def test_data_is_kept_over_restarts(qless_web, tmp_path):
    folder = str(tmp_path / "kept")
    served = qless_web.start("--embedded", folder)
    with Client(served.redis_url) as client:
        jid = client.queues["mail"].put("Letter", {"to": "ada"})
    assert served.end() == 0

    again = qless_web.start("--embedded", folder)

    assert again.redis_url == served.redis_url
    assert again.get(f"/jobs/{jid}")[0] == 200


def test_without_redis_it_starts_says_so_and_recovers(qless_web, tmp_path):
    folder = tmp_path / "later"
    served = qless_web.start("--redis-url", f"unix://:hunter2@{folder}/valkey.sock")
    assert "hunter2" not in served.redis_url

    status, page = served.get("/")
    assert status == 503
    assert "valkey.sock" in page
    assert "hunter2" not in page
    assert served.get("/healthz")[0] == 200

    with EmbeddedServer(folder, options={"requirepass": "hunter2"}):
        eventually(lambda: served.get("/")[0] == 200)
    eventually(lambda: served.get("/")[0] == 503)

    told = [
        line for line in qless_web.complaints.splitlines() if re.match(r"[-\d]+ [:,\d]+ WARN", line)
    ]
    # What is done in the background says so for itself, which is tried elsewhere.
    by_pages = [line for line in told if "WARNING Redis at " in line]
    assert [" is back, after " in line for line in by_pages] == [False, True, False]
