"""A program that runs a worker as the tests ask: `URL KIND JSON`, and the jobs that it runs."""

from __future__ import annotations

import sys

if __name__ == "__main__" and "greenlet" in sys.argv:
    from gevent import monkey

    monkey.patch_all()

import asyncio
import ctypes
import faulthandler
import json
import logging
import multiprocessing
import os
import signal
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

from qless_core import Client
from qless_core.worker.forking import ForkingWorker
from qless_core.worker.greenlets import GreenletWorker
from qless_core.worker.serial import SerialWorker
from qless_core.worker.threads import ThreadWorker

KINDS = {
    "serial": SerialWorker,
    "forking": ForkingWorker,
    "thread": ThreadWorker,
    "greenlet": GreenletWorker,
}

_PAUSE = threading.Event()


def note(job, word):
    """Append a line to the job's file, in one write that no other process breaks."""
    with Path(job["file"]).open("ab", 0) as file:
        file.write(f"{word} {job.jid} {os.getpid()}\n".encode())


def quick(job):
    note(job, "ran")


def asks_on(job):
    """Leave a thread behind that goes on asking Redis until the process ends."""

    def ask():
        while True:
            job.client.commands.length("q")

    threading.Thread(target=ask, daemon=True).start()
    note(job, "ran")


def wait(job):
    """Run until the gate is there."""
    note(job, "began")
    try:
        while not Path(job["gate"]).exists():
            _PAUSE.wait(0.01)
    finally:
        note(job, "left")
    note(job, "ended")


def stubborn(job):
    """Run until the gate is there, whatever is raised."""
    note(job, "began")
    _hold_out(Path(job["gate"]))


def _hold_out(gate):
    # All of the loop is within: what is raised may come in any line of it.
    try:
        while not gate.exists():
            _PAUSE.wait(0.01)
    except BaseException:  # noqa: BLE001 - that is what it is for
        _hold_out(gate)


def raises_as_it_leaves(job):
    """Raise something else when it is stopped."""
    try:
        wait(job)
    finally:
        raise ValueError(job.jid)


def swallows(job):
    """Return when it is stopped, as if it were done."""
    with suppress(BaseException):
        wait(job)


@contextmanager
def swallowing(_):
    with suppress(BaseException):
        yield


class Swallowed:
    middleware = (swallowing,)

    @staticmethod
    def process(job):
        wait(job)


def cleans_up(job):
    job.on_stop(lambda: note(job, "cleaned"))
    wait(job)


def cleans_slowly(job):
    """Register a cleanup that takes until the gate is there."""

    def clean():
        note(job, "cleaning")
        while not Path(job["gate"]).exists():
            _PAUSE.wait(0.01)

    job.on_stop(clean)
    wait(job)


def raises(job):
    """Run until the gate is there, and fail."""
    note(job, "began")
    while not Path(job["gate"]).exists():
        _PAUSE.wait(0.01)
    raise ValueError(job.jid)


@contextmanager
def leaves_slowly(job):
    """Wait for the gate when a job is over."""
    try:
        yield
    finally:
        note(job, "leaving")
        while not Path(job["gate"]).exists():
            _PAUSE.wait(0.01)


class LeavesSlowly:
    middleware = (leaves_slowly,)

    @staticmethod
    def process(job):
        note(job, "began")


def leaves(job):
    note(job, "began")
    os._exit(job["code"])


def kills_itself(job):
    note(job, "began")
    os.kill(os.getpid(), getattr(signal, job["signal"]))
    _PAUSE.wait(60)


def segfaults(job):
    note(job, "began")
    faulthandler.disable()
    ctypes.string_at(0)


def orphans(job):
    """Leave a process behind whose parent is gone, and that ends."""
    pid = os.fork()
    if pid == 0:
        if os.fork() == 0:
            _PAUSE.wait(0.2)
        os._exit(0)
    os.waitpid(pid, 0)
    note(job, "ran")


def forks(job):
    """Fork, and let the other process end as a job ends: by return, by exit, by an error."""
    note(job, "began")
    if os.fork() == 0:
        if job["how"] == "exit":
            sys.exit(0)
        if job["how"] == "error":
            raise ValueError(job.jid)
        note(job, "forked")


def has_a_pool(job):
    """Let processes of its own work, which are ended by TERM."""
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pids = pool.map(_slow_pid, range(2))
    note(job, "ended")
    job["pids"] = pids


def _slow_pid(_):
    _PAUSE.wait(0.05)
    return os.getpid()


def listens(job):
    """Listen to a signal itself, as asyncio does it, which takes the signals away from others."""

    async def once():
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, lambda: None)
        loop.remove_signal_handler(signal.SIGHUP)

    asyncio.run(once())
    note(job, "ended")


def blocks(job):
    """Block signals, and leave it so."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGQUIT})
    note(job, "ended")


def main():
    url, kind, options = sys.argv[1:]
    level = os.environ.get("LEVEL", "INFO")
    logging.basicConfig(level=level, format="%(process)d %(levelname)s %(message)s")
    name = os.environ.get("NAME", "w")
    worker = KINDS[kind](Client(url, worker_name=name), ["q"], **json.loads(options))
    worker.run()


if __name__ == "__main__":
    main()
