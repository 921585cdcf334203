"""What Linux tells of processes: who belongs together, their memory, their files, their work."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path


def family(pid: int) -> list[int]:
    """List a process and all below it."""
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def resident(pid: int) -> int:
    """Give the bytes of memory that a process has; 0 where it is gone."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def files(pid: int) -> int:
    """Count the file descriptors of a process; 0 where it is gone."""
    with contextlib.suppress(OSError):
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return 0


def worked(pid: int) -> float:
    """Give the seconds of CPU of a process, with threads that are gone; 0 where it is gone."""
    # The clock of another process, as clock_getcpuclockid(3) makes its name.
    with contextlib.suppress(OSError):
        return time.clock_gettime((~pid << 3) | 2)
    return 0.0
