"""Workers: who was seen, what each tells of itself, and what it holds."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from qless_core.options import as_number, number_of
from qless_core.reads.plan import Call, Read, Scope, Slice, call, read
from qless_core.reads.rows import JobRow, Listing, by_score, fields_of, job_rows, parse
from qless_core.records import WorkerInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: Jobs of a worker that are looked at to tell what it does and which queues it serves.
_SAMPLE = 5
#: Queues that a worker tells of which are looked for; a link to others would lead nowhere.
_QUEUES = 50
#: Children of one worker that are looked at.
CHILDREN_SHOWN = 64
#: Seconds without a beat after which a worker that gives them is not well; it gives one every 3.
SILENT_S = 30.0

#: Workers that are counted to put them in the order of what they run.
ORDERED_AT_MOST = 250

#: Children are called after their worker, with a number.
_CHILD = re.compile(r"(.+)-[0-9]+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HeldJob:
    """A job that a worker holds, and when its lock ends, epoch seconds."""

    jid: str
    klass: str
    queue: str
    ends: float | None


@dataclass(frozen=True, slots=True)
class WorkerSummary:
    """A worker. `last_seen` in epoch seconds."""

    name: str
    last_seen: float | None
    #: Jobs that it holds itself, within their lock and beyond.
    running: int
    stalled: int
    #: Queues that it tells of, or else those of jobs it holds now.
    queues: tuple[str, ...] = ()
    #: Those of these that there are: the others are patterns, or nothing was ever put there.
    known_queues: frozenset[str] = frozenset()
    #: It was not seen for `max-worker-age` seconds.
    gone: bool = False
    #: It gives beats, but gave none for `SILENT_S` seconds.
    silent: bool = False
    #: What it tells of itself; None for a child, and for a worker of another client.
    info: WorkerInfo | None = None
    #: What it is asked to do and has not done yet; "" for nothing.
    asked: str = ""
    #: Some of the jobs that it holds, those whose lock ends first.
    jobs: tuple[HeldJob, ...] = ()
    #: The first of its children, and how many there are.
    children: tuple[WorkerSummary, ...] = ()
    children_total: int = 0

    @property
    def everyone(self) -> tuple[WorkerSummary, ...]:
        """Itself and its children."""
        return (self, *self.children)


@dataclass(frozen=True, slots=True)
class Crew(Listing[WorkerSummary]):
    """Workers, a part of them; `everyone` is how many names are on the list, children's too."""

    everyone: int = 0


@dataclass(frozen=True, slots=True)
class WorkerDetail:
    """One worker, and a part of the jobs it holds, those whose lock ends first at the head."""

    summary: WorkerSummary
    known: bool
    jobs: Listing[JobRow]
    #: The worker whose child it is; "" when it is none.
    parent: str = ""


@read
def workers(
    scope: Scope,
    part: Slice,
    *,
    match: str = "",
    alive: bool = False,
    grouped: bool = False,
    order: str = "name",
) -> Read[Crew]:
    """Give workers, a page at a time; by name, rows stay where they are.

    Args:
        scope: given by `run`.
        part: which page.
        match: keep the workers whose name contains this, in any case.
        alive: leave out those that are gone.
        grouped: put children below their worker, in the place of one by one.
        order: `name`; `seen`: those first that were seen last; `running`: those first that run
            the most jobs, with their children. Of more than `ORDERED_AT_MOST` the rest follows.

    """
    keys = scope.keys
    found, configured = yield [
        call("zrange", keys.workers, 0, -1, withscores=True),
        call("hget", keys.config, "max-worker-age"),
    ]
    before = scope.now - number_of("max-worker-age", configured)
    wanted = match.casefold()
    seen = {
        name: float(score)
        for name, score in sorted(found or ())
        if wanted in name.casefold() and not (alive and float(score) <= before)
    }
    families = _families(seen) if grouped else dict[str, list[str]].fromkeys(seen, [])
    if order == "seen":
        families = dict(sorted(families.items(), key=lambda each: -seen[each[0]]))
    reach = ORDERED_AT_MOST if order == "running" else 0
    late = Slice(max(part.offset, reach), max(0, part.last + 1 - max(part.offset, reach)))
    counted = [*list(families)[:reach], *late.of(list(families))]
    looks = {
        name: [
            _Look(scope, each, seen[each], before)
            for each in (name, *families[name][:CHILDREN_SHOWN])
        ]
        for name in counted
    }
    # Of children that may only be counted no more is asked than that takes.
    light = [look for name in counted[:reach] for look in looks[name][1:]]
    whole = [looks[name][0] for name in counted[:reach]]
    whole += [look for name in counted[reach:] for look in looks[name]]
    asked = [*_all(look.asks() for look in whole), *_all(look.holds() for look in light)]
    replies = iter((yield asked))
    for look in whole:
        look.hears(replies)
    for look in light:
        look.hears_what_it_holds(replies)
    head = sorted(counted[:reach], key=lambda name: -sum(each.running for each in looks[name]))
    shown = [*part.of(head), *counted[reach:]]
    light = [look for name in part.of(head) for look in looks[name][1:]]
    seen_now = [look for name in shown for look in looks[name]]
    asked = [*_all(look.tells() for look in light), *_all(look.details() for look in seen_now)]
    replies = iter((yield asked))
    for look in light:
        look.hears_what_it_tells(replies)
    for look in seen_now:
        look.learns(replies)
    rows = tuple(_family(iter(looks[name]), families[name]) for name in shown)
    return Crew(rows, len(families), part.offset, len(seen))


