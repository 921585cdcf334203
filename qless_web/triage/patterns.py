"""A failure's message as a pattern: what it has in common with those of the same cause. Pure.

Called for each failed job while it is indexed, so it is quick, and takes time in proportion to a
bounded part of the message, whatever is in it.
"""

from __future__ import annotations

from typing import Final

from qless_web.triage.alike import alike
from qless_web.triage.schema import host_of
from qless_web.triage.traces import told

#: Characters of a pattern.
LONGEST: Final = 500

#: The group of jobs whose retries are used up, and the one text that all of them have.
EXHAUSTED_GROUP: Final = "failed-retries-"
_EXHAUSTED_TEXT: Final = "Job exhausted retries in queue "

#: Between what a message says and where it arose, and before what it was caused by.
WHERE, BECAUSE = " · in ", " · caused by "


def pattern_of(message: str, *, group: str, klass: str, worker: str = "", fate: str = "") -> str:
    """Give the pattern of a failure: the same text for failures of the same cause.

    Args:
        message: as the job failed with it.
        group: of failures.
        klass: of the job.
        worker: the last that ran it, as far as it is known; only its host counts.
        fate: what its history says of its runs, as `fates.fate_of` gives it; "" where unknown.

    Retries that ran out have one text for all of them. They are told apart by class, by the host of
    the worker and by fate.

    >>> pattern_of("no stock of 12 (order 7)", group="shop-NoStock", klass="shop.Pack")
    'no stock of # (order #)'

    """
    if is_exhausted(message, group):
        return _exhausted(klass, worker, fate)
    lines, place = told(message)
    text = BECAUSE.join([alike(line) for line in lines if line])
    if place:
        text = f"{text}{WHERE}{alike(place)}"
    return text[:LONGEST]


def is_exhausted(message: str, group: str) -> bool:
    """Say whether a failure is that of a job without retries, with the text of all of them."""
    return group.startswith(EXHAUSTED_GROUP) and message.startswith(_EXHAUSTED_TEXT)


def _exhausted(klass: str, worker: str, fate: str) -> str:
    parts = ["Retries used up", klass]
    if worker:
        parts.append(f"on {host_of(worker)}")
    if fate:
        parts.append(fate)
    return " · ".join(parts)[:LONGEST]
