"""Which process this is, known without asking the system each time."""

from __future__ import annotations

import os

#: The id of this process, also in one that was forked.
number = os.getpid()


def _is_another() -> None:
    global number  # noqa: PLW0603 - it is about the process
    number = os.getpid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_is_another)
