"""How long a newcomer waits for the first page, and how long the second time.

    .venv/bin/python -m benchmarks.first_page

Clones what is committed in this repository into an empty home and starts `./qless-web --demo -F`
there: first cold, when the environment is made and its packages are downloaded, then warm. The
figures are seconds from the command to the whole first page; the goals are 30 and 2.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path
from urllib.request import urlopen

from qless_core.clock import Clock

ROOT = Path(__file__).parents[1]

#: What is measured: its name, and the seconds that it may take.
STARTS = (("cold", 30), ("warm", 2))


def main() -> None:
    """Measure both starts and print them."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory(prefix="first-page-") as folder:
        home, checkout = Path(folder, "home"), Path(folder, "checkout")
        home.mkdir()
        subprocess.run(["git", "clone", "-q", ROOT, checkout], check=True)  # noqa: S603, S607 - git is on PATH
        for name, goal in STARTS:
            print(f"{name}: {first_page(checkout, home):.2f} s (goal: {goal} s)", flush=True)


def first_page(checkout: Path, home: Path) -> float:
    """Start the demo of a checkout, read its first page, end it; gives the seconds to the page."""
    dropped = ("QLESS_", "REDIS_URL", "VIRTUAL_ENV", "PYTHONPATH", "XDG_")
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    clock = Clock()
    began = clock.monotonic()
    with subprocess.Popen(
        ["./qless-web", "--demo", "-F", "-p", "0"],
        cwd=checkout,
        env={**inherited, "HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
    ) as console:
        try:
            found = re.search(r"serves (\S+) ", console.stdout.readline() if console.stdout else "")
            if found is None:
                message = "the console did not start"
                raise SystemExit(message)
            with urlopen(found[1]) as page:  # noqa: S310 - the address that the console told
                page.read()
            return clock.monotonic() - began
        finally:
            console.send_signal(signal.SIGINT)


if __name__ == "__main__":
    main()
