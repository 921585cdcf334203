"""Questions about whole groups of failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_web.formatting import short_jid
from qless_web.presenters import ask_words as words
from qless_web.presenters.ask import AskPage, ask_page, of_failures, of_group
from qless_web.presenters.ask_jobs import FOR_GOOD, queue_input, target
from qless_web.presenters.page import Ask, Crumb, Link

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qless_core.reads import JobRow
    from qless_web.presenters.ask import Input

#: Jobs that a question names.
NAMED = 5

#: Groups that one question about all failures covers, the largest first.
GROUPS = 500

_MEANWHILE = "What fails meanwhile is not touched."


def retry(group: str, states: Mapping[str, int], newest: Sequence[JobRow]) -> AskPage:
    """Ask whether to retry a group.

    Args:
        group: which.
        states: the states of the jobs that it lists.
        newest: the first jobs of the list.

    """
    count = words.jobs(states.get("failed", 0))
    return _ask(
        group,
        states,
        newest,
        verb="Retry",
        endpoint="act.retry_group",
        question=f"Retry {count} of {group} into their own queues?",
        consequences=(f"Retries are renewed; data, priority and tags stay. {_MEANWHILE}",),
    )


def move(
    group: str, states: Mapping[str, int], newest: Sequence[JobRow], queues: Sequence[str]
) -> AskPage:
    """Ask which queue to move a group to; arguments as those of `retry`."""
    count = words.jobs(states.get("failed", 0))
    return _ask(
        group,
        states,
        newest,
        verb="Move",
        endpoint="act.move_group",
        question=f"Move {count} of {group} to which queue?",
        consequences=(f"They run there, with retries renewed. {_MEANWHILE}",),
        inputs=(queue_input(queues),),
    )


def cancel(group: str, states: Mapping[str, int], newest: Sequence[JobRow]) -> AskPage:
    """Ask whether to cancel a group; arguments as those of `retry`."""
    count = words.jobs(states.get("failed", 0))
    return _ask(
        group,
        states,
        newest,
        verb="Cancel",
        endpoint="act.cancel_group",
        question=f"Cancel {count} of {group}?",
        consequences=(
            FOR_GOOD,
            f"Those that other jobs wait for are left out and named. {_MEANWHILE}",
        ),
        danger=True,
    )


def _ask(  # noqa: PLR0913 - the parts of a question, keyword-only
    group: str,
    states: Mapping[str, int],
    newest: Sequence[JobRow],
    *,
    verb: str,
    endpoint: str,
    question: str,
    consequences: tuple[str, ...],
    inputs: tuple[Input, ...] = (),
    danger: bool = False,
) -> AskPage:
    count, listed = states.get("failed", 0), sum(states.values())
    out = words.left_out({state: number for state, number in states.items() if state != "failed"})
    asked = Ask(
        verb=verb,
        count=count,
        question=question if count else f"There is nothing in {group} now.",
        link=Link(endpoint, {"group": group}),
        left_out=(out,) if out else (),
        consequences=consequences if count else (),
        examples=tuple(_examples(newest, count)),
        fields=(
            ("expected", str(count)),
            ("shown", str(listed)),
            *((("newest", target(newest[0].jid, "")),) if newest else ()),
        ),
        danger=danger,
    )
    return ask_page(asked, of_group(group), inputs=inputs if count else ())


def _examples(newest: Sequence[JobRow], count: int) -> Sequence[Crumb]:
    found = [
        Crumb(f"{row.klass} {short_jid(row.jid)}".strip(), Link("jobs.show", {"jid": row.jid}))
        for row in newest
        if row.state == "failed"
    ]
    if count > len(found):
        found.append(Crumb(f"and {count - len(found):,} more"))
    return found


def unfail_all(groups: Mapping[str, int]) -> AskPage:
    """Ask whether to retry everything that failed; `groups` are all of them with their counts."""
    largest = sorted(groups.items(), key=lambda each: (-each[1], each[0]))
    covered, rest = largest[:GROUPS], largest[GROUPS:]
    count = sum(number for _, number in covered)
    many = "1 group" if len(covered) == 1 else f"{len(covered):,} groups"
    asked = Ask(
        verb="Retry",
        count=count,
        question=f"Retry {words.jobs(count)} of {many}, each into its own queue?"
        if count
        else "Nothing has failed.",
        link=Link("act.unfail_all"),
        left_out=(f"{len(rest):,} smaller groups are left for a second time.",) if rest else (),
        consequences=(f"Retries are renewed; data, priority and tags stay. {_MEANWHILE}",),
        examples=tuple(
            Crumb(f"{group}: {number:,}", Link("failures.group", {"group": group}))
            for group, number in covered[: 2 * NAMED]
        ),
        fields=(
            ("expected", str(count)),
            *(("targets", target(group, number)) for group, number in covered),
        ),
    )
    return ask_page(asked, of_failures())
