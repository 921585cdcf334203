"""What exists is documented: every name a user can meet has its entry in the reference."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from qless_core import errors, events, options
from qless_core.script import Script
from qless_web import create_app
from qless_web.actions.action import ACTIONS
from qless_web.settings import SETTINGS

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


def text_of(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text()


def code_words(text: str) -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", text))


def subclasses(kind: type) -> set[type]:
    return {kind, *(each for child in kind.__subclasses__() for each in subclasses(child))}


def commands() -> set[str]:
    return set(re.findall(r"^Commands\['([\w.]+)'\] =", Script().source, re.MULTILINE))


def test_the_list_of_commands_is_found():
    assert {"put", "pop", "config.get", "recur.update", "worker.deregister"} <= commands()


def test_every_command_has_an_entry():
    headings = re.findall(r"^### .*", text_of("commands"), re.MULTILINE)
    entries = {words.split()[0] for words in code_words("\n".join(headings))}

    assert sorted(commands() ^ entries) == []


def test_every_option_has_an_entry():
    words = code_words(text_of("options"))

    assert [each.name for each in options.OPTIONS if each.name not in words] == []


def test_every_error_has_an_entry():
    words = code_words(text_of("errors"))

    assert [c.__name__ for c in subclasses(errors.QlessError) if c.__name__ not in words] == []


def test_every_event_has_an_entry():
    words = code_words(text_of("events"))
    known = {each.__name__ for each in subclasses(events.Event)}

    assert known
    assert [name for name in sorted(known) if name not in words] == []


def test_every_setting_has_an_entry_and_its_variable():
    words = code_words(text_of("settings"))

    assert [each.name for each in SETTINGS if each.name not in words] == []
    assert [each.env[0] for each in SETTINGS if each.env[0] not in words] == []


def test_every_action_has_an_entry():
    words = code_words(text_of("actions"))

    assert [name for name in sorted(ACTIONS) if name not in words] == []


def test_every_page_has_an_entry():
    app = create_app("redis://localhost:1/0")
    rules = {
        re.sub(r"<(?:\w+:)?(\w+)>", r"<\1>", rule.rule)
        for rule in app.url_map.iter_rules()
        if "GET" in (rule.methods or ())
        and not rule.endpoint.startswith(("act.", "api.", "static"))
    }
    words = code_words(text_of("pages"))

    assert rules
    assert sorted(rules - words) == []


def test_every_address_of_the_api_has_an_entry():
    app = create_app("redis://localhost:1/0")
    rules = {
        re.sub(r"<(?:\w+:)?(\w+)>", r"<\1>", rule.rule)
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("api.")
    }
    words = code_words(text_of("http-api"))

    assert rules
    assert sorted(rules - words) == []


def test_the_changelog_begins_with_the_version_or_what_is_not_released_yet():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    headings = re.findall(r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)

    assert headings[0] == "Unreleased"
    assert len(headings) == 1 or headings[1] == version


@pytest.mark.parametrize(
    "document",
    sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_links_between_pages_lead_somewhere(document):
    found = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", document.read_text())

    assert [link for link in found if not (document.parent / link).exists()] == []


def test_every_page_of_the_docs_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text()
    pages = {
        path.relative_to(ROOT / "docs").as_posix()
        for path in (ROOT / "docs").rglob("*.md")
        if path.name != "README.md"
    }

    assert sorted(page for page in pages if f"({page})" not in index) == []
