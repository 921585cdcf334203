"""Two consoles on one folder: the second says whose server it shows, and inherits it."""

from __future__ import annotations

import signal

from qless_core import Client
from tests.support.polling import eventually


def test_it_says_whose_server_it_is_and_takes_it_over(qless_web, tmp_path):
    folder = tmp_path / "data"
    first = qless_web.start("--embedded", str(folder))
    second = qless_web.start("--embedded", str(folder))
    note = second.process.stdout.readline()
    with Client(second.redis_url) as client:
        client.queues["mail"].put("Letter", {}, jid="kept")

    assert second.redis_url == first.redis_url
    assert note == (
        f"the server in {folder} belongs to pid {first.process.pid}; "
        "when that ends, this console takes it over\n"
    )

    first.end()

    eventually(lambda: second.get("/jobs/kept")[0] == 200)
    eventually(lambda: f"now this console's, pid {second.process.pid}" in qless_web.complaints)
    assert second.end(signal.SIGINT) == 0
    assert second.process.stdout.read() == "qless-web has stopped\n"


def test_one_with_a_server_of_its_own_says_nothing_of_it(qless_web, tmp_path):
    only = qless_web.start("--embedded", str(tmp_path / "data"))

    only.end()

    assert only.process.stdout.read() == "qless-web has stopped\n"
