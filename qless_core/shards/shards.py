"""The shards of a client: a plain client of each, and how a command is sent to some of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qless_core.shards.whereabouts import Whereabouts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from inspect import BoundArguments

    from qless_core.client import Client
    from qless_core.shards.placement import Placement


@dataclass(frozen=True)
class Call:
    """A command with its arguments by name.

    Attributes:
        command: the name of a method of `Commands`.
        told: its arguments.

    """

    command: str
    told: BoundArguments

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - what the command takes
        return self.told.arguments.get(name)

    def changed(self, **arguments: Any) -> Call:  # noqa: ANN401 - as above
        """Give the same command with other arguments."""
        told = self.told.signature.bind(*self.told.args, **self.told.kwargs)
        told.arguments.update(arguments)
        return Call(self.command, told)


class Shards:
    """The shards by name, in their order.

    Attributes:
        clients: a plain client of each.
        placement: which queue is on which.
        whereabouts: which job is on which.

    """

    def __init__(self, clients: Mapping[str, Client], placement: Placement) -> None:
        self.clients = dict(clients)
        self.placement = placement
        self.whereabouts = Whereabouts(self.clients)
        #: The shard that answers where any one would.
        self.first = next(iter(self.clients))

    def call(self, shard: str, call: Call) -> Any:  # noqa: ANN401 - what the command answers
        """Send a command to one shard."""
        method = getattr(self.clients[shard].commands, call.command)
        return method(*call.told.args, **call.told.kwargs)

    def call_all(self, call: Call) -> list[Any]:
        """Send a command to all shards, one after another."""
        return [self.call(shard, call) for shard in self.clients]
