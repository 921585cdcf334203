"""htmx's header names: the only module that knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import request

if TYPE_CHECKING:
    from flask import Response

#: The event that makes the page fetch what it shows again.
CHANGED = "qless:changed"


def is_partial() -> bool:
    """Say whether the browser asks for the content of a page without the page around it."""
    return request.headers.get("HX-Request") == "true"


def vary(response: Response) -> None:
    """Tell caches that the address answers htmx in another form."""
    response.vary.add("HX-Request")


def changed(response: Response) -> None:
    """Make the page that asked refresh what it shows."""
    response.headers["HX-Trigger"] = CHANGED


def go_to(response: Response, address: str) -> None:
    """Make the browser go to another page."""
    response.headers["HX-Redirect"] = address


def goes_to(response: Response) -> str:
    """Say to which page the browser will go; "" for none."""
    return response.headers.get("HX-Redirect", "")
