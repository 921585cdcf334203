"""The stream that names what changed: that of the pages, at an address of the API."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from qless_web.api.params import Param
from qless_web.api.route import Route, shown
from qless_web.problem import ApiProblem
from qless_web.views import live

if TYPE_CHECKING:
    from flask import Response


@shown(
    Route(
        name="events",
        rule="/events",
        family="events",
        media=("text/event-stream",),
        params=(
            Param(
                name="topics",
                help="What to hear of, with commas between, as `queues,queue:mail`; else of all.",
                default="",
                example="queues",
            ),
            Param(name="last", help="The id of the last message heard.", default=""),
        ),
        statuses=(404,),
    )
)
def events(topics: str, last: str) -> Response:  # noqa: ARG001 - read by the stream itself
    """Stream the names of what changes, as server-sent events, for as long as somebody listens."""
    response = live.events()
    if response.status_code != HTTPStatus.SERVICE_UNAVAILABLE:
        return response
    after = {"Retry-After": str(live.ASK_AGAIN_S)}
    raise ApiProblem(503, "no-room", "No room for one more stream; ask again later.", headers=after)
