"""The file of the index: where it lies, how it is opened, and what becomes of one that is damaged.

Its name has a number; the file `current` says which one counts. One that is damaged, or of another
schema, is never mended: the next number is begun, and who reads goes over to it.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from qless_core.clock import REAL
from qless_web.triage import schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Seconds that one waits for another who writes.
_PATIENCE_S: Final = 5.0
#: Connections that are kept open for the next search.
_KEPT: Final = 4
#: Kibibytes of pages that are kept in memory: by a reader, by the writer while it fills the index,
#: and by the writer when all is in it.
_READER_KIB, _WRITER_KIB, _FULL_KIB = 8_192, 131_072, 8_192

#: Writing is quick: a machine that loses power may lose the last seconds, and no more.
_TO_WRITE: Final = (
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "secure_delete = OFF",
    "wal_autocheckpoint = 32000",
    "journal_size_limit = 134217728",
)

_DAMAGED = "it is damaged, and will be built anew"
_NOT_BEGUN = "nobody has begun it"
_OTHER = "it is of another version, and will be built anew"

_NAME = re.compile(r"index-([0-9]{1,15})\.sqlite")


class NoIndex(Exception):  # noqa: N818 - it says what is the case
    """Raised where there is no index to be read.

    Args:
        why: what is the matter, as half a sentence.

    """

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(f"the index cannot be used: {why}")


class Index:
    """The index of one namespace of one Redis server, in a folder of its own.

    Args:
        folder: made by the writer; nothing is written there by who only reads.

    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = Lock()
        self._idle: list[tuple[str, sqlite3.Connection]] = []

    @classmethod
    def of(cls, state_dir: Path, url: str, namespace: str) -> Index:
        """Name the index of a server's address (without a password) and a namespace."""
        digest = blake2b(f"{url}\0{namespace}".encode(errors="replace"), digest_size=8).hexdigest()
        return cls(state_dir / f"index-{digest}")

    @property
    def lock_file(self) -> Path:
        """The file whose lock the one writer of this host holds."""
        return self.folder / "writer.lock"

    @property
    def path(self) -> Path | None:
        """The file that counts; None while there is none."""
        try:
            name = (self.folder / "current").read_text().strip()
        except OSError:
            return None
        return self.folder / name if _NAME.fullmatch(name) else None

    # Reading

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection that can only read.

        Raises:
            NoIndex: there is none, or it is damaged; the writer is told.

        """
        connection, name = self._taken()
        try:
            yield connection
        except sqlite3.DatabaseError as error:
            connection.close()
            if isinstance(error, sqlite3.OperationalError) and not is_damage(error):
                raise
            self.tell_damaged(name)
            raise NoIndex(_DAMAGED) from error
        except BaseException:
            connection.close()
            raise
        self._given_back(connection, name)

    def _taken(self) -> tuple[sqlite3.Connection, str]:
        path = self.path
        if path is None:
            raise NoIndex(_NOT_BEGUN)
        with self._lock:
            while self._idle:
                name, connection = self._idle.pop()
                if name == path.name:
                    return connection, name
                connection.close()
        try:
            connection = read_only(path)
        except sqlite3.Error as error:
            raise NoIndex(str(error)) from error
        try:
            _prepare(connection, _READER_KIB)
            if version(connection) != schema.VERSION:
                raise NoIndex(_OTHER)
        except sqlite3.Error as error:
            connection.close()
            if is_damage(error):
                self.tell_damaged(path.name)
            raise NoIndex(str(error)) from error
        return connection, path.name

    def _given_back(self, connection: sqlite3.Connection, name: str) -> None:
        with self._lock:
            if len(self._idle) < _KEPT:
                self._idle.append((name, connection))
                return
        connection.close()

    def close(self) -> None:
        """Close what is kept open."""
        with self._lock:
            while self._idle:
                self._idle.pop()[1].close()

    def tell_damaged(self, name: str) -> None:
        """Have the writer begin a new file in the place of this one."""
        with contextlib.suppress(OSError):
            (self.folder / f"{name}.damaged").touch()

    # For the writer alone

    def open(self) -> tuple[sqlite3.Connection, str]:
        """Open the index to write it, the last one where that can be used, or else a new one.

        Whether all of it can be read takes long to be found out: see `Soundness`.

        Raises:
            OSError: the folder cannot be written.
            sqlite3.Error: nor can a new file be made there.

        """
        path = self.path
        if path is not None and path.exists() and not self._is_damaged(path.name):
            with contextlib.suppress(sqlite3.DatabaseError):
                connection = _opened(path)
                if _is_ours(connection):
                    return connection, path.name
                connection.close()
        return self._begun(path)

    def is_replaced(self, name: str) -> bool:
        """Say whether the file that is being written must not be written any more."""
        path = self.path
        return path is None or path.name != name or self._is_damaged(name) or not path.exists()

    def _is_damaged(self, name: str) -> bool:
        return (self.folder / f"{name}.damaged").exists()

    def _begun(self, last: Path | None) -> tuple[sqlite3.Connection, str]:
        found = _NAME.fullmatch(last.name) if last else None
        # A name that was never used: whoever still reads a file that was deleted is to notice.
        number = max(int(found[1]) + 1 if found else 1, int(REAL.now() * 1000))
        path = self.folder / f"index-{number}.sqlite"
        self._remove_others(path.name)
        _remove(path)
        connection = _opened(path)
        connection.executescript(f"BEGIN;{schema.TABLES}COMMIT;")
        connection.execute(f"PRAGMA user_version = {schema.VERSION}")
        pointer = self.folder / "current.new"
        pointer.write_text(f"{path.name}\n")
        pointer.replace(self.folder / "current")
        return connection, path.name

    def _remove_others(self, name: str) -> None:
        for each in self.folder.glob("index-*"):
            if not each.name.startswith(f"{name}"):
                with contextlib.suppress(OSError):
                    each.unlink()


def read_only(path: Path) -> sqlite3.Connection:
    """Open a file to read it.

    Raises:
        sqlite3.Error: it cannot be opened.

    """
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro",
        uri=True,
        timeout=_PATIENCE_S,
        isolation_level=None,
        check_same_thread=False,
    )


def is_damage(error: sqlite3.Error) -> bool:
    """Tell a file that cannot be read from one that is busy, or a search that took too long."""
    told = str(error)
    return any(
        word in told for word in ("malformed", "not a database", "disk I/O", "no such table")
    )


def version(connection: sqlite3.Connection) -> int:
    """Give the number of the schema of a file."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    return int(found)


