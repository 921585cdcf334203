"""All jobs of a list, however long, one after another: in bounded reads, while others change it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from qless_core import bulk
from qless_core.errors import BadArgument
from qless_core.job import read_jobs
from qless_core.recurring import RecurringJob

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qless_core.client import Client
    from qless_core.commands import Commands
    from qless_core.job import Job

#: Jids in one read: a millisecond of the server's time.
STRETCH: Final = 1000
#: Jobs in one read, with their data.
PAGE: Final = 100
#: How often a queue is walked: a job that changes its place once meanwhile is met all the same.
ROUNDS: Final = 2

#: The lists of the script that hold the jobs of a queue in each state.
LISTS: Final = {
    "waiting": ("due", "waiting"),
    "running": ("running",),
    "stalled": ("stalled",),
    "scheduled": ("scheduled",),
    "depends": ("depends",),
    "throttled": ("throttled",),
    "recurring": ("recurring", "cron"),
}
#: What a queue can be asked for; failed jobs are in no list of it, but name it.
STATES: Final = (*LISTS, "failed")


def stretches(
    commands: Commands, list_: str, name: str = "", size: int = STRETCH
) -> Iterator[list[str]]:
    """Read the jids of a list, so many at a time, from its beginning to its end.

    One that stays where it is is met; one that moves along may be met twice.
    """
    behind: tuple[str, str] | None = None
    while found := commands.jobs_walk(list_, name, size, behind):
        yield [jid for jid, _ in found]
        behind = found[-1]


def queue_jids(client: Client, queue: str, states: Sequence[str]) -> Iterator[str]:
    """Walk the jids of a queue in some states, each once.

    Raises:
        BadArgument: there is no such state, or none that is of a queue.

    """
    lists = _lists_of(states)
    failed = (job.jid for job in _failed(client, queue, states))
    found = (jids for _, jids in _fresh(client.commands, queue, lists, STRETCH))
    return _each_once(chain(chain.from_iterable(found), failed))


def queue_jobs(client: Client, queue: str, states: Sequence[str]) -> Iterator[Job | RecurringJob]:
    """Walk the jobs of a queue in some states, each once.

    Raises:
        BadArgument: there is no such state, or none that is of a queue.

    """
    lists = _lists_of(states)
    return _jobs_once(client, queue, lists, states)


def listed_jobs(client: Client, list_: str, name: str = "") -> Iterator[Job]:
    """Walk the jobs of a list that belongs to no queue, each once."""
    met: set[str] = set()
    for jids in stretches(client.commands, list_, name, PAGE):
        fresh = [jid for jid in jids if jid not in met]
        met.update(fresh)
        yield from read_jobs(client, fresh)


def group_jobs(client: Client, groups: Iterable[str]) -> Iterator[Job]:
    """Walk the failed jobs of some groups, the oldest of each first, each job once."""
    met: set[str] = set()
    for group in groups:
        for jids in bulk.tail(client.commands, group):
            for job in read_jobs(client, [jid for jid in jids if jid not in met]):
                met.add(job.jid)
                yield job


def _lists_of(states: Sequence[str]) -> list[str]:
    for state in states:
        if state not in STATES:
            problem = f"no list of a queue is called {state!r}: there are {', '.join(STATES)}"
            raise BadArgument(problem)
    return [list_ for state in states or LISTS for list_ in LISTS.get(state, ())]


def _fresh(
    commands: Commands, queue: str, lists: Sequence[str], size: int
) -> Iterator[tuple[str, list[str]]]:
    """Walk the lists of a queue, again and again; answers what was not met before, and where."""
    met: set[str] = set()
    for first in (True, *[False] * (ROUNDS - 1)):
        for list_ in lists:
            for jids in stretches(commands, list_, queue, size if first else STRETCH):
                fresh = [jid for jid in jids if jid not in met]
                met.update(fresh)
                for start in range(0, len(fresh), size):
                    yield list_, fresh[start : start + size]


def _failed(client: Client, queue: str, states: Sequence[str]) -> Iterator[Job]:
    """Walk the failed jobs that name a queue: all failures are read for it."""
    if not states or "failed" in states:
        groups = client.commands.failed()
        yield from (job for job in group_jobs(client, groups) if job.queue_name == queue)


def _jobs_once(
    client: Client, queue: str, lists: Sequence[str], states: Sequence[str]
) -> Iterator[Job | RecurringJob]:
    met: set[str] = set()
    for list_, jids in _fresh(client.commands, queue, lists, PAGE):
        met.update(jids)
        if list_ in LISTS["recurring"]:
            yield from _recurring(client, jids)
        else:
            yield from read_jobs(client, jids)
    yield from (job for job in _failed(client, queue, states) if job.jid not in met)


def _recurring(client: Client, jids: Iterable[str]) -> Iterator[RecurringJob]:
    for jid in jids:
        record = client.commands.recur_get(jid)
        if record is not None:
            yield RecurringJob(client, record)


def _each_once(jids: Iterable[str]) -> Iterator[str]:
    met: set[str] = set()
    for jid in jids:
        if jid not in met:
            met.add(jid)
            yield jid
