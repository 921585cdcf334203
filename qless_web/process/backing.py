"""The Redis behind the console: the operator's, or one of its own that ends with it."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from qless_core.client import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer, EmbeddedServerError
from qless_core.errors import ClusterNeedsTag, QlessError
from qless_web.demo.shop import ShopError, open_shop
from qless_web.process.errors import StartError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_web.demo.shop import Shop
    from qless_web.settings import Settings

log = logging.getLogger("qless.web")

#: Seconds until a server that did not start in the place of another is tried again.
_AGAIN_S = 5.0
#: Seconds that Redis has to say, before the start, whether it is a cluster.
_ANSWERS_S = 1.0


@dataclass(frozen=True, slots=True)
class Backing:
    """What is behind the console.

    Attributes:
        settings: with the address of the Redis to show.
        note: whose server it is, in a line for the operator; "" for what goes without saying.

    """

    settings: Settings
    note: str = ""
    _shop: Shop | None = None

    def wait(self) -> None:
        """Wait until there is something to show.

        Raises:
            StartError: there will not be.

        """
        try:
            if self._shop is not None:
                self._shop.wait_open()
        except ShopError as error:
            raise StartError(str(error)) from error


@contextmanager
def backing(settings: Settings) -> Iterator[Backing]:
    """Give the Redis to show; start it when it is our own.

    Raises:
        StartError: our own Redis does not start, or the other is a cluster that cannot be shown.

    """
    if not settings.demo and settings.embedded is None:
        for url in [url for _, url in settings.servers] or [settings.redis_url]:
            _refuse_cluster(replace(settings, redis_url=url))
        yield Backing(settings)
        return
    with ExitStack() as stack:
        try:
            server = stack.enter_context(EmbeddedServer(settings.embedded))
        except (EmbeddedServerError, OSError) as error:
            raise StartError(str(error)) from error
        ours = replace(settings, redis_url=server.url, read_url="", servers=())
        shop = None
        if settings.demo:
            shop = stack.enter_context(open_shop(ours.redis_url, ours.namespace))
        note = ""
        if not server.owned:
            note = (
                f"the server in {settings.embedded} belongs to pid {server.owner_pid}; "
                "when that ends, this console takes it over"
            )
            _follow(server, str(settings.embedded))
        yield Backing(ours, note, shop)


def _refuse_cluster(settings: Settings) -> None:
    """Ask Redis before the start, if it is there, whether it is a cluster that cannot be shown."""
    with Client(settings.redis_url, namespace=settings.namespace) as client:
        patience = {"socket_timeout": _ANSWERS_S, "socket_connect_timeout": _ANSWERS_S}
        client.redis.connection_pool.connection_kwargs |= patience
        try:
            client.now()
        except ClusterNeedsTag as error:
            raise StartError(str(error)) from error
        except QlessError:
            return  # the pages say what it is


def _follow(server: EmbeddedServer, folder: str) -> None:
    """Own the server, on a thread, as soon as its owner has ended."""
    clock = Clock()

    def run() -> None:
        trouble = ""
        while not server.owned:
            before = server.owner_pid
            try:
                owned = server.take_over()
            except (EmbeddedServerError, OSError) as error:
                if str(error) != trouble:
                    trouble = str(error)
                    log.error("the server in %s, once of pid %s: %s", folder, before, trouble)  # noqa: TRY400 - a sentence for the operator
                clock.wait(_AGAIN_S)
                continue
            whose = f"this console's, pid {os.getpid()}" if owned else f"pid {server.owner_pid}'s"
            log.warning("the server in %s ended with pid %s and is now %s", folder, before, whose)

    threading.Thread(target=run, name="following", daemon=True).start()
