"""The looks of the command `qless`: at queues, jobs, failures, statistics, and at what happens."""

from __future__ import annotations

import argparse
import datetime as dt
import re
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from qless_core import wire
from qless_core.command_line import command
from qless_core.errors import JobNotFound
from qless_core.job import Job
from qless_core.terminal import say, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qless_core.client import Client
    from qless_core.events import Event
    from qless_core.records import HistoryItem, Timing
    from qless_core.recurring import RecurringJob

#: The lists of `qless jobs`, as methods of `queue.jobs`; `waiting` is a peek, `failed` a walk.
STATES: Final = (
    *("waiting", "running", "stalled", "scheduled", "depends", "throttled", "recurring", "failed"),
)


def _queues(client: Client, _: argparse.Namespace) -> None:
    names = (
        *("waiting", "running", "stalled", "scheduled", "depends", "throttled"),
        *("recurring", "cron"),
    )
    rows = [
        (queue.name, *(str(getattr(queue, name)) for name in names), "paused" * queue.paused)
        for queue in client.queues.counts
    ]
    table(("queue", *names, ""), rows)


def _jobs(client: Client, arguments: argparse.Namespace) -> None:
    queue, start, count = client.queues[arguments.queue], arguments.offset, arguments.count
    jids: Iterable[str]
    if arguments.state == "waiting":
        jids = [job.jid for job in queue.peek(start + count)][start:]
    elif arguments.state == "failed":
        jids = islice(queue.jobs.all_jids("failed"), start, start + count)
    else:
        jids = getattr(queue.jobs, arguments.state)(start, count)
    for jid in jids:
        say(jid)


def _job(client: Client, arguments: argparse.Namespace) -> None:
    found = _found(client, arguments.jid)
    pairs = _of_job(found) if isinstance(found, Job) else _of_recurring(found)
    for name, value in pairs:
        say(f"{name + ':':<14}{value}")


def _failed(client: Client, arguments: argparse.Namespace) -> None:
    if arguments.group is None:
        groups = sorted(client.failures.groups.items(), key=lambda pair: (-pair[1], pair[0]))
        table(("group", "jobs"), [(group, str(count)) for group, count in groups])
        return
    page = client.failures.jobs(arguments.group, arguments.offset, arguments.count)
    rows = [(job.jid, job.klass_name, job.queue_name, _first_line(job)) for job in page.jobs]
    table(("jid", "class", "queue", "message"), rows)
    say(f"{len(page.jobs)} of {page.total}")


def _of_job(job: Job) -> Iterable[tuple[str, object]]:
    yield "jid", job.jid
    yield "class", job.klass_name
    yield "queue", job.queue_name
    yield "state", str(job.state)
    yield "worker", job.worker_name
    yield "priority", job.priority
    yield "attempt", job.attempt
    yield "retries", f"{max(0, job.retries_left)} of {job.original_retries}"
    yield "tags", ", ".join(job.tags)
    yield "depends on", ", ".join(job.dependencies)
    yield "dependents", ", ".join(job.dependents)
    yield "data", job.raw_data
    if job.failure is not None:
        yield "failed", job.failure.group
        yield "message", job.failure.message
    for item in job.history:
        yield "history", _of_item(item)


def _of_item(item: HistoryItem) -> str:
    told = " ".join(f"{name}={_plain(value)}" for name, value in item.details.items())
    return f"{_time(item.when)}  {item.what}  {told}".rstrip()


def _plain(value: object) -> str:
    return value if isinstance(value, str) else wire.dumps(value)


def _time(when: float) -> str:
    """Write a moment in UTC; one beyond the calendar as it is."""
    try:
        return dt.datetime.fromtimestamp(when, dt.UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    except (OSError, OverflowError, ValueError):
        return str(when)


def _stats(client: Client, arguments: argparse.Namespace) -> None:
    stats = client.queues[arguments.queue].stats(arguments.day)
    for name in ("failed", "failures", "retries"):
        say(f"{name + ':':<14}{getattr(stats, name)}")
    timings = (("wait", stats.wait), ("run", stats.run))
    table(("seconds", *_TIMES), [(name, *_of_timing(timing)) for name, timing in timings])


_TIMES: Final = ("jobs", "mean", "std", "p50", "p95", "p99")


def _of_timing(timing: Timing) -> Iterator[str]:
    yield str(timing.count)
    yield f"{timing.mean:.3f}"
    yield f"{timing.std:.3f}"
    for share in (50, 95, 99):
        found = timing.histogram.percentile(share)
        yield "-" if found is None else f"{found:g}"


def _tail(client: Client, arguments: argparse.Namespace) -> None:
    del arguments
    for event in client.events.listen():
        say(f"{_time(client.now())}  {_of_event(event)}")


#: Where a word begins within the name of a class.
_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _of_event(event: Event) -> str:
    told = asdict(event)
    name = told.pop("name", None) or _WORD.sub("_", type(event).__name__).lower()
    return " ".join([name, *(f"{field}={value}" for field, value in told.items())])


def _of_recurring(job: RecurringJob) -> Iterable[tuple[str, object]]:
    yield "jid", job.jid
    yield "class", job.klass_name
    yield "queue", job.queue_name
    yield "every", f"{job.interval} s"
    yield "count", job.count
    yield "priority", job.priority
    yield "retries", job.retries
    yield "tags", ", ".join(job.tags)
    yield "data", job.raw_data


def _first_line(job: Job) -> str:
    """Show the last line of a traceback, which says what happened, else the first of the text."""
    lines = job.failure.message.strip().splitlines() if job.failure else []
    return "" if not lines else lines[-1] if lines[0].startswith("Traceback") else lines[0]


def _found(client: Client, jid: str) -> Job | RecurringJob:
    found = client.jobs[jid]
    if found is None:
        raise JobNotFound(jid)
    return found


def add_looks(commands: Any) -> None:  # noqa: ANN401 - argparse keeps the type to itself
    """Add the commands that look, to the subparsers of a parser."""
    command(commands, "queues", _queues, "count the jobs of every queue by state")
    parser = command(commands, "jobs", _jobs, "list the jids of a queue in a state")
    parser.add_argument("queue")
    parser.add_argument("state", type=_state, metavar="STATE", help=", ".join(STATES))
    _add_page(parser)
    parser = command(commands, "job", _job, "show a job and its history")
    parser.add_argument("jid")
    parser = command(commands, "failed", _failed, "count failures by group, or list a group")
    parser.add_argument("group", nargs="?")
    _add_page(parser)
    parser = command(commands, "stats", _stats, "how long the jobs of a queue waited and ran")
    parser.add_argument("queue")
    parser.add_argument("day", nargs="?", help="a day in UTC, as 2026-11-30 (today)")
    command(commands, "tail", _tail, "print what happens, as it happens, until Ctrl-C")


def _state(text: str) -> str:
    """Read a state; those that no queue lists are elsewhere."""
    if text in STATES:
        return text
    choice = f"choose from {', '.join(STATES)}"
    problem = f"no list of a queue is called {text!r}; {_ELSEWHERE.get(text, choice)}"
    raise argparse.ArgumentTypeError(problem)


#: Where jobs are found whose state is none of a queue's lists.
_ELSEWHERE: Final = {
    "complete": "complete jobs are in no queue: `qless job JID`, or the console's page Completed",
}


def _add_page(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--offset", type=int, default=0, help="how many to skip (%(default)s)")
    parser.add_argument("--count", type=int, default=25, help="how many to list (%(default)s)")
