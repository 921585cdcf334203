"""Every option that is kept in Redis and read by the script: name, default, unit, meaning.

The script takes any stored number as it is and falls back to the default for what is no number;
our client and the console refuse senseless values before they are stored.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Attributes:
        name: how it is called in Redis; `<queue>` stands for the name of a queue.
        default: what counts where nothing, or no number, is stored; None where nothing does.
        unit: what its number counts; "" for text.
        help: what it does, in one sentence.
        minimum: the smallest number that makes sense.
        is_whole: whether only whole numbers make sense.
        is_listed: whether `config.get` without a name shows it while it is not set.
        needs: says what a text must be, where this one is not; "" where it is.

    """

    name: str
    default: str | int | None
    unit: str
    help: str
    minimum: float = 0
    is_whole: bool = True
    is_listed: bool = False
    needs: Callable[[str], str] | None = None

    @property
    def is_number(self) -> bool:
        """Whether the value is a number."""
        return bool(self.unit)

    def complaint(self, value: str | float) -> str | None:
        """Say what is wrong with a value, or None when it makes sense."""
        if not self.is_number:
            return self._complaint_of_text(str(value))
        number = as_number(value)
        if number is None or isinstance(value, bool):
            return f"{self.name} must be a number of {self.unit}, got {value!r}"
        if self.is_whole and number != int(number):
            return f"{self.name} must be a whole number of {self.unit}, got {value!r}"
        if number < self.minimum:
            return f"{self.name} must be at least {self.minimum:g} {self.unit}, got {value!r}"
        return None

    def _complaint_of_text(self, value: str) -> str | None:
        if not value.strip():
            return f"{self.name} must not be empty"
        needed = self.needs(value) if self.needs else ""
        return f"{self.name} must be {needed}, got {value!r}" if needed else None

    def read(self, stored: str | float | None) -> str | int | float | None:
        """Turn what is stored into what the script makes of it."""
        if stored is None:
            return self.default
        if not self.is_number:
            return str(stored)
        number = as_number(stored)
        return self.default if number is None else number


def as_number(value: object) -> int | float | None:
    """Read a finite decimal number, as an int where it is whole; None for all else.

    The one reader of numbers that Redis holds, or the script answers, as text or as numbers.
    """
    if isinstance(value, int):
        return int(value)
    try:
        number = float(value)  # type: ignore[arg-type]  # what is no number raises, and is None
    except (OverflowError, TypeError, ValueError):
        return None
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() else number


def as_whole(value: object) -> int | None:
    """Read a number and drop its fraction; None for all that is no finite number."""
    number = as_number(value)
    return None if number is None else int(number)


def _rates_needed(value: str) -> str:
    """Say what the option `rate-limits` must be, unless this is it."""
    try:
        rates = json.loads(value)
    except ValueError:
        rates = None
    if isinstance(rates, dict) and all(map(_is_rate, rates.values())):
        return ""
    return 'a JSON object of [count, seconds] by class, as {"app.Mail": [100, 60]}'


def _is_rate(rate: object) -> bool:
    """Tell whether this is a whole number from 1 up, and seconds."""
    if not isinstance(rate, list) or len(rate) != 2 or any(isinstance(n, bool) for n in rate):  # noqa: PLR2004 - a pair
        return False
    count, seconds = (as_number(n) if isinstance(n, int | float) else None for n in rate)
    return isinstance(count, int) and count > 0 and seconds is not None and seconds > 0


