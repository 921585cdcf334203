"""The page of server-side options: what each means, what counts, and what was set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from qless_core.options import OPTIONS, Option, option_of
from qless_web.formatting import duration
from qless_web.presenters.jobs import queue_link
from qless_web.presenters.page import Action, Link, Page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qless_web.option_changes import Change

#: What stands for the name of a queue in the name of an option.
_QUEUE = "<queue>"

#: Seconds from here on are said in larger units too.
_LONG_S = 120

#: Changes that the page shows.
_CHANGES = 20

#: Characters of a value that is shown; what other programs keep here may be of any length.
_VALUE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionRow:
    """One option.

    Attributes:
        name: how it is called in Redis.
        help: what it means.
        value: what counts now, with its unit.
        also: the same in larger units; "" where that says no more.
        default: what counts when nothing is set, with its unit.
        is_set: something is stored.
        problem: why what is stored does not count, or should not; "" when it is fine.
        changed_by: who changed it last, as far as the console knows; "" for nobody known.
        changed_at: when that was, epoch seconds; None where no change was noted.
        actions: what can be done to it.

    """

    name: str
    help: str
    value: str
    also: str
    default: str
    is_set: bool
    problem: str = ""
    changed_by: str = ""
    changed_at: float | None = None
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """One change of an option, as the history shows it."""

    at: float
    who: str
    option: str
    was: str
    now: str
    undoes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOptions:
    """The options that were set for one queue."""

    queue: str
    link: Link
    rows: tuple[OptionRow, ...]


@dataclass(frozen=True, kw_only=True)
class ConfigPage(Page):
    """All options.

    Attributes:
        rows: those that count for every queue.
        queues: those that were set for one queue, by queue.
        for_queues: those that can be set for one queue.
        unknown: names and values that mean nothing to qless, and what can be done to each.
        changed: how many were set.
        history: what was changed here, the newest first.
        undo: what takes the newest change back; None where it cannot be.
        commands: how to change one.

    """

    template: ClassVar[str] = "config/index.html"

    rows: tuple[OptionRow, ...]
    queues: tuple[QueueOptions, ...]
    for_queues: tuple[OptionRow, ...]
    unknown: tuple[tuple[str, str, tuple[Action, ...]], ...]
    changed: int
    history: tuple[ChangeRow, ...]
    undo: Action | None
    commands: tuple[str, ...]


def config_page(stored: Mapping[str, str], changes: Sequence[Change] = ()) -> ConfigPage:
    """Return the page of what is stored, and of what was changed, the newest first."""
    general = [option for option in OPTIONS if _QUEUE not in option.name]
    patterns = [option for option in OPTIONS if _QUEUE in option.name]
    noted = {each.option: each for each in reversed(changes)}
    return ConfigPage(
        title="Config",
        nav="config",
        topics=("config",),
        rows=tuple(_row(each.name, each, stored.get(each.name), noted) for each in general),
        queues=_by_queue(stored, noted),
        for_queues=tuple(replace(_row(each.name, each, None, {}), actions=()) for each in patterns),
        unknown=tuple(
            (name, _short(value), _actions(name, is_set=True))
            for name, value in sorted(stored.items())
            if not option_of(name)
        ),
        changed=len(stored),
        history=tuple(map(_change, changes[:_CHANGES])),
        undo=Action(text="Undo the last change", link=Link("act.undo_option"), icon="", asks=True)
        if changes
        else None,
        commands=(
            "qless config set heartbeat 120",
            "qless config set mail-max-concurrency 4",
            "qless config unset heartbeat",
        ),
    )


def _change(change: Change) -> ChangeRow:
    return ChangeRow(
        at=change.at,
        who=change.who or change.address or "somebody",
        option=change.option,
        was="not set" if change.was is None else _short(change.was),
        now="not set" if change.now is None else _short(change.now),
        undoes=change.undoes,
    )


def _actions(name: str, *, is_set: bool) -> tuple[Action, ...]:
    values = {"option": name}
    set_it = Action(text="Set", link=Link("act.set_option", values), asks=True)
    unset = Action(text="Unset", link=Link("act.unset_option", values), asks=True)
    return (set_it, unset) if is_set else (set_it,)


def _row(name: str, option: Option, stored: str | None, noted: Mapping[str, Change]) -> OptionRow:
    counts = option.read(stored)
    problem = "" if stored is None else (option.complaint(stored) or "")
    if problem and option.is_number and counts == option.default:
        problem = f"stored is “{_short(stored or '')}”, which is no number: the default counts"
    last = noted.get(name)
    ours = last is not None and last.now == stored
    none = "as for all queues" if _QUEUE in option.name else "not set"
    return OptionRow(
        name=name,
        help=option.help,
        value=_said(counts, option.unit, none),
        also=_in_larger_units(counts, option.unit),
        default=_said(option.default, option.unit, none),
        is_set=stored is not None,
        problem=problem,
        changed_by=(last.who or last.address) if last and ours else "",
        changed_at=last.at if last and ours else None,
        actions=_actions(name, is_set=stored is not None),
    )


def _said(value: str | float | None, unit: str, none: str) -> str:
    if value is None:
        return none
    if not unit:
        return _short(str(value))
    if value == 1:
        unit = unit.removesuffix("s")
    return f"{value:,} {unit}"


def _in_larger_units(value: str | float | None, unit: str) -> str:
    if not isinstance(value, int | float) or unit != "seconds" or value < _LONG_S:
        return ""
    return duration(value)


def _by_queue(stored: Mapping[str, str], noted: Mapping[str, Change]) -> tuple[QueueOptions, ...]:
    found: dict[str, list[OptionRow]] = {}
    for name in sorted(stored):
        option = option_of(name)
        if option and _QUEUE in option.name:
            queue = name.removesuffix(option.name.removeprefix(_QUEUE))
            found.setdefault(queue, []).append(_row(name, option, stored[name], noted))
    return tuple(
        QueueOptions(queue=queue, link=queue_link(queue), rows=tuple(rows))
        for queue, rows in sorted(found.items())
    )


def _short(value: str) -> str:
    return value if len(value) <= _VALUE else f"{value[: _VALUE - 1]}…"
