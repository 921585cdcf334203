"""The OpenAPI document: made of the declared routes and actions, so that it cannot fall behind."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from http import HTTPStatus
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin

from flask import Response, request

from qless_web.api import acting, text
from qless_web.api.params import CURSOR, LIMIT
from qless_web.api.route import ORDERS, PREFIX, ROUTES, Order, Route, shown
from qless_web.api.schema import Schema, described
from qless_web.api.states import StatePage
from qless_web.presenters.frame import running_version
from qless_web.problem import MEDIA_TYPE

if TYPE_CHECKING:
    from qless_web.actions.action import Action
    from qless_web.api.params import Param

_ABOUT = """Everything that the pages of the console show and do.

Names in addresses may be anything: what is no letter, digit, `_` or `-` is written as `~` and two
hex digits, so that `a/b` is `a~2Fb`. Instants are epoch seconds. Bytes of a name that are not UTF-8
are there as lone halves of surrogate pairs (`\\udc80` to `\\udcff`).
"""

#: What the names in addresses are.
_NAMES = {
    "jid": "The jid of a job.",
    "queue": "The name of a queue.",
    "group": "A group of failures.",
    "worker": "The name of a worker.",
    "tag": "A tag.",
    "operation": "The id of an operation.",
    "option": "The name of an option, as `heartbeat` or `mail-max-concurrency`.",
}

#: Errors that any address may answer with, beside its own.
_ALWAYS = (400, 401, 403, 405, 421, 500, 503)
_ACTING = (404, 409, 413, 415, 429, 502)

_PROBLEM: Schema = {
    "type": "object",
    "description": "What went wrong, as RFC 9457 has it. Some kinds bring more members.",
    "properties": {
        "type": {"type": "string", "description": "`urn:qless:…`, or `about:blank`."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What happened, in a sentence."},
        "request_id": {"type": "string", "description": "The name of this request in the log."},
    },
    "required": ["type", "title", "status", "detail", "request_id"],
}


@shown(Route(name="openapi", rule="/openapi.json", family="overview", media=("application/json",)))
def openapi() -> Response:
    """Give this document."""
    response = Response(json.dumps(document(request.script_root)), content_type="application/json")
    response.headers["Cache-Control"] = "no-cache"
    response.add_etag()
    return response.make_conditional(request)  # type: ignore[return-value]  # werkzeug says its own class


@cache
def document(root: str = "") -> dict[str, Any]:
    """Make the document; `root` is the path that the console is mounted under."""
    schemas: dict[str, Schema] = {"Problem": _PROBLEM}
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(path_of(route.rule), {})["get"] = _reading(route, schemas)
    for action in acting.served():
        rule = path_of(acting.rule_of(action))
        paths.setdefault(rule, {})["post"] = _acting(action, schemas)
    for order in ORDERS:
        paths.setdefault(path_of(order.rule), {})["post"] = _ordering(order, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "qless", "version": running_version() or "0", "description": _ABOUT},
        "servers": [{"url": root + PREFIX}],
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {"Problem": _problem_response()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def path_of(rule: str) -> str:
    """Write an address as OpenAPI does.

    >>> path_of("/jobs/<name:jid>/retry")
    '/jobs/{jid}/retry'
    """
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule)


def _reading(route: Route, schemas: dict[str, Schema]) -> dict[str, Any]:
    # A name may be there as its digest, which may have no name any more.
    missing = (HTTPStatus.NOT_FOUND.value,) if "<" in route.rule else ()
    return {
        "operationId": route.name,
        "tags": [route.family],
        "summary": route.summary,
        "parameters": [*_in_path(route.rule), *map(_in_query, route.params)],
        "responses": {
            "200": {"description": "It.", "content": _content(route, schemas)},
            **_problems(*route.statuses, *missing),
        },
    }


def _acting(action: Action, schemas: dict[str, Schema]) -> dict[str, Any]:
    summary = (action.run.__doc__ or "").split("\n", 1)[0]
    return {
        "operationId": acting.name_of(action),
        "tags": ["actions"],
        "summary": summary,
        "description": f"Needs the permission `{action.permission}`.",
        "parameters": _in_path(action.rule),
        "requestBody": _body(action),
        "responses": {
            "200": {
                "description": "What was done, and what was left alone.",
                "content": {
                    "application/json": {
                        "schema": described(acting.Done, schemas),
                        "example": _plain(replace(acting.EXAMPLE, action=action.name)),
                    }
                },
            },
            **_problems(*_ACTING),
        },
    }


def _ordering(order: Order, schemas: dict[str, Schema]) -> dict[str, Any]:
    example = {"schema": dict(order.body), "example": dict(order.example_body)}
    return {
        "operationId": order.name,
        "tags": [order.family],
        "summary": order.summary,
        "parameters": _in_path(order.rule),
        "requestBody": {
            "required": bool(order.body.get("required")),
            "content": {"application/json": example},
        },
        "responses": {
            **{
                str(status): {
                    "description": "What is under way, or would be.",
                    "content": {
                        "application/json": {
                            "schema": described(kind, schemas),
                            "example": _plain(order.examples[status]),
                        }
                    },
                }
                for status, kind in order.answers.items()
            },
            **_problems(*_ACTING),
        },
    }


def _body(action: Action) -> dict[str, Any]:
    required = [each.name for each in action.takes if each.required and each.default is None]
    schema: Schema = {
        "type": "object",
        "properties": {field.name: field.schema for field in action.takes},
        "additionalProperties": False,
    }
    if required:
        schema["required"] = required
    example = {field.name: field.example for field in action.takes if field.example is not None}
    return {
        "required": bool(required),
        "content": {"application/json": {"schema": schema, "example": example}},
    }


def _in_path(rule: str) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": _NAMES.get(name, ""),
            "schema": {"type": "string", "minLength": 1},
        }
        for name in re.findall(r"<(?:\w+:)?(\w+)>", rule)
    ]


def _in_query(param: Param) -> dict[str, Any]:
    found = {
        "name": param.name,
        "in": "query",
        "required": param.required,
        "description": param.help,
        "schema": param.schema,
    }
    return found if param.example in (None, "") else {**found, "example": param.example}


def _content(route: Route, schemas: dict[str, Schema]) -> dict[str, Any]:
    if route.answers is None:
        return {media: {"schema": _free(media)} for media in route.media}
    example = route.example
    if _is_list(route):
        example = {"items": [example], "total": 1, "as_of": 1798761660.5, "next": None}
        if route.answers is StatePage:
            example |= {"states": {"failed": 1}, "counted": 1, "members": 1}
    return {
        "application/json": {"schema": _schema(route.answers, schemas), "example": _plain(example)}
    }


def _is_list(route: Route) -> bool:
    return LIMIT in route.params and CURSOR in route.params


def _free(media: str) -> Schema:
    return {} if media == "application/json" else {"type": "string"}


def _schema(answers: Any, schemas: dict[str, Schema]) -> Schema:  # noqa: ANN401 - a type
    if get_origin(answers) is UnionType:
        return {"oneOf": [described(each, schemas) for each in get_args(answers)]}
    if get_origin(answers) is tuple:
        return {"type": "array", "items": described(get_args(answers)[0], schemas)}
    return described(answers, schemas)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any answer
    return json.loads(text.dumps(value))


def _problems(*own: int) -> dict[str, Any]:
    known = sorted({*_ALWAYS, *own})
    return {str(status): {"$ref": "#/components/responses/Problem"} for status in known}


def _problem_response() -> dict[str, Any]:
    example = {
        "type": "urn:qless:job-not-found",
        "title": HTTPStatus.NOT_FOUND.phrase,
        "status": 404,
        "detail": "Job order-12 does not exist",
        "request_id": "7d9f0a6e4c1b4a0f8d2f1c3b5a697887",
    }
    return {
        "description": "Why not.",
        "content": {
            MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example}
        },
    }