#: The options, in the order in which the console and the reference show them.
OPTIONS: Final = (
    Option(
        "application",
        "qless",
        "",
        "What this installation is called, for people who look at several.",
        is_listed=True,
    ),
    Option(
        "heartbeat",
        60,
        "seconds",
        "How long a job stays locked after a pop or a heartbeat before another worker may get it.",
        minimum=1,
        is_whole=False,
        is_listed=True,
    ),
    Option(
        "grace-period",
        10,
        "seconds",
        "How long a worker whose lock ran out may still finish before another one gets the job.",
        is_whole=False,
        is_listed=True,
    ),
    Option(
        "stats-history",
        30,
        "days",
        "For how many days statistics of a queue are kept.",
        minimum=1,
        is_listed=True,
    ),
    Option(
        "histogram-history",
        7,
        "days",
        "For how many days histograms keep their bars; count, mean and deviation stay longer.",
        minimum=1,
        is_listed=True,
    ),
    Option(
        "jobs-history-count",
        50000,
        "jobs",
        "How many completed jobs are kept; older ones are forgotten when another completes.",
        minimum=1,
        is_listed=True,
    ),
    Option(
        "jobs-history",
        604800,
        "seconds",
        "How long completed jobs are kept; older ones are forgotten when another completes.",
        minimum=1,
        is_whole=False,
        is_listed=True,
    ),
    Option(
        "max-job-history",
        100,
        "items",
        "How many items the history of a job keeps: the first, then the newest; 0 for no limit.",
    ),
    Option(
        "max-worker-age",
        86400,
        "seconds",
        "After how long without a sign of life a worker is no longer listed.",
        minimum=1,
        is_whole=False,
    ),
    Option(
        "max-failure-message",
        32768,
        "bytes",
        "How long a failure's message may be; a longer one is cut in the middle; 0 for no limit.",
    ),
    Option(
        "<queue>-heartbeat",
        None,
        "seconds",
        "As heartbeat, for the jobs of one queue.",
        minimum=1,
        is_whole=False,
    ),
    Option(
        "<queue>-max-concurrency",
        0,
        "jobs",
        "How many jobs of a queue may run at once; 0 for no limit.",
    ),
    Option(
        "rate-limits",
        None,
        "",
        "How many jobs of a class may start in so many seconds: JSON, [count, seconds] by class.",
        needs=_rates_needed,
    ),
    Option(
        "host-max-running",
        0,
        "jobs",
        "How many jobs may run at once on one host; 0 for no limit.",
    ),
    Option(
        "host-max-failures",
        0,
        "failures",
        "How many jobs may fail, or be dropped, on a host lately before it is slowed; 0 for any.",
    ),
    Option(
        "host-failure-span",
        600,
        "seconds",
        "For how long a host's failures count against it.",
        minimum=1,
        is_whole=False,
    ),
    Option(
        "drop-backoff",
        0,
        "seconds",
        "How long a dropped job waits before it is handed out again, doubling each time; 0: not.",
        is_whole=False,
    ),
)

_BY_NAME: Final = {option.name: option for option in OPTIONS}


def number_of(name: str, stored: str | float | None) -> int | float:
    """Give the number that counts where this is stored for an option: what the script goes by.

    Raises:
        KeyError: there is no such option, or none with a number for a default.

    """
    option = option_of(name)
    number = option.read(stored) if option else None
    if number is None or isinstance(number, str):
        raise KeyError(name)
    return number


def option_of(name: str) -> Option | None:
    """Find the option that a stored name belongs to; None for a name that means nothing to us."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    for pattern, option in _BY_NAME.items():
        suffix = pattern.removeprefix("<queue>")
        if suffix != pattern and name.endswith(suffix) and name != suffix:
            return option
    return None


def near(name: str) -> str | None:
    """Find the option that was meant by a name that is none; None where nothing is like it.

    >>> near("graceperiod"), near("mail-hartbeat"), near("colour")
    ('grace-period', 'mail-heartbeat', None)
    """
    queue, dash, _ = name.rpartition("-")
    names = [
        pattern.replace("<queue>", queue)
        for pattern in _BY_NAME
        if dash or not pattern.startswith("<queue>")
    ]
    queues = [each.replace("<queue>", queue.rpartition("-")[0]) for each in _BY_NAME]
    found = get_close_matches(name, [*names, *queues], n=1, cutoff=0.8)
    return found[0] if found and option_of(found[0]) else None


def unknown(name: str) -> str:
    """Say that a name is no option, and which one may be meant."""
    meant = near(name)
    hint = f"did you mean {meant!r}?" if meant else "`qless config` lists them"
    return f"there is no option {name!r}: {hint}"
