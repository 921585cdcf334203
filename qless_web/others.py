"""The other shards of a console: what counts for all of them they are told, too."""

from __future__ import annotations

import logging
from concurrent.futures import wait
from typing import TYPE_CHECKING, Any

from qless_core import reads
from qless_core.errors import QlessError
from qless_web.lanes import ANSWERS_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_core.client import Client
    from qless_core.reads import Plan
    from qless_web.lanes import Lanes

log = logging.getLogger("qless.web")


class Others:
    """Tells other shards.

    Args:
        clients: theirs, by name.
        lanes: of threads, by the same names; several may share them.

    """

    def __init__(self, clients: Mapping[str, Client], lanes: Lanes) -> None:
        self._clients = dict(clients)
        self._lanes = lanes

    def __repr__(self) -> str:
        return f"<Others: {', '.join(map(repr, self._clients))}>"

    def tell(self, plan: Plan[Any]) -> None:
        """Send what changes something to all at once, and wait for none of them for long.

        A thread goes on with one that is silent until its client gives it up.
        """
        told = [self._lanes.begin(name, self._tell, name, plan) for name in self._clients]
        wait(told, ANSWERS_S)

    def _tell(self, name: str, plan: Plan[Any]) -> None:
        client = self._clients[name]
        try:
            reads.run(client.redis, client.keys, (plan,), now=client.clock.now())
        except QlessError as error:
            log.warning("the shard %s could not be told: %s", name, error)
        except Exception:
            log.exception("the shard %s could not be told", name)
