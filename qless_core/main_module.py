"""What the program that runs is called where others import it: not `__main__`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Final

#: What a program that runs is called in itself, and in its children by `multiprocessing`.
MAIN: Final = frozenset({"__main__", "__mp_main__"})


def name_elsewhere(module_name: str) -> str | None:
    """Give the name by which another program imports a module; None where it cannot.

    Of `python -m shop.jobs` that is `shop.jobs`; of `python jobs.py`, `jobs`. What is typed into an
    interpreter, or given as text, has none.
    """
    if module_name not in MAIN:
        return module_name
    module = sys.modules.get(module_name)
    spec = getattr(module, "__spec__", None)
    if spec is not None:
        return None if spec.name in MAIN else str(spec.name)
    file = getattr(module, "__file__", None)
    name = Path(file).stem if file else ""
    return name if file and name.isidentifier() and _leads_to(name, Path(file)) else None


def _leads_to(name: str, file: Path) -> bool:
    """Whether a module of this name is that file."""
    try:
        spec = importlib.util.find_spec(name)
        return spec is not None and spec.origin is not None and file.samefile(spec.origin)
    except (ImportError, ValueError, OSError):
        return False
