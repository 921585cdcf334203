"""What the console can change, one module a family; `blueprint` has the address of each."""

from __future__ import annotations

from qless_web.actions import (
    alerts,
    editing,
    failures,
    handling,
    jobs,
    legacy,
    operations,
    options,
    putting,
    queues,
    recurring,
    scheduled,
    ticked,
    views,
    workers,
)
from qless_web.actions.action import ACTIONS, blueprint

__all__ = [
    "ACTIONS",
    "alerts",
    "blueprint",
    "editing",
    "failures",
    "handling",
    "jobs",
    "legacy",
    "operations",
    "options",
    "putting",
    "queues",
    "recurring",
    "scheduled",
    "ticked",
    "views",
    "workers",
]
