"""Who comes in: before every request, where this console wants one to be somebody."""

from __future__ import annotations

import contextlib
from http import HTTPStatus
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from flask import Response, redirect, request, url_for

from qless_core.clock import REAL
from qless_core.errors import QlessError
from qless_web import errors, htmx, problem
from qless_web.accounts.identity import Identity
from qless_web.accounts.sessions import COOKIE, SignedOut
from qless_web.console import current
from qless_web.cookies import keep
from qless_web.security import bearer, local_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flask import Flask
    from werkzeug.wrappers import Response as Answer


#: What anybody may ask for: how to come in, what pages are made of, whether it runs.
OPEN = frozenset({"favicon", "health.healthz", "health.readyz", "sign_in.index", "static"}) | {
    "sign_in.enter",
    "sign_in.leave",
    "sign_in.go",
    "sign_in.come_back",
}

#: What browsers keep open.
_STREAMS = frozenset({"live.events", "api.events"})

#: Bytes that are read of the form of somebody who has not come in.
STRANGERS_BODY = 64 * 1024

#: Bytes of a page's address, as it stands in that of the page to sign in: servers bound the line.
_LONGEST = 6_000

_READING = frozenset({"GET", "HEAD"})

#: Seconds after which a stream of somebody who signed in ends, and asks anew whether it may go on.
STREAM_S = 300.0


def install(app: Flask) -> None:
    """Ask everybody."""
    app.before_request(admit)
    app.after_request(_renew)
    app.register_error_handler(SignedOut, lambda _: turned_away())


def admit() -> Response | Answer | None:
    """Let in whoever may come in; answers those who may not."""
    return None if request.method == "OPTIONS" else _come_in() or _slowed()


def _come_in() -> Response | Answer | None:
    here = current()
    given = bearer() if _takes_tokens() else ""
    if given:
        return _admit_token(given)
    if here.console.tokens and problem.is_wanted() and not here.console.accounts:
        return _unknown(given=False)
    if request.endpoint in OPEN or (here.identity.role and not _is_over()):
        return None
    return turned_away()


def _slowed() -> Response | None:
    """Answer an address that changes things faster than one may; reading is free."""
    here = current()
    most = here.settings.writes_per_minute
    if request.method in _READING or not most:
        return None
    now = here.client.clock.monotonic()
    wait_s = here.console.pace.wait_s(request.remote_addr or "", most, now)
    if not wait_s:
        return None
    text = f"That was too much at once: {most:,} changes a minute may come from one address."
    response = errors.answer(HTTPStatus.TOO_MANY_REQUESTS, text)
    response.headers["Retry-After"] = str(int(wait_s))
    return response


def turned_away() -> Response | Answer:
    """Answer somebody who has to sign in first, in the form that was asked for."""
    here = current()
    text = "Sign in first." if here.console.accounts.sessions else "Nobody is signed in."
    if here.identity.name:
        text = f"{here.identity.name} has no role here."
    if problem.is_wanted():
        return _unknown(given=False, detail=text) if here.console.tokens else _refused(text)
    leads = bool(here.console.accounts.sessions) and not here.identity.name
    if not leads or errors.wants_json() or "event-stream" in request.headers.get("Accept", ""):
        return _refused(text)
    address = url_for("sign_in.index", next=_wanted())
    if not htmx.is_partial():
        return redirect(address, HTTPStatus.SEE_OTHER)
    response = Response(f"{text}\n", HTTPStatus.UNAUTHORIZED, content_type="text/plain")
    if "HX-Current-URL" in request.headers:  # else a page that refreshes itself, and says so
        htmx.go_to(response, address)
    return response


def _refused(text: str) -> Response:
    status = HTTPStatus.FORBIDDEN if current().identity.name else HTTPStatus.UNAUTHORIZED
    return errors.answer(status, text)


def _wanted() -> str:
    """Give the page to come back to: this one, or the one whose form this is."""
    if request.method in {"GET", "HEAD"} and not htmx.is_partial():
        query = request.query_string.decode("ascii", errors="replace")
        wanted = request.script_root + request.path + (f"?{query}" if query else "")
    else:
        request.max_content_length = STRANGERS_BODY
        wanted = request.form.get("return_to", "")
    if len(quote(wanted)) > _LONGEST:
        wanted = ""
    return local_path(wanted, request.script_root) or url_for("overview.index")


def _takes_tokens() -> bool:
    is_for_programs = problem.is_wanted() or request.endpoint == "metrics.metrics"
    return bool(current().console.tokens) and is_for_programs


def _admit_token(given: str) -> Response | None:
    here = current()
    token = here.console.tokens.find(given)
    if token is None:
        return _unknown(given=True)
    here.is_asked_by(Identity(token.name, request.remote_addr or "", "token", token.grant))
    return None


def _unknown(*, given: bool, detail: str = "") -> Response:
    said = "Bearer" + (' error="invalid_token"' if given else "")
    text = detail or "This API wants a token: Authorization: Bearer …"
    kind = problem.named("unknown-token")
    response = problem.answer(401, "Nobody has this token." if given else text, kind=kind)
    response.headers["WWW-Authenticate"] = said
    return response


# -- Sessions


def _is_over() -> bool:
    """Ask of a stream what every page learns from what it reads; Redis may be away meanwhile."""
    here = current()
    if request.endpoint in _STREAMS and here.session:
        with contextlib.suppress(QlessError):
            _ = here.counts
    return not here.identity.role


def _renew(response: Response) -> Response:
    here = current()
    session, sessions = here.session, here.console.accounts.sessions
    if session is None or sessions is None:
        return response
    if response.mimetype == "text/event-stream":
        response.response = cast("Iterator[bytes]", _for_a_while(response.response))
    elif not _goes_by_itself() and not _sets_it(response):
        now = here.client.clock.now()
        if renewed := sessions.renewed(session, now):
            keep(response, renewed)
    return response


def _goes_by_itself() -> bool:
    """Tell a page that refreshes itself: nobody has to be there for that."""
    return htmx.is_partial() and "HX-Current-URL" not in request.headers


def _sets_it(response: Response) -> bool:
    return any(each.startswith(f"{COOKIE}=") for each in response.headers.getlist("Set-Cookie"))


def _for_a_while(messages: Iterable[str | bytes]) -> Iterator[str | bytes]:
    until = REAL.monotonic() + STREAM_S
    for message in messages:
        yield message
        if REAL.monotonic() > until:
            return
