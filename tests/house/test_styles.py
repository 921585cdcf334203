"""Style sheets: each is linked on every page, and one of them alone writes out colours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "qless_web"
CSS = WEB / "static" / "css"
SHEETS = sorted(CSS.rglob("*.css"))

#: A colour written out: in hex, by a function (but not one worked out of another), or by its name.
COLOUR = re.compile(
    r"#[0-9a-f]{3,8}\b"
    r"|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\((?!\s*from\b)"
    r"|(?<![\w-])(?:black|white|gr[ae]y|silver|red|orange|yellow|green|blue|purple|pink|brown"
    r"|navy|teal|aqua|cyan|lime|magenta|fuchsia|maroon|olive|gold|indigo|violet|crimson)(?![\w-])",
    re.IGNORECASE,
)


def colours(css: str) -> list[str]:
    """List the colours that the values of a style sheet write out."""
    bare = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return [
        found for value in re.findall(r":([^:{};]+)[;}]", bare) for found in COLOUR.findall(value)
    ]


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.name)
def test_only_the_tokens_write_out_colours(path):
    found = colours(path.read_text())

    assert bool(found) == (path.name == "tokens.css"), found


@pytest.mark.parametrize(
    "value",
    ["#000", "#0006", "rgb(0 0 0)", "light-dark(oklch(1 0 0), var(--x))", "1px solid white"],
)
def test_a_colour_written_out_is_noticed(value):
    assert colours(f"a {{ & b {{ fill: {value}; }} }}")


@pytest.mark.parametrize(
    "value",
    [
        "var(--white)",
        "color-mix(in oklab, var(--ink) 4%, transparent)",
        "oklch(from var(--x) l c h)",
    ],
)
def test_a_colour_by_its_token_is_none(value):
    assert not colours(f"/* #000 */ a:hover {{ white-space: nowrap; fill: {value}; }}")


def test_every_style_sheet_is_listed_once_for_every_layout():
    templates = {path: path.read_text() for path in (WEB / "templates").rglob("*.html")}
    sheets = templates.pop(WEB / "templates" / "_sheets.html")
    (listed,) = re.findall(r"{% for sheet in \(([^)]*)\)", sheets)
    names = re.findall(r'"([\w/-]+)"', listed)

    assert sorted(names) == sorted(
        path.relative_to(CSS).with_suffix("").as_posix() for path in SHEETS
    )
    assert [path.name for path, text in templates.items() if "stylesheet" in text] == []
