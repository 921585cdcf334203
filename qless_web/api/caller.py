"""Who asks, where tokens are configured: nobody without one, or for more than it is good for."""

from __future__ import annotations

from flask import request

from qless_web.accounts.identity import Identity
from qless_web.console import current
from qless_web.problem import ApiProblem
from qless_web.security import bearer


def must_be_known() -> None:
    """Let nobody in without a token, where there are some; without any, the pages' rules count.

    Raises:
        ApiProblem: there is no token, or one that nobody has.

    """
    here = current()
    tokens = here.console.tokens
    if not tokens or request.method == "OPTIONS":
        return
    given = bearer()
    token = tokens.find(given) if given else None
    if token is None:
        raise _unknown(given=bool(given))
    here.is_asked_by(Identity(token.name, request.remote_addr or "", "token", token.grant))


def _unknown(*, given: bool) -> ApiProblem:
    said = "Bearer" + (' error="invalid_token"' if given else "")
    detail = (
        "Nobody has this token." if given else "This API wants a token: Authorization: Bearer …"
    )
    return ApiProblem(401, "unknown-token", detail, headers={"WWW-Authenticate": said})
