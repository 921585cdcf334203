"""Opens the made-up shop: its crew furnishes it where it is empty, and goes to work."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Seconds the crew has to put its tools down; what it then still holds ends with the demo.
CLOSING_S = 0.8
#: What the crew says when there is something to see; anything else is why there is not.
OPEN = "open"


class ShopError(RuntimeError):
    """Raised when the shop does not open; the message is one sentence for the operator."""


class Shop:
    """The shop, while its crew furnishes it and then works there."""

    def __init__(self, crew: subprocess.Popen[str]) -> None:
        self._crew = crew

    @property
    def pid(self) -> int:
        """The process of the crew."""
        return self._crew.pid

    def wait_open(self) -> None:
        """Wait until the data is there.

        Raises:
            ShopError: it will not be.

        """
        said = self._crew.stdout.readline().strip() if self._crew.stdout else ""
        if said != OPEN:
            message = f"the made-up shop does not open: {said or 'its crew has left'}"
            raise ShopError(message)


@contextmanager
def open_shop(url: str, namespace: str) -> Iterator[Shop]:
    """Fill the Redis when it holds no queue yet, and keep the crew at work meanwhile.

    A process of its own fills it, so that there is time to do something else until `wait_open`.
    """
    owner = os.getpid()
    crew = _send_crew(url, namespace)
    try:
        yield Shop(crew)
    finally:
        if os.getpid() == owner:  # a worker forked meanwhile leaves through here too
            _send_home(crew)


def _send_crew(url: str, namespace: str) -> subprocess.Popen[str]:
    """Start the crew; it goes home when its input ends, so also when this process is killed."""
    sources = str(Path(__file__).parents[2])
    paths = [sources, *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(  # noqa: S603 - this program's own module
        [sys.executable, "-m", "qless_web.demo.workers", url, namespace],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )


def _send_home(crew: subprocess.Popen[str]) -> None:
    for pipe in (crew.stdin, crew.stdout):
        if pipe is not None:
            pipe.close()
    try:
        crew.wait(CLOSING_S)
    except subprocess.TimeoutExpired:
        crew.kill()
        crew.wait()
