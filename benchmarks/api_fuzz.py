"""Thousands of made-up requests to the JSON API, each answer held against its description.

    .venv/bin/python -m benchmarks.api_fuzz [--examples 2400] [--seed 5678]

They are made from that description: such as it allows, and such as it does not. The exit code is 1
where an answer was not as described.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_web import create_app
from tests.support.fuzzing import fuzz


def main() -> int:
    """Run; answers the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=2_400, help="about how many requests")
    parser.add_argument("--seed", type=int, default=5678, help="another one makes others")
    arguments = parser.parse_args()
    with EmbeddedServer() as server, Client(server.url) as client:
        found = fuzz(create_app(client), client, examples=arguments.examples, seed=arguments.seed)
    answered: Counter[int] = Counter()
    for operation, statuses in sorted(found.statuses.items()):
        answered.update(statuses)
        print(f"{operation:<40} {dict(sorted(statuses.items()))}")
    statuses = dict(sorted(answered.items()))
    print(f"{found.requests} requests, {len(found.failures)} failures, {statuses}")
    for operation, what in found.failures.items():
        print(f"\n{operation}\n{what}")
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())
