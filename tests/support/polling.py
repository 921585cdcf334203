"""Waits for what happens in another thread or process, as short as can be."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final, TypeVar

from qless_core.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

#: Seconds after which what has not happened will not happen.
PATIENCE_S: Final = 20.0
#: Seconds between two looks.
PAUSE_S: Final = 0.01


def eventually(look: Callable[[], T], *, within: float = PATIENCE_S) -> T:
    """Look until there is something (true) to see; answers it."""
    clock, pause = Clock(), threading.Event()
    deadline = clock.monotonic() + within
    while True:
        seen = look()
        if seen:
            return seen
        assert clock.monotonic() < deadline, f"still {seen!r} after {within} s"
        pause.wait(PAUSE_S)
