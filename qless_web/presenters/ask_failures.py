"""Questions about whole groups of failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_web.formatting import Whole, isolated, tilde
from qless_web.presenters import ask_words as words
from qless_web.presenters.ask import AskPage, ask_page, of_failures, of_group
from qless_web.presenters.ask_jobs import queue_input
from qless_web.presenters.jobs import group_link, job_link
from qless_web.presenters.page import Ask, Crumb, Link

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qless_core.reads import JobRow, Listing
    from qless_core.reads.failures import FailureGroup
    from qless_web.presenters.ask import Input

#: Jobs that a question names.
NAMED = 5

#: Groups that one question about all failures covers, the largest first.
GROUPS = 500

_MEANWHILE = "What fails meanwhile is not touched."


def seen(group: str, newest: str, count: int) -> tuple[str, str]:
    """Write the field that brings back how a group was: its newest job, and how many it listed.

    >>> seen("a:b", "j1", 3)
    ('seen', 'a~3Ab:j1:3')
    """
    return "seen", f"{tilde(Whole(group))}:{tilde(Whole(newest))}:{count}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A group of failures as a question needs it.

    Attributes:
        group: its name.
        listed: how many jobs it lists.
        newest: the first of them.
        odd: how many of those looked at are not failed, by state; `gone` is one.
        complete: whether all were looked at.
        queues: all queues there are.
        queue: the one that was chosen before; "" when none was.
        now: the moment, epoch seconds.

    """

    group: str
    listed: int
    newest: Sequence[JobRow]
    odd: Mapping[str, int]
    complete: bool
    queues: Sequence[str]
    queue: str
    now: float

    @property
    def count(self) -> int:
        """How many can be acted on, as far as is known."""
        return self.listed - sum(self.odd.values())


def retry(look: Look) -> AskPage:
    """Ask whether to retry a group."""
    return _ask(
        look,
        verb="Retry",
        endpoint="act.retry_group",
        question=f"Retry {words.jobs(look.count)} of {isolated(look.group)} into their own queues?",
        consequences=(f"{words.RENEWED} {_MEANWHILE}",),
    )


def move(look: Look) -> AskPage:
    """Ask which queue to move a group to."""
    return _ask(
        look,
        verb="Move",
        endpoint="act.move_group",
        question=f"Move {words.jobs(look.count)} of {isolated(look.group)} to which queue?",
        consequences=(f"{words.RENEWED_THERE} {_MEANWHILE}",),
        inputs=(queue_input(look.queues, look.queue),),
    )


def cancel(look: Look) -> AskPage:
    """Ask whether to cancel a group."""
    return _ask(
        look,
        verb="Cancel",
        endpoint="act.cancel_group",
        question=f"Cancel {words.jobs(look.count)} of {isolated(look.group)}?",
        consequences=(
            words.FOR_GOOD,
            f"Those that other jobs wait for are left out and named. {_MEANWHILE}",
        ),
        danger=True,
    )


def _ask(  # noqa: PLR0913 - the parts of a question, keyword-only
    look: Look,
    *,
    verb: str,
    endpoint: str,
    question: str,
    consequences: tuple[str, ...],
    inputs: tuple[Input, ...] = (),
    danger: bool = False,
) -> AskPage:
    out = words.left_out(look.odd)
    if look.count and not look.complete:
        consequences = (*consequences, "Should some be no longer failed, they are left out.")
    asked = Ask(
        verb=verb,
        count=look.count,
        question=question if look.count else f"There is nothing in {isolated(look.group)} now.",
        link=Link(endpoint, {"group": look.group}),
        left_out=(out,) if out else (),
        consequences=consequences if look.count else (),
        examples=tuple(_examples(look.newest, look.count)),
        fields=(
            ("expected", str(look.count)),
            seen(look.group, look.newest[0].jid if look.newest else "", look.listed),
            ("asked", f"{look.now:.3f}"),
        ),
        danger=danger,
    )
    return ask_page(asked, of_group(look.group), inputs=inputs if look.count else ())


def _examples(newest: Sequence[JobRow], count: int) -> Sequence[Crumb]:
    found = [
        Crumb(words.job(row.klass, row.jid), job_link(row.jid))
        for row in newest
        if row.state == "failed"
    ]
    if count > len(found):
        found.append(Crumb(words.more(count - len(found))))
    return found


def unfail_all(found: Listing[FailureGroup], now: float) -> AskPage:
    """Ask whether to retry everything that failed; `found` are the largest groups."""
    count = sum(group.count for group in found.rows)
    many = "1 group" if len(found.rows) == 1 else f"{len(found.rows):,} groups"
    rest = found.total - len(found.rows)
    asked = Ask(
        verb="Retry",
        count=count,
        question=f"Retry {words.jobs(count)} of {many}, each into its own queue?"
        if count
        else "Nothing has failed.",
        link=Link("act.unfail_all"),
        left_out=(f"{rest:,} smaller groups are left for a second time.",) if rest else (),
        consequences=(f"{words.RENEWED} {_MEANWHILE}",),
        examples=tuple(
            Crumb(f"{isolated(group.name)}: {group.count:,}", group_link(group.name))
            for group in found.rows[: 2 * NAMED]
        ),
        fields=(
            ("expected", str(count)),
            ("asked", f"{now:.3f}"),
            *(seen(group.name, group.newest_jid or "", group.count) for group in found.rows),
        ),
    )
    return ask_page(asked, of_failures())
