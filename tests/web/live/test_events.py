"""`GET /events` over HTTP: in process, and from the command as it is shipped."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from werkzeug.test import create_environ

from qless_core import Client
from qless_web import create_app
from qless_web.live.topics import EVERYTHING
from qless_web.views.live import asked_topics
from tests.support.polling import eventually
from tests.support.processes import ROOT, Command, get
from tests.support.streams import Connection, Listener, parsed


@pytest.fixture
def command(tmp_path):
    """Run the command with an empty home."""
    home = tmp_path / "home"
    home.mkdir()
    command = Command(home)
    yield command
    command.end()


@pytest.fixture
def console(command, server, redis):  # noqa: ARG001 - `redis` empties the server
    """Serve the console as it is shipped."""
    return command.start("--redis-url", server.url)


@pytest.fixture
def live(server, redis):  # noqa: ARG001 - `redis` empties the server
    """Make a client that goes by the server's time, as the console's."""
    with Client(server.url) as client:
        yield client


@contextmanager
def listening(url, *topics, last_id=""):
    connection = Connection(url, topics, last_id=last_id)
    listener = Listener(connection.chunks())
    listener.wait_for("ready")
    yield listener
    connection.close()


@pytest.mark.parametrize(
    ("values", "topics"),
    [
        ([], EVERYTHING),
        ([""], EVERYTHING),
        (["queues"], {"queues"}),
        (["queues,queue:mail"], {"queues", "queue:mail"}),
        (["queues", "queue:a,b"], {"queues", "queue:a,b", "queue:a"}),
        (['["queue:a,b","failed:[x]"]'], {"queue:a,b", "failed:[x]"}),
        (['["queue:\\udcff"]'], {"queue:\udcff"}),
        (["nonsense"], set()),
        (["["], set()),
        (['[1,null,["queues"],{"a":1}]'], set()),
        (["[" * 10_000], set()),
    ],
)
def test_topics_are_read_from_every_form_of_the_address(values, topics):
    assert asked_topics(values) == topics


@pytest.fixture
def web(client):
    app = create_app(client, live_tick_s=0.1)
    yield app.test_client()
    app.extensions["qless_web"].hub.close()


def test_a_stream_has_the_headers_that_proxies_need(web):
    response = web.get("/events?topics=queues", buffered=False)

    assert response.status_code == 200
    assert response.mimetype == "text/event-stream"
    assert response.headers["X-Accel-Buffering"] == "no"
    assert response.headers["Cache-Control"] == "no-cache, no-transform"
    assert "Content-Length" not in response.headers
    assert next(iter(response.response)).startswith(b"retry: ")
    response.close()


def test_a_put_makes_a_message_that_names_its_queue(web, client):
    response = web.get("/events?topics=queues&topics=queue:mail", buffered=False)
    messages = parsed(iter(response.response))
    while next(messages).event != "ready":
        pass

    client.queues["mail"].put("Send", {})

    assert next(messages).topics == ["queue:mail", "queues"]
    response.close()


def test_asking_for_the_head_opens_no_stream(web):
    response = web.head("/events")

    assert response.status_code == 200
    assert response.mimetype == "text/event-stream"
    assert web.application.extensions["qless_web"].hub.streams == 0


def test_a_response_that_is_never_read_gives_its_place_back(web):
    answer = web.application(create_environ("/events"), lambda *_: None)
    assert web.application.extensions["qless_web"].hub.streams == 1

    answer.close()

    assert web.application.extensions["qless_web"].hub.streams == 0


@pytest.mark.parametrize(
    "query", ["topics=nonsense", "topics=[1]", "topics=" + ",".join(f"job:{n}" for n in range(999))]
)
def test_an_address_that_names_no_topics_or_too_many_is_refused(web, query):
    assert web.get(f"/events?{query}").status_code == 400


def test_live_updates_can_be_switched_off(client):
    assert create_app(client, live_max_streams=0).test_client().get("/events").status_code == 404


def test_above_the_cap_the_answer_says_when_to_ask_again(client):
    app = create_app(client, live_max_streams=1)
    web = app.test_client()
    first = web.get("/events", buffered=False)

    refused = web.get("/events")

    assert refused.status_code == 503
    assert int(refused.headers["Retry-After"]) > 0
    first.close()
    app.extensions["qless_web"].hub.close()
    assert web.get("/events").status_code == 503


def test_what_happens_is_heard_over_http(console, live):
    with listening(console.url, "queues", "queue:mail", "workers") as listener:
        live.queues["mail"].put("Send", {})
        listener.wait_for("change", "queue:mail")
        before = len(listener.messages)

        live.queues["mail"].pop()
        listener.wait_for("change", "workers", after=before)
        before = len(listener.messages)

        live.queues["mail"].pause()
        listener.wait_for("change", "queues", after=before)


def test_b84_the_stream_lies_under_the_prefix(command, server, live):
    console = command.start("--redis-url", server.url, "--prefix", "/ops/qless")

    with listening(console.url, "queues") as listener:
        live.queues["mail"].put("Send", {})
        listener.wait_for("change", "queues")
    assert get(console.port, "/events")[0] == 404


def test_a_stream_goes_on_where_the_last_one_broke_off(console, live):
    with listening(console.url, "queues", "config") as listener:
        last = listener.wait_for("ready").id
    live.queues["mail"].put("Send", {})

    with listening(console.url, "queues", "config", last_id=last) as listener:
        eventually(lambda: "queues" in str(listener.messages))
        assert "config" not in str(listener.messages)


def test_the_end_of_the_console_is_a_bye_on_every_stream(console):
    connections = [Connection(console.url, ["queues"]) for _ in range(5)]
    listeners = [Listener(connection.chunks()) for connection in connections]
    for listener in listeners:
        listener.wait_for("ready")

    assert console.end(signal.SIGTERM) == 0

    for listener in listeners:
        listener.wait_for_end()
        assert listener.messages[-1].event == "bye"
    for connection in connections:
        connection.close()


def test_b77_streams_that_were_dropped_leave_nothing_behind(command, server, redis, live):
    console = command.start("--redis-url", server.url, QLESS_WEB_LIVE_MAX_STREAMS="50")
    worker = _worker_of(console)
    silent = [_raw_stream(console.port) for _ in range(50)]
    eventually(lambda: _refused(console))
    assert get(console.port, "/healthz")[0] == 200

    for number, connection in enumerate(silent):
        if number % 2:
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        connection.close()

    for connection in _open_all(console, 50):
        connection.close()
    assert len(redis.client_list(_type="pubsub")) < 6
    assert len(redis.client_list()) < 20
    assert _threads(worker) < 64 + 16  # those of the pool, and a few
    with listening(console.url, "queues") as listener:
        live.queues["mail"].put("Send", {})
        listener.wait_for("change", "queues")


def test_b77_pages_are_served_while_every_stream_is_taken_by_who_never_reads(command, server):
    console = command.start("--redis-url", server.url, QLESS_WEB_LIVE_MAX_STREAMS="48")
    silent = [_raw_stream(console.port) for _ in range(60)]

    assert _refused(console)
    assert get(console.port, "/healthz")[0] == 200
    assert get(console.port, "/readyz")[0] == 200
    for connection in silent:
        connection.close()


def test_more_streams_than_threads_are_fed_each_with_no_thread_of_its_own(command, server, live):
    console = command.start("--redis-url", server.url, "--threads", "4")
    with ExitStack() as opened:
        listeners = [opened.enter_context(listening(console.url, "queues")) for _ in range(40)]
        before = [len(listener.messages) for listener in listeners]

        live.queues["mail"].put("Send", {})

        for listener, heard in zip(listeners, before, strict=True):
            listener.wait_for("change", "queues", after=heard)
        assert get(console.port, "/healthz")[0] == 200
        assert _threads(_worker_of(console)) < 20


def test_who_reads_nothing_keeps_nobody_else_waiting(command, server, live):
    console = command.start("--redis-url", server.url, "--threads", "4")
    silent = [_raw_stream(console.port) for _ in range(40)]

    with listening(console.url, "queues") as listener:
        for _ in range(3):
            before = len(listener.messages)
            live.queues["mail"].put("Send", {})
            listener.wait_for("change", "queues", after=before)
    for connection in silent:
        connection.close()


def test_a_client_that_knows_no_chunks_is_fed_by_a_thread(command, server):
    console = command.start("--redis-url", server.url)
    with socket.create_connection(("127.0.0.1", console.port)) as connection:
        connection.sendall(b"GET /events?topics=queues HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
        told = b""
        while b"event: ready" not in told:
            told += connection.recv(4096)

    assert b"\r\n\r\nretry:" in told


@pytest.mark.usefixtures("redis")
def test_a_sync_worker_of_gunicorn_refuses_streams_and_serves_pages(server, tmp_path):
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    settings = ["-k", "sync", "--bind", f"fd://{listener.fileno()}", "--no-control-socket"]
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", *settings, f"qless_web:create_app({server.url!r})"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        pass_fds=[listener.fileno()],
        stderr=subprocess.DEVNULL,
    )
    try:
        assert get(port, "/events")[0] == 503
        assert get(port, "/healthz")[0] == 200
    finally:
        process.terminate()
        process.wait()
        listener.close()


def _raw_stream(port):
    """Open a stream whose answer nobody ever reads."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(b"GET /events?topics=queues HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    connection.recv(1, socket.MSG_PEEK)  # who comes later finds its place taken
    return connection


def _refused(console):
    connection = Connection(console.url)
    status = connection.response.status
    connection.close()
    return status == 503


def _open_all(console, count):
    connections = [Connection(console.url, ["queues"]) for _ in range(count)]
    assert {connection.response.status for connection in connections} == {200}
    return connections


def _worker_of(console):
    """Find the process that serves: the child of the one that was started."""
    children = Path(f"/proc/{console.process.pid}/task/{console.process.pid}/children")
    return int(children.read_text().split()[0])


def _threads(pid):
    return len(list(Path(f"/proc/{pid}/task").iterdir()))
