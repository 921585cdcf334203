"""Whether a browser is still there and takes what it is sent, asked of real sockets."""

from __future__ import annotations

import socket
import struct

import pytest

from qless_core.clock import Clock
from qless_web.live import sse, stream
from qless_web.live.peer import Peer
from qless_web.live.stream import Stream
from tests.support.polling import eventually
from tests.support.streams import Listener


@pytest.fixture
def connected():
    """Two ends of a TCP connection: the server's, and the browser's."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        browser = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
    with browser, server:
        yield server, browser


def fill(server):
    """Send until nothing more is taken."""
    server.settimeout(0)
    try:
        while True:
            server.send(b"x" * 65536)
    except BlockingIOError:
        server.settimeout(None)


def a_stream(server):
    left = []
    peer = Peer(server)
    mailbox = Stream(frozenset({"queues"}), "", peer, Clock(), left.append)
    return mailbox, left


def test_a_browser_that_reads_is_ready(connected):
    server, _browser = connected

    assert Peer(server).state() == "ready"


def test_a_browser_that_does_not_read_is_slow_until_it_does(connected):
    server, browser = connected
    peer = Peer(server)

    fill(server)

    assert peer.state() == "slow"
    while peer.state() == "slow":
        browser.recv(1 << 20)
    assert peer.state() == "ready"


def test_a_browser_that_closed_is_gone(connected):
    server, browser = connected

    browser.close()

    eventually(lambda: Peer(server).state() == "gone")


def test_a_browser_that_reset_the_connection_is_gone(connected):
    server, browser = connected

    browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    browser.close()

    eventually(lambda: Peer(server).state() == "gone")


def test_what_a_browser_sends_on_top_does_not_make_it_gone(connected):
    server, browser = connected

    browser.sendall(b"GET / HTTP/1.1\r\n")

    peer = Peer(server)
    assert peer.state() == "ready"
    assert server.recv(3) == b"GET"


def test_a_closed_socket_is_gone(connected):
    server, _browser = connected
    peer = Peer(server)

    server.close()

    assert peer.state() == "gone"


def test_without_a_socket_everybody_is_taken_for_willing():
    assert Peer().state() == "ready"


def test_a_stream_ends_when_its_browser_is_gone(connected):
    server, browser = connected
    mailbox, left = a_stream(server)
    listener = Listener(mailbox.messages())

    browser.close()
    mailbox.tell_changed("h-1", frozenset({"queues"}))

    listener.wait_for_end()
    assert left == [mailbox]


def test_a_slow_browser_gets_one_message_for_many_once_it_reads_again(connected):
    server, browser = connected
    mailbox, _left = a_stream(server)
    fill(server)
    listener = Listener(mailbox.messages())

    for number in range(1_000):
        mailbox.tell_changed(f"h-{number}", frozenset({"queues"}))
    while Peer(server).state() == "slow":
        browser.recv(1 << 20)
    listener.wait_for("change", "queues")
    mailbox.end()

    listener.wait_for_end()
    assert [each.event for each in listener.messages] == ["", "change", "bye"]
    assert listener.messages[1].id == "h-999"


def test_a_browser_that_never_reads_is_given_up(connected, monkeypatch):
    monkeypatch.setattr(stream, "SLOW_S", 0.1)
    server, _browser = connected
    mailbox, left = a_stream(server)
    fill(server)

    assert list(mailbox.messages()) == [sse.OPENING]
    assert left == [mailbox]


def test_ending_does_not_wait_for_a_browser_that_does_not_read(connected):
    server, _browser = connected
    mailbox, _left = a_stream(server)
    fill(server)
    messages = mailbox.messages()
    next(messages)

    mailbox.end()

    assert list(messages) == []


def test_a_silent_stream_says_that_it_is_still_there(connected, monkeypatch):
    monkeypatch.setattr(stream, "HEARTBEAT_S", 0.05)
    server, _browser = connected
    mailbox, _left = a_stream(server)

    messages = mailbox.messages()

    assert [next(messages) for _ in range(3)] == [sse.OPENING, sse.HEARTBEAT, sse.HEARTBEAT]
    messages.close()


def test_a_stream_that_was_never_read_gives_its_place_up():
    mailbox, left = a_stream(None)

    mailbox.close()

    assert left == [mailbox]
