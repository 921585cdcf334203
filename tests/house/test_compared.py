"""What we say against other consoles: each row has a test that there is, and a page of the demo."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_web import create_app
from qless_web.demo.workers import Crew
from tests.support.dom import parse
from tests.support.polling import eventually

ROOT = Path(__file__).parents[2]
DEMO = "http://127.0.0.1:5678"
FEATURES = 133

ROW = re.compile(
    r"^\| (?P<number>\d+) \| (?P<what>[^|]+) \| (?P<here>[^|]+) \| (?P<how>[^|]*) \|"
    r" `(?P<test>[\w.:]+)` \| \[(?P<text>\S+)\]\((?P<address>\S+)\) \|$",
    re.MULTILINE,
)

PAGE = (ROOT / "docs/explanation/compared.md").read_text()
ROWS = [found.groupdict() for found in ROW.finditer(PAGE)]


@pytest.fixture(scope="module")
def demo():
    """Visit a console over the demo while its people work, with a session that keeps cookies."""
    with EmbeddedServer() as server, Client(server.url) as client:
        crew = Crew(server.url, pace=20)
        crew.furnish()
        crew.start()
        try:
            yield create_app(client, live_max_streams=0, index=False).test_client()
        finally:
            crew.stop()


def test_every_row_is_there_once_and_in_order():
    assert [int(row["number"]) for row in ROWS] == list(range(1, FEATURES + 1))


def test_what_is_not_whole_says_why():
    assert {row["here"] for row in ROWS} == {"yes", "in part", "no"}
    assert [row["number"] for row in ROWS if row["here"] != "yes" and len(row["how"]) < 60] == []


def test_each_row_names_a_test_that_there_is():
    known = {
        f"{path.name}::{node.name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }

    assert [row["test"] for row in ROWS if row["test"] not in known] == []


def test_each_row_leads_to_a_page_of_the_demo_with_something_on_it(demo):
    for row in ROWS:
        assert row["address"] == DEMO + row["text"], row["number"]
        eventually(lambda row=row: shows_something(demo, row["text"]))


def shows_something(demo, address):
    """Whether a page is there, and says anything but that there is nothing."""
    answer = demo.get(address, follow_redirects=True)
    assert answer.status_code == 200, address
    if not answer.content_type.startswith("text/html"):
        return bool(answer.data)
    page = parse(answer.get_data(as_text=True)).one("main")
    return not page.all("div", class_="empty") and "It must be one of" not in page.text
