"""What Prometheus reads."""

from __future__ import annotations

from flask import Blueprint, Response, abort, request

from qless_core import reads
from qless_core.errors import RedisUnavailable
from qless_web.console import current

blueprint = Blueprint("metrics", __name__)


@blueprint.get("/metrics")
def metrics() -> Response:
    """Give everything that is measured, read when asked; `qless_up` says whether Redis answers."""
    from qless_core.metrics.prometheus import text  # noqa: PLC0415 - 75 ms that few consoles need

    here = current()
    if not here.settings.metrics:
        abort(404, "Metrics are switched off in this console.")
    try:
        found = here.read(reads.gauges())
    except RedisUnavailable as error:
        here.console.outage.goes_on(here.client.safe_url, str(error))
        found = None
    written, kind = text(found, request.headers.get("Accept", ""))
    return Response(written, content_type=kind)
