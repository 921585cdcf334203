"""What a failure's message tells beside the name of its group. Pure."""

from __future__ import annotations

import re

from qless_web.formatting import head

#: Characters of a line that are looked at; more than any row shows.
_LOOKED_AT = 1_000

#: What stands between the parts of an exception's whole name, in Python and in Ruby.
_PARTS = re.compile(r"\.|::")
_WORD = re.compile("[A-Za-z0-9_]")


def telling(message: str, group: str, most: int) -> str:
    """Keep the line that says most, without the exception that the group is named after.

    >>> telling("requests.exceptions.HTTPError: 503 for hooks", "webhooks-HTTPError", 99)
    '503 for hooks'
    >>> telling("Faraday::TimeoutError: no answer", "warehouse-Faraday::TimeoutError", 99)
    'no answer'
    >>> telling("KeyError: 'order'", "mail-SortedKeyError", 99), telling("Error: ", "q-Error", 99)
    ("KeyError: 'order'", 'Error:')
    """
    line = head(message, _LOOKED_AT)
    name, colon, rest = line.partition(": ")
    last = _PARTS.split(name)[-1]
    before = group.removesuffix(last)[-1:]
    named = bool(last) and group.endswith(last) and not _WORD.fullmatch(before)
    return head(rest if colon and rest and named and " " not in name else line, most)
