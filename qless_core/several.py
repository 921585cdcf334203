"""Arguments that are several things, in whatever a caller has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from qless_core.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Iterable

_T = TypeVar("_T")


def listed(what: str, values: Iterable[_T]) -> list[_T]:
    """List what is given in any iterable but one text.

    Args:
        what: what they are, as an error calls them: "jids".
        values: the iterable.

    Raises:
        BadArgument: one text was given where several things are meant, or nothing that has any.

    """
    try:
        if not isinstance(values, str | bytes):
            return list(values)
    except TypeError:
        pass
    what_is = "the text " if isinstance(values, str) else ""
    problem = f"a list of {what} was expected, got {what_is}{values!r}"
    raise BadArgument(problem) from None


def texts_of(what: str, values: Iterable[str] | None) -> list[str] | None:
    """List texts that are given in any iterable.

    Raises:
        BadArgument: one text was given where several are meant, or something that is no text.

    """
    if values is None:
        return None
    problem = f"{what} must be a list of texts, got {values!r}"
    try:
        texts = listed(what, values)
    except BadArgument:
        raise BadArgument(problem) from None
    if not all(isinstance(value, str) for value in texts):
        raise BadArgument(problem)
    return texts
