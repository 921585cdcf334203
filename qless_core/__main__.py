"""`python -m qless_core`: prints the script for other clients, else the command line."""

from __future__ import annotations

import argparse
import sys

from qless_core.script import Script


def main(arguments: list[str]) -> int:
    """Run the command line; answers the exit status."""
    if arguments[:1] != ["lua"]:
        from qless_core import cli  # noqa: PLC0415  printing the script needs none of it

        return cli.main(arguments)
    parser = argparse.ArgumentParser(
        prog="python -m qless_core lua",
        description="Print the assembled script, for any qless client to use as its own.",
    )
    parser.add_argument("--namespace", default="ql:", help="what every key begins with (ql:)")
    options = parser.parse_args(arguments[1:])
    sys.stdout.write(Script(options.namespace).source)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
