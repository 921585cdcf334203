"""What a parent does for its dead children: it reaps them, and settles what they held."""

from __future__ import annotations

import logging
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from qless_core.backoff import Backoff
from qless_core.clock import REAL
from qless_core.errors import QlessError
from qless_core.worker.child import UNTOLD
from qless_core.worker.deaths import Death, bury

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qless_core.client import Client
    from qless_core.worker.slots import Process, Slot

log = logging.getLogger("qless.worker")

#: A child that dies within so many seconds before its first job keeps the next one waiting.
YOUNG_S: Final = 2.0
#: The longest pause between attempts to settle what a dead child held.
LONGEST_PAUSE_S: Final = 2.0

#: Why a child says nothing of some of its jobs.
_UNTOLD: Final = "its worker could not tell what became of it"


class Burials:
    """Settles what dead children held, each on a thread of its own, as Redis may be away.

    Args:
        client: whose Redis.
        on_settled: called, in that thread, when another child may work in the slot.

    """

    def __init__(self, client: Client, on_settled: Callable[[], object]) -> None:
        self._client = client
        self._on_settled = on_settled

    def __repr__(self) -> str:
        return f"<Burials of {self._client!r}>"

    def begin(self, slot: Slot, child: Process, code: int) -> None:
        """See to a child of a slot that is dead, and to when the next one may begin there."""
        traces = slot.slate.traces()
        death = death_of(child, code)
        is_expected = child.is_told and code in (0, UNTOLD)
        log.log(
            logging.INFO if is_expected else logging.WARNING,
            "process %d of worker %s ended by %s",
            child.pid,
            slot.name,
            death.how or f"exit code {code}",
        )
        now = REAL.monotonic()
        is_young = now - child.born < YOUNG_S or not slot.is_at_work
        slot.child, slot.death = None, death
        slot.taken.clear()
        if traces.is_idle and is_young and not child.is_told:
            slot.start_at = now + slot.backoff.next()
        else:
            slot.backoff.reset()

        def settle() -> None:
            backoff = Backoff(longest=LONGEST_PAUSE_S)
            while True:
                try:
                    bury(self._client, slot.name, traces, death)
                except QlessError as trouble:
                    log.warning("what %s held cannot be given back yet: %s", slot.name, trouble)
                    REAL.wait(backoff.next())
                else:
                    break
            slot.death = None
            self._on_settled()

        threading.Thread(target=settle, name="qless-bury", daemon=True).start()


def death_of(child: Process, code: int) -> Death:
    """Tell how a child ended; one that left in good order is not said to have died."""
    if code == UNTOLD:
        return Death(child.pid, "", "stopped", child.why or _UNTOLD)
    what = "stopped" if child.why else "died"
    return Death.of(child.pid, code, what=what, why=child.why)


def code_of(pid: int) -> int | None:
    """Give the exit code of a child that has ended, a negative signal where one ended it."""
    try:
        done, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return 0  # somebody else has reaped it
    return os.waitstatus_to_exitcode(status) if done else None


def reap_orphans(ours: Iterable[int]) -> None:
    """Reap what was left to process 1, as which nobody else does.

    Args:
        ours: the children that others reap.

    """
    if sys.platform == "darwin":
        return  # which has no `waitid`, and where no worker is process 1
    with suppress(ChildProcessError):
        while True:
            info = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            # Ours come with the next signal.
            if info is None or info.si_pid in ours:
                return
            os.waitpid(info.si_pid, os.WNOHANG)
