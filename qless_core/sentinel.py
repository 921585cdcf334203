"""Sentinels: they watch a primary and its replicas, and say who is the primary now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redis import exceptions

from qless_core.guide import AskingGuide

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from redis.connection import AbstractConnection

    from qless_core.address import Place


class SentinelGuide(AskingGuide):
    """Leads to the primary that the Sentinels name.

    Args:
        places: of the Sentinels.
        connect: makes a connection to one of them.
        service: what they call the primary and its replicas.
        tag: as for any guide.

    """

    asked = "Sentinel"

    def __init__(
        self,
        places: Iterable[Place],
        connect: Callable[[Place], AbstractConnection],
        service: str,
        tag: str | None = None,
    ) -> None:
        super().__init__(places, connect, tag)
        self.service = service

    def answer(self, connection: AbstractConnection, place: Place) -> Place:  # noqa: ARG002 - as for any
        """Ask a Sentinel."""
        connection.send_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.service)  # type: ignore[no-untyped-call]  # redis-py's
        found = connection.read_response()
        if not found:
            problem = f"it knows no {self.service!r}"
            raise exceptions.ConnectionError(problem)
        host, port = found
        return str(host), int(port)
