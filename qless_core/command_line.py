"""The parser of our commands: what it complains of never shows a password."""

from __future__ import annotations

import argparse
from typing import NoReturn

from qless_core.masking import hushed


class Parser(argparse.ArgumentParser):
    """An argument parser that quotes no secret."""

    def error(self, message: str) -> NoReturn:
        """Complain of the command line, and exit."""
        super().error(hushed(message))
