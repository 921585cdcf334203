"""Who changed what: the audit, searched and exported."""

from __future__ import annotations

from flask import Blueprint, Response, request

from qless_web import trail
from qless_web.console import current
from qless_web.presenters import audit
from qless_web.rendering import render

blueprint = Blueprint("audit", __name__)

#: Records of a file; more are had with `behind`.
_EXPORTED = 10_000


@blueprint.get("/audit")
def index() -> Response:
    """Show what was changed through the console and its API, the newest first."""
    here = current()
    wanted = audit.wanted(request.args)
    behind = audit.place(request.args.get("behind", ""))
    if request.args.get("format") == "ndjson":
        found = here.read(trail.newest(wanted, _EXPORTED, behind))
        response = Response(audit.lines(found), content_type="application/x-ndjson")
        response.headers["Content-Disposition"] = 'attachment; filename="audit.ndjson"'
        return response
    found = here.read(trail.newest(wanted, audit.SIZE, behind))
    return render(audit.audit_page(found, wanted, behind, here.settings.audit_days))
