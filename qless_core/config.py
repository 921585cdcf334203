"""The options that are kept in Redis, as a typed mapping: `client.config["heartbeat"] = 300`."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from qless_core.errors import BadArgument
from qless_core.options import option_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.commands import Commands

Value = str | int | float


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

    def __setitem__(self, option: str, value: Value) -> None:
        """Store an option.

        Raises:
            BadArgument: the value makes no sense for this option.

        """
        known = option_of(option)
        complaint = known.complaint(value) if known else None
        if complaint:
            raise BadArgument(complaint.replace(known.name, option, 1) if known else complaint)
        self._commands.config_set(option, value)

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
