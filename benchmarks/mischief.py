"""Ten thousand requests that make no sense, to every address of the console; none may break it.

    .venv/bin/python -m benchmarks.mischief [--requests 10000] [--seed 5678]

The exit code is 1 where an answer was a fault of the console.
"""

from __future__ import annotations

import argparse
import sys

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_web import create_app
from tests.support.mischief import mischief
from tests.support.shop import plant


def main() -> int:
    """Run; answers the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000, help="how many")
    parser.add_argument("--seed", type=int, default=5678, help="another one sends others")
    args = parser.parse_args()
    with EmbeddedServer() as server, Client(server.url) as client:
        plant(client)
        found = mischief(create_app(client), client, requests=args.requests, seed=args.seed)
    for (method, status), number in sorted(found.statuses.items()):
        print(f"{method:7} {status} {number:>7,}")
    print(f"{sum(found.statuses.values()):,} requests, {len(found.faults)} faults")
    for fault in found.faults[:50]:
        print(fault[:600])
    return int(bool(found.faults))


if __name__ == "__main__":
    sys.exit(main())
