"""The Redis behind the console: the operator's, or one of its own that ends with it."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from qless_core.embedded import EmbeddedServer, EmbeddedServerError
from qless_web.demo.shop import open_shop
from qless_web.process.errors import StartError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_web.settings import Settings


@contextmanager
def backing(settings: Settings) -> Iterator[Settings]:
    """Give the settings with the address of the Redis to show; start it when it is our own.

    Raises:
        StartError: our own Redis does not start.

    """
    if not settings.demo and settings.embedded is None:
        yield settings
        return
    with ExitStack() as stack:
        try:
            server = stack.enter_context(EmbeddedServer(settings.embedded))
        except (EmbeddedServerError, OSError) as error:
            raise StartError(str(error)) from error
        ours = replace(settings, redis_url=server.url)
        if settings.demo:
            stack.enter_context(open_shop(ours.redis_url, ours.namespace))
        yield ours
