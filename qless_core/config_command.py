"""The command `qless-config`: writes the stored options down, compares them, stores them again."""

from __future__ import annotations

import argparse  # noqa: TC003 - beside the parser that makes it
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from qless_core import config_file
from qless_core.client import Client
from qless_core.command_line import Parser, command
from qless_core.connection import DEFAULT_NAMESPACE, DEFAULT_URL
from qless_core.errors import BadArgument, QlessError
from qless_core.masking import hushed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qless_core.config import Value

#: Refused, or Redis cannot be reached; of `diff`: something differs.
REFUSED: Final = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run `qless-config`; answers the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        with Client(arguments.redis_url, namespace=arguments.namespace) as client:
            return int(arguments.run(client, arguments))
    except (QlessError, OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"qless-config: {hushed(str(error))}\n")
        return REFUSED


def _dump(client: Client, arguments: argparse.Namespace) -> int:
    options = config_file.stored(client)
    if arguments.all:
        options = {**client.config.all, **options}
    text = config_file.written(options)
    if arguments.file is None:
        sys.stdout.buffer.write(text.encode(errors="surrogateescape"))
        sys.stdout.flush()
    else:
        arguments.file.write_bytes(text.encode(errors="surrogateescape"))
    return 0


def _load(client: Client, arguments: argparse.Namespace) -> int:
    options = _read(arguments.file, force=arguments.force)
    differing = config_file.changes(config_file.stored(client), options, clear=arguments.clear)
    config_file.store(client, differing)
    _tell(differing)
    return 0


def _diff(client: Client, arguments: argparse.Namespace) -> int:
    differing = config_file.changes(
        config_file.stored(client), _read(arguments.file, force=True), clear=True
    )
    _tell(differing)
    return REFUSED if differing else 0


def _read(file: Path, *, force: bool) -> dict[str, Value]:
    raw = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        return config_file.read(raw.decode(), force=force)
    except (BadArgument, UnicodeDecodeError) as error:
        problem = f"nothing was done with {file}: {error}"
        raise BadArgument(problem) from None


def _tell(differing: dict[str, tuple[Value | None, Value | None]]) -> None:
    """Say what was and what is to be: a line each, as `heartbeat: 60 -> 300`."""
    for name, (before, after) in differing.items():
        sys.stdout.write(f"{name}: {_shown(before)} -> {_shown(after)}\n")
    sys.stdout.flush()


def _shown(value: Value | None) -> str:
    return "(not set)" if value is None else str(value).encode(errors="replace").decode()


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="qless-config",
        description="Write the options in Redis to a file, compare the two, and store them again.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    dump = _command(commands, "dump", _dump, "write the options that are set, as JSON")
    dump.add_argument("file", nargs="?", type=Path, help="where to; else the standard output")
    dump.add_argument("--all", action="store_true", help="with the defaults of those that are not")
    load = _command(commands, "load", _load, "store the options of a file, and say what changed")
    load.add_argument("file", type=Path, help="where from; - is the standard input")
    load.add_argument(
        "--clear", action="store_true", help="unset what is set and not in the file, too"
    )
    load.add_argument("--force", action="store_true", help="also names that qless does not use")
    diff = _command(
        commands, "diff", _diff, "say what `load --clear` would change; 1 if anything would"
    )
    diff.add_argument("file", type=Path, help="where from; - is the standard input")
    return parser


def _command(
    commands: Any,  # noqa: ANN401 - argparse keeps the type of subparsers to itself
    name: str,
    run: Callable[[Client, argparse.Namespace], int],
    text: str,
) -> argparse.ArgumentParser:
    parser = command(commands, name, run, text, allow_abbrev=False)
    parser.add_argument(
        "--redis-url",
        "--redis",
        default=os.environ.get("REDIS_URL") or DEFAULT_URL,
        help="where Redis is (else REDIS_URL)",
    )
    parser.add_argument(
        "--namespace", default=DEFAULT_NAMESPACE, help="what keys begin with (%(default)s)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
