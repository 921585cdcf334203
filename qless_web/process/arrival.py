"""Whether a request has arrived, so that a thread is given to it and not to waiting."""

from __future__ import annotations

import re
from typing import Final

#: Bytes of a request that are waited for without a thread. Whoever may send more has signed in;
#: others are answered by the head of theirs.
LARGEST: Final = 131_072

_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,9})[ \t]*\r\n", re.IGNORECASE)
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
_LAST_CHUNK: Final = b"\r\n0\r\n"
_EXPECTS: Final = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*(?=\r\n)", re.IGNORECASE)


def is_there(sent: bytes) -> bool:
    r"""Say whether all of a request has come, or so much that it is waited for no longer.

    >>> is_there(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"), is_there(b"GET / HTTP/1.1\r\n")
    (True, False)
    """
    if len(sent) >= LARGEST:
        return True
    end = sent.find(_END)
    if end < 0:
        return False
    head = sent[: end + 2]
    if _CHUNKED.search(head):
        return _LAST_CHUNK in sent[end + 2 :]
    length = _LENGTH.search(head)
    whole = end + len(_END) + (int(length[1]) if length else 0)
    return len(sent) >= whole or whole > LARGEST


def without_expectation(sent: bytes) -> bytes:
    """Give a request without its wish to be told to go on, where it has that; else just so.

    It is for who waits for the body to tell: nobody waits any more once a thread has the request.
    """
    end = sent.find(_END)
    head, rest = sent[: end + 2], sent[end + 2 :]
    return sent if end < 0 else _EXPECTS.sub(b"", head, count=1) + rest
