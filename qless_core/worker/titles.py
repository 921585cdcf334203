"""What `ps` shows of a worker, where the package setproctitle is installed: extra `titles`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def _found() -> Callable[[str], object] | None:
    try:
        show: Callable[[str], object] = importlib.import_module("setproctitle").setproctitle
    except ImportError:
        return None
    return show


_show = _found()


def show(title: str) -> None:
    """Let `ps` show `qless: <title>` for this process."""
    if _show is not None:
        _show(f"qless: {title}")
