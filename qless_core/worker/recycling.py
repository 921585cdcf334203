"""Asking for a fresh process: what a job leaves behind may be more than it should be."""

from __future__ import annotations

import os

#: The process that asked, and why.
_asked: tuple[int, str] | None = None


def ask(why: str) -> None:
    """Have this process replaced when the job at hand is done, where it is a child of a worker."""
    global _asked  # noqa: PLW0603 - it is about the process
    _asked = (os.getpid(), why)


def reason() -> str:
    """Say why this process is to be replaced; "" when it is not."""
    return _asked[1] if _asked is not None and _asked[0] == os.getpid() else ""