def _families(names: Iterable[str]) -> dict[str, list[str]]:
    """Put those that are called after another one, with a number, below that one."""
    known = set(names)
    families: dict[str, list[str]] = {}
    children: list[tuple[str, str]] = []
    for name in names:
        parent = _parent_of(name)
        if parent in known and _parent_of(parent) not in known:
            children.append((parent, name))
        else:
            families[name] = []
    for parent, name in sorted(children, key=lambda each: (len(each[1]), each[1])):
        families[parent].append(name)
    return families


def _parent_of(name: str) -> str:
    found = _CHILD.fullmatch(name)
    return found[1] if found else ""


def _family(looks: Iterator[_Look], children: Sequence[str]) -> WorkerSummary:
    parent = next(looks)
    found = tuple(next(looks).summary() for _ in children[:CHILDREN_SHOWN])
    return parent.summary(found, len(children))


class _Look:
    """A look at one worker, in two batches: what it tells and holds, then which jobs these are."""

    def __init__(self, scope: Scope, name: str, seen: float | None, before: float) -> None:
        self.name = name
        self.was_seen(seen, before)
        self._now = scope.now
        self._keys = scope.keys
        self._jobs: dict[str, float | None] = {}
        self._running = self._stalled = 0
        self._info: WorkerInfo | None = None
        self._asked = ""
        self._fields: list[list[str | None]] = []
        self._sought: tuple[str, ...] = ()
        self._known: frozenset[str] = frozenset()

    def was_seen(self, at: float | None, before: float) -> None:
        """Note when it was seen last; it is gone when that was before a moment."""
        self._seen = at if at is None or math.isfinite(at) else None
        self._gone = at is not None and at <= before

    def asks(self) -> list[Call]:
        """Ask what it tells of itself and holds."""
        return [*self.tells(), *self.holds()]

    def hears(self, replies: Iterator[Any]) -> None:
        """Take what came."""
        self.hears_what_it_tells(replies)
        self.hears_what_it_holds(replies)

    def tells(self) -> list[Call]:
        """Ask what it tells of itself, and what it should have finished."""
        keys = self._keys
        return [
            call("get", keys.worker_info(self.name)),
            call("get", keys.worker_asked(self.name)),
            call("zcount", keys.worker_jobs(self.name), "-inf", self._now),
        ]

    def hears_what_it_tells(self, replies: Iterator[Any]) -> None:
        """Take what came."""
        self._info = WorkerInfo.from_reply(parse(next(replies)))
        self._asked = _asked(next(replies), self._info)
        self._stalled = next(replies) or 0

    def holds(self) -> list[Call]:
        """Ask how much it runs, and for the first of its jobs."""
        held = self._keys.worker_jobs(self.name)
        return [
            call("zcount", held, f"({self._now}", "+inf"),
            call("zrange", held, 0, _SAMPLE - 1, withscores=True),
        ]

    def hears_what_it_holds(self, replies: Iterator[Any]) -> None:
        """Take what came."""
        self._running = next(replies) or 0
        self._jobs = by_score(next(replies))

    def details(self) -> list[Call]:
        """Ask of the first of its jobs, and of the queues that it has told of by now."""
        self._sought = self._info.queues[:_QUEUES] if self._info else ()
        return [
            *(call("hmget", self._keys.job(jid), ["klass", "queue"]) for jid in self._jobs),
            *(call("zscore", self._keys.queues, name) for name in self._sought),
        ]

    def learns(self, replies: Iterator[Any]) -> None:
        """Take what came of its jobs and queues, one reply for each."""
        self._fields = [next(replies) or [None, None] for _ in self._jobs]
        self._known = frozenset(name for name in self._sought if next(replies) is not None)

    @property
    def running(self) -> int:
        """How many jobs it holds within their lock."""
        return self._running

    def summary(
        self, children: tuple[WorkerSummary, ...] = (), total: int | None = None
    ) -> WorkerSummary:
        """Say what was found."""
        info = self._info
        jobs = tuple(
            HeldJob(jid, klass or "", queue or "", ends)
            for (jid, ends), (klass, queue) in zip(self._jobs.items(), self._fields, strict=True)
        )
        taken = {each.queue for child in children for each in child.jobs}
        taken |= {each.queue for each in jobs}
        taken -= {""}
        return WorkerSummary(
            name=self.name,
            last_seen=self._seen,
            running=self._running,
            stalled=self._stalled,
            queues=info.queues if info and info.queues else tuple(sorted(taken)),
            known_queues=self._known | taken,
            gone=self._gone,
            silent=info is not None and not self._gone and (self._seen or 0) < self._now - SILENT_S,
            info=info,
            asked=self._asked,
            jobs=jobs,
            children=children,
            children_total=len(children) if total is None else total,
        )


