"""For probes: whether this process is alive, and whether it can serve."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify

from qless_core.errors import QlessError
from qless_web.console import current

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz() -> Response:
    """Say that the process answers; Redis is not asked."""
    return jsonify(status="ok")


@blueprint.get("/readyz")
def readyz() -> tuple[Response, int]:
    """Say whether the console can serve: by a call of the script, or by what a reader may do."""
    here = current()
    here.at_primary = True
    try:
        now = here.now
        reason = here.console.rights.reason
        if not reason:
            here.client.commands.config_get("application")
    except QlessError as error:
        return jsonify(status="unavailable", tried=here.client.safe_url, because=str(error)), 503
    return jsonify(status="ready", redis_time=now, read_only=reason or None), 200
