"""A program that works the shards of one server: `URL NAMESPACE… KIND`, and a job for it."""

from __future__ import annotations

import logging
import sys

from qless_core.client import Client
from qless_core.shards import ShardedClient
from qless_core.worker.forking import ForkingWorker
from qless_core.worker.serial import SerialWorker
from qless_core.worker.sharded import ShardedWorker

KINDS = {"serial": SerialWorker, "forking": ForkingWorker}


def nothing(_):
    """Be done at once."""


def main():
    url, *namespaces, kind = sys.argv[1:]
    logging.basicConfig(level=logging.INFO)
    client = ShardedClient([Client(url, namespace=name) for name in namespaces])
    ShardedWorker(client, ["q", "load-*"], kind=KINDS[kind], interval=0.2).run()


if __name__ == "__main__":
    main()
