"""The list of servers that one console shows, and the way from each to the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_web.formatting import tilde

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.reads.frame import FrameCounts
    from qless_web.presenters.page import ServerLink


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRow:
    """One server.

    Attributes:
        name: as the console was told to call it.
        address: where its pages are.
        where: where it is, without its password; "" where nobody has signed in.
        counts: what is there; None where it is not known.
        problem: why not; "" where it is.

    """

    name: str
    address: str
    where: str = ""
    counts: FrameCounts | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServersPage:
    """All of them."""

    rows: tuple[ServerRow, ...]

    @property
    def failed(self) -> int:
        """How many jobs failed, on all servers that answered."""
        return sum(row.counts.failed for row in self.rows if row.counts)

    @property
    def silent(self) -> int:
        """How many servers did not answer."""
        return sum(1 for row in self.rows if row.problem)


def place(base: str, name: str) -> str:
    """Write where the pages of a server are.

    >>> place("/ops", "shop eu")
    '/ops/servers/shop~20eu/'
    """
    return f"{base}/servers/{tilde(name)}/"


def current_of(links: Iterable[ServerLink]) -> str:
    """Name the server that is shown; "" where there is one alone."""
    return next((each.name for each in links if each.is_current), "")
