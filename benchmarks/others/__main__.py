"""Puts jobs of one contender, or works them.

python -m benchmarks.others put MODULE        reads a number from each line of standard input,
                                              puts so many, and tells the moment it began
python -m benchmarks.others work MODULE [HOW] for those who bring no command of their own
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def put(one: Callable[[], Awaitable[object] | None]) -> None:
    """Put jobs as told, until there is nothing more to be told."""
    for line in sys.stdin:
        begun = time.perf_counter()
        for _ in range(int(line)):
            answer = one()
            if inspect.isawaitable(answer):
                await answer
        print(begun, flush=True)


def main() -> None:
    """Do as told."""
    act, name, *more = sys.argv[1:]
    module = importlib.import_module(f"benchmarks.others.{name}")
    if act == "put":
        asyncio.run(put(module.put))
    else:
        module.work(*more)


if __name__ == "__main__":
    main()
