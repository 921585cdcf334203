"""What one command needs of the script: nothing else is built when it is called.

EVALSHA runs the whole script at each call, and to make a function costs a part of a microsecond;
so the calls made most have the few functions that they use at the head of the script.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: A table of `base.lua` that a file hangs its functions on, as the script has it: read when asked.
_TABLE: Final = re.compile(r"(\w+) = from\('(\w+)'\)")

#: Comments and texts, neither of which names anything; comments may hold quotes, and the reverse.
_COMMENT_OR_TEXT: Final = re.compile(r"""--[^\n]*|('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")""")
_COMMAND: Final = re.compile(r"""Commands\['([a-z.]+)'\]""")
_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:\.\w+)?")

#: What a statement at the beginning of a line says of itself.
_LOCAL: Final = re.compile(r"local (?:function )?([\w, \n]+?)\s*(?:=|\(|$)")
_FUNCTION: Final = re.compile(r"function (\w+\.\w+)")
_ASSIGNED: Final = re.compile(r"([\w.]+(?:, [\w.]+)*) = ")

#: A line that goes on with the statement before it.
_GOES_ON: Final = re.compile(r"[\s})\]]|end\b|else")


@dataclass(frozen=True)
class Statement:
    """A statement of a file that stands at the beginning of a line.

    Attributes:
        part: the file.
        line: its first line there, from 1.
        lines: its text.
        gives: the names that it makes: `name`, `Table.name` or `Commands[name]`.
        fills: the names of what it adds to, made elsewhere.
        uses: all names in it.

    """

    part: str
    line: int
    lines: tuple[str, ...]
    gives: frozenset[str] = field(compare=False)
    fills: frozenset[str] = field(compare=False)
    uses: frozenset[str] = field(compare=False)


def statements(part: str, text: str) -> Iterator[Statement]:
    """Read the statements of a file; comments between them belong to none."""
    begun, lines = 0, list[str]()
    for number, line in enumerate([*text.splitlines(), "--"], start=1):
        if lines and (not line or _GOES_ON.match(line)):
            lines.append(line)
            continue
        if lines:
            yield _statement(part, begun, "\n".join(lines).rstrip())
        begun, lines = number, [line] if line and not line.startswith("--") else []


def _statement(part: str, line: int, text: str) -> Statement:
    said = _COMMENT_OR_TEXT.sub(lambda found: found[1] or "", text)
    commands = frozenset(f"Commands[{name}]" for name in _COMMAND.findall(said))
    uses = frozenset(_NAME.findall(_COMMENT_OR_TEXT.sub("''", text)))
    if found := _COMMAND.match(text):
        gives = {f"Commands[{found[1]}]"}
    elif found := _LOCAL.match(text) or _FUNCTION.match(text) or _ASSIGNED.match(text):
        gives = {name.strip() for name in found[1].split(",")}
    else:
        gives = set()
    fills = {name.partition(".")[0] for name in gives if "." in name} if gives else uses
    return Statement(
        part, line, tuple(text.split("\n")), frozenset(gives), frozenset(fills), uses | commands
    )


class Excerpts:
    """Finds in the files of the script what a command needs.

    Args:
        parts: the text of each file, in the order in which to read them; `base` is the first.

    """

    def __init__(self, parts: Mapping[str, str]) -> None:
        self._read = {name: tuple(statements(name, text)) for name, text in parts.items()}
        #: Which file fills which table of `base`.
        self.tables: dict[str, str] = dict(_TABLE.findall(parts["base"]))
        self._commands = {
            name: each
            for all_of_it in self._read.values()
            for each in all_of_it
            for name in each.gives
            if name.startswith("Commands[")
        }

    def needed(self, command: str) -> dict[str, list[Statement]]:
        """Find what is needed to carry out a command, by file, in order."""
        found: set[Statement] = set()
        waiting = [self._commands[f"Commands[{command}]"], *self._giving("main", "Answer")]
        while waiting:
            statement = waiting.pop()
            if statement not in found:
                found.add(statement)
                for name in statement.uses:
                    waiting += self._sources(statement.part, name)
        return {
            part: kept
            for part, all_of_it in self._read.items()
            if (kept := [each for each in all_of_it if each in found])
        }

    def _sources(self, part: str, name: str) -> Iterator[Statement]:
        """Give the statements that a name in a file needs."""
        first, _, member = name.partition(".")
        if name in self._commands:
            yield self._commands[name]
        elif member and first in self.tables:
            yield from self._giving(self.tables[first], name)
        elif first not in self.tables:
            yield from self._giving(part, first)
        yield from self._giving("base", first)

    def _giving(self, part: str, name: str) -> Iterator[Statement]:
        return (each for each in self._read[part] if name in each.gives or name in each.fills)
