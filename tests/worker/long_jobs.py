"""Job classes that last until they are let go, and ask for their locks to be kept or do not."""

from __future__ import annotations

import threading

from qless_core.worker.heartbeat import keep

GO = threading.Event()
SEEN: list[float] = []


class Kept:
    heartbeats = True

    @staticmethod
    def process(job):
        SEEN.append(job.expires_at)
        while not GO.wait(0.01):
            pass
        SEEN.append(job.expires_at)


class NotKept:
    @staticmethod
    def process(_):
        while not GO.wait(0.01):
            pass

    @staticmethod
    def for_a_while(job):
        with keep(job), keep(job):
            while not GO.wait(0.01):
                pass
