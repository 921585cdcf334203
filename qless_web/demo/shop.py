"""Opens the made-up shop: its data is there before the first page, its crew comes to work."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from qless_core.client import Client
from qless_web.demo.seeds import plant

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Seconds the crew has to put its tools down; what it then still holds ends with the demo.
CLOSING_S = 0.8


@contextmanager
def open_shop(url: str, namespace: str) -> Iterator[subprocess.Popen[bytes]]:
    """Fill the Redis when it holds no queue yet, and keep the crew at work meanwhile.

    Raises:
        QlessError: Redis is gone, or refused.

    """
    with Client(url, namespace=namespace) as client:
        if not client.queues.counts:
            plant(client)
    owner = os.getpid()
    crew = _send_crew(url, namespace)
    try:
        yield crew
    finally:
        if os.getpid() == owner:  # a worker forked meanwhile leaves through here too
            _send_home(crew)


def _send_crew(url: str, namespace: str) -> subprocess.Popen[bytes]:
    """Start the crew; it goes home when its input ends, so also when this process is killed."""
    sources = str(Path(__file__).parents[2])
    paths = [sources, *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(  # noqa: S603 - this program's own module
        [sys.executable, "-m", "qless_web.demo.workers", url, namespace],
        stdin=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )


def _send_home(crew: subprocess.Popen[bytes]) -> None:
    if crew.stdin is not None:
        crew.stdin.close()
    try:
        crew.wait(CLOSING_S)
    except subprocess.TimeoutExpired:
        crew.kill()
        crew.wait()
