"""Looks what became of all jobs, once nothing is killed any more."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from qless_core.recurring import RecurringJob

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from benchmarks.mayhem.plan import Planned
    from qless_core.client import Client
    from qless_core.job import Job

#: Jobs read at a time.
CHUNK = 500


@dataclass
class Verdict:
    """What became of the jobs.

    Attributes:
        jobs: how many there were, those of recurring ones among them.
        states: how many are in each state now.
        runs: how often a job was begun.
        again: how many jobs were begun more often than had nothing been killed.
        groups: the failures by group.
        never_begun: jobs that may run at most once, and were failed though they never began.
        wrong: what should not be, in words.

    """

    jobs: int = 0
    states: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    again: int = 0
    groups: dict[str, int] = field(default_factory=dict)
    never_begun: int = 0
    wrong: list[str] = field(default_factory=list)


def left_to_do(client: Client) -> int:
    """Count the jobs of which something is yet to become, but those that wait for others."""
    counts = client.queues.counts
    return sum(
        each.waiting + each.running + each.stalled + each.scheduled + each.throttled
        for each in counts
    )


def judge(
    client: Client, planned: Iterable[Planned], recurring: Mapping[str, int], runs: Path
) -> Verdict:
    """Look at every job.

    Args:
        client: of the server.
        planned: the jobs that were put.
        recurring: the retries of each recurring job; its jobs are looked at, too.
        runs: the file with a line for each time that a job was begun.

    """
    begun = Counter(line.split()[0] for line in runs.read_text().splitlines())
    usual = {each.jid: each.runs for each in planned}
    again = sum(1 for jid, times in begun.items() if times > usual.get(jid, 1))
    verdict = Verdict(runs=begun.total(), again=again)
    once = {each.jid: each.is_once for each in planned}
    for parent, retries in recurring.items():
        once |= dict.fromkeys(_children(client, parent), retries == 0)
    jobs = _read(client, [*once])
    verdict.jobs, verdict.groups = len(once), client.failures.groups
    listed = {jid for group in verdict.groups for jid in _group(client, group)}
    for jid, is_once in once.items():
        job = jobs.get(jid)
        if job is None:
            verdict.wrong.append(f"{jid} is lost")
            continue
        verdict.states[str(job.state)] += 1
        if problem := _problem(job, jobs, listed, begun[jid], is_once=is_once):
            verdict.wrong.append(f"{jid} {problem}")
        if is_once and job.state == "failed" and not begun[jid]:
            verdict.never_begun += 1
    faults = client.audit().tallies
    verdict.wrong += [
        f"audit: {each.kind.id} {each.count}" for each in faults if each.kind.is_fault
    ]
    return verdict


def _problem(job: Job, jobs: dict[str, Job], listed: set[str], begun: int, *, is_once: bool) -> str:
    """Say what is wrong with a job; "" when nothing is."""
    if is_once and begun > 1:
        return f"may run once and was begun {begun} times"
    if job.state == "complete":
        return "" if begun else "is complete and was never begun"
    if job.state == "failed":
        return "" if job.jid in listed and job.failure else "has failed, where nobody sees it"
    if job.state == "depends" and any(
        jobs[each].state in {"failed", "depends"} for each in job.dependencies
    ):
        return ""  # what it waits for has failed, or waits for what has
    return f"is stuck: {job.state}"


def _children(client: Client, parent: str) -> list[str]:
    found = client.jobs[parent]
    if not isinstance(found, RecurringJob):
        return []
    return [f"{parent}-{number}" for number in range(1, found.count + 1)]


def _read(client: Client, jids: list[str]) -> dict[str, Job]:
    chunks = (jids[start : start + CHUNK] for start in range(0, len(jids), CHUNK))
    return {job.jid: job for chunk in chunks for job in client.jobs.get(*chunk)}


def _group(client: Client, group: str) -> list[str]:
    found: list[str] = []
    while page := client.commands.failed_group(group, len(found), CHUNK).jids:
        found += page
    return found
