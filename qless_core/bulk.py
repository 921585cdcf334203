"""Work on more jobs than one call of the script may take: in chunks, each job checked in Redis.

A chunk takes milliseconds, so that others have their turn between two of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from qless_core.duration import seconds_of
from qless_core.errors import BadArgument
from qless_core.records import Report
from qless_core.several import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from qless_core.client import Client
    from qless_core.commands import Commands
    from qless_core.duration import Duration
    from qless_core.job import Job

_T = TypeVar("_T")

#: Jobs in one call of the script: some 10 ms of the server's time.
CHUNK: Final = 250

#: Jobs put by one call of the script, and the most text of one: some 10 ms of the server's time.
PUT_CHUNK: Final = 250
PUT_TEXT: Final = 1_000_000

#: Jids read at once from the end of a group.
WINDOW: Final = 10_000


def total(reports: Iterable[Report]) -> Report:
    """Put the reports of all chunks together."""
    done: list[str] = []
    left: dict[str, str] = {}
    emptied: list[str] = []
    for report in reports:
        done.extend(report.done)
        left.update(report.left)
        emptied.extend(report.emptied)
    return Report(tuple(done), left, tuple(emptied))


def in_chunks(
    act: Callable[[Sequence[tuple[str, str]]], Report], wanted: Sequence[tuple[str, str]]
) -> Iterator[Report]:
    """Act on jobs that are named, a chunk at a time.

    Args:
        act: does it to some of them.
        wanted: jids with the states they may be in, as `Commands.bulk_move` takes them.

    """
    for chunk in _chunks(wanted):
        yield act(chunk)


def batches(rows: Sequence[list[str | float]]) -> Iterator[Sequence[list[str | float]]]:
    """Give jobs to put, as many at a time as one call may take: by number and by size."""
    start = length = 0
    for end, row in enumerate(rows):
        more = sum(len(part) for part in row if isinstance(part, str))
        if end > start and (end - start == PUT_CHUNK or length + more > PUT_TEXT):
            yield rows[start:end]
            start, length = end, 0
        length += more
    if start < len(rows):
        yield rows[start:]


class Bulk:
    """`client.bulk`: work on many jobs, some hundreds in one round trip.

    What cannot be done to a job is said of that job, and stops no other.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def __repr__(self) -> str:
        return f"<Bulk of {self._client!r}>"

    def complete(self, jobs: Iterable[Job], next_queue: str = "", delay: Duration = 0) -> Report:
        """Finish jobs that were popped, or let them go on in the next queue.

        Args:
            jobs: as they were popped; what was changed in their data goes with them.
            next_queue: the queue that they go on in.
            delay: seconds that they wait there first.

        Returns:
            What was done; of each job that was left why: `gone`, the state it is in, `worker` when
            another one has it by now, `queue` when it runs in another one.

        Raises:
            BadArgument: data of a job cannot be said in JSON; nothing was done.

        """
        delay = seconds_of("delay", delay)
        held: dict[str, list[tuple[Job, str]]] = {}
        for job in listed("jobs", jobs):
            if not hasattr(job, "holder"):
                text = "the text " if isinstance(job, str) else ""
                problem = f"complete() takes jobs as they were popped, got {text}{job!r}"
                raise BadArgument(problem)
            held.setdefault(job.holder, []).append((job, job.raw_data))
        return total(
            self._complete(worker, chunk, next_queue, delay)
            for worker, of_worker in held.items()
            for chunk in _chunks(of_worker)
        )

    def cancel(self, jids: Iterable[str], states: str = "") -> Report:
        """Remove jobs for good, but complete ones and those that others wait for who stay.

        Args:
            jids: which.
            states: those it may be in, with commas between; any when not given.

        Raises:
            BadArgument: one jid was given where several are meant, or an empty one.

        """
        cancel = partial(self._client.commands.bulk_cancel, "")
        reports = []
        wanted = [(jid, states) for jid in _listed(jids)]
        while wanted:
            report = total(in_chunks(cancel, wanted))
            again = {jid for jid, why in report.left.items() if why == "dependents"}
            # Those that wait for each other may have been in two round trips: what went may have
            # been what kept the others.
            wanted = [(jid, states) for jid, _ in wanted if jid in again] if report.done else []
            settled = {
                jid: why for jid, why in report.left.items() if not wanted or jid not in again
            }
            reports.append(replace(report, left=settled))
        return total(reports)

    def move(self, jids: Iterable[str], queue: str = "", states: str = "") -> Report:
        """Put jobs to work, from wherever they are, with their retries renewed.

        Args:
            jids: which.
            queue: where they go; each into its own queue when not given.
            states: those it may be in, with commas between; any when not given.

        Raises:
            BadArgument: one jid was given where several are meant, or an empty one.

        """
        wanted = [(jid, states) for jid in _listed(jids)]
        return total(in_chunks(partial(self._client.commands.bulk_move, "", queue), wanted))

    def unfail(self, *groups: str, queue: str = "") -> Report:
        """Put failed jobs to work, with their retries renewed.

        Args:
            groups: those of which failures; of all when none is given.
            queue: where they go; each into its own queue when not given.

        """
        commands = self._client.commands
        return total(
            commands.bulk_move(group, queue, [(jid, "failed") for jid in jids])
            for group in groups or commands.failed()
            for jids in tail(commands, group)
        )

    def _complete(
        self, worker: str, held: Sequence[tuple[Job, str]], next_queue: str, delay: float
    ) -> Report:
        report = self._client.commands.bulk_complete(
            worker,
            [(job.jid, job.queue_name, text) for job, text in held],
            next=next_queue,
            delay_s=delay,
        )
        done = set(report.done)
        state = "complete" if not next_queue else "scheduled" if delay > 0 else "waiting"
        for job, text in held:
            if job.jid in done:
                job.note_complete(text, state, next_queue or None)
        return report


