"""Addresses as people and browsers spell them: with a slash too many, in disguise, by habit."""

from __future__ import annotations

from itertools import product

import pytest
from flask import url_for

from qless_web.addresses import link_url
from qless_web.presenters.page import Link
from qless_web.security import local_path


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("/queues/", "/queues"),
        ("/queues/mail/", "/queues/mail"),
        ("/queues/mail/waiting//?page=2&q=a%20b", "/queues/mail/waiting?page=2&q=a%20b"),
        ("/queues/a~2Fb/", "/queues/a~2Fb"),
        ("/queues/%C3%BC/", "/queues/%C3%BC"),
        ("/jobs/no-such/", "/jobs/no-such"),
    ],
)
def test_a_slash_too_many_leads_to_the_address_without_it(web, asked, meant):
    answer = web.get(asked)

    assert answer.status_code == 308
    assert answer.headers["Location"] == web.prefix + meant


@pytest.mark.parametrize(
    "path", ["/nothing/", "/nothing/at/all/", "//elsewhere/", "/queues/mail/x/y/"]
)
def test_a_slash_behind_what_is_not_there_is_404(web, path):
    assert web.get(path).status_code == 404


def test_the_icon_is_where_browsers_look_for_it(web):
    with web.get("/favicon.ico") as answer:
        assert answer.status_code == 200
        assert answer.content_type.startswith("image/")
        assert "max-age" in answer.headers["Cache-Control"]


@pytest.mark.parametrize(
    "path",
    [
        "/ops/../admin", "/ops/%2e%2e/admin", "/ops/.%2E/admin", "/ops/queues/%2E./%2e./admin",
        "/opsy", "/queues", "//elsewhere", "https://elsewhere", "\\elsewhere", "/ops/\nqueues", "",
    ],
)  # fmt: skip
def test_an_address_that_leaves_the_console_is_none_to_come_back_to(path):
    assert local_path(path, "/ops") is None


@pytest.mark.parametrize("path", ["/ops", "/ops/", "/ops/queues/a~2Fb?page=2", "/ops/tag/%C3%BC"])
def test_an_address_within_the_console_is_one_to_come_back_to(path):
    assert local_path(path, "/ops") == path


#: Words that stand in an address as they are, and such as do not.
WORDS = (
    "mail",
    "a-b_c9",
    "",
    "a.b",
    "a/b",
    "ü",
    "a b",
    "x" * 80,
    "long-" * 300,
    "{0}",
    "\udcff",
    7,
)


@pytest.mark.parametrize("prefix", ["", "/a{b}ü"])
def test_every_address_is_written_as_flask_writes_it(app, prefix):
    with app.test_request_context("/queues", environ_overrides={"SCRIPT_NAME": prefix}):
        for rule in app.url_map.iter_rules():
            for word, more in product(WORDS, ({}, {"q": "x"}, {"page": 2})):
                values = dict.fromkeys(rule.arguments, "a") | more
                for name in rule.arguments:
                    changed = values | {name: word}
                    link = Link(rule.endpoint, changed)
                    assert _written(link_url, link) == _written(_by_flask, link)


def _by_flask(link):
    return url_for(link.endpoint, **link.values)


def _written(write, link):
    try:
        return write(link)
    except Exception as error:  # noqa: BLE001 - both fail alike
        return repr(error)
