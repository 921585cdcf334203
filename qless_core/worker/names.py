"""In whose names a worker holds jobs: nobody else's, though it may be called as another one is."""

from __future__ import annotations

import secrets
from typing import Final

#: How many marks there are, of seven digits each: with a number behind it, one is longer than any
#: pid, so that the script sees what is the host, `Limits.host`.
_MARKS: Final = 9_000_000


def holders(worker: str, count: int = 1) -> list[str]:
    """Name those of a worker that hold jobs: `<worker>-<mark><number>`.

    The mark is drawn anew each time. A worker that comes back, and those that are called alike as
    all are process 1 of hosts that are called alike, so never take for theirs what another one
    holds, or held when it died.

    Args:
        worker: what it is called.
        count: how many threads or children hold jobs at once.

    """
    mark = 1_000_000 + secrets.randbelow(_MARKS)
    digits = len(str(count - 1))
    return [f"{worker}-{mark}{number:0{digits}}" for number in range(count)]
