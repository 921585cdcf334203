"""One job: what it is, why it is where it is, what happened to it, and what can be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.extensions import Seen
from qless_web.formatting import absolute, count, duration, isolated, short_jid
from qless_web.presenters import jobs, named, related, timeline, traces, words
from qless_web.presenters.facts import Data, Fact, Tag, data, tags
from qless_web.presenters.graph import FEW, Graph, graph
from qless_web.presenters.page import Action, Crumb, Link, Page
from qless_web.presenters.why import Why, why
from qless_web.presenters.words import Sentence, sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.reads.job import JobDetail
    from qless_core.reads.relatives import Relatives
    from qless_core.reads.rows import JobRow
    from qless_web.triage.fellows import Fellows


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a running job is, by its own word.

    Attributes:
        text: in words.
        share: from 0 to 1; None where it is not known of how much.
        when: when it said so, epoch seconds.

    """

    text: str
    share: float | None
    when: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a job failed last.

    Attributes:
        group: its whole name; `shown` is what fits, `link` where its jobs are now.
        trace: the message, told apart line by line.
        raw: where the message is whole, as it was stored.
        when: epoch seconds.
        current: whether the job is failed now; else it was, and has been retried since.

    """

    group: str
    shown: str
    link: Link
    trace: traces.Trace
    raw: Link
    when: float | None
    worker: Sentence
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRun:
    """Another job of the class: what points at it says, and where it is."""

    state: str
    title: str
    link: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRuns:
    """Other jobs of the class.

    Attributes:
        every: the search for all of them.
        counts: how many are in each state, with the search for those; None where it is not known.
        newest: the newest, the oldest of them first.
        looked_at: of how many the counts tell, where there are more; else 0.

    """

    every: Link
    counts: tuple[tuple[str, int | None, Link], ...]
    newest: tuple[OtherRun, ...] = ()
    looked_at: int = 0


@dataclass(frozen=True, kw_only=True)
class JobPage(Page):
    """One job.

    Attributes:
        jid: whole.
        klass: its class.
        state: as a pop would find it.
        paused: whether its queue is.
        tracked: whether somebody follows it.
        why: one sentence about its state.
        facts: what it is, line by line.
        tags: its tags.
        add_tag: what puts another one on; the form field is `tag`.
        actions: what can be done in its state, what mends first.
        progress: how far it is; None where it does not run, or did not say.
        failure: why it failed last; None when it did not.
        life: what happened to it.
        data: what it works on.
        seen: it, as the host's extensions are given it.
        dependencies: the jobs it waits for.
        dependents: the jobs that wait for it.
        graph: both, and a step further, drawn; None where there are none.
        graph_link: the page that draws more of them.
        timeline_link: the page that draws them on one axis, as time went.
        runs: other jobs of its class.
        copies: the job as text, by what it is called.

    """

    template: ClassVar[str] = "jobs/show.html"

    jid: str
    klass: str
    state: str
    paused: bool
    tracked: bool
    why: Why
    facts: tuple[Fact, ...]
    tags: tuple[Tag, ...]
    add_tag: Action
    actions: tuple[Action, ...]
    progress: Progress | None
    failure: Failure | None
    life: timeline.Life
    data: Data
    seen: Seen
    dependencies: related.RelatedJobs
    dependents: related.RelatedJobs
    graph: Graph | None
    graph_link: Link
    timeline_link: Link
    runs: OtherRuns
    copies: tuple[tuple[str, Link], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is known besides the job itself.

    Attributes:
        relatives: the jobs it waits for and those that wait for it.
        query: how a search asks for the jobs of its class.
        fellows: what the index knows of these; None where there is none.

    """

    relatives: Relatives | None = None
    query: str = ""
    fellows: Fellows | None = None


