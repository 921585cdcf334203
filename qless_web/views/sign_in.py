"""Coming in and leaving: by a name and a password, or by way of the provider and back."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

from flask import Blueprint, abort, make_response, redirect, request, url_for

from qless_web.accounts import attempt, passwords, throttle
from qless_web.accounts.attempt import Attempt
from qless_web.accounts.provider import NotLetIn
from qless_web.accounts.sessions import end
from qless_web.console import current
from qless_web.cookies import forget, forget_attempt, keep, keep_attempt
from qless_web.presenters.sign_in import sign_in
from qless_web.rendering import render_without_redis
from qless_web.security import local_path, sign_in_root

if TYPE_CHECKING:
    from flask import Response

    from qless_web.accounts.provider import Person, Provider
    from qless_web.accounts.users import User

blueprint = Blueprint("sign_in", __name__)
log = logging.getLogger("qless.web.accounts")

#: Bytes of the form: a name, a password and an address.
_LONGEST_FORM = 64 * 1024

_NOT_BEGUN = "No sign-in was begun here that this could end, or it was too long ago. Sign in again."
_WRONG = "That name and password do not go together."


@blueprint.get("/sign-in")
def index() -> Response:
    """Ask who it is."""
    _must_be_of_use(current().console.accounts.sessions)
    if current().identity.role:
        return make_response(redirect(_wanted(request.args.get("next", "")), 303))
    return _page()


@blueprint.post("/sign-in")
def enter() -> Response:
    """Let somebody in whose password is right."""
    _must_be_of_use(current().console.accounts.users)
    request.max_content_length = _LONGEST_FORM
    here, name = current(), request.form.get("name", "").strip()
    address = request.remote_addr or ""
    if wait_s := here.ask(throttle.attempt(name, address)):
        return _too_often(wait_s)
    user = _known(name, request.form.get("password", ""))
    if user is None:
        log.warning("an attempt to sign in from %s failed", address)
        return _page(_WRONG, 401)
    here.ask(throttle.success(name, address))
    return _let_in(user)


@blueprint.get("/sign-in/provider")
def go() -> Response:
    """Send somebody to the provider, to sign in there."""
    _must_be_of_use(current().console.accounts.provider)
    wanted = _wanted(request.args.get("next", ""))
    back = url_for("sign_in.come_back", _external=True)
    began = Attempt(current().client.clock.now(), back, wanted)
    try:
        address = _provider().address(began)
    except NotLetIn as error:
        return _page(str(error), error.status)
    response = make_response(redirect(address, 303))
    keep_attempt(response, began)
    return response


@blueprint.get("/sign-in/callback")
def come_back() -> Response:
    """Let somebody in whom the provider has sent back."""
    _must_be_of_use(current().console.accounts.provider)
    began = _begun()
    if began and (wait_s := current().ask(throttle.attempt(None, request.remote_addr or ""))):
        return _too_often(wait_s, began.wanted)
    if began is None or not current().ask(attempt.first_use(began)):
        log.warning("somebody at %s came back of no sign-in", request.remote_addr)
        return _page(_NOT_BEGUN, 400)
    try:
        person = _provider().person(began, request.args, current().client.clock.now())
        response = _welcome(person, began)
    except NotLetIn as error:
        response = _page(str(error), error.status, wanted=began.wanted)
    forget_attempt(response, began)
    return response


@blueprint.post("/sign-out")
def leave() -> Response:
    """End the session, here and for every copy of its cookie."""
    here = current()
    response = make_response(redirect(url_for("sign_in.index"), 303))
    forget(response)
    if here.session and here.console.accounts.sessions:
        here.tell(end(here.session, here.console.accounts.sessions.most_s))
        log.info("%s signed out", here.identity.name)
    return response


# -- By the provider


def _provider() -> Provider:
    return cast("Provider", current().console.accounts.provider)


def _begun() -> Attempt | None:
    """Find the sign-in that somebody has come back of; that it was used before, Redis knows."""
    here, state = current(), request.args.get("state", "")
    keys = here.console.accounts.sessions.keys if here.console.accounts.sessions else ()
    return attempt.find(keys, request.cookies, state, here.client.clock.now())


def _welcome(person: Person, began: Attempt) -> Response:
    here, accounts = current(), current().console.accounts
    sessions, mark = accounts.sessions, _provider().mark
    if sessions is None or accounts.provided(person.name, person.role) is None:
        log.warning("%s was signed in by the provider, and may not come in", ascii(person.name))
        text = f"You are {person.name[:128]} there, and may not come in here. Ask an administrator."
        raise NotLetIn(text)
    here.ask(throttle.success(None, request.remote_addr or ""))
    response = make_response(redirect(_wanted(began.wanted), 303))
    now = here.client.clock.now()
    keep(response, sessions.begin(now, person.name, "provider", mark=mark, role=person.role))
    log.info("%s signed in from %s, by the provider", person.name, request.remote_addr)
    return response


# -- By a password


def _known(name: str, password: str) -> User | None:
    users = current().console.accounts.users
    user = users.find(name) if users else None
    # Asked also where there is nobody of that name: it takes as long.
    fits = passwords.matches(password, user.password if user else "")
    return user if fits else None


def _let_in(user: User) -> Response:
    here, sessions = current(), current().console.accounts.sessions
    response = make_response(redirect(_wanted(request.form.get("next", "")), 303))
    if sessions:
        began = sessions.begin(here.client.clock.now(), user.name, "password", mark=user.mark)
        keep(response, began)
    log.info("%s signed in from %s", user.name, request.remote_addr)
    return response


def _too_often(wait_s: int, wanted: str = "") -> Response:
    log.warning("too many attempts to sign in from %s", request.remote_addr)
    minutes = -(-wait_s // 60)
    many = "a minute" if minutes == 1 else f"{minutes} minutes"
    problem = f"That was too often. Try again in {many}."
    response = _page(problem, HTTPStatus.TOO_MANY_REQUESTS, wanted=wanted)
    response.headers["Retry-After"] = str(wait_s)
    return response


def _page(problem: str = "", status: int = 200, *, wanted: str = "") -> Response:
    accounts = current().console.accounts
    page = sign_in(
        _wanted(wanted or request.values.get("next", "")),
        name=request.form.get("name", ""),
        problem=problem,
        by_password=accounts.users is not None and accounts.users.has_passwords,
        provider=accounts.provider.title if accounts.provider else "",
    )
    return render_without_redis(page, status, "")


def _wanted(address: str) -> str:
    return local_path(address, sign_in_root()) or url_for("overview.index")


def _must_be_of_use(way: object) -> None:
    if way is None:
        abort(404, "Nobody signs in here in that way.")
