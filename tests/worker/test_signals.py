"""A program that runs a worker ends after its job, and keeps its own ways with signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from qless_core import Client
from qless_core.worker.signals import ending
from tests.support.polling import eventually

ROOT = Path(__file__).parents[2]
NUMBERS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def by_default():
    before = {number: signal.getsignal(number) for number in NUMBERS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_example_of_the_readme_ends_on_a_signal(number, server, redis, tmp_path):  # noqa: ARG001 - it empties the server
    (tmp_path / "mail.py").write_text(_example().replace("redis://localhost:6379/0", server.url))
    with (
        Client(server.url) as client,
        subprocess.Popen(
            [sys.executable, "mail.py"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        eventually(lambda: client.jobs.complete(0, 1))

        process.send_signal(number)

        assert process.wait(20) == 0
        assert process.stderr.read() == ""


def _example():
    _, _, text = (ROOT / "README.md").read_text().partition("```python\n# mail.py\n")
    return text.partition("```")[0]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_stops_and_the_handlers_come_back(number):
    before = signal.getsignal(number)
    stopped = threading.Event()

    with ending(stopped.set):
        os.kill(os.getpid(), number)
        assert stopped.wait(20)

    assert signal.getsignal(number) == before


def test_what_the_program_handles_or_ignores_stays_so():
    heard = []
    signal.signal(signal.SIGTERM, lambda *_: heard.append("own"))
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    with ending(lambda: heard.append("stop")):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        eventually(lambda: heard)

    assert heard == ["own"]


def test_another_thread_than_the_main_one_handles_no_signals():
    found = []

    def run():
        with ending(lambda: None):
            found.extend(map(signal.getsignal, NUMBERS))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()

    assert found == [signal.default_int_handler, signal.SIG_DFL]
