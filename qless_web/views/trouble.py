"""What is wrong, failed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response

from qless_web import indexed
from qless_web.console import current
from qless_web.presenters.trouble import Indexed, trouble_page
from qless_web.rendering import render
from qless_web.triage import trouble
from qless_web.triage.inbox import pasts_of

if TYPE_CHECKING:
    import sqlite3

blueprint = Blueprint("trouble", __name__)


@blueprint.get("/trouble")
def index() -> Response:
    """Show queues that stand still, dependents of dead jobs, clocks that differ and the like."""
    here = current()
    found = here.read(trouble.trouble())
    told = indexed.ask(_of_index)
    return render(trouble_page(found, told, skew=here.skew, now=here.now))


def _of_index(connection: sqlite3.Connection) -> Indexed:
    pasts = pasts_of(connection, current().now).groups
    return Indexed(flapping=trouble.flapping(connection), together=trouble.together_of(pasts))
