"""The file that names the running console.

Its lock, not its content, says whether one runs: the system drops the lock whenever the process
ends, so a file left by a killed console is never mistaken for a live one.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import signal
import stat
from typing import TYPE_CHECKING

from qless_core.clock import Clock
from qless_web.process.errors import StartError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Self

#: Seconds between two looks at a console that stops.
_POLL_S = 0.05


class PidFile:
    """A pid file, taken before the fork, written after it, released by the process it names."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = -1
        self._owner = 0

    def holder(self) -> int | None:
        """Return the pid of the console that holds the file, or None when none does.

        Raises:
            StartError: the file cannot be read.

        """
        with self._opened() as descriptor:
            if descriptor is None or _lock(descriptor):
                return None
            return _number(os.read(descriptor, 32))

    def end_holder(self, timeout_s: float) -> int | None:
        """Tell the console that holds the file to stop, and wait until all its processes are gone.

        Returns:
            Its pid, or None when none holds the file.

        Raises:
            StartError: the file cannot be read, or the console did not stop in time.

        """
        clock = Clock()
        with self._opened() as descriptor:
            if descriptor is None or _lock(descriptor):
                return None
            pid = _number(os.read(descriptor, 32))
            if not pid:
                message = f"the console that holds {self.path} is only starting: ask again"
                raise StartError(message)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            deadline = clock.monotonic() + timeout_s
            while not _lock(descriptor):
                if clock.monotonic() > deadline:
                    message = f"process {pid} did not stop within {timeout_s:.0f} seconds"
                    raise StartError(message)
                clock.wait(_POLL_S)
        return pid

    def take(self) -> Self:
        """Hold the file from now on, here and in every process forked from here.

        Raises:
            StartError: another console holds it, or it cannot be made.

        """
        while self._descriptor < 0:
            descriptor = self._made()
            if not _lock(descriptor):
                pid = _number(os.read(descriptor, 32))
                os.close(descriptor)
                message = f"already running (pid {pid}, {self.path})"
                raise StartError(message)
            if _is_at(self.path, descriptor):
                self._descriptor = descriptor
            else:  # the one that held it removed it just now
                os.close(descriptor)
        return self

    def write(self) -> None:
        """Name the calling process in the file."""
        self._owner = os.getpid()
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{self._owner}\n".encode(), 0)

    def release(self) -> None:
        """Remove the file, when the calling process is the one it names; its end drops the lock."""
        if self._owner == os.getpid() and _is_at(self.path, self._descriptor):
            self.path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int | None]:
        try:
            descriptor = _open(self.path)
        except FileNotFoundError:
            yield None
            return
        except OSError as error:
            message = f"the pid file {self.path} cannot be read: {error.strerror}"
            raise StartError(message) from error
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _made(self) -> int:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return _open(self.path, os.O_CREAT)
        except OSError as error:
            message = f"the pid file {self.path} cannot be made: {error.strerror}"
            raise StartError(message) from error


def _open(path: Path, more: int = 0) -> int:
    """Open a pid file, and nothing else that lies in its place: what it holds will be replaced.

    Raises:
        OSError: it cannot be opened.
        StartError: it is no pid file.

    """
    try:
        # Not blocking: a pipe would wait for its other end.
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | more
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _no_pid_file(path, "is a link") from error
        raise
    problem = ""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        problem = "is no plain file"
    elif not re.fullmatch(rb"\s*\d{0,20}\s*", os.pread(descriptor, 32, 0)):
        problem = "holds something else"
    if problem:
        os.close(descriptor)
        raise _no_pid_file(path, problem)
    return descriptor


def _no_pid_file(path: Path, problem: str) -> StartError:
    return StartError(f"{path} {problem}, so it is no pid file; it was left alone")


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _number(text: bytes) -> int:
    """Read a pid; 0 while its process has not yet written it."""
    return int(text) if text.strip().isdigit() else 0
