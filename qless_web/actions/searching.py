"""The jobs that a search finds, for what is done to all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Iterable


def found_by(q: str) -> Iterable[str]:
    """Give the jids that a search finds.

    Raises:
        BadArgument: it cannot be understood, or there is no index to search.

    """
    problem = f"There is no index here to search for “{q[:100]}”; choose a group, or name the jobs."
    raise BadArgument(problem)
