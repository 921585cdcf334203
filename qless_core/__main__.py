"""`python -m qless_core`: the command `qless`."""

from __future__ import annotations

import sys

from qless_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
