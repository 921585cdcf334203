"""What the console can change, one module a family; `blueprint` has the address of each."""

from __future__ import annotations

from qless_web.actions import (
    editing,
    failures,
    jobs,
    legacy,
    options,
    putting,
    queues,
    recurring,
    scheduled,
    ticked,
    workers,
)
from qless_web.actions.action import ACTIONS, blueprint

__all__ = [
    "ACTIONS",
    "blueprint",
    "failures",
    "editing",
    "jobs",
    "legacy",
    "options",
    "putting",
    "recurring",
    "scheduled",
    "ticked",
    "workers",
]
