"""Follows every link of the console, as a curious visitor or a search engine would."""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit

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


def shape(path: str) -> str:
    """Tell what kind of address it is: which names it has does not matter, unless they are odd.

    >>> shape("/jobs/9f3c/cancel"), shape("/jobs/a~2Fb?live=0"), shape("/queues?sort=name")
    ('/jobs/*/cancel', '/jobs/a~2Fb?live', '/queues?sort')
    """
    parts = urlsplit(path)
    keys = "&".join(sorted(key for key, _ in parse_qsl(parts.query)))
    plain = re.sub(r"/(jobs|queues|failed|tag|workers)/[^/~]+(?=/|$)", r"/\1/*", parts.path)
    return plain + (f"?{keys}" if keys else "")


def crawl(web: Client, start: str, *, alike: int = 12) -> Iterator[Seen]:
    """Ask for every kind of page that can be reached by links alone, breadth first.

    Args:
        web: who asks.
        start: where to begin.
        alike: how many addresses of one shape to ask for; of those that differ by their query, a
            quarter.

    """
    waiting = deque([(start, "")])
    known = {start}
    asked: Counter[str] = Counter()
    while waiting:
        path, found_on = waiting.popleft()
        kind = shape(path)
        asked[kind] += 1
        if asked[kind] > (alike / 4 if "?" in kind else alike):
            continue
        response: TestResponse = web.get(path)
        body = response.get_data(as_text=True) if "text/html" in response.content_type else ""
        seen = Seen(path, response.status_code, found_on, body, _addresses(body))
        yield seen
        for tag, name, value in seen.addresses:
            target = urldefrag(urljoin(path, value)).url
            if (tag, name) == ("a", "href") and not urlsplit(target).netloc and target not in known:
                known.add(target)
                waiting.append((target, path))
