"""A worker that runs very many jobs at once in greenlets, for jobs that wait for others.

It needs gevent, the extra `greenlets`, and a program that begins with
`from gevent import monkey; monkey.patch_all()`, before it imports anything else.
"""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

from qless_core.errors import BadArgument
from qless_core.worker.loop import Loop
from qless_core.worker.threads import ThreadWorker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qless_core.client import Client
    from qless_core.queue import Queue
    from qless_core.worker.interrupt import Interruption

log = logging.getLogger("qless.worker")

#: What gevent must have replaced, so that one job that waits lets the others go on.
_PATCHED = ("socket", "threading", "select", "time")


class GreenletWorker(ThreadWorker):
    """Runs very many jobs at once, each in a greenlet; one that computes keeps all others waiting.

    Args:
        client: whose queues to work; its `worker_name` names the worker, and, with a number
            behind that nobody else has, its greenlets.
        queues: names of queues, or patterns of names, or queues.
        concurrency: how many jobs run at once.
        options: those of `Worker`.

    Raises:
        BadArgument: gevent is not installed, or the program is not patched by it; there is no
            queue to work, or an option makes no sense.

    """

    kind = "greenlet"

    def __init__(
        self,
        client: Client,
        queues: str | Queue | Iterable[str | Queue],
        *,
        concurrency: int = 1,
        **options: Any,  # noqa: ANN401 - those of Worker
    ) -> None:
        self._gevent = _gevent()
        super().__init__(client, queues, concurrency=concurrency, **options)
        self._greenlets: dict[str, Any] = {}

    def _loop(self, name: str) -> Loop:
        def throw(error: Interruption, is_wanted: Callable[[], bool]) -> None:
            def now() -> None:
                if is_wanted():
                    self._greenlets[name].throw(error)

            self._gevent.get_hub().loop.run_callback(now)

        return Loop(self.client.named(name), self.plan, self.switch, name, throw=throw)

    def _start(self, loop: Loop) -> None:
        """Run a loop in a greenlet."""
        self._greenlets[loop.name] = self._gevent.spawn(self._run_one, loop)

    def _log_stacks(self) -> None:
        """Log what each greenlet is doing."""
        lines = importlib.import_module("gevent.util").format_run_info()
        log.warning("%s", "\n".join(lines))


def _gevent() -> Any:  # noqa: ANN401 - a module that need not be there
    """Give gevent.

    Raises:
        BadArgument: it is not installed, or the program is not patched by it.

    """
    try:
        monkey = importlib.import_module("gevent.monkey")
    except ImportError as error:
        problem = "greenlets need gevent: install qless[greenlets]"
        raise BadArgument(problem) from error
    missing = [name for name in _PATCHED if not monkey.is_module_patched(name)]
    if missing:
        problem = (
            "greenlets need a program that begins with `from gevent import monkey; "
            f"monkey.patch_all()`; not patched: {', '.join(missing)}"
        )
        raise BadArgument(problem)
    return importlib.import_module("gevent")
