"""The groups of failures as an inbox: what is new, what is whose, what can rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from qless_web.formatting import count
from qless_web.presenters import jobs, named, paging
from qless_web.presenters.handling import Handled, handled, handling_actions
from qless_web.presenters.message import telling
from qless_web.presenters.page import Action, EmptyState, Link, Page, Pager, Tab, pager
from qless_web.presenters.rates import Rate, rate
from qless_web.presenters.tables import group_actions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qless_web.triage.inbox import Inbox, Names, Standing, Touched, Wish

#: What the inbox can be ordered by, its word, and what it means where the word does not say it.
ORDERS: dict[str, tuple[str, str]] = {
    "name": ("Group", "by name"),
    "count": ("Jobs", "most jobs first"),
    "rate": ("Last day", "most failures in the last hours first"),
    "classes": ("Class", "most classes first"),
    "queues": ("Queue", "most queues first"),
    "hosts": ("Host", "worker hosts that most of it failed on; most hosts first"),
    "first": ("First", "when the oldest job in it failed; newest first"),
    "last": ("Last", "when the newest job in it failed; newest first"),
}

#: Orders that are known without an index.
PLAIN_ORDERS = frozenset({"name", "count"})

#: What is new since so many seconds can be asked for by a word.
SPANS: dict[str, tuple[str, float]] = {
    "1h": ("1 hour", 3_600.0),
    "1d": ("1 day", 86_400.0),
    "7d": ("7 days", 604_800.0),
}

#: Views of the inbox.
SHOWS = ("open", "acknowledged", "muted", "all")

#: Seconds for which a group is new to somebody who has told of no deploy.
_NEW_S = 3_600.0

_MESSAGE, _DEPLOYS = 180, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading that orders the inbox; without a link it cannot."""

    text: str
    title: str
    link: Link | None
    is_current: bool


@dataclass(frozen=True, slots=True)
class Most:
    """The name that most jobs have, where it leads, and how many other names there are."""

    text: str = ""
    link: Link | None = None
    more: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxRow:
    """One group. Instants are epoch seconds; `share` is of all failed jobs, in 0..1."""

    name: str
    shown: str
    link: Link
    count: int
    share: float
    message: str
    rate: Rate | None
    klass: Most
    queue: Most
    host: Most
    first: float | None
    last: float | None
    #: Since when it is new, in words; "" where it is not.
    new: str
    handled: Handled | None
    runbook: str
    actions: tuple[Action, ...]


@dataclass(frozen=True, kw_only=True)
class FailuresPage(Page):
    """The groups of failures.

    Attributes:
        rows: the groups of this page.
        pages: where the other ones are.
        tabs: the views.
        show: which of them this is.
        headings: what the list can be ordered by.
        spans: since when what is new can be asked for: value, words.
        new: what was chosen of them; "" for nothing.
        kept: what else the address says.
        failed: failed jobs in all groups.
        groups: how many groups there are.
        note: what is not known, and why.
        actions: what can be done to all of them.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "failures/index.html"

    rows: tuple[InboxRow, ...]
    pages: Pager
    tabs: tuple[Tab, ...]
    show: str
    headings: Mapping[str, Heading]
    spans: tuple[tuple[str, str], ...]
    new: str
    kept: tuple[tuple[str, str], ...]
    failed: int
    groups: int
    note: str
    actions: tuple[Action, ...]
    empty: EmptyState | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the address asks for, and what stands around the answer.

    Attributes:
        wish: which groups, and in what order.
        new: since when something is new, as the address says it.
        number: of the page.
        failed: failed jobs in all.
        now: epoch seconds.
        why_not: why the index cannot be asked; "" where it was.
        runbooks: gives the address of the runbook of a group; "" for none.

    """

    wish: Wish
    new: str
    number: int
    failed: int
    now: float
    why_not: str
    runbooks: Any


def since_of(text: str | None, now: float) -> float | None:
    """Read `?new=`: a span as `1d`, or a moment in epoch seconds; None for anything else.

    >>> since_of("1h", 10_000.0), since_of("1700000000", 0.0), since_of("soon", 0.0)
    (6400.0, 1700000000.0, None)
    """
    if text in SPANS:
        return now - SPANS[text][1]
    try:
        moment = float(text or "")
    except ValueError:
        return None
    return moment if 0 < moment < 1e12 else None  # noqa: PLR2004 - not milliseconds


def failures_page(found: Inbox, touched: Mapping[str, Touched], asked: Asked) -> FailuresPage:
    """Return a page of the inbox; `touched` are the classes, queues and hosts of its groups."""
    wish = asked.wish
    kept = _kept(asked)
    pages = pager(
        Link("failures.index"), number=asked.number, total=found.shown, query=kept.items()
    )
    total = found.counts["all"]
    return FailuresPage(
        title="Failures",
        nav="failures",
        topics=("failures",),
        rows=_rows(found, touched, asked),
        pages=pages,
        tabs=tuple(_tab(show, kept, found.counts) for show in SHOWS),
        show=wish.show,
        headings={order: _heading(order, kept, asked) for order in ORDERS},
        spans=_spans(found, asked),
        new=asked.new if wish.since is not None else "",
        kept=tuple((key, value) for key, value in kept.items() if key != "new"),
        failed=asked.failed,
        groups=total,
        note=_unknown(asked.why_not),
        actions=(_MARK_DEPLOY, *((_RETRY_ALL,) if total else ())),
        empty=paging.beyond(pages, asked.number) or (None if found.shown else _empty(wish, total)),
    )


