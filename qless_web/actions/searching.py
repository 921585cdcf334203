"""The jobs that a search finds, for what is done to all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core.errors import BadArgument
from qless_web.console import current
from qless_web.triage.index import NoIndex
from qless_web.triage.query import BadQuery, parse

if TYPE_CHECKING:
    from collections.abc import Iterable


def found_by(q: str) -> Iterable[str]:
    """Give the jids that a search finds, by the index of this host.

    Raises:
        BadArgument: it cannot be understood, or there is no index that knows all jobs.

    """
    here = current()
    try:
        return here.index.every(parse(q), here.client.clock.now())
    except BadQuery as error:
        problem = f"{error.problem} (at character {error.position + 1} of the search)"
        raise BadArgument(problem) from error
    except NoIndex as error:
        problem = (
            f"The jobs of a search can be acted on once the index knows all of them: {error.why}."
            " Choose a group of failures, or name the jobs."
        )
        raise BadArgument(problem) from error
