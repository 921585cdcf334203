"""The page about mounting, as sections with blocks of code."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/how-to/mount-the-console.md"


@dataclass(frozen=True)
class Section:
    """One heading of the page: its blocks of code by language."""

    text: str

    def blocks(self, language):
        return re.findall(rf"^```{language}\n(.*?)^```", self.text, re.MULTILINE | re.DOTALL)

    @property
    def command(self):
        (line,) = self.blocks("sh")
        return line.strip()


def read():
    """Read the sections of the page, by their headings; what stands before them by ""."""
    first, *parts = re.split(r"^##+ (.*)\n", PAGE.read_text(), flags=re.MULTILINE)
    headed = zip(parts[::2], parts[1::2], strict=True)
    return {"": Section(first)} | {heading: Section(text) for heading, text in headed}


def here(text, server, more=""):
    """Put the server of this test where the page names one."""
    return text.replace('"redis://localhost:6379/0"', json.dumps(server.url) + more)
