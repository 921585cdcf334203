"""`GET /events`: the stream that names what changed, so that pages ask for it again."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from flask import Blueprint, Response, abort, request

from qless_web.console import current
from qless_web.live import hosting, sse
from qless_web.live.hub import HubClosed, HubFull
from qless_web.live.topics import EVERYTHING, known, unspeakable

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from qless_web.live.crowd import Crowd
    from qless_web.live.stream import Stream

blueprint = Blueprint("live", __name__)
log = logging.getLogger("qless.web.live")

#: Topics that one stream may name; a page has a handful, several tabs that share one have more.
MOST_TOPICS = 200
#: Seconds after which a browser that found no room may ask for a stream again.
ASK_AGAIN_S = 30

_HEADERS = {
    "Cache-Control": "no-cache, no-transform",
    # nginx would hold the messages back until it has a few kilobytes of them.
    "X-Accel-Buffering": "no",
}


@blueprint.get("/events")
def events() -> Response:
    """Stream the names of what changes, for as long as the browser listens."""
    here = current()
    if not here.settings.live_max_streams:
        abort(404, "Live updates are switched off in this console.")
    topics = asked_topics(request.args.getlist("topics"))
    if not topics or len(topics) > MOST_TOPICS:
        abort(400, f"Name between 1 and {MOST_TOPICS} topics, such as queues or queue:mail.")
    if any(map(unspeakable, topics)):
        abort(400, "One of the topics holds half a character: no name in Redis does.")
    if request.method == "HEAD":
        return _answer(iter(()))
    if why := hosting.refusal(request.environ):
        log.warning("no live updates: %s", why)
        return _no_room()
    last_id = request.headers.get("Last-Event-ID") or request.args.get("last", "")
    try:
        stream = here.hub.open(topics, last_id, hosting.peer(request.environ))
    except (HubFull, HubClosed):
        return _no_room()
    let_go = hosting.let_go(request.environ)
    moved = _moved(stream, here.hub.crowd, let_go) if let_go else None
    response = _answer(moved or stream.messages())
    # A generator that was never begun does not run its `finally`.
    response.call_on_close(stream.close_unless_fed)
    return response


def _moved(stream: Stream, crowd: Crowd, let_go: Callable[[], socket.socket]) -> Iterator[bytes]:
    """Begin an answer, and let the crowd go on with it: the thread is free for another request."""
    yield sse.OPENING
    crowd.take(let_go(), stream)


def asked_topics(values: list[str]) -> frozenset[str]:
    """Read the topics of the address: each value a name, names with commas, or a JSON list.

    A name may hold a comma itself, so a value with commas counts both whole and in parts.
    """
    asked: set[str] = set()
    for value in values:
        asked |= _listed(value) if value.startswith("[") else {value, *value.split(",")}
    return known(asked) if any(values) else EVERYTHING


def _listed(text: str) -> set[str]:
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        return set()
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def _answer(messages: Iterator[bytes]) -> Response:
    return Response(messages, mimetype="text/event-stream", headers=_HEADERS)


def _no_room() -> Response:
    """Send a browser away, politely: its page asks from time to time instead."""
    return Response(
        "No room for one more live page; ask again later.\n",
        503,
        {"Retry-After": str(ASK_AGAIN_S)},
        mimetype="text/plain",
    )
