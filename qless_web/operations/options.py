"""What is said about an operation beside which jobs: read from JSON, checked, told and stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from qless_core import wire
from qless_core.errors import BadArgument
from qless_web.operations.verbs import verb

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: The longest delay, some thirty years; the greatest priority that keeps the order among equals.
_LONGEST_S: Final = 1_000_000_000
_HIGHEST: Final = 1_000_000
#: Tags, and fields of data, that one operation may name; characters of a text.
_MOST: Final = 100
_LONGEST: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How an operation does what it does.

    Attributes:
        queue: where jobs are put; "" for each into its own queue.
        delay: seconds that they wait there first.
        priority: the one they get.
        tags: those that are put on or taken off.
        set: fields of the data by name, each with its new value.
        data: the whole data, as JSON text; "" where only fields change.
        retry: whether failed jobs are retried after the edit.
        dependents: whether all that wait for the jobs are cancelled, too.
        rate: jobs a second at most; 0 for as fast as Redis may be asked.
        stop_percent: of those that ended since, how many may have failed again; 0 for any number.
        canary: how many are done first, until somebody says go on; 0 for all at once.

    """

    queue: str = ""
    delay: float = 0
    priority: int | None = None
    tags: tuple[str, ...] = ()
    set: tuple[tuple[str, str], ...] = ()
    data: str = ""
    retry: bool = False
    dependents: bool = False
    rate: float = 0
    stop_percent: float = 0
    canary: int = 0

    def stored(self) -> dict[str, str]:
        """Give what the script and the runner read of it, as fields of the operation's hash."""
        told = {
            "queue": self.queue,
            "delay": f"{self.delay:g}" if self.delay else "",
            "value": "" if self.priority is None else str(self.priority),
            "tags": wire.dumps(list(self.tags)) if self.tags else "",
            "set": wire.dumps([list(pair) for pair in self.set]) if self.set else "",
            "data": self.data,
            "again": "1" if self.retry else "",
            "dependents": "1" if self.dependents else "",
            "rate": f"{self.rate:g}" if self.rate else "",
            "stop_percent": f"{self.stop_percent:g}" if self.stop_percent else "",
            "canary": str(self.canary) if self.canary else "",
        }
        return {name: text for name, text in told.items() if text}

    def told(self) -> dict[str, str]:
        """Give it in words, by name, for people and the audit."""
        found = self.stored()
        renamed = {"value": "priority", "again": "retry"}
        plain = {renamed.get(name, name): text for name, text in found.items()}
        if self.tags:
            plain["tags"] = ", ".join(self.tags)
        if self.set:
            plain["set"] = ", ".join(name for name, _ in self.set)
        if self.data:
            plain["data"] = f"{len(self.data):,} characters"
        return plain


#: Nothing but what is done anyway.
NONE: Final = Options()


def read(action: str, given: Mapping[str, Any]) -> Options:
    """Read the options of an operation from JSON.

    Args:
        action: what it does.
        given: the options by name.

    Raises:
        BadArgument: one is not known there, missing, or senseless.

    """
    known = verb(action).options
    for name in given:
        if name not in known:
            those = ", ".join(known) or "none at all"
            problem = f"There is no option “{name[:100]}” of {action}, but {those}."
            raise BadArgument(problem)
    for name in verb(action).needs:
        if given.get(name) in (None, "", []):
            problem = f"The option “{name}” of {action} is missing."
            raise BadArgument(problem)
    if action == "edit" and ("set" in given) == ("data" in given):
        problem = "An edit takes either “set”, fields with their values, or “data”, all of it."
        raise BadArgument(problem)
    values = {name: _READ[name](name, value) for name, value in given.items() if value is not None}
    return Options(**values)


def _refuse(name: str, wanted: str) -> BadArgument:
    return BadArgument(f"The option “{name}” must be {wanted}.")


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST or not _is_speakable(value):
        raise _refuse(name, "text")
    return value


def _is_speakable(text: str) -> bool:
    try:
        text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _number(lowest: float, highest: float, wanted: str) -> Callable[[str, object], float]:
    def read(name: str, value: object) -> float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        if not fits or not lowest <= value <= highest:  # type: ignore[operator]  # as just checked
            raise _refuse(name, wanted)
        return float(value)  # type: ignore[arg-type]  # as just checked

    return read


def _whole(lowest: int, highest: int) -> Callable[[str, object], int]:
    number = _number(lowest, highest, f"a whole number from {lowest:,} to {highest:,}")

    def read(name: str, value: object) -> int:
        found = number(name, value)
        if found != int(found):
            raise _refuse(name, f"a whole number from {lowest:,} to {highest:,}")
        return int(found)

    return read


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _refuse(name, "true or false")
    return value


def _tags(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= _MOST:
        raise _refuse(name, f"a list of 1 to {_MOST} texts")
    tags = tuple(dict.fromkeys(_text(name, each) for each in value))
    if any(not tag.strip() for tag in tags):
        raise _refuse(name, "a list of texts that are not blank")
    return tags


def _fields(name: str, value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict) or not 0 < len(value) <= _MOST:
        raise _refuse(name, f"an object of 1 to {_MOST} fields with their values")
    return tuple((field, wire.dumps(each, what=f"“{field}”")) for field, each in value.items())


def _json(name: str, value: object) -> str:
    text = value if isinstance(value, str) else wire.dumps(value, what="“data”")
    try:
        wire.loads(_text(name, text))
    except ValueError as error:
        raise _refuse(name, f"JSON, but {error}") from None
    return text


_READ: Final[dict[str, Callable[[str, object], Any]]] = {
    "queue": _text,
    "delay": _number(0, _LONGEST_S, "seconds, at most a thousand million"),
    "priority": _whole(-_HIGHEST, _HIGHEST),
    "tags": _tags,
    "set": _fields,
    "data": _json,
    "retry": _flag,
    "dependents": _flag,
    "rate": _number(0.01, 100_000, "jobs a second, from 0.01 to 100,000"),
    "stop_percent": _number(0.1, 100, "a share in percent, from 0.1 to 100"),
    "canary": _whole(1, 1_000_000),
}
