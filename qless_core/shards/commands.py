"""The commands, sent to the shards that they concern."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from qless_core.commands import Commands
from qless_core.shards.routes import ROUTES
from qless_core.shards.shards import Call

if TYPE_CHECKING:
    from qless_core.shards.shards import Shards


class ShardedCommands(Commands):
    """Every command of `Commands`, each sent to the shards that its route says."""

    def __init__(self, shards: Shards) -> None:
        super().__init__(_unsent)
        for name in ROUTES:
            setattr(self, name, partial(_routed, shards, name))

    def __repr__(self) -> str:
        return "<ShardedCommands>"


def _routed(shards: Shards, name: str, *args: Any, **named: Any) -> Any:  # noqa: ANN401 - of any command
    _, *parameters = inspect.signature(getattr(Commands, name)).parameters.values()
    told = inspect.Signature(parameters).bind(*args, **named)
    return ROUTES[name](shards, Call(name, told))


def _unsent(command: str, *_: object) -> Any:  # noqa: ANN401 - never answers
    problem = f"the command {command} has no route to a shard"
    raise NotImplementedError(problem)
