"""What is asked of a provider: in bounded time, whatever it does, and with nobody in between."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager

import pytest

from qless_web.accounts import fetching
from qless_web.accounts.fetching import Unreachable
from tests.support.openid import providing


@pytest.fixture(autouse=True)
def _no_exceptions(monkeypatch):
    for name in ("no_proxy", "NO_PROXY", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)


PLACE = "/.well-known/openid-configuration"


@contextmanager
def dripping(head):
    """Serve one request: with these bytes, and then with one after another, for three seconds."""
    stop = threading.Event()

    def serve():
        connection, _ = server.accept()
        with connection:
            connection.sendall(head)
            for _ in range(150):
                if stop.wait(0.02):
                    return
                try:
                    connection.sendall(b"1")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        stop.set()
        thread.join()


@pytest.mark.parametrize(
    "head", [b"", b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\n\r\n{"], ids=str
)
def test_an_answer_that_only_drips_is_cut_off(monkeypatch, head):
    monkeypatch.setattr(fetching, "WHOLE_S", 0.3)

    with dripping(head) as url, pytest.raises(Unreachable, match="it took too long"):
        fetching.get(url)


def test_what_was_answered_in_time_is_whole_however_much_of_it_there_is():
    with providing(lambda: 0.0) as provider:
        provider.answers[PLACE] = {"long": "x" * 400_000}

        assert fetching.get(f"{provider.url}{PLACE}") == provider.answers[PLACE]


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY"])
def test_what_goes_to_this_machine_goes_by_no_proxy(monkeypatch, name):
    with providing(lambda: 0.0) as provider, providing(lambda: 0.0) as between:
        monkeypatch.setenv(name, between.url)

        assert fetching.get(f"{provider.url}{PLACE}")["issuer"] == provider.url

    assert between.asked == []


def test_what_goes_elsewhere_goes_by_the_proxy_of_the_machine(monkeypatch):
    heard = []

    def serve():
        connection, _ = server.accept()
        with connection:
            heard.append(connection.recv(65_536))

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{server.getsockname()[1]}")
        with pytest.raises(Unreachable):
            fetching.get("https://id.example.invalid/")
        thread.join()

    assert heard[0].startswith(b"CONNECT id.example.invalid:443 ")