def job_page(found: JobDetail, around: Around, now: float) -> JobPage:
    """Return the page of a job, and of what is around it, as it was read at `now`."""
    row = found.row
    life = timeline.life(found, now)
    tracked = found.tracked_since is not None
    shown = jobs.job_row(row, tracked=tracked)
    return JobPage(
        title=isolated(f"{row.klass} {short_jid(row.jid)}"),
        nav=_NAV.get(row.state, "queues"),
        crumbs=_crumbs(row),
        topics=tuple(
            f"job:{jid}"
            for jid in (row.jid, *(each.jid for each in (*found.dependencies, *found.dependents)))
        ),
        jid=row.jid,
        klass=row.klass,
        state=row.state,
        paused=found.paused and row.state in {"waiting", "scheduled", "depends", "throttled"},
        tracked=tracked,
        why=why(found, now),
        facts=tuple(_facts(found, life)),
        tags=tags(row.jid, row.tags),
        add_tag=Action(text="Add", link=Link("act.add_tag", {"jid": row.jid}), icon="add"),
        actions=jobs.but_priority(shown.actions),
        progress=_progress(row),
        failure=_failure(found),
        life=life,
        data=data(row.jid, found.data, found.data_bytes, editable=is_editable(row.state)),
        seen=_seen(row),
        dependencies=related.dependencies(found),
        dependents=related.dependents(found),
        graph=None if around.relatives is None else graph(around.relatives, FEW),
        graph_link=Link("jobs.graph", {"jid": row.jid}),
        timeline_link=Link("lives.chain", {"jid": row.jid}),
        runs=_runs(around),
        copies=tuple(_copies(row.jid)),
    )


#: The entry of the rail under which a job is; in other states that of its queue.
_NAV = {"failed": "failures", "complete": "completed"}


def _copies(jid: str) -> Iterable[tuple[str, Link]]:
    for text in ("Python", "curl", "Markdown"):
        yield text, Link("jobs.copy", {"jid": jid, "form": text.lower()})
    yield "JSON", Link("api.job", {"jid": jid})


#: The states in which other jobs of the class are searched for where nobody counted them.
_ASKED = ("failed", "waiting", "running", "complete")


def _runs(around: Around) -> OtherRuns:
    every = Link("search.index", {"q": around.query})
    found = around.fellows
    if found is None:
        return OtherRuns(
            every=every, counts=tuple((state, None, _in(around, state)) for state in _ASKED)
        )
    return OtherRuns(
        every=every,
        counts=tuple((state, number, _in(around, state)) for state, number in found.counts),
        newest=tuple(
            OtherRun(
                state=each.state,
                title=f"{short_jid(each.jid)} {each.state} {absolute(each.since)}",
                link=jobs.job_link(each.jid),
            )
            for each in reversed(found.newest)
        ),
        looked_at=0 if found.is_all else found.looked_at,
    )


def _in(around: Around, state: str) -> Link:
    return Link("search.index", {"q": f"{around.query} state:{state}"})


def _crumbs(row: JobRow) -> tuple[Crumb, ...]:
    here = Crumb(isolated(short_jid(row.jid)))
    if row.state == "failed" and row.failure_group:
        text = isolated(named.short(row.failure_group, 40))
        place = Crumb(text, jobs.group_link(row.failure_group))
        return (Crumb("Failures", Link("failures.index")), place, here)
    if row.queue and row.state != "complete":
        place = Crumb(isolated(named.short(row.queue, 40)), jobs.queue_link(row.queue))
        return (Crumb("Queues", Link("queues.index")), place, here)
    return (Crumb("Completed", Link("completed.index")), here)


def _facts(found: JobDetail, life: timeline.Life) -> Iterable[Fact]:
    row = found.row
    yield Fact(term="jid", words=sentence(words.Part(text=row.jid, kind="mono jid-fact")))
    if row.queue:
        paused = " (paused)" if found.paused else None
        yield Fact(term="Queue", words=sentence(words.queue(row.queue), paused))
    rank = Action(
        text="Change", link=Link("act.set_priority", {"jid": row.jid}), icon="", asks=True
    )
    yield Fact(
        term="Priority",
        words=sentence(str(row.priority)),
        # Of a job that has completed it changes nothing any more.
        action=None if row.state == "complete" else rank,
    )
    renew = Action(
        text="Change", link=Link("act.set_retries", {"jid": row.jid}), icon="", asks=True
    )
    at_least = "at least " if life.trimmed else ""
    yield Fact(term="Attempts", words=sentence(f"{at_least}{count(life.popped)}"))
    yield Fact(
        term="Retries left",
        words=sentence(_retries(row)),
        action=renew if is_editable(row.state) else None,
    )
    if row.state in jobs.HELD and row.worker:
        seen = found.worker_seen
        since = (", seen ", words.past(seen)) if seen is not None else ()
        yield Fact(term="Worker", words=sentence(words.worker(row.worker), *since))
    yield from _times(found)
    if row.spawned_from_jid:
        yield Fact(term="Made by", words=sentence(words.job(row.spawned_from_jid)))


