"""Connections that the children of a slot use one after another.

To connect costs a child that lives for one job more than that job. So the parent connects, and each
child inherits the connection: one uses it at a time, the one that works in the slot. It is given
up where its child dies before it has said that all is read that it asked for.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from qless_core.errors import QlessError

if TYPE_CHECKING:
    from qless_core.client import Client

log = logging.getLogger("qless.worker")

#: What stands for no connection.
NONE: Final = 0


@dataclass(frozen=True)
class Line:
    """A connection that can be inherited.

    Attributes:
        number: which of those of its slot it is, from 1 on.
        connection: redis-py's.

    """

    number: int
    connection: Any


class Lines:
    """One connection for each slot, where there can be one.

    Args:
        client: that of nobody else: another thread may hold a lock of it as a child is forked.
        count: of slots.

    """

    def __init__(self, client: Client, count: int) -> None:
        self._client = client
        self._lines: list[Line | None] = [None] * count
        self._numbers = [NONE] * count
        #: Slots for which somebody connects at this moment.
        self._coming: set[int] = set()
        #: Whether any more are wanted, and whether the server takes such as can be inherited.
        self._is_closed = False
        self._can_be = True
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<Lines of {self._client!r}>"

    def open(self) -> None:
        """Connect for all slots."""
        for slot in range(len(self._lines)):
            self._connect_soon(slot)

    def number(self, slot: int) -> int:
        """Say which connection the next child of a slot is to use; `NONE` for one of its own."""
        line = self._lines[slot]
        if line is None:
            self._connect_soon(slot)
            return NONE
        if not line.connection.is_ready:
            self.give_up(slot, line.number)
            return NONE
        return line.number

    def inherited(self, slot: int, number: int) -> Any:  # noqa: ANN401 - redis-py's
        """Give, in a child, the connection that it is told to use; None where it has none such."""
        line = self._lines[slot]
        return line.connection if line is not None and line.number == number else None

    def give_up(self, slot: int, number: int) -> None:
        """Break a connection, unless that is done: nobody knows what is on its way there."""
        line = self._lines[slot]
        if line is not None and line.number == number:
            self._lines[slot] = None
            line.connection.disconnect()
            self._connect_soon(slot)

    def close(self) -> None:
        """Break all, also what somebody connects at this moment."""
        with self._lock:
            self._is_closed = True
            lines, self._lines = self._lines, [None] * len(self._lines)
        for line in lines:
            if line is not None:
                line.connection.disconnect()

    def _connect_soon(self, slot: int) -> None:
        """Connect on a thread, as Redis may be away; until then children do so themselves."""
        if self._can_be and not self._is_closed and slot not in self._coming:
            self._coming.add(slot)
            call = threading.Thread(
                target=self._connect, args=(slot,), name="qless-connect", daemon=True
            )
            call.start()

    def _connect(self, slot: int) -> None:
        try:
            connection = self._client.line()
            if connection is None:
                self._can_be = False
                return
            with self._lock:
                if not self._is_closed:
                    self._numbers[slot] += 1
                    self._lines[slot] = Line(self._numbers[slot], connection)
                    return
            connection.disconnect()
        except QlessError as trouble:
            log.info("no connection for the children of slot %d: %s", slot, trouble)
        finally:
            self._coming.discard(slot)
