"""The one writer of an index on a host: elected by a lock on a file, on a thread of its process.

When its process ends, however that is, the system drops the lock, and another goes on.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import sqlite3
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from qless_core.clock import REAL
from qless_core.errors import QlessError
from qless_web.triage.filling import STEP, Sweep, read_in
from qless_web.triage.following import Hints, Watch
from qless_web.triage.index import fills, is_damage
from qless_web.triage.soundness import Soundness
from qless_web.triage.source import Source
from qless_web.triage.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qless_core.client import Client
    from qless_web.triage.entry import Shown
    from qless_web.triage.index import Index

log = logging.getLogger("qless.web.triage")

#: Seconds between two attempts to become the writer, and after an error.
_AGAIN_S: Final = 1.0
#: Seconds between two looks at the lengths of lists, two notes of how things stand, and two looks
#: at what is due or late.
_LOOK_S, _NOTE_S, _LATE_S = 2.0, 0.5, 2.0
#: Seconds that it listens where there is nothing else to do.
_SLICE_S: Final = 0.25
#: Changes of the first walk that are written at once, and seconds for which they are held back:
#: fewer where something was heard of, which people wait for. What comes while they are written
#: waits for that, for a step, and for the next commit.
_HELD: Final = 24_000
_HELD_S, _AWAITED_S = 2.5, 0.5
#: Jobs that are read again in a second, one after the other, for what nobody tells.
_AGAIN_EACH_S: Final = 200
#: Seconds between two looks for names that no job has any more.
_FORGET_S: Final = 3_600.0
#: Milliseconds before the last sign of life from which on failures are read again.
_OVERLAP_MS: Final = 60_000


class Writer:
    """Keeps an index for one process, while no other on this host does.

    Args:
        client: whose jobs it holds.
        index: what is written.
        rate: jobs a second that are read at most; 0 for as many as there can be.
        shown: gives data as it may be shown; None where all of it may.

    """

    def __init__(self, client: Client, index: Index, rate: int, shown: Shown | None = None) -> None:
        self._client = client
        self._shown = shown
        self._index = index
        self._rate = rate
        self._end = Event()
        self._thread: Thread | None = None
        #: Why nothing can be written, or ""; and whether this process is the writer.
        self.trouble = ""
        self.is_elected = False

    def start(self) -> None:
        """Write, or stand by, on a thread of this process; after a fork, call it in the child."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = Thread(target=self._run, name="qless-index", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Write no more; safe in a signal handler."""
        self._end.set()

    def join(self, seconds: float) -> None:
        """Wait until it has ended."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        while not self._end.is_set():
            try:
                with self._elected() as elected:
                    if elected:
                        self._write()
            except Exception as error:  # noqa: BLE001 - it must outlive whatever the disk answers
                self._complain(error)
            self._end.wait(_AGAIN_S)

    def _complain(self, error: Exception) -> None:
        reason = f"{self._index.folder}: {error}"
        if reason != self.trouble:
            expected = isinstance(error, OSError | sqlite3.Error | QlessError)
            log.warning(
                "the index is not written for now: %s", reason, exc_info=None if expected else error
            )
        self.trouble = reason

    @contextlib.contextmanager
    def _elected(self) -> Iterator[bool]:
        self._index.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._index.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.is_elected = True
            yield self.is_elected
        finally:
            self.is_elected = False
            os.close(descriptor)

    def _write(self) -> None:
        connection, name = self._index.open()
        soundness = Soundness(self._index, name)
        try:
            keeping = Keeping(self._client, connection, self._rate, self._shown)
            try:
                while not self._is_over(name):
                    self._keep(keeping, name)
            finally:
                keeping.close()
        except sqlite3.DatabaseError as error:
            if is_damage(error):
                self._index.tell_damaged(name)
            raise
        finally:
            # Who closes last puts all into the one file.
            soundness.close()
            connection.close()

    def _is_over(self, name: str) -> bool:
        return self._end.is_set() or self._index.is_replaced(name)

    def _keep(self, keeping: Keeping, name: str) -> None:
        """Keep the index for as long as Redis can be asked."""
        try:
            self.trouble = ""
            keeping.run(lambda: self._is_over(name), self._end)
        except QlessError as error:
            self._complain(error)
            self._end.wait(_AGAIN_S)


class Keeping:
    """What the writer does for as long as it is that: fills, follows, looks again.

    Args:
        client: whose jobs are read.
        connection: as `Index.open` gives it.
        rate: as for `Writer`.
        shown: as for `Writer`.

    """

    def __init__(
        self,
        client: Client,
        connection: sqlite3.Connection,
        rate: int,
        shown: Shown | None = None,
    ) -> None:
        self._source = Source(client, rate, shown)
        self._connection = connection
        self._store = Store(connection)
        self._hints = Hints(client)
        self._watch = Watch(self._source, self._store)
        self._sweep: Sweep | None = None
        #: Until the first walk through everything is over, failures after this are read again.
        self._since: int | None = None
        self._is_first = True
        self._alive_at = self._store.told("as_of")
        self._look_at = self._note_at = self._late_at = self._commit_at = 0.0
        self._committed_at = 0.0
        self._late_upto = 0
        self._again_id = -1
        self._forget_at = REAL.monotonic() + _FORGET_S
        self._again_at = REAL.monotonic()
        #: Server time minus the monotonic clock.
        self._ahead = 0.0

    def close(self) -> None:
        """Give the subscription back."""
        self._hints.close()

    def run(self, is_over: Callable[[], bool], end: Event) -> None:
        """Keep the index until that is over.

        Raises:
            QlessError: Redis could not be asked.
            sqlite3.Error: the file could not be written.

        """
        self._hints.listen(0.0)  # from here on nothing is missed
        try:
            self._begin()
            while not is_over():
                if not self._hints.listen(0.0 if self._is_busy() else _SLICE_S):
                    end.wait(0.0 if self._is_busy() else _SLICE_S)
                self._follow()
                self._go_on(end)
        finally:
            self._store.commit()

    def _begin(self) -> None:
        self._is_first, self._sweep = True, None
        self._store.holds_back = _HELD
        fills(self._connection, is_full=False)
        self._alive_at = self._store.told("as_of")
        if self._store.told("complete") and self._alive_at:
            self._since = int(self._alive_at * 1000) - _OVERLAP_MS
        self._watch.everything()
        self._hints.missed()

    def _is_busy(self) -> bool:
        return self._sweep is not None or bool(self._watch.due)

    def _follow(self) -> None:
        """Read what something happened to."""
        # What is new does not wait for the rate, a part of it.
        most = STEP // 10 if self._source.pause() else STEP
        jids = self._hints.take(most)
        if not jids:
            return
        try:
            read_in(self._source, self._store, jids)
        except QlessError:
            self._hints.give_back(jids)
            raise
        self._commit_at = min(self._commit_at, self._committed_at + _AWAITED_S)

    def _go_on(self, end: Event) -> None:
        now = REAL.monotonic()
        if now >= self._look_at and not self._is_first:
            self._look_at = now + _LOOK_S
            self._ahead = self._watch.look() - REAL.monotonic()
            if self._hints.missed():
                self._watch.everything()
        # Not after another step of the walk: somebody may wait for it.
        if now >= self._commit_at:
            self._store.commit()
            # The first time soon, so that pages can tell how far it is.
            self._commit_at = now + (_HELD_S if self._committed_at else _AWAITED_S)
            self._committed_at = now
        self._walk(end)
        if now >= self._late_at:
            self._late_at = now + _LATE_S
            self._reread_late()
        if not self._is_busy():
            self._reread_some()
        if now >= self._note_at:
            self._note_at = now + _NOTE_S
            self.note()

    def _walk(self, end: Event) -> None:
        """Walk a step further through what differs."""
        if self._sweep is None and self._watch.due:
            place = self._watch.next(is_sure=self._is_first)
            if place is not None:
                self._sweep = Sweep(self._source, self._store, place, since=self._since)
        pause = self._source.pause()
        if end.wait(min(pause, _SLICE_S)) or pause > _SLICE_S:
            return
        if self._sweep is not None and not self._sweep.step():
            self._watch.settle(self._sweep.place)
            self._sweep = None
        if self._is_first and not self._is_busy():
            self._is_first, self._since = False, None
            self._store.holds_back = 0
            self._store.commit()
            fills(self._connection, is_full=True)
            self._store.tell(complete=1)
            self.note()

    def _reread_late(self) -> None:
        """Read jobs whose lock has ended by what is known: most have renewed it."""
        if not self._ahead:
            return
        upto = int((REAL.monotonic() + self._ahead) * 1000)
        late = self._store.late(self._late_upto, upto, STEP // 2)
        self._late_upto = late[-1][0] if len(late) == STEP // 2 else upto
        read_in(self._source, self._store, [jid for _, jid in late])

    def _reread_some(self) -> None:
        """Read some jobs again, each in its turn, for what neither event nor count tells."""
        now = REAL.monotonic()
        most = int((now - self._again_at) * _AGAIN_EACH_S)
        if most < _AGAIN_EACH_S // 2:
            return
        self._again_at = now
        some = self._store.after(self._again_id, min(most, STEP))
        self._again_id = some[-1][0] if some else -1
        if not some and now >= self._forget_at:
            self._forget_at = now + _FORGET_S
            self._store.forget()
        read_in(self._source, self._store, [jid for _, jid in some])

    @property
    def is_up_to_date(self) -> bool:
        """Whether all lists have been walked once since this began."""
        return not self._is_first

    def note(self) -> None:
        """Say how things stand, for those who search."""
        if not self._ahead:
            self._ahead = self._watch.time() - REAL.monotonic()
        oldest = self._hints.oldest()
        upto = REAL.monotonic() if oldest is None else oldest
        is_known = self._is_first and self._alive_at
        self._store.tell(
            as_of=self._alive_at if is_known else upto + self._ahead,
            jobs=self._store.jobs,
            total=max(self._watch.total, self._store.jobs),
            pid=os.getpid(),
        )
