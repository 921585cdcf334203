"""Runbooks: which page tells what to do about a group of failures. Pure."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable


def runbook_of(group: str, runbooks: Iterable[tuple[str, str]]) -> str:
    """Give the address of a group's runbook: of the first pattern that fits; "" where none does.

    Args:
        group: its name.
        runbooks: patterns with `*` and `?`, each with an address in which `{group}` is the name.

    >>> runbook_of("mail-Timeout", [("mail-*", "https://wiki.example/mail?of={group}")])
    'https://wiki.example/mail?of=mail-Timeout'

    """
    for pattern, url in runbooks:
        if fnmatchcase(group, pattern):
            return url.replace("{group}", quote(group.encode(errors="surrogateescape"), safe=""))
    return ""
