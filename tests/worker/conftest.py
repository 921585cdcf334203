"""Workers in processes of their own, on a server of this test run, and jobs that leave traces."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from qless_core.client import Client
from tests.support.polling import PATIENCE_S, eventually

ROOT = Path(__file__).parents[2]
JOBS = "tests.worker.worker_program"


@pytest.fixture(autouse=True)
def quiet_collector():
    """Keep Hypothesis out of the collector: what a signal raises in its callback is lost."""
    callbacks, gc.callbacks[:] = gc.callbacks[:], []
    yield
    gc.callbacks[:] = callbacks


class Program:
    """A worker in a process of its own."""

    def __init__(self, folder, url, client, wrapped=()):
        self.folder = folder
        self.url = url
        self.client = client
        self.wrapped = wrapped
        self.started = []
        self.process = None
        self.file = folder / "traces"
        self.gate = folder / "gate"

    def start(self, kind="serial", name="w", **options):
        """Run a worker of a kind; what it says is in `said`."""
        log = self.folder / f"log{len(self.started)}"
        command = [sys.executable, "-m", JOBS, self.url, kind, json.dumps(options)]
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                [*self.wrapped, *command],
                cwd=ROOT,
                env={**os.environ, "NAME": name},
                stderr=errors,
                stdout=errors,
                start_new_session=True,
            )
        self.process.log = log
        self.started.append(self.process)
        return self.process

    @property
    def said(self):
        return self.process.log.read_text("utf-8", "replace")

    def put(self, what, queue="q", **options):
        data = {"file": str(self.file), "gate": str(self.gate), **options.pop("data", {})}
        return self.client.queues[queue].put(f"{JOBS}.{what}", data, **options)

    def traces(self, word=None):
        """List the traces of jobs: word, jid and pid of each."""
        with suppress(FileNotFoundError):
            lines = [line.split() for line in self.file.read_text().splitlines()]
            return [(w, jid, int(pid)) for w, jid, pid in lines if word in (None, w)]
        return []

    def begun(self, number=1):
        """Wait until so many jobs have begun; answers the pids."""
        eventually(lambda: len(self.traces("began")) >= number)
        return [pid for _, _, pid in self.traces("began")]

    def at_work(self, name="w"):
        """Wait until a worker of this name is known to Redis."""
        eventually(lambda: any(found.name.startswith(name) for found in self.client.workers.counts))

    def send(self, number):
        self.process.send_signal(number)

    def ended(self):
        """Wait for the end; answers the exit code."""
        return self.process.wait(PATIENCE_S)

    def state(self, jid):
        job = self.client.jobs[jid]
        return job and job.state

    def what(self, jid):
        """List what happened to a job."""
        return [item.what for item in self.client.jobs[jid].history]

    def kill_all(self):
        for process in self.started:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def program(tmp_path, server, redis):  # noqa: ARG001 - it empties the server
    with Client(server.url) as client:
        program = Program(tmp_path, server.url, client)
        yield program
        program.kill_all()
        for process in program.started:
            print(process.log.read_text("utf-8", "replace"))  # noqa: T201 - shown where a test fails
