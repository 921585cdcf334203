"""Errors as answers: the right status, a page that helps or JSON, and the log always told."""

from __future__ import annotations

import contextlib
import logging
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote

from flask import jsonify, redirect, request
from werkzeug.exceptions import (
    HTTPException,
    InternalServerError,
    NotFound,
    RequestEntityTooLarge,
)

from qless_core.errors import QlessError, RedisUnavailable
from qless_web import problem, statuses
from qless_web.console import current
from qless_web.presenters import problems
from qless_web.rendering import render, render_without_redis
from qless_web.request_id import request_id
from qless_web.security import local_path

if TYPE_CHECKING:
    from _typeshed import ExcInfo
    from flask import Flask, Response
    from werkzeug.wrappers import Response as Answer

    from qless_web.presenters.page import Link

log = logging.getLogger("qless.web")

#: Bytes of a refused body that are read all the same: whoever still sends hears no answer.
_SWALLOWED, _MOUTHFUL = 32 * 1024 * 1024, 64 * 1024


def install(app: Flask) -> None:
    """Answer every error."""
    app.register_error_handler(QlessError, core_error)
    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(NotFound, partial(_not_found, app))
    app.after_request(_swallow)
    app.log_exception = _log_fault  # type: ignore[assignment,method-assign]  # on our log, once


def _swallow(response: Response) -> Response:
    """Read what is left of a body that was refused, where the server says where it ends."""
    body = request.environ["wsgi.input"]
    if (
        response.status_code >= HTTPStatus.BAD_REQUEST
        and "wsgi.input_terminated" in request.environ
    ):
        with contextlib.suppress(Exception):  # a server's own errors: nothing is to be read then
            for _ in range(_SWALLOWED // _MOUTHFUL):
                if not body.read(_MOUTHFUL):
                    break
    return response


def core_error(error: QlessError) -> Response:
    """Answer an error of the queue."""
    status = statuses.of_error(error)
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return _redis_down(error)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("%s %s (%s)", request.method, request.path, request_id(), exc_info=error)
    if problem.is_wanted():
        return problem.answer(status, str(error), kind=problem.type_of(error))
    return answer(status, str(error))


def http_error(error: HTTPException) -> Response:
    """Answer an error of HTTP, or one that nobody expected."""
    status = error.code or 500
    if isinstance(error, InternalServerError):
        return answer(500, "The console met an error it did not expect. The log has the details.")
    if isinstance(error, RequestEntityTooLarge):
        error.description = problems.TOO_LARGE
    searches = problems.searches(request.path) if status == HTTPStatus.NOT_FOUND else ()
    response = answer(status, error.description or error.name, places=searches)
    for name, value in error.get_headers():
        if name not in {"Content-Type", "Content-Length"}:
            response.headers[name] = value
    return response


def _not_found(app: Flask, error: NotFound) -> Response | Answer:
    """Lead from an address with a slash too many to the one that was meant."""
    path = request.path.rstrip("/")
    routes = app.create_url_adapter(request)
    if path in {"", request.path} or routes is None or not routes.test(path, request.method):
        return http_error(error)
    query = request.query_string.decode("ascii", errors="replace")
    meant = quote(request.script_root + path, safe="/~") + (f"?{query}" if query else "")
    place = local_path(meant, request.script_root)
    return redirect(place, HTTPStatus.PERMANENT_REDIRECT) if place else http_error(error)


def _log_fault(info: ExcInfo | tuple[None, None, None]) -> None:
    log.error("%s %s (%s)", request.method, request.path, request_id(), exc_info=info)


def answer(
    status: int, text: str, advice: str = "", places: tuple[tuple[str, Link], ...] = ()
) -> Response:
    """Say what went wrong, in the form that was asked for."""
    if problem.is_wanted():
        return problem.answer(status, text)
    if wants_json():
        response = jsonify(error=text)
        response.status_code = status
        return response
    page = problems.problem(status, text, advice, places)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return render_without_redis(page, status)
    try:
        return render(page, status)
    except RedisUnavailable:
        return render_without_redis(page, status)


def wants_json() -> bool:
    """Say whether the caller speaks JSON: an original address, a JSON body, or its Accept."""
    if request.path.endswith(".json") or request.is_json:
        return True
    return request.accept_mimetypes.best_match(["text/html", "application/json"]) == (
        "application/json"
    )


def _redis_down(error: QlessError) -> Response:
    text, url = str(error), current().client.safe_url
    current().console.outage.goes_on(url, text)
    if problem.is_wanted():
        detail = f"{problems.outage(text)}: {text}"
        response = problem.answer(
            503, detail, kind=problem.type_of(error), more={"tried": url, "because": text}
        )
    elif wants_json():
        response = jsonify(error=problems.outage(text), tried=url, because=text)
        response.status_code = 503
    else:
        page = problems.redis_down(url, text)
        response = render_without_redis(page, 503, page.title)
    response.headers["Retry-After"] = "5"
    return response
