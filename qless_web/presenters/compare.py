"""What stands out in failed jobs, and two jobs side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.formatting import count, head, isolated, moment, short_jid, size
from qless_web.presenters import named
from qless_web.presenters.jobs import group_link, job_link
from qless_web.presenters.page import Crumb, EmptyState, Link, Page, Tab

if TYPE_CHECKING:
    from collections.abc import Callable

    from qless_core.reads.job import JobDetail
    from qless_web.triage.comparing import Comparison, Contrast, Trait


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastRow:
    """A value: shares in 0..1, and what part of all each is; ``lift`` in words, "" for none."""

    kind: str
    name: str
    value: str
    #: The jobs of the group that have it; None where no search finds them.
    link: Link | None
    failed: int
    share: float
    completed: int
    base: float
    lift: str


@dataclass(frozen=True, kw_only=True)
class StandingOutPage(Page):
    """What stands out in a group of failures, or in a cluster of it.

    Attributes:
        group: its name.
        of: "the group", or the pattern of the cluster.
        tabs: the classes.
        klass: which of them this is of.
        failed: how many failed jobs were looked at.
        completed: how many completed ones.
        rows: what stands out.
        common: what most of the failed have, where nothing can be compared.
        note: how much that is worth.
        pair: the newest failed and the newest completed job side by side; None without both.
        empty: what to show where there is nothing.

    """

    template: ClassVar[str] = "compare/group.html"

    group: str
    of: str
    tabs: tuple[Tab, ...]
    klass: str
    failed: int
    completed: int
    rows: tuple[ContrastRow, ...]
    common: tuple[ContrastRow, ...]
    note: str
    pair: Link | None
    empty: EmptyState | None


def standing_out_page(
    group: str,
    cluster: str,
    classes: tuple[str, ...],
    found: Comparison,
    query_for: Callable[[Trait], str],
) -> StandingOutPage:
    """Return the page; `query_for` gives the search for jobs of the group that have something."""
    values = {"group": group, **({"cluster": cluster} if cluster else {})}
    link = Link("compare.group", values)
    both = all(found.newest)
    rows = [
        _contrast(each, found, query_for(each.trait))
        for each in (found.rows if found.is_enough else found.common)
    ]
    return StandingOutPage(
        title=f"What stands out · {isolated(named.short(group, 40))}",
        nav="failures",
        crumbs=(
            Crumb("Failures", Link("failures.index")),
            Crumb(isolated(named.short(group, 40)), group_link(group).also(**_cluster(cluster))),
            Crumb("What stands out"),
        ),
        topics=(f"failed:{group}",),
        group=group,
        of="the cluster" if cluster else "the group",
        tabs=tuple(Tab(key=each, text=each, link=link.also(klass=each)) for each in classes)
        if len(classes) > 1
        else (),
        klass=found.klass,
        failed=found.failed,
        completed=found.completed,
        rows=tuple(rows) if found.is_enough else (),
        common=() if found.is_enough else tuple(rows),
        note=_note(found),
        pair=Link("compare.jobs", dict(zip("ab", found.newest, strict=True))) if both else None,
        empty=_empty(found),
    )


def _cluster(cluster: str) -> dict[str, str]:
    return {"cluster": cluster} if cluster else {}


def _note(found: Comparison) -> str:
    if found.is_enough or not found.failed:
        return ""
    if not found.completed:
        return (
            "No completed job of this class is there to compare with: what most of the failed have."
        )
    return "These are too few to compare. Most of the failed have:"


def _empty(found: Comparison) -> EmptyState | None:
    if not found.failed:
        return EmptyState(kind="no-match", title="No failed job is here to be compared")
    if found.is_enough and not found.rows:
        return EmptyState(
            kind="nothing-wrong",
            title="Nothing stands out",
            text="Neither a queue, a host, a tag nor a value of the data is more frequent among "
            "the failed than chance explains.",
        )
    return None


def _contrast(each: Contrast, found: Comparison, query: str) -> ContrastRow:
    trait = each.trait
    return ContrastRow(
        kind=trait.kind,
        name=f"data.{trait.name}" if trait.kind in {"data", "key"} else trait.name,
        value=trait.value,
        link=Link("search.index", {"q": query}) if query else None,
        failed=each.failed,
        share=each.failed / max(1, found.failed),
        completed=each.completed,
        base=each.completed / max(1, found.completed),
        lift=_lift(each, found) if found.is_enough else "",
    )


def _lift(each: Contrast, found: Comparison) -> str:
    least = f"at least {each.least / each.most:.1f} times as often"
    if not each.completed:
        return f"only here, {least}"
    share, base = each.failed / found.failed, each.completed / found.completed
    return f"{share / base:.1f} times, {least}"


# -- Two jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """A line of two jobs: what it is, what each has there, and whether that differs."""

    name: str
    a: str
    b: str
    differs: bool


@dataclass(frozen=True, kw_only=True)
class PairPage(Page):
    """Two jobs side by side.

    Attributes:
        a: the jid of the one; "" where none was asked for.
        b: that of the other.
        links: the pages of both.
        rows: what they have.
        differing: how many of those differ.
        missing: jids that there is no job of.

    """

    template: ClassVar[str] = "compare/jobs.html"

    a: str
    b: str
    links: tuple[Link, Link]
    rows: tuple[PairRow, ...]
    differing: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """A job as it is compared: its page's facts, and the values of its data by path."""

    job: JobDetail
    data: dict[str, str]


def pair_page(a: str, b: str, one: Side | None, other: Side | None) -> PairPage:
    """Return two jobs side by side."""
    rows = tuple(_pair(one, other)) if one and other else ()
    return PairPage(
        title="Two jobs",
        nav="search",
        a=a,
        b=b,
        links=(job_link(a), job_link(b)),
        rows=rows,
        differing=sum(row.differs for row in rows),
        missing=tuple(
            short_jid(jid) for jid, side in ((a, one), (b, other)) if jid and side is None
        ),
    )


def _pair(one: Side, other: Side) -> list[PairRow]:
    left, right = _facts(one), _facts(other)
    names = list(dict.fromkeys([*left, *right]))
    return [
        PairRow(
            name=name,
            a=left.get(name, ""),
            b=right.get(name, ""),
            differs=left.get(name, "") != right.get(name, ""),
        )
        for name in names
    ]


def _facts(side: Side) -> dict[str, str]:
    job, row = side.job, side.job.row
    used = None if row.retries is None or row.remaining is None else row.retries - row.remaining
    runs = [each for each in job.history if each.what == "popped"]
    facts = {
        "class": row.klass,
        "state": row.state,
        "queue": row.queue,
        "worker": row.worker or str((runs[-1].detail if runs else {}).get("worker") or ""),
        "priority": str(row.priority),
        "tags": ", ".join(sorted(row.tags)),
        "retries": "" if row.retries is None else f"{count(used)} of {count(row.retries)} used",
        "runs": count(len(runs)),
        "first put": moment(job.history[0].when) if job.history else "",
        "failure group": row.failure_group,
        "failure": head(row.failure_message, 200),
        "waits for": count(job.dependencies_total),
        "data": size(job.data_bytes),
    }
    return {**facts, **{f"data.{path}": value for path, value in side.data.items()}}
