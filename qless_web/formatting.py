"""How numbers, times and names are written. Pure text; the examples are run as tests."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from urllib.parse import unquote_to_bytes
from zoneinfo import ZoneInfo

from qless_core.reads.names import NameDigest

_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_ALL_SAFE = re.compile("[A-Za-z0-9_-]+")

_STEPS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))

#: Halves of surrogate pairs, which no page can hold.
_HALVES = re.compile("[\ud800-\udfff]")

#: What stands where nothing is known.
UNKNOWN = "\N{EN DASH}"


#: Characters of the longest name that an address spells out; servers and proxies cut addresses of
#: some 4,000. A longer name is there as its digest and found again by `reads.names`.
LONGEST = 1_000


class Whole(str):
    """A name that addresses spell out whatever its length, because nothing could find it again."""

    __slots__ = ()


def tilde(name: str) -> str:
    """Write any name with letters, digits, `_`, `-` and `~` alone: one URL segment, one HTML id.

    >>> tilde("mail"), tilde("a/b"), tilde("ü ~2F"), tilde("")
    ('mail', 'a~2Fb', '~C3~BC~20~7E2F', '~')
    >>> tilde("x" * 10_000)
    '~~5ee111f7ea3c31f524bc06ff0554e9f658d747fe'
    """
    if isinstance(name, NameDigest):
        return f"~~{name}"
    if len(name) <= LONGEST and _ALL_SAFE.fullmatch(name):
        return name
    text = "".join(chr(byte) if byte in _SAFE else f"~{byte:02X}" for byte in raw(name)) or "~"
    return text if len(text) <= LONGEST or isinstance(name, Whole) else f"~~{NameDigest.of(name)}"


def raw(name: str) -> bytes:
    """Give the bytes of a name as Redis holds them; halves of pairs come from JSON alone."""
    try:
        return name.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return name.encode(errors="surrogatepass")


def untilde(text: str) -> str:
    """Read a name that `tilde` wrote; anything else, as in an old bookmark, is taken literally.

    >>> untilde("a~2Fb"), untilde("plain.json"), untilde("~2f"), untilde("~zz"), untilde("~")
    ('a/b', 'plain.json', '~2f', '~zz', '')
    >>> untilde(tilde("x" * 10_000)) == NameDigest.of("x" * 10_000)
    True
    """
    if text == "~":
        return ""
    if text.startswith("~~") and (digest := NameDigest.read(text[2:])):
        return digest
    spelt = unquote_to_bytes(text.replace("%", "%25").replace("~", "%"))
    name = spelt.decode(errors="surrogateescape")
    return name if tilde(Whole(name)) == text else text


def short_jid(jid: str) -> str:
    """Shorten a long jid for display beside its class; the link and the title have it whole.

    >>> short_jid("9f3c21aa0b3c4d5e8f90123456789abc"), short_jid("order-12")
    ('9f3c21aa…', 'order-12')
    """
    return jid if len(jid) <= 12 else f"{jid[:8]}…"  # noqa: PLR2004 - readable at a glance


def count(number: int | None) -> str:
    """Write a count with thousands apart.

    >>> count(4812), count(0), count(None) == UNKNOWN
    ('4,812', '0', True)
    """
    return UNKNOWN if number is None else f"{number:,}"


def duration(seconds: float | None) -> str:
    """Write a length of time with at most two units, or milliseconds.

    >>> [duration(each) for each in (0, 0.25, 1.5, 61, 3600, 90_000, -5)]
    ['0 s', '250 ms', '1.5 s', '1 min 1 s', '1 h', '1 d 1 h', '0 s']
    """
    if seconds is None:
        return UNKNOWN
    if seconds < 0.0005:  # noqa: PLR2004 - less than half a millisecond
        return "0 s"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10 and seconds != int(seconds):  # noqa: PLR2004 - where a tenth still matters
        return f"{seconds:.1f} s"
    return _units(round(seconds), 2)


def _units(seconds: int, most: int) -> str:
    parts: list[str] = []
    for size, unit in _STEPS:
        number, seconds = divmod(seconds, size)
        if number or (parts and unit == "s"):
            parts.append(f"{number} {unit}" if number else "")
        if parts and (len(parts) == most or not seconds):
            break
    return " ".join(part for part in parts if part) or "0 s"


def ago(when: float | None, now: float) -> str:
    """Say how long ago an instant was. The future, where clocks differ, is just now.

    >>> [ago(each, 1000) for each in (1000, 998, 990, 939, 1030)]
    ['just now', '2 s ago', '10 s ago', '1 min ago', 'just now']
    """
    if when is None:
        return UNKNOWN
    past = now - when
    return "just now" if past < 1 else f"{_units(int(past), 1)} ago"


def since(when: float | None, now: float) -> str:
    """Say for how long something has lasted that began at an instant.

    >>> [since(each, 1000) for each in (1000, 998, 939, 1030)]
    ['0 s', '2 s', '1 min', '0 s']
    """
    return UNKNOWN if when is None else _units(int(max(0, now - when)), 1)


def until(when: float | None, now: float) -> str:
    """Say in how long an instant comes; one that is past is due.

    Rounded, not cut: what is kept for 7 days is not forgotten "in 6 d" a second later.

    >>> [until(each, 1000) for each in (1000, 1030.5, 5000, 605_799)]
    ['due', 'in 31 s', 'in 1 h', 'in 7 d']
    """
    if when is None:
        return UNKNOWN
    ahead = when - now
    return "due" if ahead <= 0 else f"in {_nearest(ahead)}"


def _nearest(seconds: float) -> str:
    """Write a length in its largest unit, rounded; 59.9 min are an hour, not 60 min."""
    place = next(at for at, (size, _) in enumerate(_STEPS) if seconds >= size or size == 1)
    size, unit = _STEPS[place]
    number = max(1, math.floor(seconds / size + 0.5))
    if place and number * size >= _STEPS[place - 1][0]:
        return f"1 {_STEPS[place - 1][1]}"
    return f"{number} {unit}"


def absolute(when: float | None, zone: str = "UTC") -> str:
    """Write an instant to the second, in a time zone that the system knows.

    >>> absolute(1_600_000_000.5), absolute(1e300) == UNKNOWN
    ('2020-09-13 12:26:40 UTC', True)
    >>> absolute(1_600_000_000.5, "Europe/Berlin")
    '2020-09-13 14:26:40 CEST'
    """
    utc = _moment(when)
    if utc is None:
        return UNKNOWN
    try:
        local = utc if zone == "UTC" else utc.astimezone(ZoneInfo(zone))
    except (OverflowError, ValueError):
        local = utc  # at either end of the calendar there is no other zone
    return local.strftime("%Y-%m-%d %H:%M:%S %Z")


def moment(when: float | None, zone: str = "UTC") -> str:
    r"""Write an instant for a title: in UTC, and before that in the zone that was chosen.

    >>> moment(1_600_000_000.5), moment(1_600_000_000.5, "Asia/Tokyo")
    ('2020-09-13 12:26:40 UTC', '2020-09-13 21:26:40 JST\n2020-09-13 12:26:40 UTC')
    """
    everywhere = absolute(when)
    own = everywhere if zone == "UTC" else absolute(when, zone)
    return own if own == everywhere else f"{own}\n{everywhere}"


def iso(when: float | None) -> str:
    """Write an instant as the `datetime` attribute of a `time` element.

    >>> iso(1_600_000_000.5), iso(None)
    ('2020-09-13T12:26:40.500Z', '')
    """
    utc = _moment(when)
    if utc is None:
        return ""
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _moment(when: float | None) -> datetime | None:
    if when is None:
        return None
    try:
        return datetime.fromtimestamp(when, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def size(count_of_bytes: int | None) -> str:
    """Write a number of bytes.

    >>> size(512), size(65_536), size(5_500_000)
    ('512 B', '64 KB', '5.2 MB')
    """
    if count_of_bytes is None:
        return UNKNOWN
    if count_of_bytes < 1024:  # noqa: PLR2004 - a KB
        return f"{count_of_bytes} B"
    if count_of_bytes < 1024 * 1024:
        return f"{count_of_bytes / 1024:.0f} KB"
    return f"{count_of_bytes / 1024 / 1024:.1f} MB"


def head(text: str, most: int = 160) -> str:
    r"""Keep the line of a text that says most, cut to a length: for a traceback what was raised.

    >>> head("Traceback (most recent call last):\n  File \"a.py\"\nValueError: no\nmore\n")
    'ValueError: no'
    >>> head("first line\nsecond"), head("x" * 9, 5), head("")
    ('first line', 'xxxx…', '')
    """
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if not lines:
        return ""
    line = lines[0].strip()
    if line.startswith("Traceback (most recent call last)"):
        line = _raised(lines).strip()
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _raised(lines: list[str]) -> str:
    """Find the line of a traceback that follows the last frame; its message may have more."""
    frames = [index for index, line in enumerate(lines) if line.startswith('  File "')]
    after = lines[frames[-1] + 1 :] if frames else lines
    return next((line for line in after if not line[0].isspace()), lines[-1])


#: What isolates a part of a text, in Unicode's words, and a part that is isolated.
_OPEN, _CLOSE = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
ISOLATED = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}]*){_CLOSE}")


def isolated(name: str) -> str:
    r"""Mark a name, or other data, inside of a sentence: it is not ours to translate or turn round.

    >>> isolated("mail"), plain(f"{isolated('mail')} is paused")
    ('\u2068mail\u2069', 'mail is paused')
    """
    return f"{_OPEN}{name.replace(_OPEN, '').replace(_CLOSE, '')}{_CLOSE}"


def plain(text: str) -> str:
    """Take such marks away again, for what is no page: a title, a program, a log."""
    return ISOLATED.sub(r"\1", text)


def printable(text: str) -> str:
    r"""Make text that a page can hold of bytes that are not UTF-8, and of halves of pairs.

    >>> printable("ok"), printable("\udcff!"), printable("\ud800")
    ('ok', '�!', '�')
    """
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text)
