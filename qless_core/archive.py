"""Completed jobs, written away before Redis forgets them: to a file, or to whatever is called."""

from __future__ import annotations

import fcntl
import json
import os
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from qless_core import wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qless_core.client import Client
    from qless_core.records import HistoryItem, JobRecord

    #: Takes some jobs; when it returns, they are written for good.
    Writer = Callable[[Sequence["ArchivedJob"]], object]

#: Jobs in one read, with their data.
PAGE: Final = 100
#: Seconds that a job is left alone after it completed. Of clients that go by a clock of their own,
#: one that is late by less than this completes no job behind the archiver's back.
SETTLE_S: Final = 300.0


@dataclass(frozen=True, slots=True)
class ArchivedJob:
    """A completed job.

    Attributes:
        record: what Redis knows of it.
        completed: when it completed, epoch seconds.

    """

    record: JobRecord
    completed: float

    @property
    def queue(self) -> str:
        """The queue that it completed in; "" where its history does not say."""
        put = [_text(item, "q") or _text(item, "queue") for item in self._items("put")]
        return put[-1] if put else ""

    @property
    def workers(self) -> list[str]:
        """The workers that had it, in order: their names begin with those of their hosts."""
        return [worker for item in self._items("popped") if (worker := _text(item, "worker"))]

    def line(self) -> str:
        """Say all of it as one line of JSON; the data as the text that it is."""
        known = self.record
        return _dumps(
            {
                "jid": known.jid,
                "klass": known.klass,
                "queue": self.queue,
                "completed": self.completed,
                "workers": self.workers,
                "data": known.data,
                "tags": known.tags,
                "priority": known.priority,
                "retries": known.retries,
                "spawned_from_jid": known.spawned_from_jid,
                "history": [
                    {"what": item.what, "when": item.when, **item.details} for item in known.history
                ],
            }
        )

    def _items(self, what: str) -> Iterable[HistoryItem]:
        return (item for item in self.record.history if item.what == what)


@dataclass(frozen=True, slots=True)
class Archived:
    """What a run of an archiver did.

    Attributes:
        jobs: how many jobs were written.
        gone: how many Redis forgot at the very moment of being read.
        has_gap: whether Redis may have forgotten others before: more than `jobs-history-count` have
            completed, or more time than `jobs-history` has passed, since the run before.

    """

    jobs: int
    gone: int
    has_gap: bool


class JsonLines:
    """Appends jobs to a file, a line of JSON each, and lets the disk have them before it returns.

    Args:
        path: which file. It may have the codes of `strftime`, as `%Y-%m-%d`: then each job goes
            into the file of the moment (UTC) when it completed.

    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def __repr__(self) -> str:
        return f"JsonLines({self.path!r})"

    def __call__(self, jobs: Sequence[ArchivedJob]) -> None:
        """Append some jobs.

        Raises:
            OSError: a file cannot be written.

        """
        files: dict[str, list[str]] = defaultdict(list)
        for job in jobs:
            name = self.path
            if "%" in name:
                name = datetime.fromtimestamp(job.completed, UTC).strftime(name)
            files[name].append(f"{job.line()}\n")
        for name, lines in files.items():
            _append(name, "".join(lines).encode())


def archive(client: Client, write: Writer, *, name: str, settle: float) -> Archived:
    """Write all jobs that completed since the last run, the oldest first, a page at a time.

    A page that was written and could not be noted is written again by the next run.

    Raises:
        ArchiveMoved: another archiver of this name is at work.

    """
    jobs = gone = 0
    has_gap = False
    while True:
        page = client.commands.archive_next(name, settle, PAGE)
        has_gap |= page.has_gap
        if page.end == page.start:
            return Archived(jobs, gone, has_gap)
        if page.jobs:
            write([*map(ArchivedJob, page.jobs, page.times)])
        client.commands.archive_done(name, page.start, page.end)
        jobs += len(page.jobs)
        gone += page.gone


def _append(name: str, lines: bytes) -> None:
    is_new = not os.path.exists(name)  # noqa: PTH110 - a name, as everywhere here
    with open(name, "ab+") as file:  # noqa: PTH123 - as above
        fcntl.flock(file, fcntl.LOCK_EX)
        _cut_torn_line(file)
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        _sync_folder(os.path.dirname(name) or ".")  # noqa: PTH120 - as above


def _cut_torn_line(file: Any) -> None:  # noqa: ANN401 - a file, open for reading and appending
    """Take away what a run that was killed left of its last line: its page is written again."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - 65536)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0 or start == 0:
            keep = start + found + 1
            if keep < file.seek(0, os.SEEK_END):
                file.truncate(keep)
            return
        end = start


def _sync_folder(folder: str) -> None:
    """Let the disk have the name of a new file, too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _text(item: HistoryItem, name: str) -> str:
    value = item.details.get(name)
    return value if isinstance(value, str) else ""


def _dumps(value: Any) -> str:  # noqa: ANN401 - as JSON
    """Write JSON that any reader takes, whatever a client left in a history."""
    try:
        return json.dumps(value, allow_nan=False, default=str)
    except ValueError:
        history = [wire.fingerprint(item) for item in value["history"]]
        return json.dumps({**value, "history": history}, default=str)