def _kept(asked: Asked) -> dict[str, str]:
    """Give what the address says beside the page."""
    found = {
        "show": asked.wish.show if asked.wish.show != "open" else "",
        "sort": asked.wish.order if asked.wish.order != "count" else "",
        "new": asked.new if asked.wish.since is not None else "",
    }
    return {key: value for key, value in found.items() if value}


def _tab(show: str, kept: Mapping[str, str], counts: Mapping[Any, int]) -> Tab:
    others = {key: value for key, value in kept.items() if key != "show"}
    own = {"show": show} if show != "open" else {}
    return Tab(
        key=show,
        text=show.capitalize(),
        link=Link("failures.index", {**others, **own}),
        count=counts[show],
    )


def _heading(order: str, kept: Mapping[str, str], asked: Asked) -> Heading:
    text, title = ORDERS[order]
    others = {key: value for key, value in kept.items() if key != "sort"}
    own = {"sort": order} if order != "count" else {}
    can = not asked.why_not or order in PLAIN_ORDERS
    return Heading(
        text=text,
        title=title,
        link=Link("failures.index", {**others, **own}) if can else None,
        is_current=order == asked.wish.order,
    )


def _spans(found: Inbox, asked: Asked) -> tuple[tuple[str, str], ...]:
    if asked.why_not:
        return ()
    spans = [(key, words) for key, (words, _) in SPANS.items()]
    spans += [
        (f"{each.at:.0f}", f"deploy {named.short(each.name, 40)}")
        for each in found.deploys[:_DEPLOYS]
    ]
    if asked.wish.since is not None and asked.new not in dict(spans):
        spans.append((asked.new, "the moment chosen"))
    return tuple(spans)


def _unknown(why_not: str) -> str:
    if not why_not:
        return ""
    return f"Rates, hosts and what is new are not known without the index: {why_not}."


# -- Rows


def _rows(found: Inbox, touched: Mapping[str, Touched], asked: Asked) -> tuple[InboxRow, ...]:
    shown = named.distinct(each.name for each in found.rows)
    latest = found.deploys[0] if found.deploys else None
    since = latest.at if latest and latest.at > asked.now - SPANS["7d"][1] else None
    mark = (
        (since, f"since deploy {named.short(latest.name, 30)}")
        if latest and since is not None
        else (asked.now - _NEW_S, "since an hour ago")
    )
    return tuple(
        _row(each, shown[each.name], touched.get(each.name), mark, asked) for each in found.rows
    )


def _row(
    each: Standing,
    shown: str,
    touched: Touched | None,
    mark: tuple[float, str],
    asked: Asked,
) -> InboxRow:
    since, words = mark
    return InboxRow(
        name=each.name,
        shown=shown,
        link=jobs.group_link(each.name),
        count=each.count,
        # Counted a moment apart, so that the part may exceed the whole.
        share=each.count / max(asked.failed, each.count),
        message=telling(each.newest_message, each.name, _MESSAGE),
        rate=rate(each.past.hours, "last day by the hour") if each.past else None,
        klass=_most(touched.classes) if touched else Most(each.newest_klass),
        queue=_queue(_most(touched.queues) if touched else Most(each.newest_queue)),
        host=_most(touched.hosts, each.count) if touched else Most(),
        first=each.first_seen,
        last=each.last_seen,
        new=words if each.first_seen is not None and each.first_seen >= since else "",
        handled=handled(each.handling, each.back),
        runbook=asked.runbooks(each.name),
        actions=(*group_actions(each.name), *handling_actions(each.name, each.handling)),
    )


def _most(names: Names, of: int = 0) -> Most:
    """Name what most jobs have; with a number of jobs, say what part of those."""
    if not names.most:
        return Most()
    name, jobs_there = names.most[0]
    part = f" {round(100 * min(1, jobs_there / of))} %" if of else ""
    title = ", ".join(f"{each} {count(number)}" for each, number in names.most)
    more = names.total - len(names.most)
    return Most(
        f"{name}{part}",
        None,
        names.total - 1,
        f"{title}, and {count(more)} more" if more > 0 else title,
    )


def _queue(most: Most) -> Most:
    link = jobs.queue_link(most.text) if most.text else None
    return Most(most.text, link, most.more, most.title)


# -- Nothing to show

_RETRY_ALL = Action(text="Retry all", link=Link("act.unfail_all"), icon="retry", asks=True)

_MARK_DEPLOY = Action(text="Mark a deploy", link=Link("act.mark_deploy"), icon="log", asks=True)

_NONE = EmptyState(
    kind="nothing-wrong",
    title="No job has failed",
    text="Jobs that fail are kept here, in groups, until they are retried, moved or cancelled.",
)


def _empty(wish: Wish, total: int) -> EmptyState:
    if not total:
        return _NONE
    if wish.since is not None:
        return EmptyState(
            kind="nothing-wrong",
            title="Nothing new has failed since then",
            text="Neither a group nor a way to fail is new.",
            link=Link("failures.index"),
            link_text="All open groups",
        )
    if wish.show == "open":
        return EmptyState(
            kind="nothing-wrong",
            title="Nothing is open",
            text="All groups are acknowledged or muted; they come back when they fail faster or "
            "in a new way.",
            link=Link("failures.index", {"show": "all"}),
            link_text="All groups",
        )
    return EmptyState(
        kind="no-match",
        title=f"No group is {wish.show}",
        link=Link("failures.index"),
        link_text="Open groups",
    )


def ordered(text: str | None, *, is_plain: bool) -> str:
    """Read `?sort=`; what nothing can be ordered by is `count`."""
    known: Sequence[str] = tuple(PLAIN_ORDERS) if is_plain else tuple(ORDERS)
    return cast("str", text) if text in known else "count"
