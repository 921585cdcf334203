"""Follows every link of the console, as a curious visitor or a search engine would."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from werkzeug.test import Client, TestResponse

#: Attributes that hold an address, by where they may stand.
ADDRESSES = ("href", "src", "action", "formaction", "hx-get", "hx-post", "data-src", "data-events")


@dataclass
class Seen:
    """One address that was asked for, what came back, and from where it was linked."""

    path: str
    status: int
    found_on: str
    body: str = field(repr=False)
    #: `(tag, attribute, address)` of everything on it that leads somewhere.
    addresses: list[tuple[str, str, str]] = field(repr=False)


class _Addresses(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ADDRESSES and value:
                self.found.append((tag, name, value))


def _addresses(html: str) -> list[tuple[str, str, str]]:
    parser = _Addresses()
    parser.feed(html)
    return parser.found


def crawl(web: Client, start: str, *, most: int = 400) -> Iterator[Seen]:
    """Ask for every page that can be reached by links alone, breadth first, each once."""
    waiting = deque([(start, "")])
    known = {start}
    while waiting and most:
        path, found_on = waiting.popleft()
        most -= 1
        response: TestResponse = web.get(path)
        body = response.get_data(as_text=True) if "text/html" in response.content_type else ""
        seen = Seen(path, response.status_code, found_on, body, _addresses(body))
        yield seen
        for tag, name, value in seen.addresses:
            target = urldefrag(urljoin(path, value)).url
            if (tag, name) == ("a", "href") and not urlsplit(target).netloc and target not in known:
                known.add(target)
                waiting.append((target, path))
