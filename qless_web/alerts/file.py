"""Rules from a file, in TOML: `[[alert]]` with the fields of a rule. No page changes these."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from qless_core.errors import BadArgument
from qless_web.alerts.rules import MOST, Rule, checked
from qless_web.settings import SettingError

if TYPE_CHECKING:
    from pathlib import Path

_FIELDS = frozenset({"name", "kind", "of", "above", "lasts_s", "url", "shape"})


def read(place: Path | None) -> tuple[Rule, ...]:
    """Read the file; without one there are no such rules.

    Raises:
        SettingError: it cannot be read, or a rule makes no sense. An address is never quoted.

    """
    if place is None:
        return ()
    try:
        found = tomllib.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"alerts_file cannot be read: {error}"
        raise SettingError(message) from None
    listed = found.pop("alert", [])
    if found or not isinstance(listed, list) or len(listed) > MOST:
        message = f"{place}: must hold [[alert]] alone, and at most {MOST} of them"
        raise SettingError(message)
    rules = [_rule(each, f"{place}, alert {number}") for number, each in enumerate(listed, 1)]
    if len({rule.name for rule in rules}) < len(rules):
        message = f"{place}: two alerts have the same name"
        raise SettingError(message)
    return tuple(rules)


def _rule(given: object, where: str) -> Rule:
    if not isinstance(given, dict) or not given.keys() <= _FIELDS:
        message = f"{where}: has fields other than {', '.join(sorted(_FIELDS))}"
        raise SettingError(message)
    try:
        return checked(str(given.get("name", "")), given, is_fixed=True)
    except BadArgument as error:
        message = f"{where}: {error}"
        raise SettingError(message) from None
