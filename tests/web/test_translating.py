"""A browser may translate every page: what is a name or data stays as it is."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_core.records import text
from qless_web import create_app
from qless_web.demo import seeds
from qless_web.formatting import isolated, short_jid
from qless_web.presenters.message import telling
from tests.support.dom import Element, parse
from tests.support.every_page import every_page

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What Unicode isolates a part of a text with: it is for the server, and stands on no page.
MARKS = re.compile("[\u2068\u2069]")

#: Queues of the shop whose names are words of ours, too.
WORDS = frozenset({"search", "order", "checkout"})

#: What people read, that no element with the words in it could mark.
UNMARKED = frozenset({"script", "style", "option", "textarea"})


@pytest.fixture(scope="module")
def shop():
    with EmbeddedServer() as server, Client(server.url) as client:
        seeds.plant(client)
        yield client


@pytest.fixture(scope="module")
def pages(shop):
    visitor = Browser(create_app(shop, live_max_streams=0, index=False))
    read = {}
    for address in every_page(shop):
        answer = visitor.get(address)
        if answer.mimetype == "text/html":
            read[address] = answer.get_data(as_text=True)
    assert len(read) > 60
    return read


@pytest.fixture(scope="module")
def names(shop):
    """Give a pattern of all that is called something in the shop, longest first."""
    keys, redis = shop.keys, shop.redis
    begin = keys.job("")
    stored = map(text, redis.scan_iter(f"{begin}*", 1_000, _type="hash"))
    classes = {each.removeprefix(begin): text(redis.hget(each, "klass") or "") for each in stored}
    jids = {jid for jid, klass in classes.items() if klass}
    found = {
        *map(text, redis.zrange(keys.queues, 0, -1)),
        *map(text, redis.smembers(keys.failures)),
        *map(text, redis.zrange(keys.workers, 0, -1)),
        *map(text, redis.zrange(keys.tags, 0, -1)),
        *classes.values(),
        *jids,
        *map(short_jid, jids),
        *messages(redis, keys),
    }
    assert len(found) > 100
    ordered = sorted(
        (each for each in found if len(each) > 1 and each not in WORDS), key=len, reverse=True
    )
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, ordered))})(?![\w-])")


def messages(redis, keys):
    """Give what the newest failure of each group says, as lists show it."""
    for group in map(text, redis.smembers(keys.failures)):
        failure = json.loads(
            redis.hget(keys.job(text(redis.lindex(keys.failed(group), 0))), "failure")
        )
        yield telling(failure["message"], group, 60).rstrip("…")


def to_translate(element: Element) -> Iterator[str]:
    """Give the words of an element that a browser would translate."""
    for child in element.children:
        if isinstance(child, str):
            yield " ".join(child.split())
        elif child.tag not in UNMARKED and child.attributes.get("translate") != "no":
            yield from to_translate(child)


def test_names_stand_where_nobody_translates_them(pages, names):
    found = {
        (address, words)
        for address, html in pages.items()
        for words in to_translate(parse(html))
        if names.search(words)
    }

    assert sorted(found) == []


def test_every_page_says_its_language_and_shows_no_marks(pages):
    for address, html in pages.items():
        assert '<html lang="en"' in html, address
        assert not MARKS.search(html), address
        assert "&lt;bdi" not in html, address
        assert '="<bdi' not in html, address


def test_a_name_from_the_right_is_kept_apart_from_the_line_around_it(shop):
    shop.queues["بريد"].put("Letter", {}, tags=["عاجل"])
    shop.queues["بريد"].pause()
    visitor = Browser(create_app(shop, live_max_streams=0, index=False))
    overview = parse(visitor.get("/").get_data(as_text=True))

    around = [each for each in overview if "بريد" in each.children]

    assert around
    for each in around:
        assert each.tag in {"bdi", "title"} or each.attributes.get("dir") == "auto", each


def test_a_mark_in_a_name_ends_no_mark_of_ours():
    assert MARKS.sub("|", isolated("a\u2069b\u2068c")) == "|abc|"
