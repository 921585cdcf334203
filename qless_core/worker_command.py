"""The command `qless-worker`: it heeds signals before it imports what it works with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core.worker.early import leave_on_signals

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run `qless-worker`; answers the exit code."""
    leave_on_signals()
    from qless_core import worker_line  # noqa: PLC0415 - takes long, and signals may come meanwhile

    return worker_line.run(argv)


if __name__ == "__main__":
    raise SystemExit(main())
