"""Job classes that the tests of workers run; what they did is in `DONE`."""

from __future__ import annotations

import threading
from pathlib import Path

from qless_core.embedded import EmbeddedServer

DONE: list[tuple[str, str]] = []
NO_TEXT = "a\udcffb"


def function(job):
    DONE.append(("function", job.jid))


async_looking = 5


class Quiet:
    """Nothing here runs jobs, though `mro` is something that every class has."""


class Mail:
    @staticmethod
    def process(job):
        DONE.append(("Mail.process", job.jid))

    @staticmethod
    def urgent(job):
        DONE.append(("Mail.urgent", job.jid))

    @staticmethod
    def send_out(job):
        DONE.append(("Mail.send_out", job.jid))


class Inherits(Mail): ...


class Performs:
    def perform(self, job):
        DONE.append((type(self).__name__, job.jid))

    @classmethod
    def special(cls, job):
        DONE.append((f"{cls.__name__}.special", job.jid))

    class Inner:
        def process(self, job):
            DONE.append(("Inner", job.jid))


class Raises:
    @staticmethod
    def process(job):
        raise ValueError(job["message"])

    @staticmethod
    def surrogate(_):
        raise ValueError(NO_TEXT)

    @staticmethod
    def leaves(_):
        raise SystemExit(3)

    @staticmethod
    def deep(job):
        Raises.deep(job)


class Settles:
    @staticmethod
    def completes(job):
        job.complete("next")

    @staticmethod
    def fails(job):
        job.fail("own", "reason")

    @staticmethod
    def retries(job):
        job.retry(delay=5)

    @staticmethod
    def cancels(job):
        job.cancel()

    @staticmethod
    def settles_then_raises(job):
        job.complete()
        raise ValueError(job.jid)


class Changes:
    @staticmethod
    def process(job):
        job["seen"] = True

    @staticmethod
    def spoils(job):
        job["set"] = {1, 2}

    @staticmethod
    def spoils_and_raises(job):
        job["set"] = {1, 2}
        raise KeyError(job.jid)


class Loses:
    """Jobs that something happens to while they run."""

    other = None

    @classmethod
    def lock(cls, job):
        """Time out, and go to another worker."""
        job.client.jobs[job.jid].timeout()
        cls.other.queues[job.queue_name].pop()

    @classmethod
    def lock_and_notice(cls, job):
        cls.lock(job)
        job.heartbeat()

    @staticmethod
    def canceled(job):
        job.client.jobs[job.jid].cancel()


class Chain:
    @staticmethod
    def process(job):
        DONE.append(("Chain", job.jid))
        if job["left"]:
            job.client.queues[job.queue_name].put(Chain, {"left": job["left"] - 1})


class Interrupts:
    """A job that takes Redis away and has it back a little later."""

    server = None
    again = None

    @classmethod
    def process(cls, job):
        DONE.append(("Interrupts", job.jid))
        directory = Path(cls.server.url.removeprefix("unix://")).parent
        cls.server.stop()
        cls.again = EmbeddedServer(directory)
        threading.Timer(0.3, cls.again.start).start()