def _seen(row: JobRow) -> Seen:
    return Seen(
        jid=row.jid,
        klass=row.klass,
        queue=row.queue,
        state=row.state,
        worker=row.worker,
        group=row.failure_group,
        tags=row.tags,
        priority=row.priority,
    )


def is_editable(state: str) -> bool:
    """Say whether nobody has a copy of a job in this state, so that it can be edited."""
    return state not in jobs.HELD | {"complete"}


def _retries(row: JobRow) -> str:
    if row.retries is None or row.remaining is None:
        return "unknown"
    return f"{max(0, row.remaining)} of {row.retries}"


_LAST = {"running": "Popped", "stalled": "Popped", "complete": "Completed"}


def _times(found: JobDetail) -> Iterable[Fact]:
    row = found.row
    if row.expires is not None and row.state in jobs.HELD:
        if row.state == "running":
            yield Fact(term="Lock ends", words=sentence(words.coming(row.expires)))
        else:
            yield Fact(term="Lock ended", words=sentence(words.past(row.expires)))
    if row.state == "scheduled" and found.due is not None:
        yield Fact(term="Due", words=sentence(words.coming(found.due)))
    if row.time is not None:
        term = _LAST.get(row.state, "Last put" if row.state != "failed" else "Last popped")
        yield Fact(term=term, words=sentence(words.past(row.time)))
    if found.tracked_since is not None:
        yield Fact(term="Tracked", words=sentence(words.past(found.tracked_since)))


def _progress(row: JobRow) -> Progress | None:
    told = row.progress
    if told is None:
        return None
    return Progress(text=jobs.progress(told), share=told.share, when=told.when)


def _failure(found: JobDetail) -> Failure | None:
    row = found.row
    if not row.failure_group and not found.failure:
        return None
    message = str(found.failure.get("message") or "")
    worker = str(found.failure.get("worker") or "")
    return Failure(
        group=row.failure_group,
        shown=named.short(row.failure_group),
        link=jobs.group_link(row.failure_group),
        trace=traces.trace(message),
        raw=Link("jobs.failure", {"jid": row.jid}),
        when=row.failed_at,
        worker=sentence(words.worker(worker)) if worker else (),
        current=row.state == "failed",
    )


@dataclass(frozen=True, kw_only=True)
class MissingJob(Page):
    """The page of a jid by which there is no job.

    Attributes:
        jid: the one that was asked for.
        reasons: what may have become of it.

    """

    template: ClassVar[str] = "jobs/missing.html"

    jid: str
    reasons: tuple[str, ...]


def missing_page(jid: str, kept_s: float, kept: int) -> MissingJob:
    """Return the page for a missing job.

    Args:
        jid: the one that was asked for.
        kept_s: for how many seconds completed jobs are kept.
        kept: how many completed jobs are kept at most.

    """
    kept_for = f"those are kept for {duration(kept_s)}, the newest {count(kept)} at most"
    return MissingJob(
        title="No such job",
        nav="",
        crumbs=(Crumb("Jobs"), Crumb(isolated(short_jid(jid)))),
        topics=(f"job:{jid}",),
        jid=jid,
        reasons=(
            f"It may have completed and expired: {kept_for}.",
            "It may have been cancelled, which forgets a job at once.",
            "Or no job ever had this jid: jids are exact, and capitals count.",
        ),
    )
