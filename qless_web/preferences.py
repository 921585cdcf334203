"""What a reader chose of how pages look: kept by the browser, in one cookie, never in Redis.

The cookie is a query string that names only what differs from the defaults, so that the browser's
own script can change one thing of it. Whatever is in it that makes no sense is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlencode
from zoneinfo import available_timezones

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COOKIE: Final = "qless_choices"

THEMES: Final = ("system", "light", "dark")
DENSITIES: Final = ("comfortable", "compact")
SIZES: Final = (10, 25, 50, 100)
#: Columns that a list of jobs can have, beside the job itself, in their order.
COLUMNS: Final = ("state", "queue", "worker", "tags", "priority", "retries", "at")

#: The zone of the browser, which only the browser can tell.
BROWSER: Final = "browser"
UTC: Final = "UTC"

#: Characters of the name of a time zone.
_LONGEST_ZONE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """What was chosen.

    Attributes:
        theme: one of `THEMES`.
        density: how high rows are, one of `DENSITIES`.
        zone: in which absolute times are written: `UTC`, `browser`, or a name as `Europe/Berlin`.
        browser_zone: what the browser said its zone is; "" when it said nothing.
        size: rows on a page of a list, one of `SIZES`.
        columns: of lists of jobs; none leaves them as each list has them.
        keys: whether single keys do something.

    """

    theme: str = "system"
    density: str = "comfortable"
    zone: str = UTC
    browser_zone: str = ""
    size: int = 25
    columns: tuple[str, ...] = ()
    keys: bool = True

    @classmethod
    def read(cls, text: str) -> Preferences:
        """Read the cookie.

        >>> Preferences.read("theme=dark&size=50&zone=Mars%2FNorth&x=1") == Preferences(
        ...     theme="dark", size=50
        ... )
        True
        """
        chosen: Preferences = cls()
        for name, values in parse_qs(text, max_num_fields=None).items():
            try:
                chosen = chosen.changed({name: values})
            except ValueError:
                continue
        return chosen

    @property
    def text(self) -> str:
        """The cookie: what differs from the defaults.

        >>> Preferences(theme="dark", columns=("queue", "at"), keys=False).text
        'theme=dark&columns=queue.at&keys=off'
        """
        plain = Preferences()
        told = {
            "theme": self.theme,
            "density": self.density,
            "zone": self.zone,
            "browser_zone": self.browser_zone,
            "size": self.size,
            "columns": ".".join(self.columns),
            "keys": "on" if self.keys else "off",
        }
        same = {name for name in told if getattr(self, name) == getattr(plain, name)}
        return urlencode({name: value for name, value in told.items() if name not in same})

    @property
    def zone_name(self) -> str:
        """The zone in which times are written, whoever named it."""
        return (self.browser_zone or UTC) if self.zone == BROWSER else self.zone

    def changed(self, given: Mapping[str, Sequence[str]]) -> Preferences:
        """Change what came along, and leave the rest.

        Args:
            given: values by name, as a form or the cookie has them. `columns` is names with dots
                between, or `own`; or `chosen`, which takes the values of `column`.

        Raises:
            ValueError: a value is none that can be chosen; the message says which can.

        """
        told = {name: values[-1] for name, values in given.items() if values}
        found = self
        if "theme" in told:
            found = replace(found, theme=_one_of(told["theme"], THEMES, "theme"))
        if "density" in told:
            found = replace(found, density=_one_of(told["density"], DENSITIES, "density"))
        if "zone" in told:
            zone = told["zone"]
            found = replace(found, zone=zone if zone == BROWSER else _zone(zone))
        if "browser_zone" in told:
            zone = told["browser_zone"]
            found = replace(found, browser_zone=_zone(zone) if zone else "")
        if "size" in told:
            size = _one_of(told["size"], tuple(map(str, SIZES)), "number of rows")
            found = replace(found, size=int(size))
        if "columns" in told:
            found = replace(found, columns=_columns(told["columns"], given.get("column", ())))
        if "keys" in told:
            found = replace(found, keys=_one_of(told["keys"], ("on", "off"), "keys") == "on")
        return found


@cache
def zones() -> tuple[str, ...]:
    """List the time zones that this system knows, sorted; none where it has no data of them."""
    return tuple(sorted(name for name in available_timezones() if name != "localtime"))


def size_of(text: str | None) -> int | None:
    """Read `?size=`: None for what is no size of a page.

    >>> size_of("50"), size_of("51"), size_of(None)
    (50, None, None)
    """
    return next((size for size in SIZES if str(size) == text), None)


def _one_of(value: str, known: Sequence[str], what: str) -> str:
    if value not in known:
        message = f"The {what} “{value[:40]}” is none of {', '.join(known)}."
        raise ValueError(message)
    return value


def _zone(value: str) -> str:
    if value == UTC or value in zones():
        return value
    message = f"There is no time zone “{value[:_LONGEST_ZONE]}” on this system; as Europe/Berlin."
    raise ValueError(message)


def _columns(value: str, ticked: Sequence[str]) -> tuple[str, ...]:
    if value in {"", "own"}:
        return ()
    wanted = ticked if value == "chosen" else value.split(".")
    if unknown := [each for each in wanted if each not in COLUMNS]:
        message = f"There is no column “{unknown[0][:40]}”: {', '.join(COLUMNS)}."
        raise ValueError(message)
    return tuple(each for each in COLUMNS if each in wanted)
