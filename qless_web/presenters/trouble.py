"""What is wrong, each in a sentence that leads to it: what the overview begins with, and more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from qless_web.formatting import count, duration, size
from qless_web.presenters.attention import FAILING_S, is_failing
from qless_web.presenters.page import EmptyState, Page
from qless_web.presenters.why import still, why_still
from qless_web.presenters.words import Sentence, group, job, past, queue, sentence, worker

if TYPE_CHECKING:
    from qless_core.reads import RecurringRow
    from qless_web.triage.trouble import Flapping, Together, Trouble

#: Lines of a section, and groups in one of them; the rest is a number.
_LINES, _NAMES = 10, 4

#: Seconds after which a recurring job that is due has been silent, and clocks that differ.
_SILENT_S, _CLOCK_S = 60.0, 5.0


@dataclass(frozen=True, slots=True)
class Section:
    """Lines about one kind of trouble.

    Attributes:
        key: names it in the page.
        title: its heading.
        lines: a sentence each.
        more: how many are not listed.
        calm: what to say where there are none.
        tone: what its lines mean: error, warning or info.

    """

    key: str
    title: str
    lines: tuple[Sentence, ...]
    more: int
    calm: str
    tone: Literal["error", "warning", "info"] = "warning"


@dataclass(frozen=True, kw_only=True)
class TroublePage(Page):
    """All of it.

    Attributes:
        sections: those with trouble.
        calm: what was looked for and not found, a sentence each.
        note: what could not be looked for, and why.
        empty: what to show where there is no trouble.

    """

    template: ClassVar[str] = "trouble/index.html"

    sections: tuple[Section, ...]
    calm: tuple[str, ...]
    note: str
    empty: EmptyState | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """What the index tells of trouble."""

    flapping: tuple[Flapping, ...] = ()
    together: tuple[Together, ...] = ()


def trouble_page(
    found: Trouble, indexed: Indexed | None, *, skew: float, now: float
) -> TroublePage:
    """Return the page.

    Args:
        found: what Redis tells.
        indexed: what the index tells; None without one.
        skew: seconds that this machine's clock is ahead of the server's.
        now: epoch seconds.

    """
    sections = [
        _stalled(found),
        _stuck(found, now),
        _failing(found, now),
        _silent(found, now),
        _dependents(found),
        *_of_index(indexed or Indexed()),
        _clocks(found, skew, now),
        _payloads(found),
        _sizes(found),
    ]
    bad = tuple(each for each in sections if each.lines)
    unknown = "" if indexed else (
        "Flapping jobs and groups that began together are not known without the index."
    )  # fmt: skip
    hidden = {"flapping", "together"} if indexed is None else set()
    return TroublePage(
        title="Trouble",
        nav="trouble",
        topics=("queues", "failures", "workers"),
        sections=bad,
        calm=tuple(each.calm for each in sections if not each.lines and each.key not in hidden),
        note=unknown,
        empty=None if bad else _WELL,
    )


def _section(
    key: str, title: str, lines: list[Sentence], calm: str, tone: str = "warning", more: int = 0
) -> Section:
    kept = tuple(lines[:_LINES])
    kind: Literal["error", "warning", "info"] = (
        "error" if tone == "error" else "info" if tone == "info" else "warning"
    )
    return Section(key, title, kept, more + len(lines) - len(kept), calm, kind)


def _stuck(found: Trouble, now: float) -> Section:
    stuck = [each for each in found.queues.rows if still(each, now)]
    stuck.sort(key=lambda each: (-each.waiting, each.name))
    lines = [why_still(each, found.workers.rows, now) for each in stuck]
    return _section("stuck", "Queues that stand still", lines, "Every queue with work moves.")


def _stalled(found: Trouble) -> Section:
    stalled = sorted(
        (each for each in found.queues.rows if each.stalled),
        key=lambda each: (-each.stalled, each.name),
    )
    lines = [
        sentence(
            queue(each.name, "stalled"),
            f" has {count(each.stalled)} stalled job{'' if each.stalled == 1 else 's'}: "
            f"{'its worker has' if each.stalled == 1 else 'their workers have'} gone silent."
        )
        for each in stalled
    ]  # fmt: skip
    return _section("stalled", "Jobs that have stalled", lines, "No job has stalled.")


def _failing(found: Trouble, now: float) -> Section:
    lines = [
        sentence(
            group(each.name), f" has {count(each.count)} failed job{'' if each.count == 1 else 's'}"
            ", the last ", past(each.last_seen), "."
        )
        for each in found.groups.rows
        if is_failing(each, now)
    ]  # fmt: skip
    calm = f"Nothing failed in the last {FAILING_S // 60} minutes."
    return _section("failing", "Groups that fail now", lines, calm, "error")


def _silent(found: Trouble, now: float) -> Section:
    late = [each for each in found.recurring.rows if _is_silent(each, now)]
    lines = [
        sentence(
            job(each.jid, each.klass), " of ", queue(each.queue), " was due ",
            past(each.next_run), f", and {count(each.owed)} of its jobs are not made: "
            "they are, when something is popped from its queue."
        )
        for each in late
    ]  # fmt: skip
    return _section(
        "silent", "Recurring jobs that are silent", lines, "Every recurring job that is due ran."
    )


def _is_silent(row: RecurringRow, now: float) -> bool:
    if row.paused or row.gone or row.next_run is None:
        return False
    return now - row.next_run > max(_SILENT_S, min(row.interval or 0.0, 3_600.0))


def _dependents(found: Trouble) -> Section:
    lines = [
        sentence(
            job(each.jid, each.klass), " failed in ", group(each.group),
            f", and {count(each.waiting)} {'job waits' if each.waiting == 1 else 'jobs wait'} "
            "for it: nothing of that runs until it is retried and completes."
        )
        for each in found.blockers
    ]  # fmt: skip
    calm = f"No job waits for one of the {count(found.looked_at)} failed ones that were looked at."
    return _section("dependents", "Dependents of dead jobs", lines, calm, "error")


def _of_index(found: Indexed) -> tuple[Section, Section]:
    flapping = [
        sentence(job(each.jid, each.klass), f" was begun {count(each.runs)} times; it is "
                 f"{each.state} now.")
        for each in found.flapping
    ]  # fmt: skip
    together = [
        sentence(
            f"{count(len(each.groups))} groups began ",
            past(each.at),
            ", within a minute of one another: ",
            *_named(each.groups[:_NAMES]),
            f" and {count(len(each.groups) - _NAMES)} more." if len(each.groups) > _NAMES else ".",
        )
        for each in found.together
    ]
    return (
        _section("flapping", "Flapping jobs", flapping, "No job is begun again and again."),
        _section(
            "together", "Groups that began together", together, "No groups began together.", "info"
        ),
    )


def _named(groups: tuple[str, ...]) -> Sentence:
    parts = []
    for place, name in enumerate(groups):
        parts += [*(sentence(", ") if place else ()), group(name)]
    return tuple(parts)


def _clocks(found: Trouble, skew: float, now: float) -> Section:
    lines = []
    if abs(skew) >= _CLOCK_S:
        way = "ahead of" if skew > 0 else "behind"
        lines.append(sentence(f"The clock of this console is {duration(abs(skew))} {way} Redis."))
    for each in found.workers.rows:
        ahead = (each.last_seen or 0) - now
        if ahead >= _CLOCK_S:
            lines.append(
                sentence(
                    "Worker ", worker(each.name), f" was seen {duration(ahead)} from now: the "
                    "clock of its machine is ahead, and its locks end too late."
                )
            )  # fmt: skip
    return _section("clocks", "Clocks that differ", lines, "No clock is seen to be off.")


def _payloads(found: Trouble) -> Section:
    lines = [
        sentence(
            job(each.jid, each.klass), " of ", queue(each.queue) if each.queue else "no queue",
            f" has {size(each.size)} of data."
        )
        for each in found.payloads
    ]  # fmt: skip
    return _section(
        "payloads",
        "The biggest payloads",
        lines,
        "No job among the newest of each queue and group has 100 KB of data or more.",
        "info",
    )


def _sizes(found: Trouble) -> Section:
    lines = [
        sentence(f"There are {count(each.entries)} {each.what}: more than {count(each.bound)}.")
        for each in found.sizes
        if each.bound is not None and each.entries > each.bound
    ]
    calm = ", ".join(f"{count(each.entries)} {each.what}" for each in found.sizes)
    return _section("keys", "Keys that grow", lines, f"Nothing has grown too far: {calm}.")


_WELL = EmptyState(
    kind="nothing-wrong",
    title="No trouble was found",
    text="What failed before is listed on the page of failures.",
)
