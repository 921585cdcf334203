"""What stands around every page: which world this is, and the places of the console."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from werkzeug.test import Client as Browser

from qless_web import create_app
from qless_web.presenters.frame import rail
from qless_web.static_files import STATIC
from tests.support.dom import parse


@pytest.mark.parametrize(("colour", "tone"), [("red", "red"), ("grey", "neutral")])
def test_the_environment_stands_in_the_header_and_in_the_title(client, colour, tone):
    web = Browser(create_app(client, environment="staging", environment_colour=colour))

    for path in ("/", "/queues", "/no-such-page"):
        html = web.get(path).get_data(as_text=True)
        label = parse(html).one("span", class_="environment")
        assert (label.text, label.attributes["data-tone"]) == ("staging", tone)
        assert re.search(r"<title>[^<]+ \[staging\]</title>", html)


def test_without_an_environment_nothing_is_said_of_one(see):
    assert not see("/").all("span", class_="environment")


def test_each_place_has_a_letter_of_its_own():
    letters = Counter(entry.go for entry in rail(None))

    assert len(letters) > 10
    assert [letter for letter, many in letters.items() if many > 1] == []


def test_each_place_has_an_icon_that_there_is():
    drawn = (STATIC / "icons.svg").read_text()

    assert [entry.icon for entry in rail(None) if f'id="{entry.icon}"' not in drawn] == []
