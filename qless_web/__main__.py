"""`python -m qless_web` is `qless-web`."""

from __future__ import annotations

from qless_web.cli import main

main()
