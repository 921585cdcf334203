"""A cluster: all keys of a namespace with a hash tag are in one slot, so on one of its nodes.

So the queue needs a plain connection to the primary of that slot, and no client that knows the
whole cluster: one round trip a call, pipelines and scripts as on any server. Where the primary is
gets asked each time a connection is made. A node that sends a call elsewhere has not run it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redis import exceptions
from redis.crc import key_slot

from qless_core.guide import AskingGuide, hello

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from redis.connection import AbstractConnection

    from qless_core.address import Place


class ClusterGuide(AskingGuide):
    """Leads to the primary that holds the slot of a tag.

    Args:
        places: of some nodes; the others are learned from them.
        connect: makes a connection to one of them.
        tag: the hash tag, as `{ql}`.
        or_alone: whether the one place may be a server that is no cluster.

    """

    asked = "node"

    def __init__(
        self,
        places: Iterable[Place],
        connect: Callable[[Place], AbstractConnection],
        tag: str,
        *,
        or_alone: bool = False,
    ) -> None:
        super().__init__(places, connect, tag)
        self.slot = key_slot(tag.encode())
        self._known = self.places
        #: Whether it may still turn out that there is no cluster, and whether it did.
        self._may_be_alone = or_alone
        self._is_alone = False
        self.to_primary = not or_alone

    def primary(self) -> Place:
        """Find where the primary is; a server that is no cluster is not asked again."""
        return self.places[0] if self._is_alone else super().primary()

    def answer(self, connection: AbstractConnection, place: Place) -> Place:
        """Ask a node, and learn of the others."""
        if self._may_be_alone and hello(connection).get("mode") != "cluster":
            self._is_alone = True
            return place
        connection.send_command("CLUSTER", "SLOTS")  # type: ignore[no-untyped-call]  # redis-py's
        try:
            ranges = connection.read_response()
        except exceptions.ResponseError as error:
            if "cluster support disabled" not in str(error):
                raise
            problem = "it is no node of a cluster"
            raise exceptions.ConnectionError(problem) from None
        self._may_be_alone, self.to_primary = False, True
        self._learn(ranges, place)
        for first, last, primary, *_ in ranges:
            if first <= self.slot <= last:
                return _place(primary, place)
        problem = f"CLUSTERDOWN nobody serves the slot {self.slot} of {self.tag}"
        raise exceptions.ClusterDownError(problem)

    def _learn(self, ranges: list[Any], place: Place) -> None:
        told = (_place(node, place) for _, _, *nodes in ranges for node in nodes)
        self.places = tuple(dict.fromkeys((place, *told, *self._known)))


def _place(node: list[Any], asked: Place) -> Place:
    """Read where a node is; one that does not know its own host is where it was asked."""
    host, port = node[:2]
    return str(host if host and host != "?" else asked[0]), int(port)
