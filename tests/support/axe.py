"""Asks axe what is wrong with a page for people who do not see it as we do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

SOURCE = Path(__file__).parents[1] / "vendor" / "axe.min.js"
STANDARDS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


def findings(page: Page) -> list[str]:
    """List what axe finds: the rule, and the element that breaks it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(SOURCE.read_text())
    only = json.dumps({"runOnly": {"type": "tag", "values": STANDARDS}})
    return [
        f"{rule['id']}: {node['html']}"
        for rule in page.evaluate(f"axe.run(document, {only})")["violations"]
        for node in rule["nodes"]
    ]
