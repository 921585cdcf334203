"""`qless-web` as an operator runs it: a process with a home of its own, ended afterwards."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.polling import PATIENCE_S

ROOT = Path(__file__).parents[2]


def is_alive(pid: int) -> bool:
    """Tell whether a process is there; one that waits to be reaped is not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return not Path("/proc/self").exists()


def children_of(pid: int, *, dead: bool = False) -> list[int]:
    """List the children of a process; those that wait to be reaped only where `dead` says so."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and (dead or fields[0] != "Z"):
            found.append(int(folder.name))
    return found


@dataclass
class Running:
    """A console in the foreground."""

    process: subprocess.Popen[str]
    url: str
    redis_url: str

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def get(self, path: str) -> tuple[int, str]:
        return get(self.port, path)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


def get(port: int, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@dataclass
class Command:
    """The command, with an empty home and no settings from outside."""

    home: Path
    running: list[subprocess.Popen[str]] = field(default_factory=list)
    daemons: list[int] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("QLESS_WEB_", "REDIS_URL"))
        }
        return inherited | {
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "PYTHONPATH": str(ROOT),
        }

    @property
    def complaints(self) -> str:
        """What the last one in the foreground wrote to standard error."""
        return (self.home / "stderr").read_text()

    def run(self, *args: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end; a daemon it leaves behind is ended after the test."""
        done = subprocess.run(
            [sys.executable, "-m", "qless_web", *args],
            check=False,
            capture_output=True,
            text=True,
            cwd=self.home,
            env=self.environment | more,
            timeout=60,
        )
        if found := re.search(r"serves \S+ \(pid (\d+)\)", done.stdout):
            self.daemons.append(int(found[1]))
        return done

    def start(self, *args: str, **more: str) -> Running:
        """Run it in the foreground on a free port and return once it serves."""
        with (self.home / "stderr").open("w") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "qless_web", "-F", "-p", "0", *args],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=self.home,
                env=self.environment | more,
                start_new_session=True,
            )
        self.running.append(process)
        assert process.stdout is not None
        served, jobs = process.stdout.readline(), process.stdout.readline()
        url = re.search(r"serves (\S+) ", served)
        assert url, f"it did not start: {served}{jobs}{self.complaints}"
        return Running(process, url[1], jobs.removeprefix("jobs are in ").strip())

    def end(self) -> None:
        for process in self.running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        for pid in self.daemons:
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)
