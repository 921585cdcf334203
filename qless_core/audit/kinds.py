"""The kinds of faults that the audit knows: what each one is, and what can be done about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: What a repair may do, and how `qless audit` says so.
HOWS: Final = {
    "clean": "put right what is recorded; no job runs or goes because of it",
    "requeue": "back to work in its queue",
    "fail": "among the failures, in the group audit",
    "delete": "for good",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault.

    Attributes:
        id: its short name, which stays.
        says: what is wrong, in one sentence.
        repairs: what can be done: `clean`, `requeue`, `fail`, `delete`.
        default: which of these `repair all` does; "" where that is for somebody to decide.
        is_fault: whether it is one; else it is only worth knowing.
        is_gradual: whether one repair may leave a rest for the next.

    """

    id: str
    says: str
    repairs: tuple[str, ...] = ("clean",)
    default: str = "clean"
    is_fault: bool = True
    is_gradual: bool = False


KINDS: Final = (
    Kind(
        "in-no-place",
        "A job is in no set of any queue, so no worker ever gets it.",
        ("requeue", "fail", "delete"),
        "requeue",
    ),
    Kind(
        "wrong-place",
        "A job is not where it says, but elsewhere.",
        ("clean", "requeue", "fail"),
    ),
    Kind("in-two-places", "A job is where it says, and listed somewhere else, too."),
    Kind(
        "failed-not-listed",
        "A failed job is not on the list of its group, so nobody sees it.",
        ("clean", "requeue", "delete"),
    ),
    Kind("listed-twice", "A failure group lists a job more than once."),
    Kind(
        "complete-not-listed",
        "A complete job is not among the completed ones, so it never expires.",
        ("clean", "delete"),
    ),
    Kind("wrong-lock", "The end of a lock is not the same in the job, the queue and the worker."),
    Kind(
        "stuck",
        "A job waits for others, but there are none to wait for.",
        ("requeue", "fail", "delete"),
        "requeue",
    ),
    Kind(
        "kept-back-by-none",
        "A job is kept back, but no throttle has it in line.",
        ("requeue", "fail", "delete"),
        "requeue",
    ),
    Kind(
        "waits-for-gone",
        "A job waits for one that is gone, or complete already.",
        ("clean", "fail", "delete"),
    ),
    Kind("ring", "Jobs wait for one another in a ring, for ever.", ("requeue", "fail"), "requeue"),
    Kind("half-edge", "Of two jobs, only one says that one waits for the other."),
    Kind("without-jid", "A job says no jid, or another than its own."),
    Kind("odd-number", "What is to be a number of a job, as its priority, is none."),
    Kind("odd-tags", "The tags of a job are no list of texts."),
    Kind("odd-data", "The data of a job is not JSON.", ("fail", "delete"), ""),
    Kind("not-utf8", "A job has bytes that are no UTF-8 text.", ("fail", "delete"), ""),
    Kind(
        "recurring-in-no-place",
        "A recurring job is on the list of no queue, so it never runs.",
        ("clean", "delete"),
    ),
    Kind("odd-interval", "The interval of a recurring job is no number.", ("delete",), ""),
    Kind("entry-without-job", "A set lists a job that is gone."),
    Kind("not-with-worker", "A worker is said to hold a job that it does not run."),
    Kind("not-with-throttle", "A throttle counts a job that it does not concern."),
    Kind("tracked-without-job", "A tracked job is gone."),
    Kind("tag-without-job", "A tag lists a job that is gone."),
    Kind("tag-not-carried", "A tag lists a job that does not carry it."),
    Kind("tag-not-indexed", "A job carries a tag that does not list it."),
    Kind("tag-count", "A tag is counted though no job carries it, or carried but not counted."),
    Kind(
        "tag-count-differs",
        "A tag's count is not the number of its jobs: also what tagging a job twice does.",
        is_fault=False,
    ),
    Kind("leftover-key", "A key is left of a job that is gone."),
    Kind(
        "foreign-type",
        "A key holds another kind of data than belongs there: no qless wrote it.",
        ("delete",),
        "",
    ),
    Kind(
        "unknown-key",
        "A key is nothing that this version of qless knows.",
        (),
        "",
        is_fault=False,
    ),
    Kind("group-not-listed", "A failure group has jobs, but is not among the groups."),
    Kind("group-empty", "A failure group is listed, but has no jobs."),
    Kind("queue-not-listed", "A queue has jobs, but is not among the queues."),
    Kind("old-worker", "A worker was not seen for longer than max-worker-age."),
    Kind("old-completed", "Completed jobs are kept longer than the options say.", is_gradual=True),
    Kind("old-statistics", "Statistics are older than stats-history."),
    Kind(
        "waits-for-failed",
        "A job waits for one that has failed: until that one is retried and completes.",
        (),
        "",
        is_fault=False,
    ),
)

#: The kinds by their id.
BY_ID: Final = {kind.id: kind for kind in KINDS}


def kind_of(name: str) -> Kind:
    """Find a kind by its id; one that a newer script knows can be shown, but not repaired."""
    return BY_ID.get(name) or Kind(name, "A fault that this version has no words for.", (), "")
