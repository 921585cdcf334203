"""What a child is at, written where its parent can read it when the child is dead.

A piece of memory that both see: to write costs less than a microsecond and wakes nobody, and what
is written stays, however the child dies.
"""

from __future__ import annotations

import mmap
import struct
import threading
from dataclasses import dataclass, field
from typing import Final

#: Bytes of a slate. Only what was touched takes memory.
SIZE: Final = 1 << 20
#: Bytes of it that the parent writes.
_PARENTS: Final = 1 << 16
#: The longest data of a job that are kept here until Redis has them.
LONGEST: Final = 1 << 14

#: How much is written: by the child, by the parent.
_LENGTH: Final = struct.Struct("<I")
#: A number that its writer makes larger.
_NUMBER: Final = struct.Struct("<I")
#: Kind, and how many bytes follow.
_HEAD: Final = struct.Struct("<cI")

_BEGUN: Final = b"b"
_ENDED: Final = b"e"
_KEPT: Final = b"k"
_DONE: Final = b"d"
_TEXT: Final = b"t"
_TOLD: Final = b"o"
_HEARD: Final = b"h"
_FULL: Final = b"f"

#: Where the child writes: how much it has, how often it began anew, how often it took jobs.
_CHILDS_START: Final = _PARENTS
_ANEW: Final = _CHILDS_START + _LENGTH.size
_TURN: Final = _ANEW + _NUMBER.size
_FIRST: Final = _TURN + _NUMBER.size
_END: Final = SIZE - _HEAD.size
#: How often a parent reads anew while its child writes.
_TRIES: Final = 100


@dataclass
class Traces:
    """What a dead child was at.

    Attributes:
        begun: the job that it ran, if it ran one.
        kept: the jobs that it had run, and of which it could not tell what became of them.
        done: the jobs that it had done and maybe not told yet, with their data where they changed.
        is_complete: whether that is all; else there was no room, and nothing is known of the rest.

    """

    begun: str | None = None
    kept: set[str] = field(default_factory=set)
    done: dict[str, str | None] = field(default_factory=dict)
    is_complete: bool = True

    @property
    def is_idle(self) -> bool:
        """Whether it was at nothing, as far as is known."""
        return self.begun is None and not self.kept


