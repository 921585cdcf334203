"""`client.tags`: which tags there are, and which jobs carry them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qless_core.client import Client
    from qless_core.records import JidPage


class Tags:
    """The tags of every job."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __repr__(self) -> str:
        return f"<Tags of {self._client!r}>"

    def __call__(self, offset: int = 0, count: int = 100) -> list[str]:
        """Do `top`, under the name of other clients."""
        return self.top(offset, count)

    def top(self, offset: int = 0, count: int = 100) -> list[str]:
        """List the tags used more than once, most used first."""
        return self._client.commands.tag_top(offset, count)

    def jids(
        self, tag: str, offset: int = 0, count: int = 25, *, open_first: bool = False
    ) -> JidPage:
        """List the jids that carry a tag, and say how many there are.

        Args:
            tag: the tag.
            offset: how many to skip.
            count: how many to list.
            open_first: list jobs that are not complete before those that are.

        """
        order = "open-first" if open_first else None
        return self._client.commands.tag_get(tag, offset, count, order)
