"""Doing what may take long, as where Redis is frozen, and waiting for it no longer than that."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def within(seconds: float, call: Callable[[], object], name: str) -> bool:
    """Do something in a thread of this name; answers whether it was done within so many seconds.

    What is not done by then goes on alone, until the process ends.
    """
    thread = threading.Thread(target=call, name=name, daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    return not thread.is_alive()
