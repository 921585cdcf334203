"""The options that are kept in Redis, as a typed mapping: `client.config["heartbeat"] = 300`."""

from __future__ import annotations

import datetime as dt
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Final

from qless_core.errors import BadArgument
from qless_core.options import option_of, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.commands import Commands
    from qless_core.duration import Duration
    from qless_core.options import Option

Value = str | int | float

#: Seconds of the units that a timedelta may stand for.
_UNITS: Final = {"seconds": 1, "days": 86400}


class Config(MutableMapping[str, Value]):
    """Options by name: numbers where they count something, text otherwise.

    Reading gives the default where nothing is stored, or no number where one is needed: what the
    script goes by. Setting refuses what makes no sense; deleting brings the default back.
    """

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    def __repr__(self) -> str:
        return "<Config>"

    def __getitem__(self, option: str) -> Value:
        value = _read(option, self._commands.config_get(option))
        if value is None:
            raise KeyError(option)
        return value

    def __setitem__(self, option: str, value: Value | Duration) -> None:
        """Store an option.

        Raises:
            BadArgument: there is no such option, or the value makes no sense for it.

        """
        self.set(option, value)

    def set(self, option: str, value: Value | Duration, *, force: bool = False) -> None:
        """Store an option, as assigning does.

        Args:
            option: its name.
            value: a timedelta may stand for seconds or days.
            force: store it also where qless has no option of that name: for other programs that
                keep theirs beside ours.

        Raises:
            BadArgument: there is no such option, or the value makes no sense for it.

        """
        known = option_of(option)
        if known is None and not force:
            problem = f"{unknown(option)}; `config.set(…, force=True)` stores it all the same"
            raise BadArgument(problem)
        told = _plain(known, value)
        complaint = known.complaint(told) if known else None
        if complaint:
            raise BadArgument(complaint.replace(known.name, option, 1) if known else complaint)
        self._commands.config_set(option, told)

    def __delitem__(self, option: str) -> None:
        """Forget what is stored; of an option that is not set this does nothing."""
        self._commands.config_unset(option)

    def __iter__(self) -> Iterator[str]:
        return iter(self._commands.config())

    def __len__(self) -> int:
        return len(self._commands.config())

    @property
    def all(self) -> dict[str, Value]:
        """Every option that is set or has a default listed by the script, in one call."""
        values = {name: _read(name, stored) for name, stored in self._commands.config().items()}
        return {name: value for name, value in values.items() if value is not None}

    def clear(self) -> None:
        """Forget everything that is stored; the defaults count again."""
        for option in self:
            del self[option]


def _read(option: str, stored: Value | None) -> Value | None:
    known = option_of(option)
    return known.read(stored) if known else stored


def _plain(option: Option | None, value: Value | Duration) -> Value:
    """Turn a timedelta into the number that the option counts.

    Raises:
        BadArgument: it counts no time.

    """
    if not isinstance(value, dt.timedelta):
        return value
    unit = _UNITS.get(option.unit if option else "")
    if unit is None:
        name = option.name if option else "an option of another program"
        problem = f"{name} counts no time, got {value!r}"
        raise BadArgument(problem)
    number = value.total_seconds() / unit
    return int(number) if number.is_integer() else number
