"""A Redis that takes keys away when its memory is full, where it should refuse to take more."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from qless_core import reads
from qless_core.errors import QlessError
from qless_core.reads.plan import run

if TYPE_CHECKING:
    from qless_core.client import Client

log = logging.getLogger("qless.eviction")


def warn_of(client: Client) -> bool:
    """Warn, in the log, when the server may take jobs away; for whoever begins to use it.

    Nothing is said where the server does not tell, or cannot be reached: that is for others to say.

    Returns:
        Whether there was something to warn of.

    """
    try:
        _, (server,) = run(client.redis, client.keys, [reads.server()], now=0)
    except QlessError:
        return False
    if server.eviction in {"", "noeviction"} or not server.memory_limit_bytes:
        return False
    log.warning(
        "When its memory is full this Redis drops keys (%s), and jobs with them: "
        "set its maxmemory-policy to noeviction",
        server.eviction,
    )
    return True