@dataclass(frozen=True, slots=True)
class Seen:
    """How a failure group was when somebody looked.

    Attributes:
        count: how many jobs it listed.
        newest: the newest of them.
        when: the moment, epoch seconds.

    """

    count: int
    newest: str
    when: float


def tail(commands: Commands, group: str, seen: Seen | None = None) -> Iterator[Sequence[str]]:
    """Walk the jids of a failure group from its oldest on, while others take some and add some.

    New failures come in at the other end, so what was there at the beginning is met once, and
    what comes later is not.

    Args:
        commands: reads the group.
        group: which.
        seen: the group as somebody saw it: only what was there then is met. Where its newest job
            has left, or failed anew, the moment of each failure decides.

    """
    left, before = _bounds(commands, group, seen)
    depth = WINDOW
    met: set[str] = set()
    while left > 0:
        start = max(0, commands.failed_group(group, 0, 1).total - depth)
        found = commands.failed_group(group, start, depth).jids
        fresh = [jid for jid in reversed(found) if jid not in met]
        if not fresh and start == 0:
            return
        if len(fresh) < depth // 2:
            depth *= 2  # What was met and stayed lies at this end, too: look beyond it.
        fresh = fresh[:left]
        left -= len(fresh)
        met.update(fresh)
        for at in range(0, len(fresh), CHUNK):
            chunk = fresh[at : at + CHUNK]
            yield chunk if before is None else _failed_by(commands, chunk, before)


def _bounds(commands: Commands, group: str, seen: Seen | None) -> tuple[int, float | None]:
    """Give how many jobs from the oldest on were seen, and the moment that decides, if one must."""
    if seen is None:
        return commands.failed_group(group, 0, 1).total, None
    head = commands.failed_group(group, 0, WINDOW)
    if seen.newest in head.jids:
        place = head.total - head.jids.index(seen.newest)
        by_then = _failed_by(commands, [seen.newest], seen.when + 1)
        if by_then and place <= seen.count:
            return place, None
    return min(seen.count, head.total), seen.when


def _failed_by(commands: Commands, jids: Sequence[str], moment: float) -> list[str]:
    """Leave out jobs that failed after a moment, or may have: failures tell whole seconds."""
    later = {
        job.jid for job in commands.multiget(*jids) if job.failure and job.failure.when + 1 > moment
    }
    return [jid for jid in jids if jid not in later]


def _chunks(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]


def _listed(jids: Iterable[str]) -> list[str]:
    """List jids, each once.

    Raises:
        BadArgument: one text was given where several jids are meant, or what is no jid.

    """
    given = listed("jids", jids)
    for jid in given:
        if not isinstance(jid, str):
            problem = f"a jid is a text, got {jid!r}"
            raise BadArgument(problem)
    return [*dict.fromkeys(given)]
