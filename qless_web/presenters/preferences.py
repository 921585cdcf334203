"""The page where a reader chooses how pages look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from qless_web.preferences import (
    BROWSER,
    COLUMNS,
    DENSITIES,
    SIZES,
    THEMES,
    UTC,
    Preferences,
    zones,
)
from qless_web.presenters.page import Page

Option = tuple[str, str]

#: What the columns of lists of jobs are called.
COLUMN_WORDS = {
    "state": "State",
    "queue": "Queue",
    "worker": "Worker",
    "tags": "Tags",
    "priority": "Priority",
    "retries": "Retries left",
    "at": "Time",
}


@dataclass(frozen=True, kw_only=True)
class PreferencesPage(Page):
    """What can be chosen, with what is chosen now.

    Attributes:
        chosen: that.
        themes, densities, zones, sizes: what there is to choose from, as value and text.
        columns: of lists of jobs, each with whether it is ticked.
        problem: why what was sent was not taken; "" where there is nothing to say.
        back: the page to go back to; "" when it is not known.

    """

    template: ClassVar[str] = "preferences/index.html"

    chosen: Preferences
    themes: tuple[Option, ...]
    densities: tuple[Option, ...]
    zones: tuple[Option, ...]
    sizes: tuple[Option, ...]
    columns: tuple[tuple[str, str, bool], ...]
    problem: str = ""
    back: str = ""


def preferences_page(chosen: Preferences, *, problem: str = "", back: str = "") -> PreferencesPage:
    """Return the page; `problem` says why a choice was not taken."""
    ticked = chosen.columns or COLUMNS
    return PreferencesPage(
        title="Preferences",
        nav="preferences",
        chosen=chosen,
        themes=tuple((each, _THEME_WORDS.get(each, each.capitalize())) for each in THEMES),
        densities=tuple((each, each.capitalize()) for each in DENSITIES),
        zones=_zones(chosen),
        sizes=tuple((str(each), str(each)) for each in SIZES),
        columns=tuple((each, COLUMN_WORDS[each], each in ticked) for each in COLUMNS),
        problem=problem,
        back=back,
    )


_THEME_WORDS = {"system": "As the system"}


def _zones(chosen: Preferences) -> tuple[Option, ...]:
    told = f" ({chosen.browser_zone})" if chosen.browser_zone else ""
    named = tuple((each, each) for each in zones() if each != UTC)
    return ((UTC, UTC), (BROWSER, f"As this browser{told}"), *named)
