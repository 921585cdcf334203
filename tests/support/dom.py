"""Reads a page as its readers do: rows by id, cells, words, links, and what can be pressed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "use", "rect", "line", "circle"})


@dataclass
class Element:
    """One element of a page."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its words, white space made one; a name inside of a sentence is a word of it."""
        parts = (
            each if isinstance(each, str) else each.text if each.tag == "bdi" else f" {each.text} "
            for each in self.children
        )
        return re.sub(r"\s+", " ", "".join(parts)).strip()

    def __iter__(self) -> Iterator[Element]:
        """Give all elements inside, in order."""
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child

    def all(self, tag: str = "", **attributes: str) -> list[Element]:
        """List the elements with a tag and attributes; `class_` is one of several classes."""
        return [each for each in self if each.fits(tag, attributes)]

    def one(self, tag: str = "", **attributes: str) -> Element:
        """Give the only such element."""
        found = self.all(tag, **attributes)
        assert len(found) == 1, f"{len(found)} of {tag} {attributes}"
        return found[0]

    def fits(self, tag: str, attributes: dict[str, str]) -> bool:
        """Say whether it has a tag and attributes."""
        if tag and self.tag != tag:
            return False
        for name, value in attributes.items():
            if name == "class_":
                if value not in self.attributes.get("class", "").split():
                    return False
            elif self.attributes.get(name.replace("_", "-")) != value:
                return False
        return True

    @property
    def rows(self) -> list[Element]:
        """The rows of tables in it that show a thing each."""
        return [each for each in self.all("tr") if "id" in each.attributes]

    @property
    def row_ids(self) -> list[str]:
        """The ids of those rows."""
        return [row.attributes["id"] for row in self.rows]

    @property
    def links(self) -> list[str]:
        """Where its links lead."""
        return [each.attributes["href"] for each in self.all("a") if "href" in each.attributes]

    @property
    def cells(self) -> list[str]:
        """The words of each cell of a row."""
        return [each.text for each in self.all("td")]


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag in {each.tag for each in self.open[1:]}:
            while self.open.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parse(html: str) -> Element:
    """Read a page."""
    builder = _Builder()
    builder.feed(html)
    return builder.root
