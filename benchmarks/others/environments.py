"""Makes an environment for each rival, away from the project's own."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")


@dataclass(frozen=True)
class Environment:
    """An environment of Python in a folder.

    Attributes:
        folder: where it is.
        pins: what is to be installed in it.

    """

    folder: Path
    pins: tuple[str, ...]

    @property
    def python(self) -> Path:
        """Its Python."""
        return self.folder / "bin" / "python"

    def make(self) -> str:
        """Make it, unless it is there as wanted; answers why that cannot be done, or ""."""
        done, wanted = self.folder / "installed", "\n".join(self.pins)
        if done.exists() and done.read_text() == wanted:
            return ""
        commands: tuple[list[str], ...] = (
            [sys.executable, "-m", "venv", "--clear", str(self.folder)],
            [str(self.python), "-m", "pip", "install", "--quiet", *self.pins],
        )
        for command in commands:
            run = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - pins of ours
            if run.returncode:
                return (run.stderr.strip().splitlines() or ["no word"])[-1]
        done.write_text(wanted)
        return ""


def environments(under: Path) -> dict[str, Environment]:
    """Name the environments that the requirements ask for, each in a folder below `under`."""
    parts = re.split(r"^# \[(\w+)\]$", REQUIREMENTS.read_text(), flags=re.MULTILINE)[1:]
    return {
        name: Environment(under / name, tuple(pins.split()))
        for name, pins in zip(parts[::2], parts[1::2], strict=True)
    }
