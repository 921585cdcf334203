"""What a job returned, brought to its end: a coroutine has not run when it is returned."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable


def finish(result: Any, klass_name: str) -> Any:  # noqa: ANN401 - what the job returned
    """Give what a job returned; what can be awaited is awaited, in an event loop made for it.

    Args:
        result: what was returned.
        klass_name: the class of the job, for messages.

    Raises:
        RuntimeError: it is to be awaited, and this thread has an event loop that runs already.
        TypeError: it is a generator, of which nothing has run and nothing will.

    """
    if result is None:
        return None
    if inspect.isgenerator(result) or inspect.isasyncgen(result):
        problem = f"{klass_name} has a `yield` in what runs its jobs: so nothing of it was run"
        raise TypeError(problem)
    if not inspect.isawaitable(result):
        return result
    if _has_loop():
        if inspect.iscoroutine(result):
            result.close()
        problem = (
            f"{klass_name} is asynchronous, and an event loop runs in this thread already: "
            "work it in another one, as with `asyncio.to_thread`"
        )
        raise RuntimeError(problem)
    return asyncio.run(_awaited(result))


async def _awaited(result: Awaitable[Any]) -> Any:  # noqa: ANN401 - as above
    return await result


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
