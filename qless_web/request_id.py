"""A name for each request: in its answer, in the log and in the audit, so that they are found."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING

from flask import g, request

if TYPE_CHECKING:
    from flask import Flask, Response

HEADER = "X-Request-Id"

#: Ids that are taken over from whoever asked, as a proxy in front; others could forge log lines.
_SANE = re.compile(r"[A-Za-z0-9._~:+/=@-]{1,128}")


def install(app: Flask) -> None:
    """Put the id on every answer."""
    app.after_request(_mark)


def request_id() -> str:
    """Give the id of this request: the one that came with it if it is sane, else a new one."""
    if "qless_request_id" not in g:
        g.qless_request_id = chosen(request.headers.get(HEADER, ""))
    return str(g.qless_request_id)


def chosen(given: str) -> str:
    r"""Take over an id that is sane, or make one.

    >>> chosen("a-1"), len(chosen("")), len(chosen('x" 500\n'))
    ('a-1', 32, 32)
    """
    return given if _SANE.fullmatch(given) else uuid.uuid4().hex


def _mark(response: Response) -> Response:
    response.headers.setdefault(HEADER, request_id())
    return response
