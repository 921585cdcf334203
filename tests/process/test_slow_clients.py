"""Clients that connect and then take their time: they lose their place, nobody else does."""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import threading

import pytest

from qless_core.embedded import EmbeddedServer
from tests.support.polling import PATIENCE_S, eventually
from tests.support.processes import get

THREADS = 4

UNFINISHED = {
    "nothing at all": b"",
    "half a line": b"GET / HT",
    "half of the headers": b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    "a byte of a body": (
        b"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"
    ),
    "a byte of a form": (
        b"POST /queues/a/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\na"
    ),
    "half of a chunk": (
        b"POST /pause HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"
    ),
}


#: Requests of which a part is held back: where a chunk says that it ends all, where one is large.
HELD_BACK = {
    "half of the headers": UNFINISHED["half of the headers"],
    "a byte of a form": UNFINISHED["a byte of a form"],
    "half of a chunk": UNFINISHED["half of a chunk"],
    "an end within a chunk": (
        b"POST /pause HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"20\r\n\r\n0\r\n\r\n"
    ),
    "an end without its last line": (
        b"POST /pause HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"1\r\n{\r\n0\r\n"
    ),
    "a byte of a large form": (
        b"POST /queues/a/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\na"
    ),
    "a length with many digits": (
        b"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 00000000001000\r\n\r\n{"
    ),
}


@pytest.fixture
def console(qless_web):
    with EmbeddedServer() as server:
        yield qless_web.start(
            "--threads", str(THREADS), "--live-max-streams", "1", "--redis-url", server.url
        )


@pytest.fixture
def connect(console):
    """Connect and send what is given; all is closed afterwards."""
    with contextlib.ExitStack() as stack:

        def connect(sent):
            address = ("127.0.0.1", console.port)
            connection = stack.enter_context(socket.create_connection(address, PATIENCE_S))
            connection.sendall(sent)
            return connection

        yield connect


def closed(connection):
    """Tell whether the other end has closed a connection, with or without an answer."""
    connection.settimeout(0)
    try:
        while connection.recv(65_536):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize("sent", UNFINISHED.values(), ids=UNFINISHED)
def test_pages_answer_again_whatever_clients_leave_unfinished(qless_web, console, connect, sent):
    stream = connect(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert b"200 OK" in stream.recv(65_536)
    slow = [connect(sent) for _ in range(3 * THREADS)]

    assert get(console.port, "/")[0] == 200

    eventually(lambda: all(closed(connection) for connection in slow))
    assert not closed(stream)
    assert get(console.port, "/")[0] == 200
    assert qless_web.complaints == ""


@pytest.mark.parametrize("before", [b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"])
@pytest.mark.parametrize("what", HELD_BACK)
def test_no_thread_waits_for_what_does_not_come(console, connect, what, before):
    slow = [connect(before + HELD_BACK[what]) for _ in range(3 * THREADS)]
    if before:
        assert all(b"200 OK" in connection.recv(65_536) for connection in slow)

    assert get(console.port, "/")[0] == 200

    assert not any(closed(connection) for connection in slow)


def test_a_body_may_wait_until_it_is_asked_for(connect):
    connection = connect(
        b"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 17\r\n"
        b"Expect: 100-continue\r\n\r\n"
    )
    assert connection.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"

    connection.sendall(b'{"queue": "mail"}')

    assert b"200 OK" in connection.recv(65_536)


def test_clients_that_leave_before_they_are_answered_end_nothing(qless_web, console, connect):
    stream = connect(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert b"200 OK" in stream.recv(65_536)
    for _ in range(50):
        left = connect(
            b"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 17\r\n"
            b"Expect: 100-continue\r\n\r\n"
        )
        left.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        left.close()

    assert get(console.port, "/")[0] == 200

    assert not closed(stream)
    assert qless_web.complaints == ""


def test_a_client_that_sends_a_byte_now_and_then_is_slow_too(console, connect):
    slow = [connect(UNFINISHED["half of the headers"]) for _ in range(3 * THREADS)]
    done = threading.Event()

    def trickle():
        while not done.wait(0.2):
            for connection in slow:
                with contextlib.suppress(OSError):
                    connection.send(b"x")

    thread = threading.Thread(target=trickle, daemon=True)
    thread.start()
    try:
        eventually(lambda: get(console.port, "/")[0] == 200)
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("held_back", ["Connection: close", "Content-Length: 200000"])
def test_clients_that_do_not_hang_up_keep_nobody_waiting(console, connect, held_back):
    asked = f"GET /healthz HTTP/1.1\r\nHost: localhost\r\n{held_back}\r\n\r\n".encode()
    answered = [connect(asked) for _ in range(15 * THREADS)]

    assert get(console.port, "/")[0] == 200
    assert all(b"200 OK" in connection.recv(65_536) for connection in answered)


def test_clients_that_do_not_read_their_answers_keep_nobody_waiting(console, qless_web):
    script = re.search(r'"(/static/[^"]+htmx[^"]+)"', get(console.port, "/")[1])[1]
    asked = f"GET {script} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        deaf = [stack.enter_context(socket.socket()) for _ in range(3 * THREADS)]
        for connection in deaf:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
            connection.connect(("127.0.0.1", console.port))
            connection.sendall(asked * 400)

        # Each of them first fills what the system keeps for a connection.
        assert [get(console.port, "/")[0] for _ in range(60)] == [200] * 60
    assert qless_web.complaints == ""


def test_who_reads_slowly_gets_the_whole_answer(console, connect):
    script = re.search(r'"(/static/[^"]+htmx[^"]+)"', get(console.port, "/")[1])[1]
    whole = len(get(console.port, script)[1].encode())
    asked = f"GET {script} HTTP/1.1\r\nHost: localhost\r\n"
    times = 200
    reader = connect((f"{asked}\r\n" * times + f"{asked}Connection: close\r\n\r\n").encode())
    assert get(console.port, "/")[0] == 200

    found = 0
    while data := reader.recv(65_536):
        found += len(data)

    assert found > (times + 1) * whole


@pytest.mark.parametrize("path", ["/cancel", "/ticked/cancel", "/queues/mail/pause"])
@pytest.mark.parametrize("origin", ["", "Origin: http://elsewhere\r\n"])
def test_an_answer_to_a_body_that_is_too_large_can_be_read(console, connect, path, origin):
    body = b"x" * 6 * 1024 * 1024
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{console.port}\r\n{origin}"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection = connect(head.encode())

    connection.sendall(body)

    assert connection.recv(65_536).startswith(b"HTTP/1.1 403" if origin else b"HTTP/1.1 413")


def test_a_body_in_many_parts_is_taken(connect):
    body = b'{"queue": "mail"' + b" " * 200_000 + b"}"
    head = f"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    connection = connect(head.encode())

    for start in range(0, len(body), 10_000):
        connection.sendall(body[start : start + 10_000])

    assert b"200 OK" in connection.recv(65_536)
