"""How an address of the API is declared: `@listed` for lists, `@shown` for everything else.

The declaration is all there is: its address, the check of what was asked, and its entry in the
OpenAPI document come from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from flask import Blueprint, Response, url_for

from qless_web.api import params as query
from qless_web.api.text import dumps
from qless_web.console import current
from qless_web.problem import ApiProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qless_core.reads import Listing
    from qless_web.api.params import Param

T = TypeVar("T")
S = TypeVar("S")
Read = TypeVar("Read", bound="Callable[..., Any]")

#: Where everything is.
PREFIX = "/api/v1"

blueprint = Blueprint("api", __name__, url_prefix=PREFIX)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """An address that is read.

    Attributes:
        name: its endpoint, below `api.`, and its `operationId`.
        rule: its address below `/api/v1`.
        family: what it is about, as its tag in the document.
        answers: the type of the answer; None where it is no JSON of ours.
        example: an answer; of a list, an item.
        params: what it may be asked for.
        media: other media types that it answers with.
        statuses: errors of its own that it answers with, as 404.
        summary: what it answers, in a sentence: the first of its function.

    """

    name: str
    rule: str
    family: str
    answers: Any = None
    example: Any = None
    params: tuple[Param, ...] = ()
    media: tuple[str, ...] = ()
    statuses: tuple[int, ...] = ()
    summary: str = ""


#: Every address that is read, in the order in which they are declared.
ROUTES: list[Route] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An address that does something in a way of its own.

    What is done there is done by actions of the console all the same, and allowed as they are.

    Attributes:
        name: its endpoint, below `api.`, and its `operationId`.
        rule: its address below `/api/v1`.
        family: what it is about, as its tag in the document.
        body: what it takes, as JSON Schema.
        example_body: one that makes sense.
        answers: the type of the answer by HTTP status.
        examples: an answer by HTTP status.
        summary: what it does, in a sentence: the first of its function.

    """

    name: str
    rule: str
    family: str
    body: Mapping[str, Any]
    example_body: Mapping[str, Any]
    answers: Mapping[int, Any]
    examples: Mapping[int, Any]
    summary: str = ""


#: Every address that does something in a way of its own.
ORDERS: list[Order] = []


def ordered(order: Order) -> Callable[[Read], Read]:
    """Declare an address that does something: the function below does it, and answers."""

    def declare(act: Read) -> Read:
        ORDERS.append(replace(order, summary=(act.__doc__ or "").split("\n", 1)[0]))
        blueprint.add_url_rule(order.rule, order.name, act, methods=["POST"])
        return act

    return declare


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """A part of a list."""

    items: tuple[T, ...]
    total: Annotated[int, "How many items the whole list has now."]
    as_of: Annotated[float, "When this was read, epoch seconds on the clock of Redis."]
    next: Annotated[str | None, "The cursor of the next part; null after the last one."] = None

    @classmethod
    def of(cls, found: Listing[S], item: Callable[[S], T], **more: Any) -> Page[T]:  # noqa: ANN401 - fields of a subclass
        """Make a part of what was read, each row by `item`."""
        rows = tuple(item(row) for row in found.rows)
        return cls(items=rows, total=found.total, as_of=current().now, **more)


def listed(route: Route) -> Callable[[Read], Read]:
    """Declare a list: the function below gives a part of it, a `Page` without `next`.

    It is given the part, the names of the address and the parameters, all by name.
    """
    whole = replace(route, params=(query.LIMIT, query.CURSOR, *route.params))

    def declare(read: Read) -> Read:
        @wraps(read)
        def serve(**path: Any) -> Response:  # noqa: ANN401 - names of the address
            part, rest = query.part(query.asked(whole.params))
            page = read(part=part, **path, **rest)
            return answer(replace(page, next=query.next_part(part, page.total, rest)))

        return _added(whole, read, serve)

    return declare


def shown(route: Route) -> Callable[[Read], Read]:
    """Declare anything else that is read: the function below gives the answer, or a response."""

    def declare(read: Read) -> Read:
        @wraps(read)
        def serve(**path: Any) -> Response:  # noqa: ANN401 - names of the address
            found = read(**path, **query.asked(route.params))
            return found if isinstance(found, Response) else answer(found)

        return _added(route, read, serve)

    return declare


def _added(route: Route, read: Read, serve: Callable[..., Response]) -> Read:
    ROUTES.append(replace(route, summary=(read.__doc__ or "").split("\n", 1)[0]))
    blueprint.add_url_rule(route.rule, route.name, serve, methods=["GET"])
    return read


def answer(value: Any, status: int = 200) -> Response:  # noqa: ANN401 - any answer
    """Answer with JSON."""
    return Response(dumps(value) + b"\n", status, content_type="application/json")


def missing(**named: str) -> ApiProblem:
    """Say that something is not there: `missing(queue="mail")`."""
    ((kind, name),) = named.items()
    return ApiProblem(404, "not-found", f"There is no {kind} “{name}”.")


def address(endpoint: str, **names: str) -> str:
    """Write the address of something here, as `address("job", jid="a/b")`."""
    return url_for(f"api.{endpoint}", **names)  # type: ignore[arg-type]  # names of an address alone
