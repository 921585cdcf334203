"""Where a webhook may lead: to the world outside, to the address that was looked at, no further."""

from __future__ import annotations

import doctest
import socket
import ssl
import threading

import pytest

from qless_web import create_app
from qless_web.alerts import address, message, webhook
from qless_web.alerts.address import Refused, Target, is_outside, target
from tests.support.certificates import certificates
from tests.support.receiver import receiving

INSIDE = [
    "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1",  # noqa: S104 - refused
    "169.254.169.254", "100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "255.255.255.255",
    "240.0.0.1", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1",
    "64:ff9b::a00:1", "2002:7f00:1::", "2002:a00:1::1", "2001:0:1::1", "2001:db8::1", "", "x",
    "fec0::1", "feff::1", "2600::5efe:7f00:1", "2600::200:5efe:a00:1", "192.88.99.1",
    "168.63.129.16",
]  # fmt: skip

#: Hosts that lead here, as resolvers and libraries take them.
HERE = [
    "localhost", "127.0.0.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "0.0.0.0",  # noqa: S104 - refused
    "[::1]", "[::ffff:127.0.0.1]", "[::]", "10.0.0.1", "169.254.169.254", "LOCALHOST", "localhost.",
]  # fmt: skip


def test_the_examples_hold():
    for module in (address, message):
        assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("ip", INSIDE)
def test_an_address_of_ones_own_is_not_outside(ip):
    assert not is_outside(ip)


@pytest.mark.parametrize("ip", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_an_address_of_the_world_is_outside(ip):
    assert is_outside(ip)


@pytest.mark.parametrize("host", HERE)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_webhook_does_not_lead_here(host, scheme):
    with pytest.raises(Refused, match=r"on this machine|not known"):
        target(f"{scheme}://{host}:6379/hook", private=False)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "gopher://x/", "//x/", "http://", "x", "",
                                 "http://a b/", "http://a:99999/", "http://[", "http://a\\@b/",
                                 "http://u@a/", "http://a/\r\nX: y", "javascript:1"])  # fmt: skip
def test_what_is_no_address_of_a_webhook_is_refused(url):
    with pytest.raises(Refused):
        target(url, private=True)


def test_the_button_of_a_page_reaches_nothing_here(client):
    """By the page, as somebody would who may make alerts."""
    with receiving() as receiver:
        web = create_app(client).test_client()
        body = {"name": "x", "kind": "stalled", "url": receiver.url}
        assert web.post("/api/v1/alerts/save", json=body).status_code == 200

        answer = web.post("/api/v1/alerts/x/test")

        assert answer.status_code == 502
        assert "on this machine or in a network of one's own" in answer.json["detail"]
        assert receiver.bodies == []


def test_the_connection_goes_to_the_address_that_was_looked_at():
    """Whatever the name stands for by then: here it stands for nothing at all."""
    with receiving() as receiver:
        port = int(receiver.url.split(":")[2].split("/")[0])
        place = Target("http", "hooks.invalid", port, "/hook", "127.0.0.1")
        connection = webhook._connection(place)  # noqa: SLF001 - the one place that connects
        connection.connect()
        assert webhook._post(connection, place, b"{}") == 200  # noqa: SLF001 - as above
        connection.close()

    assert receiver.headers[0]["Host"] == f"hooks.invalid:{port}"


def test_a_certificate_that_nobody_trusts_is_not_talked_to(tmp_path):
    made = certificates(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)
    heard = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve_once, args=(server, context, heard))
        thread.start()
        url = f"https://127.0.0.1:{server.getsockname()[1]}/secret"

        told = webhook.send(url, b"{}", private=True)
        thread.join()

    assert told.problem == "its certificate is none that this machine trusts"
    assert heard == []


def serve_once(server, context, heard):
    connection, _ = server.accept()
    try:
        with context.wrap_socket(connection, server_side=True) as secured:
            heard.append(secured.recv(1_000))
    except OSError:
        return


def test_an_answer_that_only_drips_is_cut_off(monkeypatch):
    monkeypatch.setattr(webhook, "WHOLE_S", 0.2)
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server, stop))
        thread.start()
        told = webhook.send(f"http://127.0.0.1:{server.getsockname()[1]}/", b"{}", private=True)
        stop.set()
        thread.join()

    assert told.problem
    assert told.passes


def drip(server, stop):
    connection, _ = server.accept()
    with connection:
        while not stop.wait(0.02):
            try:
                connection.sendall(b"H")
            except OSError:
                return


def test_a_huge_answer_is_not_read():
    """Of an answer that has no end, a kilobyte is taken."""
    taken = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=flood, args=(server, taken))
        thread.start()
        told = webhook.send(f"http://127.0.0.1:{server.getsockname()[1]}/", b"{}", private=True)
        thread.join()

    assert told.problem == ""
    assert sum(taken) < 64 * 1024 * 1024


def flood(server, taken):
    connection, _ = server.accept()
    with connection:
        connection.recv(65_536)
        try:
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            for _ in range(1_000):
                connection.sendall(b"x" * 65_536)
                taken.append(65_536)
        except OSError:
            return


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    """Name proxies in the environment: one of these would connect to what was not looked at."""
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
