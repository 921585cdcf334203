"""Errors as programs want them: `application/problem+json`, as RFC 9457 has it."""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from flask import Response, request

from qless_web.request_id import request_id

if TYPE_CHECKING:
    from qless_core.errors import QlessError

#: What the addresses of the API begin with.
ROOT = "/api/"

MEDIA_TYPE = "application/problem+json"

#: The type of a problem that its HTTP status says all about.
PLAIN = "about:blank"


class ApiProblem(Exception):  # noqa: N818 - as in the reference
    """Raised where a request of the API cannot be answered; turned into a problem."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        headers: dict[str, str] | None = None,
        **more: Any,  # noqa: ANN401 - any JSON
    ) -> None:
        self.status = status
        self.kind = kind
        self.detail = detail
        self.headers = headers or {}
        self.more = more
        super().__init__(detail)


def is_wanted(path: str | None = None) -> bool:
    """Say whether an address is one of the API, whose errors are problems."""
    return (request.path if path is None else path).startswith(ROOT)


def type_of(error: QlessError) -> str:
    """Name the type of a core error.

    >>> from qless_core.errors import JobNotFound
    >>> type_of(JobNotFound("a"))
    'urn:qless:job-not-found'
    """
    words = re.findall(r"[A-Z][a-z0-9]*", type(error).__name__)
    return named("-".join(words).lower())


def named(kind: str) -> str:
    """Write the type of a problem of ours; "" is one that its status says all about."""
    return f"urn:qless:{kind}" if kind else PLAIN


def body(
    status: int,
    detail: str,
    *,
    kind: str = PLAIN,
    name: str = "",
    more: dict[str, Any] | None = None,
) -> str:
    """Write a problem.

    Args:
        status: the HTTP status.
        detail: what happened, in a sentence.
        kind: its type, an address.
        name: the id of the request; by default that of this one.
        more: what else a program may want to know.

    """
    told = {
        "type": kind,
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "request_id": name or request_id(),
        **(more or {}),
    }
    return json.dumps(told) + "\n"


def answer(
    status: int, detail: str, *, kind: str = PLAIN, more: dict[str, Any] | None = None
) -> Response:
    """Answer with a problem; the arguments are those of `body`."""
    return Response(body(status, detail, kind=kind, more=more), status, content_type=MEDIA_TYPE)
