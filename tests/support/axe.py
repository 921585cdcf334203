"""Asks axe what is wrong with a page for people who do not see it as we do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

SOURCE = Path(__file__).parents[1] / "vendor" / "axe.min.js"
STANDARDS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


def findings(page: Page, *rules: str) -> list[str]:
    """List what axe finds: the rule, and the element that breaks it.

    Args:
        page: as it is now.
        rules: those to go by; all of the standards when none is named.

    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(SOURCE.read_text())
    only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": STANDARDS}
    # To list what is well, too, and to fetch the style sheets once more, takes most of the time.
    options = json.dumps({"runOnly": only, "resultTypes": ["violations"], "preload": False})
    return [
        f"{rule['id']}: {node['html']}"
        for rule in page.evaluate(f"axe.run(document, {options})")["violations"]
        for node in rule["nodes"]
    ]
