"""The sentences of questions and of reports: how many, which, and why some were left out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from qless_web.formatting import isolated, plain, short_jid

if TYPE_CHECKING:
    from collections.abc import Mapping

#: For each reason that the script gives: of one, of several, and of one that is named.
REASONS: dict[str, tuple[str, str, str]] = {
    "gone": ("has gone", "have gone", "it has gone"),
    "waiting": ("is waiting", "are waiting", "it is waiting already"),
    "running": ("is running", "are running", "it is running now"),
    "stalled": ("is stalled", "are stalled", "it is stalled now"),
    "scheduled": ("is scheduled", "are scheduled", "it is scheduled now"),
    "depends": ("waits for other jobs", "wait for other jobs", "it waits for other jobs"),
    "throttled": (
        "is kept back by a throttle",
        "are kept back by throttles",
        "a throttle keeps it",
    ),
    "failed": ("has failed", "have failed", "it has failed since"),
    "complete": ("is complete", "are complete", "it is complete"),
    "group": (
        "has failed in another group",
        "have failed in another group",
        "it has failed in another group since",
    ),
    "foreign": (
        "is in a queue that whoever asked may not change",
        "are in queues that whoever asked may not change",
        "it is in a queue that whoever asked may not change",
    ),
    "dependents": (
        "has other jobs waiting for it",
        "have other jobs waiting for them",
        "other jobs wait for it",
    ),
    "unreadable": (
        "has something else under one of its keys",
        "have something else under one of their keys",
        "something else stands under one of its keys",
    ),
    "changed": ("has changed since", "have changed since", "it has changed since"),
    "since": (
        "has failed since you looked",
        "have failed since you looked",
        "it has failed since you looked",
    ),
    "same": (
        "is so already",
        "are so already",
        "it is so already",
    ),
    "untracked": ("is not tracked", "are not tracked", "it is not tracked"),
    "data": (
        "has data that is no JSON object",
        "have data that is no JSON object",
        "its data is no JSON object",
    ),
    "refused": ("cannot take this", "cannot take this", "it cannot take this"),
    "exists": (
        "has been put again under the same jid",
        "have been put again under the same jids",
        "it has been put again under the same jid",
    ),
    "untouched": (
        "was not touched then, or is back already",
        "were not touched then, or are back already",
        "it was not touched then, or is back already",
    ),
    "forgotten": (
        "is no longer in the trash",
        "are no longer in the trash",
        "what it was is no longer kept",
    ),
    "nowhere": (
        "has no queue to go back to",
        "have no queue to go back to",
        "it is in no queue; move it to one",
    ),
}

#: Said wherever jobs are cancelled.
FOR_GOOD = "They rest in the trash for a while, and can come back from there; then they are gone."

#: Said wherever jobs go back to work.
RENEWED = "Retries are renewed; data, priority and tags stay."

#: The same, where they go to another queue.
RENEWED_THERE = "They run there, with retries renewed; data, priority and tags stay."

#: Names that a report lists one by one; the rest is counted.
NAMED = 8


def sentence(text: str) -> str:
    """End a sentence with a full stop, unless a shortened jid ends it with dots of its own.

    >>> sentence("Retried order-12"), sentence("Retried 9f3c21aa…")
    ('Retried order-12.', 'Retried 9f3c21aa…')
    """
    return text if plain(text).endswith("…") else f"{text}."


def jobs(count: int) -> str:
    """Count jobs in words.

    >>> jobs(1), jobs(4812)
    ('1 job', '4,812 jobs')
    """
    return "1 job" if count == 1 else f"{count:,} jobs"


def job(klass: str, jid: str) -> str:
    r"""Name a job as people see it: class, shortened jid.

    >>> job("Welcome", "9f3c21aa0b3c4d5e8f90123456789abc"), job("", "order-12")
    ('\u2068Welcome 9f3c21aa…\u2069', '\u2068order-12\u2069')
    """
    return isolated(f"{klass} {short_jid(jid)}".strip())


def more(count: int) -> str:
    """Count those that are not named.

    >>> more(4812)
    'and 4,812 more'
    """
    return f"and {count:,} more"


def why(reason: str) -> str:
    """Say why one job was left out.

    >>> why("running"), why("resting")
    ('it is running now', 'it is resting now')
    """
    return REASONS[reason][2] if reason in REASONS else f"it is {reason} now"


def left_out(reasons: Mapping[str, int], *, was: bool = False) -> str:
    """Say how many are left out, and why; "" when none is.

    >>> left_out({"running": 1, "gone": 2})
    '3 are left out: 2 have gone, 1 is running.'
    >>> left_out({"group": 1}, was=True), left_out({"gone": 2}), left_out({})
    ('1 was left out: it has failed in another group.', '2 are left out: they have gone.', '')
    """
    total = sum(reasons.values())
    if not total:
        return ""
    verb = ("was" if total == 1 else "were") if was else ("is" if total == 1 else "are")
    if len(reasons) == 1:
        (reason,) = reasons
        them = "it" if total == 1 else "they"
        return f"{total:,} {verb} left out: {them} {_of(reason, total)}."
    parts = [
        f"{count:,} {_of(reason, count)}"
        for reason, count in sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
    ]
    return f"{total:,} {verb} left out: {', '.join(parts)}."


def _of(reason: str, count: int) -> str:
    if reason in REASONS:
        return REASONS[reason][0 if count == 1 else 1]
    return f"{'is' if count == 1 else 'are'} {reason}"


def tally(left: Mapping[str, str]) -> dict[str, int]:
    """Count the reasons of jobs that were left out.

    >>> tally({"a": "gone", "b": "gone"})
    {'gone': 2}
    """
    return dict(Counter(left.values()))


def named(left: Mapping[str, str]) -> tuple[str, ...]:
    r"""Name the first of the jobs that were left out, each with its reason.

    >>> named({"order-12": "running"})
    ('\u2068order-12\u2069: it is running now',)
    """
    lines = [
        f"{isolated(short_jid(jid))}: {why(reason)}" for jid, reason in list(left.items())[:NAMED]
    ]
    if len(left) > NAMED:
        lines.append(more(len(left) - NAMED))
    return tuple(lines)
