"""What tells a checker to look away says why, in one spelling."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for folder in ("qless_core", "qless_web", "tests", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
    if path != Path(__file__)
]

SPELT = re.compile(r"# noqa: [A-Z]+\d+(?:, [A-Z]+\d+)* - \S")


def test_there_are_sources():
    assert len(SOURCES) > 200


def test_each_noqa_names_its_rule_and_its_reason():
    unspelt = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if "# noqa" in line and not SPELT.search(line)
    ]

    assert unspelt == []


def test_a_noqa_without_a_reason_is_noticed():
    assert not SPELT.search("x = 1  # noqa: A001")
    assert not SPELT.search("x = 1  # noqa: A001  because")
    assert SPELT.search("x = 1  # noqa: A001, ANN401 - because")