def _asked(stored: str | None, info: WorkerInfo | None) -> str:
    """Read what a worker is asked; what was asked of another process of its name is no request."""
    request, _, started = (stored or "").partition(" ")
    return request if info is not None and started == f"{info.started:.17g}" else ""


def _all(batches: Iterable[list[Call]]) -> Iterator[Call]:
    """Give the calls of several batches, one after the other."""
    return chain.from_iterable(batches)


@read
def worker(scope: Scope, name: str, part: Slice) -> Read[WorkerDetail]:
    """Give one worker, its children, and the jobs it holds itself, a page at a time."""
    keys = scope.keys
    held_by = keys.worker_jobs(name)
    above = _parent_of(name)
    seen, configured, held, told, of_parent = yield [
        call("zscore", keys.workers, name),
        call("hget", keys.config, "max-worker-age"),
        call("zcard", held_by),
        call("get", keys.worker_info(name)),
        call("get", keys.worker_info(above)),
    ]
    before = scope.now - number_of("max-worker-age", configured)
    info = WorkerInfo.from_reply(parse(told))
    children = [each.name for each in info.children] if info else []
    shown = children[:CHILDREN_SHOWN]
    me = _Look(scope, name, as_number(seen), before)
    looks = [me, *(_Look(scope, each, None, -1) for each in shown)]
    replies = yield [
        call("zrange", held_by, part.offset, part.last, withscores=True),
        *(call("zscore", keys.workers, each) for each in shown),
        *_all(look.asks() for look in looks),
    ]
    found, times, told_us = replies[0], replies[1 : 1 + len(shown)], iter(replies[1 + len(shown) :])
    for look, time in zip(looks[1:], times, strict=True):
        look.was_seen(as_number(time), before)
    for look in looks:
        look.hears(told_us)
    at = by_score(found)
    fields = yield [*fields_of(keys, at), *_all(look.details() for look in looks)]
    rows = job_rows(list(at), fields[: len(at)], scope.now, at=at, locks=at)
    rest = iter(fields[len(at) :])
    for look in looks:
        look.learns(rest)
    parent = WorkerInfo.from_reply(parse(of_parent))
    is_child = parent is not None and name in {each.name for each in parent.children}
    return WorkerDetail(
        summary=me.summary(tuple(look.summary() for look in looks[1:]), len(children)),
        known=seen is not None or (held or 0) > 0 or is_child,
        jobs=Listing(rows, held or 0, part.offset),
        parent=above if is_child else "",
    )
