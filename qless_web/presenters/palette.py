"""What the command palette finds by name: places whose address is made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.presenters import jobs, named
from qless_web.presenters.page import Link, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qless_core.reads.job import Found
    from qless_core.reads.names import Similar

#: Names that are offered at most; whoever wants more searches.
MOST = 12

_LINKS: dict[str, tuple[str, Callable[[str], Link]]] = {
    "job": ("overview", jobs.job_link),
    "recurring job": ("recurring", jobs.job_link),
    "queue": ("queues", jobs.queue_link),
    "failure group": ("failures", jobs.group_link),
    "worker": ("workers", jobs.worker_link),
    "tag": ("tags", jobs.tag_link),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One thing with that name: its kind in words, its whole name, what is shown of it."""

    kind: str
    name: str
    shown: str
    icon: str
    link: Link


@dataclass(frozen=True, kw_only=True)
class PalettePage(Page):
    """What was found, and the way to all that would be."""

    template: ClassVar[str] = "palette/names.html"

    query: str
    places: tuple[Place, ...]


def palette_page(query: str, found: Found, alike: Similar) -> PalettePage:
    """Return what is called so, what begins so, and what has it in its name, in this order."""
    # A name that is there exactly resembles itself, too.
    places = {(each.kind, each.name): each for each in reversed([*_places(query, found, alike)])}
    first = tuple(reversed(places.values()))[:MOST]
    return PalettePage(title="Palette", nav="", query=query, places=first if query else ())


def _places(query: str, found: Found, alike: Similar) -> Iterator[Place]:
    exact = {
        "job": found.job and not found.recurring,
        "recurring job": found.recurring,
        "queue": found.queue,
        "failure group": found.group,
        "worker": found.worker,
        "tag": found.tag,
    }
    yield from (_place(kind, query) for kind, there in exact.items() if there)
    resembling = (
        *(("queue", name) for name in alike.queues),
        *(("failure group", name) for name in alike.groups),
        *(("tag", name) for name in alike.tags),
        *(("worker", name) for name in alike.workers),
    )
    begins = query.casefold()
    yield from (
        _place(kind, name)
        for kind, name in sorted(resembling, key=lambda each: not _begins(each[1], begins))
    )
    yield from (_place("job", jid, klass) for jid, klass in alike.jobs)


def _begins(name: str, word: str) -> bool:
    return name.casefold().startswith(word)


def _place(kind: str, name: str, klass: str = "") -> Place:
    icon, link = _LINKS[kind]
    told = f"job · {klass}" if klass else kind
    return Place(kind=told, name=name, shown=named.short(name), icon=icon, link=link(name))
