"""Which HTTP status tells what the queue refused, and what it left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core.errors import (
    BadArgument,
    ForeignData,
    JobError,
    JobNotFound,
    NotPermitted,
    QlessError,
    RecurringJobNotFound,
    RedisUnavailable,
    WorkerNotFound,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The status of a core error; the first class that fits counts.
STATUSES: tuple[tuple[type[QlessError], int], ...] = (
    (RedisUnavailable, 503),
    (JobNotFound, 404),
    (RecurringJobNotFound, 404),
    (WorkerNotFound, 404),
    (BadArgument, 400),
    (JobError, 409),
    (ForeignData, 409),
    (QlessError, 500),
)


def of_error(error: QlessError) -> int:
    """Give the status of a core error.

    >>> of_error(JobNotFound("a")), of_error(BadArgument("no")), of_error(RedisUnavailable("no"))
    (404, 400, 503)
    >>> of_error(NotPermitted("no", "the command 'evalsha'"))
    403
    """
    if isinstance(error, NotPermitted) and error.missing != NotPermitted.NOBODY:
        return 403  # the server is there, and says what it does not let this user do
    return next(status for kind, status in STATUSES if isinstance(error, kind))


def of_reasons(left: Iterable[str]) -> int:
    """Give the status of having done nothing, for these reasons: all have gone, or are in the way.

    >>> of_reasons(["gone", "gone"]), of_reasons(["gone", "running"])
    (404, 409)
    """
    return 404 if all(reason == "gone" for reason in left) else 409
