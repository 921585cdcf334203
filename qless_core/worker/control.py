"""How the console sees a worker and steers it: a thread that tells and asks every few seconds."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final

from qless_core.clock import REAL
from qless_core.errors import QlessError

if TYPE_CHECKING:
    from collections.abc import Callable

    from qless_core.client import Client
    from qless_core.records import WorkerInfo

log = logging.getLogger("qless.worker")

#: Seconds from one sign of life to the next.
BEAT_S: Final = 3.0


class Control:
    """Gives signs of life of a worker, and hands it what it is asked to do.

    Args:
        client: whose Redis; its `worker_name` is the worker's.
        tell: says what the worker tells of itself.
        obey: called, in the thread, with `stop`, `pause` or `resume`.

    """

    def __init__(
        self, client: Client, tell: Callable[[], WorkerInfo], obey: Callable[[str], object]
    ) -> None:
        self._client = client
        self._tell = tell
        self._obey = obey
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="qless-control", daemon=True)

    def __repr__(self) -> str:
        return f"<Control of {self._client.worker_name!r}>"

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self) -> None:
        """Give no more signs of life; one may be on its way."""
        self._ended.set()

    def join(self, seconds: float) -> None:
        """Wait for the one that is on its way, for so many seconds at most."""
        self._thread.join(max(0.0, seconds))

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                asked = self._client.workers.beat(self._client.worker_name, self._tell())
            except QlessError as trouble:
                log.info("no sign of life could be given: %s", trouble)
            else:
                if asked and not self._ended.is_set():
                    log.info("worker %s is asked to %s", self._client.worker_name, asked)
                    self._obey(asked)
            REAL.wait(BEAT_S, self._ended)
