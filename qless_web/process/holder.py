"""Who holds a port, where the system lets us know: for the one sentence that says it is taken."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROC = Path("/proc")
#: How the tables of the system write that a socket listens.
_LISTENS = "0A"


def holder_of(port: int) -> int | None:
    """Give the pid of the process that listens on a port, of a family the eldest; None unknown."""
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    holders = {int(each.name) for each in _processes() if sockets and _holds(each, sockets)}
    elders = [pid for pid in holders if _parent(pid) not in holders]
    return min(elders, default=None)


def _inodes(port: int) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (_PROC / "net" / table).read_text("ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]


def _processes() -> Iterator[Path]:
    with suppress(OSError):
        yield from (each for each in _PROC.iterdir() if each.name.isdigit())


def _holds(process: Path, sockets: set[str]) -> bool:
    with suppress(OSError):  # it has just ended, or is somebody else's
        for descriptor in (process / "fd").iterdir():
            with suppress(OSError):
                if str(descriptor.readlink()) in sockets:
                    return True
    return False


def _parent(pid: int) -> int:
    with suppress(OSError):
        return int((_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
    return 0
