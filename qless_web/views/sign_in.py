"""Coming in and leaving: the page that asks for a name and a password, and what it does."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING

from flask import Blueprint, abort, make_response, redirect, request, url_for

from qless_web.accounts import passwords, throttle
from qless_web.accounts.sessions import end
from qless_web.console import current
from qless_web.cookies import forget, keep
from qless_web.presenters.sign_in import sign_in
from qless_web.rendering import render_without_redis
from qless_web.security import local_path

if TYPE_CHECKING:
    from flask import Response

    from qless_web.accounts.users import User

blueprint = Blueprint("sign_in", __name__)
log = logging.getLogger("qless.web.accounts")

#: Bytes of the form: a name, a password and an address.
_LONGEST_FORM = 64 * 1024

_WRONG = "That name and password do not go together."


@blueprint.get("/sign-in")
def index() -> Response:
    """Ask who it is."""
    _must_be_of_use()
    if current().identity.role:
        return make_response(redirect(_wanted(request.args.get("next", "")), 303))
    return _page()


@blueprint.post("/sign-in")
def enter() -> Response:
    """Let somebody in whose password is right."""
    _must_be_of_use()
    request.max_content_length = _LONGEST_FORM
    here, name = current(), request.form.get("name", "").strip()
    address = request.remote_addr or ""
    if wait_s := here.ask(throttle.attempt(name, address)):
        log.warning("too many attempts to sign in from %s", address)
        return _too_often(wait_s)
    user = _known(name, request.form.get("password", ""))
    if user is None:
        log.warning("an attempt to sign in from %s failed", address)
        return _page(_WRONG, 401)
    here.ask(throttle.success(name, address))
    return _let_in(user)


@blueprint.post("/sign-out")
def leave() -> Response:
    """End the session, here and for every copy of its cookie."""
    here = current()
    response = make_response(redirect(url_for("sign_in.index"), 303))
    forget(response)
    if here.session and here.console.accounts.sessions:
        here.ask(end(here.session, here.console.accounts.sessions.most_s))
        log.info("%s signed out", here.identity.name)
    return response


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


def _too_often(wait_s: int) -> Response:
    minutes = -(-wait_s // 60)
    many = "a minute" if minutes == 1 else f"{minutes} minutes"
    response = _page(f"That was too often. Try again in {many}.", HTTPStatus.TOO_MANY_REQUESTS)
    response.headers["Retry-After"] = str(wait_s)
    return response


def _page(problem: str = "", status: int = 200) -> Response:
    wanted = _wanted(request.values.get("next", ""))
    name = request.form.get("name", "")
    return render_without_redis(sign_in(wanted, name=name, problem=problem), status, "")


def _wanted(address: str) -> str:
    return local_path(address, request.script_root) or url_for("overview.index")


def _must_be_of_use() -> None:
    if not current().console.accounts.sessions:
        abort(404, "Nobody signs in here: this console has no file of users.")