def decoded(raw: bytes) -> str:
    """Read a text as Redis gave it: bytes that are no UTF-8 are halves of surrogate pairs."""
    return raw.decode(errors="surrogateescape")


def bound(text: str) -> Any:  # noqa: ANN401 - what SQLite takes
    """Give a text as it is bound to a `CAST(? AS TEXT)`."""
    return text if text.isascii() else text.encode(errors="surrogateescape")


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
    )
    path.chmod(0o600)  # it holds messages and data of jobs
    try:
        _prepare(connection, _WRITER_KIB)
        for pragma in _TO_WRITE:
            connection.execute(f"PRAGMA {pragma}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _is_ours(connection: sqlite3.Connection) -> bool:
    try:
        return version(connection) == schema.VERSION
    except sqlite3.Error:
        return False


def fills(connection: sqlite3.Connection, *, is_full: bool) -> None:
    """Let the writer keep as many pages as it needs to fill the index, or to keep it."""
    connection.execute(f"PRAGMA cache_size = -{_FULL_KIB if is_full else _WRITER_KIB}")
    if is_full:
        connection.execute("PRAGMA shrink_memory")


def _prepare(connection: sqlite3.Connection, kib: int) -> None:
    connection.text_factory = decoded
    connection.execute(f"PRAGMA cache_size = -{kib}")
    connection.execute("PRAGMA temp_store = MEMORY")


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm", ".damaged"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
