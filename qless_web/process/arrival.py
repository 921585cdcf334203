"""Whether a request has arrived, so that a thread is given to it and not to waiting."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

#: Bytes of a request that are waited for without a thread. Few threads wait for the rest of larger
#: ones; strangers, who may not send so much, are answered by the head of theirs.
LARGEST: Final = 131_072

_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*0*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")
#: Bytes of the line that says how long a chunk is.
_LONGEST_LINE: Final = 8_190
_EXPECTS: Final = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*(?=\r\n)", re.IGNORECASE)


class Arrived(NamedTuple):
    """How much of a request has come.

    Attributes:
        is_there: whether it is waited for no longer: it is whole, or large.
        is_whole: whether nothing of it is to come.
        seen: where its last chunk begins, as far as it was looked through; 0 for not yet.

    """

    is_there: bool
    is_whole: bool
    seen: int = 0


def arrived(sent: bytes, seen: int = 0) -> Arrived:
    r"""Say how much of a request has come.

    Args:
        sent: all of it that has.
        seen: what was answered when less of it had.

    >>> arrived(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").is_whole, arrived(b"GET / HTTP").is_there
    (True, False)

    """
    is_large = len(sent) >= LARGEST
    end = sent.find(_END)
    if end < 0:
        return Arrived(is_large, is_whole=False)
    head = sent[: end + 2]
    if _CHUNKED.search(head):
        seen, is_whole = _walked(sent, seen or end + len(_END))
        return Arrived(is_large or is_whole, is_whole, seen)
    length = _LENGTH.search(head)
    whole = end + len(_END) + (int(length[1]) if length else 0)
    is_whole = len(sent) >= whole
    return Arrived(is_large or is_whole or whole > LARGEST, is_whole)


def _walked(sent: bytes, at: int) -> tuple[int, bool]:
    """Go over chunks that are there, from the beginning of one on; answers whether all are.

    What is no chunk is refused by whoever reads it, and nothing is waited for.
    """
    while size := _SIZE.match(sent, at):
        number = int(size[1], 16)
        if not number:  # then trailers may come, and an empty line
            return at, sent.find(_END, size.end() - 2) >= 0
        after = size.end() + number + 2
        if after > len(sent):
            return at, False
        at = after
    is_broken = b"\r\n" in sent[at:] or len(sent) - at > _LONGEST_LINE
    return at, is_broken


def without_expectation(sent: bytes) -> bytes:
    """Give a request without its wish to be told to go on, where it has that; else just so.

    It is for who waits for the body to tell: nobody waits any more once a thread has the request.
    """
    end = sent.find(_END)
    head, rest = sent[: end + 2], sent[end + 2 :]
    return sent if end < 0 else _EXPECTS.sub(b"", head, count=1) + rest
