"""The page of server-side options: what each means, what counts, and what was set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_core.options import OPTIONS, Option, option_of
from qless_web.formatting import duration
from qless_web.presenters.jobs import queue_link
from qless_web.presenters.page import Page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_web.presenters.page import Link

#: What stands for the name of a queue in the name of an option.
_QUEUE = "<queue>"

#: Seconds from here on are said in larger units too.
_LONG_S = 120

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

    """

    name: str
    help: str
    value: str
    also: str
    default: str
    is_set: bool
    problem: str = ""


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
        unknown: names and values that mean nothing to qless.
        changed: how many were set.
        commands: how to change one.

    """

    template: ClassVar[str] = "config/index.html"

    rows: tuple[OptionRow, ...]
    queues: tuple[QueueOptions, ...]
    for_queues: tuple[OptionRow, ...]
    unknown: tuple[tuple[str, str], ...]
    changed: int
    commands: tuple[str, ...]


def config_page(stored: Mapping[str, str]) -> ConfigPage:
    """Return the page of what is stored."""
    general = [option for option in OPTIONS if _QUEUE not in option.name]
    patterns = [option for option in OPTIONS if _QUEUE in option.name]
    return ConfigPage(
        title="Config",
        nav="config",
        topics=("config",),
        rows=tuple(_row(option.name, option, stored.get(option.name)) for option in general),
        queues=_by_queue(stored),
        for_queues=tuple(_row(option.name, option, None) for option in patterns),
        unknown=tuple(
            (name, _short(value)) for name, value in sorted(stored.items()) if not option_of(name)
        ),
        changed=len(stored),
        commands=(
            "qless config set heartbeat 120",
            "qless config set mail-max-concurrency 4",
            "qless config unset heartbeat",
        ),
    )


def _row(name: str, option: Option, stored: str | None) -> OptionRow:
    counts = option.read(stored)
    problem = "" if stored is None else (option.complaint(stored) or "")
    if problem and option.is_number and counts == option.default:
        problem = f"stored is “{_short(stored or '')}”, which is no number: the default counts"
    return OptionRow(
        name=name,
        help=option.help,
        value=_said(counts, option.unit),
        also=_in_larger_units(counts, option.unit),
        default=_said(option.default, option.unit),
        is_set=stored is not None,
        problem=problem,
    )


def _said(value: str | float | None, unit: str) -> str:
    if value is None:
        return "as for all queues"
    if not unit:
        return _short(str(value))
    if value == 1:
        unit = unit.removesuffix("s")
    return f"{value:,} {unit}"


def _in_larger_units(value: str | float | None, unit: str) -> str:
    if not isinstance(value, int | float) or unit != "seconds" or value < _LONG_S:
        return ""
    return duration(value)


def _by_queue(stored: Mapping[str, str]) -> tuple[QueueOptions, ...]:
    found: dict[str, list[OptionRow]] = {}
    for name in sorted(stored):
        option = option_of(name)
        if option and _QUEUE in option.name:
            queue = name.removesuffix(option.name.removeprefix(_QUEUE))
            found.setdefault(queue, []).append(_row(name, option, stored[name]))
    return tuple(
        QueueOptions(queue=queue, link=queue_link(queue), rows=tuple(rows))
        for queue, rows in sorted(found.items())
    )


def _short(value: str) -> str:
    return value if len(value) <= _VALUE else f"{value[: _VALUE - 1]}…"
