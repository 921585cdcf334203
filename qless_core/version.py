"""Which version this is."""

from __future__ import annotations

from typing import Final

#: As `pyproject.toml` has it.
__version__: Final = "0.1.0"
