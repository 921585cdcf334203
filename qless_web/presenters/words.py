"""Sentences whose parts are links and times, as a template can print them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_web.formatting import short_jid
from qless_web.presenters import jobs, named

if TYPE_CHECKING:
    from qless_web.presenters.page import Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a sentence: text, a link, or an instant.

    Attributes:
        text: what is printed; for an instant the word before it.
        title: the whole of what `text` shortens.
        link: where it leads.
        at: an instant, epoch seconds, printed relative to now.
        ahead: whether the instant lies in the future.
        kind: "" or mono.

    """

    text: str = ""
    title: str = ""
    link: Link | None = None
    at: float | None = None
    ahead: bool = False
    kind: str = ""


#: Parts that make a sentence; blanks between them are theirs.
Sentence = tuple[Part, ...]


def sentence(*parts: Part | str | None) -> Sentence:
    """Join parts; plain text is a part too, None is left out."""
    return tuple(
        Part(text=each) if isinstance(each, str) else each for each in parts if each is not None
    )


def job(jid: str, klass: str = "") -> Part:
    """Name a job by its class and shortened jid."""
    text = f"{klass} {short_jid(jid)}" if klass else short_jid(jid)
    return Part(text=text, title=jid, link=jobs.job_link(jid), kind="mono")


def queue(name: str, tab: str = "") -> Part:
    """Name a queue, and lead to it, or to one of its tabs."""
    link = jobs.queue_link(name)
    return Part(text=named.short(name), title=name, link=link.also(tab=tab) if tab else link)


def worker(name: str) -> Part:
    """Name a worker."""
    return Part(text=named.short(name), title=name, link=jobs.worker_link(name))


def group(name: str) -> Part:
    """Name a group of failures."""
    return Part(text=named.short(name), title=name, link=jobs.group_link(name))


def past(at: float | None) -> Part | None:
    """Name an instant that has been."""
    return None if at is None else Part(at=at)


def coming(at: float | None) -> Part | None:
    """Name an instant that is to come."""
    return None if at is None else Part(at=at, ahead=True)
