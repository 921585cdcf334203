"""Names of queues and groups, as a line of text can hold them."""

from __future__ import annotations


def readable(name: str) -> str:
    r"""Write bytes that are not UTF-8 as what they are, so that the name can be sent.

    >>> readable("ü"), readable("a\udcff")
    ('ü', 'a\\xff')
    """
    raw = name.encode(errors="surrogateescape")
    return raw.decode(errors="backslashreplace")
