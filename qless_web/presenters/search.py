"""What a word leads to: exactly what it names, or what resembles it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.presenters import jobs, named
from qless_web.presenters.page import EmptyState, Link, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qless_core.reads.job import Found
    from qless_core.reads.names import Similar


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing that was found: its kind in words, its whole name, what is shown of it."""

    kind: str
    name: str
    shown: str
    link: Link


@dataclass(frozen=True, kw_only=True)
class SearchPage(Page):
    """What was found.

    Attributes:
        query: the word.
        exact: what it names.
        similar: what resembles it, each kind under its heading.
        empty: what to show where nothing was found.

    """

    template: ClassVar[str] = "search/index.html"

    query: str
    exact: tuple[Hit, ...]
    similar: tuple[tuple[str, tuple[Hit, ...]], ...]
    empty: EmptyState | None


_LINKS: dict[str, Callable[[str], Link]] = {
    "job": jobs.job_link,
    "recurring job": jobs.job_link,
    "queue": jobs.queue_link,
    "failure group": jobs.group_link,
    "worker": jobs.worker_link,
    "tag": jobs.tag_link,
}


def hits(name: str, found: Found) -> tuple[Hit, ...]:
    """Return what a name names exactly."""
    kinds = {
        # A jid is of one kind; where both exist, one page shows the recurring one.
        "job": found.job and not found.recurring,
        "recurring job": found.recurring,
        "queue": found.queue,
        "failure group": found.group,
        "worker": found.worker,
        "tag": found.tag,
    }
    return tuple(_hit(kind, name) for kind, there in kinds.items() if there)


def _hit(kind: str, name: str) -> Hit:
    return Hit(kind=kind, name=name, shown=named.short(name), link=_LINKS[kind](name))


def search_page(query: str, exact: tuple[Hit, ...], alike: Similar) -> SearchPage:
    """Return the page of what was found."""
    groups = tuple(_similar(alike, {(each.kind, each.name) for each in exact}))
    return SearchPage(
        title="Search",
        nav="",
        query=query,
        exact=exact,
        similar=groups,
        empty=None if exact or groups else _empty(query),
    )


def _job(jid: str, klass: str) -> Hit:
    return Hit(kind=klass, name=jid, shown=named.short(jid), link=jobs.job_link(jid))


def _similar(alike: Similar, known: set[tuple[str, str]]) -> Iterable[tuple[str, tuple[Hit, ...]]]:
    for title, kind, names in (
        ("Queues", "queue", alike.queues),
        ("Failure groups", "failure group", alike.groups),
        ("Tags", "tag", alike.tags),
        ("Workers", "worker", alike.workers),
    ):
        found = tuple(_hit(kind, name) for name in names if (kind, name) not in known)
        if found:
            yield f"{title} with this in their name", found
    jids = tuple(_job(jid, klass) for jid, klass in alike.jobs if ("job", jid) not in known)
    if jids:
        yield "Jobs whose jid begins with this", jids


#: What is found of jobs.
_JIDS = (
    "A whole jid always finds its job; the beginning of one finds it while the job is near the "
    "head of a list. Classes are not looked for: open the queue or the failure group."
)


def _empty(query: str) -> EmptyState:
    if not query.strip():
        return EmptyState(
            kind="nothing-yet",
            title="What do you look for?",
            text=f"A jid, a queue, a failure group, a worker or a tag leads straight to its page; "
            f"a part of the name lists what has it. {_JIDS}",
        )
    return EmptyState(
        kind="no-match",
        title=f"Nothing is called {named.short(query)}",
        text=f"{_JIDS} Jobs that completed long ago or were cancelled are no longer there.",
    )
