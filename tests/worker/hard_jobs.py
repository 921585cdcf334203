"""Jobs that will not end, and jobs that take more than there is."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import threading
from contextlib import suppress
from pathlib import Path

from tests.worker.worker_program import note

_PAUSE = threading.Event()


def ignores_signals(job):
    """Ignore all signals, block them too, and swallow whatever is raised."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    note(job, "began")
    while not Path(job["gate"]).exists():
        with suppress(BaseException):
            _PAUSE.wait(0.01)


def hangs_in_c(job):
    """Hang in something written in C that lets no other thread of Python run."""
    note(job, "began")
    mutex = ctypes.create_string_buffer(64)
    # The second time it waits for itself, and no signal ends that.
    ctypes.PyDLL(None).pthread_mutex_lock(mutex)
    ctypes.PyDLL(None).pthread_mutex_lock(mutex)


def takes_all_memory(job):
    """Take more than the process may have, in C, which ends as programs in C do."""
    note(job, "began")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pages = Path("/proc/self/statm").read_text().split()[0]
    most = int(pages) * os.sysconf("SC_PAGE_SIZE") + (64 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    while place := libc.malloc(ctypes.c_size_t(1 << 20)):
        ctypes.memset(place, 1, 1 << 20)
    os.abort()


def takes_too_much(job):
    """Take more memory than the process may have, in Python."""
    note(job, "began")
    pages = Path("/proc/self/statm").read_text().split()[0]
    most = int(pages) * os.sysconf("SC_PAGE_SIZE") + (64 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    bytearray(1 << 30)
