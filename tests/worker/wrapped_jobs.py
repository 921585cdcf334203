"""Job classes with something around them; what happened is in `HEARD`."""

from __future__ import annotations

import logging
from contextlib import contextmanager

from qless_core.worker.middleware import JobTimeout, RetryOn, Timeout

HEARD: list[str] = []


def says(name):
    """Make a middleware that says when it begins and ends."""

    @contextmanager
    def around(job):
        HEARD.append(f"{name} begins")
        try:
            yield
        except BaseException as error:
            HEARD.append(f"{name} sees {type(error).__name__}")
            raise
        else:
            HEARD.append(f"{name} ends {job.jid}")

    return around


class Plain:
    @staticmethod
    def process(job):
        HEARD.append("runs")
        if "raise" in job.data:
            raise KeyError(job["raise"])


class Wrapped(Plain):
    middleware = (says("outer"), says("inner"))


class Retried(Plain):
    middleware = [RetryOn(KeyError, first=10, jitter=False)]  # noqa: RUF012 - as people write it


class Wrong(Plain):
    middleware = "RetryOn"


class Named(Plain):
    @staticmethod
    def middleware(job):
        """Run the jobs of a queue that is called so."""
        HEARD.append(f"the queue {job.queue_name}")


class Slow:
    middleware = (Timeout(0.05),)

    @staticmethod
    def process(job):
        job.on_stop(lambda: HEARD.append("cleanup"))
        while True:
            pass

    @staticmethod
    def quick(_):
        HEARD.append("quick")

    @staticmethod
    def catches(_):
        try:
            while True:
                pass
        except JobTimeout as timeout:
            HEARD.append(timeout.why)


class Says:
    @staticmethod
    def process(job):
        logging.getLogger("app").warning("from the app")
        job.logger.warning("from the job")
        job.log("milestone", {"n": 1})


class Allocates:
    @staticmethod
    def process(job):
        kept = bytearray(job["bytes"])
        HEARD.append(str(len(kept)))

    @staticmethod
    def waits(job):
        kept = bytearray(job["bytes"])
        while kept:
            pass
