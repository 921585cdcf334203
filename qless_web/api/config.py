"""The options that are kept in Redis."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

from qless_core import reads
from qless_core.options import OPTIONS, option_of
from qless_core.reads import Listing
from qless_web.api.route import Page, Route, listed
from qless_web.console import current
from qless_web.option_changes import changes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_core.reads import Slice
    from qless_web.option_changes import Change


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigOption:
    """An option: of all queues, of one queue, or a name that means nothing to qless."""

    name: str
    value: Annotated[str | float | None, "What counts now; null where nothing does."]
    default: Annotated[str | float | None, "What counts while nothing is set."]
    unit: Annotated[str, "What a number counts; empty for text."]
    help: str
    is_set: bool
    stored: Annotated[str | None, "What is stored; null where nothing is."]
    problem: Annotated[str, "Why what is stored does not count, or should not; else empty."]
    is_known: Annotated[bool, "Whether it means anything to qless."]


@listed(
    Route(
        name="config",
        rule="/config",
        family="config",
        answers=Page[ConfigOption],
        example=ConfigOption(
            name="heartbeat",
            value=300,
            default=60,
            unit="seconds",
            help="How long a job stays locked.",
            is_set=True,
            stored="300",
            problem="",
            is_known=True,
        ),
    )
)
def config(part: Slice) -> Page[ConfigOption]:
    """List the options that count for all queues, then whatever else is set, by name."""
    stored = current().read(reads.settings())
    general = [option.name for option in OPTIONS if "<queue>" not in option.name]
    names = [*general, *sorted(stored.keys() - set(general))]
    rows = tuple(_option(name, stored) for name in part.of(names))
    return Page.of(Listing(rows, len(names), part.offset), lambda row: row)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionChange:
    """A change of an option that was made in the console or by this API."""

    at: Annotated[float, "Epoch seconds."]
    who: Annotated[str, "By whom; empty where nobody knows."]
    address: Annotated[str, "The network address that it came from; empty where nobody knows."]
    option: str
    was: Annotated[str | None, "What was stored before; null for nothing."]
    now: Annotated[str | None, "What was stored then; null for nothing."]
    undoes: Annotated[bool, "Whether it took back the change before it."]


@listed(
    Route(
        name="configHistory",
        rule="/config/history",
        family="config",
        answers=Page[OptionChange],
        example=OptionChange(
            at=1798761600.0,
            who="dana",
            address="10.0.0.7",
            option="heartbeat",
            was=None,
            now="120",
            undoes=False,
        ),
    )
)
def history(part: Slice) -> Page[OptionChange]:
    """List who changed which option, the newest first; the last 200 are kept."""
    found = current().read(changes())
    return Page.of(Listing(tuple(part.of(found)), len(found), part.offset), _change)


def _change(found: Change) -> OptionChange:
    return OptionChange(**asdict(found))


def _option(name: str, stored: Mapping[str, str]) -> ConfigOption:
    option, value = option_of(name), stored.get(name)
    if option is None:
        return ConfigOption(
            name=name,
            value=value,
            default=None,
            unit="",
            help="",
            is_set=True,
            stored=value,
            problem="",
            is_known=False,
        )
    return ConfigOption(
        name=name,
        value=option.read(value),
        default=option.default,
        unit=option.unit,
        help=option.help,
        is_set=value is not None,
        stored=value,
        problem="" if value is None else (option.complaint(value) or ""),
        is_known=True,
    )
