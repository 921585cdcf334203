"""What an action did: how many, which were left out and why, and where to go from here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from qless_core.errors import JobNotFound
from qless_web import statuses
from qless_web.formatting import plain, short_jid
from qless_web.presenters import ask_words as words
from qless_web.presenters.page import Flash, Link

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_core.records import Report
    from qless_web.operations.at_once import Done


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one action did.

    Attributes:
        text: it, in a sentence.
        tone: how the message looks.
        status: the HTTP status where nothing was done; 200 otherwise.
        done: the names of what was done, jids for most actions.
        left: jid -> why it was left out, as the script gives it.
        gone: pages that no longer have anything to show, each with where to go instead.
        again: the question that goes on with what there was no time for.
        leads_to: the page of what was made, to go to.
        answer: what an original address answers, where that is more than the names.
        on: what it was done to, as the audit tells it, beside the names of its address.
        note: what was said about it before.
        operation: the one that did it at once, which has a report and can be undone; "" for none.
        operations: those that were ordered; their jobs are put once it is noted who ordered them.

    """

    text: str
    tone: Literal["done", "info", "warning", "error"] = "done"
    status: int = 200
    done: tuple[str, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    gone: tuple[tuple[Link, Link], ...] = ()
    again: Link | None = None
    leads_to: Link | None = None
    answer: Any = None
    on: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    operation: str = ""
    operations: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many were done, and how many left out by reason."""
        return {"done": len(self.done), **words.tally(self.left)}

    @property
    def told(self) -> str:
        """The sentence, for programs."""
        return plain(self.text)

    @property
    def flash(self) -> Flash:
        """The message for the user."""
        several = len(self.done) + len(self.left) > 1
        return Flash(
            self.text,
            self.tone,
            link=Link("operations.show", {"operation": self.operation}) if self.operation else None,
            link_text="Report and undo" if self.operation else "",
            details=words.named(self.left) if several else (),
        )

    def unfinished(self, again: Link) -> Outcome:
        """Tell the same, and that time was up before the end."""
        text = f"{self.text} There was no time for the others: go on?"
        return replace(self, text=text, tone="warning", again=again)


def one(jid: str, report: Report, done: str) -> Outcome:
    """Tell of work on one job; `done` is the sentence where it was done.

    Raises:
        JobNotFound: the job is gone.

    """
    if jid not in report.left:
        return Outcome(text=done, done=report.done, gone=emptied(report))
    reason = report.left[jid]
    if reason == "gone":
        raise JobNotFound(jid)
    text = f"Nothing was done to {short_jid(jid)}: {words.why(reason)}."
    status = statuses.of_reasons(report.left.values())
    return Outcome(text=text, tone="warning", status=status, left=report.left)


def about(done: str, report: Report) -> Outcome:
    """Tell of work on several jobs.

    Args:
        done: what happened to them, as "Retried".
        report: which were done, and which not.

    """
    if not report.done and not report.left:
        return Outcome(text="Nothing was left to do.", tone="info")
    parts = [f"{done} {words.jobs(len(report.done))}."]
    if report.left:
        parts.append(words.left_out(words.tally(report.left), was=True))
    return Outcome(
        text=" ".join(parts),
        tone="done" if not report.left else "warning",
        status=200 if report.done or not report.left else statuses.of_reasons(report.left.values()),
        done=report.done,
        left=report.left,
        gone=emptied(report),
    )


def by_operation(text: str, done: Done) -> Outcome:
    """Tell of work on several jobs that an operation did at once.

    Args:
        text: what happened to them, as "Retried".
        done: what was done, and by which operation.

    """
    return replace(about(text, done.report), operation=done.operation)


def emptied(report: Report) -> tuple[tuple[Link, Link], ...]:
    """Give the pages of the groups that have no failure left."""
    home = Link("failures.index")
    return tuple((Link("failures.group", {"group": group}), home) for group in report.emptied)
