"""A worker as `killing.py` starts it: options of a forking worker, as `concurrency=2`."""

from __future__ import annotations

import logging
import os
import sys

from qless_core.client import Client
from qless_core.worker.forking import ForkingWorker


def main() -> None:
    """Work until told to stop."""
    logging.basicConfig(format="%(asctime)s %(process)d %(levelname)s %(message)s", level="INFO")
    options = {
        name: int(value) for name, _, value in (each.partition("=") for each in sys.argv[1:])
    }
    ForkingWorker(Client(os.environ["REDIS_URL"]), ["chaos", "later"], **options).run()


if __name__ == "__main__":
    main()