class Slate:
    """What a child writes for its parent, and the parent for its child. Made before the fork."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, SIZE)
        #: Also the thread that tells what is done writes.
        self._writing = threading.Lock()
        self._at = 0
        self._parents_at = 0
        self.clear()

    # The child's side

    def begin(self, jid: str) -> None:
        """Note that a job begins."""
        self._write(_BEGUN, jid.encode("utf-8", "surrogatepass"))

    def end(self) -> None:
        """Note that the job has ended, and is settled."""
        self._write(_ENDED, b"")

    def keep(self) -> None:
        """Note that the job has ended, and that nothing could be told of it yet."""
        self._write(_KEPT, b"")

    def done(self, text: str | None) -> bool:
        """Note that the job has ended well, with its data where they changed.

        Returns:
            Whether there is room for more; if not, it is to be told to Redis now.

        """
        if text is None:
            self._write(_DONE, b"")
            return self._at < _END - LONGEST * 2
        raw = text.encode("utf-8", "surrogatepass")
        if len(raw) > LONGEST:
            return False
        self._write(_TEXT, raw)
        return self._at < _END - LONGEST * 2

    def heard(self, jid: str) -> None:
        """Note that it is known what became of a job; it may be handed out again."""
        self._write(_HEARD, jid.encode("utf-8", "surrogatepass"))

    def told(self) -> None:
        """Note that all that was done is told, though not what was kept."""
        if self._at != _FIRST:
            self._write(_TOLD, b"")

    def has_room(self, jid: str) -> bool:
        """Whether this job may be begun: what comes of it can be noted, too."""
        return self._at + len(jid) * 4 < _END - LONGEST * 2

    def clear(self) -> None:
        """Note that all is told."""
        if self._at == _FIRST:
            return
        with self._writing:
            self._at = _FIRST
            _LENGTH.pack_into(self._memory, _CHILDS_START, self._at)
            # Before anything is written over what was there: see `_copy`.
            (anew,) = _NUMBER.unpack_from(self._memory, _ANEW)
            _NUMBER.pack_into(self._memory, _ANEW, (anew + 1) & 0xFFFFFFFF)

    @property
    def turn(self) -> int:
        """How often the child has taken jobs."""
        found: int = _NUMBER.unpack_from(self._memory, _TURN)[0]
        return found

    def begin_turn(self) -> None:
        """Note that jobs are taken: what the parent has said of others does not count for these."""
        _NUMBER.pack_into(self._memory, _TURN, (self.turn + 1) & 0xFFFFFFFF)

    def taken(self) -> frozenset[str]:
        """Read which of the jobs at hand the parent says are no longer ours."""
        if not _LENGTH.unpack_from(self._memory, 0)[0]:
            return frozenset()
        turn = _NUMBER.pack(self.turn)
        return frozenset(
            raw[_NUMBER.size :].decode("utf-8", "surrogatepass")
            for _, raw in self._read(0, _LENGTH.size)
            if raw.startswith(turn)
        )

    # The parent's side

    def take(self, jid: str) -> int:
        """Tell the child that a job is no longer its own; answers in which turn it is at hand."""
        turn = self.turn
        raw = _NUMBER.pack(turn) + jid.encode("utf-8", "surrogatepass")[: _PARENTS // 2]
        start = self._parents_at or _LENGTH.size
        end = start + _HEAD.size + len(raw)
        if end > _PARENTS:
            # Those from long ago are over.
            start = _LENGTH.size
            _LENGTH.pack_into(self._memory, 0, start)
            end = start + _HEAD.size + len(raw)
        self._memory[start:end] = _HEAD.pack(_BEGUN, len(raw)) + raw
        self._parents_at = end
        _LENGTH.pack_into(self._memory, 0, end)
        return turn

    def traces(self) -> Traces:
        """Read what the child is at, or was."""
        traces = Traces()
        for kind, raw in self._read(_CHILDS_START, _FIRST):
            if kind in (_BEGUN, _HEARD):
                # What came of it before is settled, as it would not be handed out again.
                jid = raw.decode("utf-8", "surrogatepass")
                traces.done.pop(jid, None)
                traces.kept.discard(jid)
                if kind == _BEGUN:
                    traces.begun = jid
            elif kind == _FULL:
                traces.is_complete = False
            elif kind == _TOLD:
                traces.done.clear()
            else:
                if kind == _KEPT and traces.begun is not None:
                    traces.kept.add(traces.begun)
                elif kind != _ENDED and traces.begun is not None:
                    traces.done[traces.begun] = (
                        raw.decode("utf-8", "surrogatepass") if kind == _TEXT else None
                    )
                traces.begun = None
        return traces

    def wipe(self) -> None:
        """Make it ready for the next child."""
        self._at = 0  # it was the child that wrote
        self.clear()
        self._parents_at = 0
        _LENGTH.pack_into(self._memory, 0, 0)

    # Within

    def _write(self, kind: bytes, raw: bytes) -> None:
        with self._writing:
            self._put(kind, raw)

    def _put(self, kind: bytes, raw: bytes) -> None:
        start = self._at
        end = start + _HEAD.size + len(raw)
        if end >= _END:
            kind, raw, end = _FULL, b"", start + _HEAD.size
            if end > SIZE:
                return
        self._memory[start:end] = _HEAD.pack(kind, len(raw)) + raw
        self._at = end
        # Counts only now: whoever dies before has written nothing.
        _LENGTH.pack_into(self._memory, _CHILDS_START, end)

    def _read(self, start: int, first: int) -> list[tuple[bytes, bytes]]:
        raw = self._copy(start)
        found = []
        at = first - start
        while at + _HEAD.size <= len(raw):
            kind, length = _HEAD.unpack_from(raw, at)
            at += _HEAD.size
            found.append((kind, raw[at : at + length]))
            at += length
        return found

    def _copy(self, start: int) -> bytes:
        """Copy what is written. Who writes may begin anew meanwhile: then once more."""
        sign = _ANEW if start == _CHILDS_START else 0
        raw = b""
        for _ in range(_TRIES):
            before = _NUMBER.unpack_from(self._memory, sign)
            raw = self._memory[start : _LENGTH.unpack_from(self._memory, start)[0]]
            # To write more does no harm to what is there.
            if _NUMBER.unpack_from(self._memory, sign) == before:
                break
        return raw
