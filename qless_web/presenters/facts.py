"""What pages show of a job, and of a recurring one: facts, tags and data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_web.presenters import jobs
from qless_web.presenters.data import Node, tree
from qless_web.presenters.page import Action, Link

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_web.presenters.words import Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One line of what a job is; ``action`` changes it."""

    term: str
    words: Sentence
    action: Action | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A tag, where its jobs are, and what takes it off."""

    text: str
    link: Link
    remove: Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """A job's data.

    Attributes:
        text: as stored; None when it is too large to come along.
        tree: the same folded; None when there is no text.
        bytes: its size.
        whole: where it is as text, byte for byte.
        download: where it is as a file.
        folded: where it is folded, part by part, whatever its size.
        edit: what gives the job other data; None where it cannot be given any.
        duplicate: what puts another job like it; None of a recurring one.

    """

    text: str | None
    tree: Node | None
    bytes: int
    whole: Link
    download: Link
    folded: Link
    edit: Action | None = None
    duplicate: Action | None = None


def tags(jid: str, texts: Iterable[str]) -> tuple[Tag, ...]:
    """Return the tags of a job, each once."""
    return tuple(
        Tag(
            text=text,
            link=jobs.tag_link(text),
            remove=Action(
                text="Remove",
                link=Link("act.remove_tag", {"jid": jid}),
                fields=(("tag", text),),
            ),
        )
        for text in dict.fromkeys(texts)
    )


def data(jid: str, text: str | None, size: int, *, editable: bool | None = None) -> Data:
    """Return what the page shows of a job's data; `text` None where it is too large."""
    edit = Action(text="Edit", link=Link("act.edit_data", {"jid": jid}), asks=True)
    again = Action(text="Duplicate", link=Link("act.duplicate_job", {"jid": jid}), asks=True)
    whole = Link("jobs.data", {"jid": jid})
    return Data(
        text=text,
        tree=None if text is None else tree(text),
        bytes=size,
        whole=whole,
        download=whole.also(download=1),
        folded=Link("jobs.tree", {"jid": jid}),
        edit=edit if editable else None,
        duplicate=None if editable is None else again,
    )
