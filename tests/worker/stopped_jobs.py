"""Job classes that wait until they are stopped; what happened to them is in `HEARD`."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from contextlib import suppress

from tests.support.polling import PATIENCE_S

HEARD: list[str] = []
BEGUN = threading.Event()
LEAVE = threading.Event()
#: What a job waits for that waits in C alone.
GATE = threading.Lock()


def _wait():
    BEGUN.set()
    while True:
        pass


class Spins:
    """Runs Python all the time."""

    @staticmethod
    def process(_):
        _wait()

    @staticmethod
    def stubborn(_):
        try:
            with suppress(Exception):
                _wait()
        finally:
            HEARD.append("finally")

    @staticmethod
    def cleans(job):
        job.on_stop(lambda: HEARD.append("first given"))
        job.on_stop(lambda: HEARD.append("fails") or {}["x"])
        job.on_stop(lambda: HEARD.append("last given"))
        _wait()

    @staticmethod
    def once_more(_):
        with suppress(BaseException):
            _wait()
        HEARD.append("swallowed")
        BEGUN.clear()
        _wait()


class Blocks:
    """Waits inside one call, where no Python runs."""

    @staticmethod
    def lock(_):
        BEGUN.set()
        GATE.acquire()

    @staticmethod
    def read(_):
        here, there = socket.socketpair()
        with here, there:
            BEGUN.set()
            here.recv(1)

    @staticmethod
    def child(_):
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
            try:
                BEGUN.set()
                process.wait()
            finally:
                process.kill()

    @staticmethod
    def until_cleaned(job):
        job.on_stop(GATE.release)
        BEGUN.set()
        GATE.acquire()
        HEARD.append("went on")


class Async:
    @staticmethod
    async def process(_):
        try:
            BEGUN.set()
            await asyncio.sleep(600)
        finally:
            HEARD.append("finally")


class Leaves:
    """Returns when it is let go."""

    @staticmethod
    def process(_):
        BEGUN.set()
        LEAVE.wait(PATIENCE_S)


class Quick:
    @staticmethod
    def process(job):
        HEARD.append(job.jid)

    @staticmethod
    def fails(job):
        job.on_stop(lambda: HEARD.append("cleanup"))
        raise KeyError(job.jid)

    @staticmethod
    def returns(job):
        job.on_stop(lambda: HEARD.append("cleanup"))
