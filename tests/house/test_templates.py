"""Templates hold no code, no style and nothing that skips escaping."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "qless_web" / "templates").rglob("*.html"))

FORBIDDEN = {
    "an inline style": r"\sstyle\s*=",
    "an inline handler": r"\son[a-z]+\s*=\s*[\"']",
    "text that is not escaped": r"\|\s*safe\b|autoescape\s+false",
    "an inline script": r"<script(?![^>]*\bsrc=)",
    "a style element": r"<style\b",
    "an address by hand": r"(?:href|action|src|hx-get|hx-post)\s*=\s*[\"']/",
    "something evaluated by htmx": r"hx-on|hx-vals\s*=\s*[\"']js:",
}


def test_there_are_templates():
    assert TEMPLATES


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda p: str(p.relative_to(ROOT)))
@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_template_holds(path, what):
    found = re.findall(FORBIDDEN[what], path.read_text())

    assert found == [], f"{path.name} holds {what}"


@pytest.mark.parametrize("what", FORBIDDEN)
def test_each_rule_can_fail(what):
    planted = {
        "an inline style": '<p style="color: red">',
        "an inline handler": '<a onclick="go()">',
        "text that is not escaped": "{{ name | safe }}",
        "an inline script": "<script>go()</script>",
        "a style element": "<style>p {}</style>",
        "an address by hand": '<a href="/queues">',
        "something evaluated by htmx": "<b hx-vals='js:{a: 1}'>",
    }[what]

    assert re.findall(FORBIDDEN[what], planted)
