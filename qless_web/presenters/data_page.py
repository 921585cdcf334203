"""A job's data on a page of its own: any part of any size, and where a word is in it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from qless_web.formatting import count, isolated, short_jid, size
from qless_web.presenters import jobs, outline
from qless_web.presenters.data import Node, tree
from qless_web.presenters.page import Crumb, Link, Page, Pager, pager

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_web.presenters.outline import Hit, Part, Place

#: Values of an object or a list on one page.
PART = 100

#: Characters that one value may have to be shown unfolded with the others, and all of them.
INLINE, INLINE_ALL = 2_000, 40_000

#: Characters shown of a value that is too long.
HEAD = 200

#: Values shown of all that is inside.
MOST_NODES = 1_500


@dataclass(frozen=True, slots=True)
class Found:
    """A place of the word that was looked for; `link` shows it among its neighbours."""

    hit: Hit
    link: Link


@dataclass(frozen=True, kw_only=True)
class DataPage(Page):
    """A part of a job's data.

    Attributes:
        jid: of the job.
        at: the JSON Pointer of the part; "" for all of it.
        steps: the way to it, each with its link.
        path: the same as people write it.
        what: what it is, in words.
        node: its values, folded.
        whole: where the data is shown, for links to other parts.
        raw: where this part is as text, digit for digit.
        raw_whole: where all of it is.
        pager: the other pages of the part.
        word: what was looked for in all of the data; "" for nothing.
        hits: the first places of the word.
        hits_total: how many there are.

    """

    template: ClassVar[str] = "jobs/data.html"

    jid: str
    link: Link
    at: str
    steps: tuple[Crumb, ...]
    path: str
    what: str
    node: Node
    whole: Link
    raw: Link
    raw_whole: Link
    pager: Pager
    word: str
    hits: tuple[Found, ...]
    hits_total: int


def data_page(
    jid: str, klass: str, text: str, *, at: str = "", number: int = 1, word: str = ""
) -> DataPage | None:
    """Return the page of a part of a job's data; None where there is no such part.

    Args:
        jid: of the job.
        klass: its class.
        text: all of the data, as it may be shown.
        at: the JSON Pointer of the part.
        number: which page of its values.
        word: what to look for.

    """
    word = word.strip()
    whole = Link("jobs.tree", {"jid": jid})
    here = whole.also(at=at) if at else whole
    try:
        outline.check(text)
        place = outline.place_of(text, at)
        inside = list(outline.parts(text, place.start)) if place else []
        hits, total = outline.find(text, word) if word else ((), 0)
    except outline.NotJsonError:
        return _no_json(jid, klass, text, here) if not at else None
    if place is None:
        return None
    pages = pager(
        here, number=number, total=len(inside), size=PART, query=[("find", word)] if word else []
    )
    return DataPage(
        **_frame(jid, klass),
        at=at,
        steps=tuple(_steps(whole, place)),
        path=outline.path(place.keys),
        what=_what(text, place, len(inside)),
        node=_node(text, place, inside, pages),
        whole=whole,
        raw=_raw(jid, at),
        raw_whole=_raw(jid, ""),
        pager=pages,
        word=word,
        hits=tuple(Found(hit, _link(whole, hit, word)) for hit in hits),
        hits_total=total,
    )


def part_of(text: str, at: str) -> str | None:
    """Return a part of the data as it is written; None where there is none."""
    try:
        place = outline.place_of(text, at)
    except outline.NotJsonError:
        return None
    return None if place is None else text[place.start : place.end]


def _frame(jid: str, klass: str) -> dict[str, Any]:
    link, name = jobs.job_link(jid), isolated(f"{klass} {short_jid(jid)}")
    return {
        "title": f"Data of {name}",
        "nav": "",
        "crumbs": (Crumb(name, link), Crumb("Data")),
        "topics": (),
        "jid": jid,
        "link": link,
    }


def _no_json(jid: str, klass: str, text: str, here: Link) -> DataPage:
    cut = len(text) > INLINE_ALL
    return DataPage(
        **_frame(jid, klass),
        at="",
        steps=(Crumb("data"),),
        path="",
        what=f"text that is no JSON, {size(len(text))}",
        node=Node(kind="text", text=f"{text[:INLINE_ALL]}…" if cut else text),
        whole=here,
        raw=_raw(jid, ""),
        raw_whole=_raw(jid, ""),
        pager=pager(here, number=1, total=0, size=PART),
        word="",
        hits=(),
        hits_total=0,
    )


def _raw(jid: str, at: str) -> Link:
    raw = Link("jobs.data", {"jid": jid})
    return raw.also(at=at) if at else raw


def _link(whole: Link, hit: Hit, word: str) -> Link:
    """Return the page of what holds a hit, on which it is shown."""
    link = whole.also(find=word)
    if hit.inside:
        link = link.also(at=hit.inside)
    page = hit.nth // PART + 1
    return link.also(page=page) if page > 1 else link


def _steps(whole: Link, place: Place) -> Iterable[Crumb]:
    for length in range(len(place.keys) + 1):
        keys = place.keys[:length]
        text = outline.path(keys[-1:]) if keys else "data"
        last = length == len(place.keys)
        at = outline.pointer(keys)
        yield Crumb(text, None if last else whole.also(at=at) if at else whole)


def _what(text: str, place: Place, values: int) -> str:
    nouns = {"{": "key", "[": "item"}
    noun = nouns.get(text[place.start])
    written = size(place.end - place.start)
    return f"{count(values)} {noun}{'' if values == 1 else 's'}, {written}" if noun else written


def _node(text: str, place: Place, inside: list[Part], pages: Pager) -> Node:
    """Fold what is shown of a part; what is too much for the page has a page of its own."""
    opening = text[place.start]
    if opening not in "{[":
        return _value(text, outline.pointer(place.keys), place, INLINE_ALL, MOST_NODES)
    children, letters, nodes = [], INLINE_ALL, MOST_NODES
    for part in inside[pages.offset : pages.offset + PART]:
        at = outline.pointer((*place.keys, part.key))
        child = _value(text, at, part, min(INLINE, letters), nodes)
        letters -= len(child.text) if child.cut else part.end - part.start
        nodes -= _nodes(child)
        children.append(
            replace(child, key=str(part.key), is_index=isinstance(part.key, int), open=False)
        )
    kind = "object" if opening == "{" else "array"
    written = _what(text, place, len(inside))
    at = outline.pointer(place.keys)
    return Node(kind=kind, text=written, children=tuple(children), open=True, at=at)


def _value(text: str, at: str, part: Part | Place, letters: int, nodes: int) -> Node:
    length = part.end - part.start
    if length <= letters and nodes > 0:
        return tree(text[part.start : part.end], open_levels=0, at=at, most=nodes)
    opening = text[part.start]
    if opening in "{[":
        kind = "object" if opening == "{" else "array"
        word = "object" if opening == "{" else "list"
        return Node(kind=kind, text=f"{word}, {size(length)}", at=at, cut=True)
    head = f"{text[part.start : part.start + HEAD]}… {size(length)}"
    return Node(kind="string" if opening == '"' else "number", text=head, at=at, cut=True)


def _nodes(node: Node) -> int:
    return 1 + sum(_nodes(child) for child in node.children)
