"""The parser of our commands: what it complains of never shows a password."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NoReturn

from qless_core.masking import hushed

if TYPE_CHECKING:
    from collections.abc import Callable


class Parser(argparse.ArgumentParser):
    """An argument parser that quotes no secret."""

    def error(self, message: str) -> NoReturn:
        """Complain of the command line, and exit."""
        super().error(hushed(message))


def command(
    commands: Any,  # noqa: ANN401 - argparse keeps the type of subparsers to itself
    name: str,
    run: Callable[..., object],
    text: str,
    **options: Any,  # noqa: ANN401 - as above
) -> argparse.ArgumentParser:
    """Add a command to the subparsers of a parser; `run` of what it parses is that function."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=text, **options
    )
    parser.set_defaults(run=run)
    return parser
