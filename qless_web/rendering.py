"""The one way from a page to HTML: layout, filters, names in addresses."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import quote, unquote

from flask import (
    Response,
    make_response,
    render_template,
    request,
)
from jinja2 import StrictUndefined, Template
from werkzeug.routing import BaseConverter, BuildError

from qless_core.errors import RedisUnavailable
from qless_web import cells, compiling, extended, formatting, htmx, static_files
from qless_web.addresses import href, link_url
from qless_web.cells import VERBATIM
from qless_web.console import current
from qless_web.job_rows import job_row
from qless_web.menus import row_menu
from qless_web.operations import verbs
from qless_web.presenters import export, keys
from qless_web.presenters.cautions import cautions
from qless_web.presenters.frame import Asked, frame, shell
from qless_web.presenters.page import Flash, Link, Tone
from qless_web.remembered import cookie_path, preferences

if TYPE_CHECKING:
    from flask import Flask
    from jinja2.environment import TemplateModule
    from jinja2.runtime import Context

    from qless_core.reads.frame import FrameCounts
    from qless_web.presenters.page import Page

#: Where the dispatcher of several servers says which there are, and where they are listed.
SERVERS = "qless_web.servers"

#: What the last action did is told by the next page: a cookie that page clears. It holds text
#: only, printed escaped, so a forged one can say something but do nothing.
FLASH_COOKIE = "qless_flash"
_FLASH_S = 60
_FLASH_BYTES = 3_000


class NameConverter(BaseConverter):
    """Any name as one segment of an address: `a/b` is `a~2Fb`."""

    regex = "[^/]+"
    part_isolating = True

    def to_python(self, value: str) -> str:
        """Read the segment; what `tilde` did not write is taken literally."""
        return formatting.untilde(value)

    def to_url(self, value: str) -> str:
        """Write the name."""
        return formatting.tilde(value)


def render(page: Page, status: int = 200) -> Response:
    """Answer with a page: whole, or for htmx its content alone."""
    here = current()
    if not here.identity.role:  # who has not come in is told of no counts
        return render_without_redis(page, status, "")
    return _answer(page, here.counts, here.refusal("operate"), status)


def render_without_redis(page: Page, status: int, why: str = "Redis cannot be reached") -> Response:
    """Answer with a page whose frame has no counts, because Redis cannot be asked: `why`."""
    return _answer(page, None, why, status)


def render_anyway(page: Page, status: int = 200) -> Response:
    """Answer with a page that shows nothing of Redis; where that is gone, without its counts."""
    try:
        return render(page, status)
    except RedisUnavailable as error:
        return render_without_redis(page, status, str(error))


def _answer(page: Page, counts: FrameCounts | None, refusal: str, status: int) -> Response:
    whole = not htmx.is_partial()
    flash = _read_flash() if whole else ()
    client = current().client
    home, servers = request.environ.get(SERVERS, ("", ()))
    around = frame(
        current().settings,
        counts,
        Asked(
            here=_here(),
            refusal=refusal,
            flash=flash,
            choices=preferences(),
            cautions=cautions(
                current().console.rights.eviction,
                current().skew,
                current().console.reading.standing(),
            ),
            views=tuple((view.name, _mounted(view.address)) for view in current().views)
            if counts
            else (),
            shell=shell(client.safe_url, client.namespace),
            servers=servers,
            all_servers=home,
        ),
    )
    html = render_template(
        page.template, page=page, frame=around, layout="base.html" if whole else "partial.html"
    )
    response = make_response(html, status)
    htmx.vary(response)
    if flash:
        response.delete_cookie(FLASH_COOKIE, path=cookie_path())
    return response


def set_flash(response: Response, flash: Flash) -> None:
    """Let the next page tell what this request did."""
    details = list(flash.details)
    while True:
        value = quote(json.dumps([flash.text[:1_000], flash.tone, details, *_link_of(flash)]))
        if len(value) <= _FLASH_BYTES or not details:
            break
        details.pop()
    response.set_cookie(
        FLASH_COOKIE,
        value,
        max_age=_FLASH_S,
        path=cookie_path(),
        secure=request.is_secure,
        httponly=True,
        samesite="Strict",
    )


def _read_flash() -> tuple[Flash, ...]:
    try:
        text, tone, details, *link = json.loads(unquote(request.cookies.get(FLASH_COOKIE, "")))
        if tone not in get_args(Tone):
            tone = "info"
        told = Flash(str(text), tone, details=tuple(str(each) for each in details))
        return (_linked(told, *link),)
    except (ValueError, TypeError, RecursionError):
        return ()


def _link_of(flash: Flash) -> tuple[object, ...]:
    return (flash.link.endpoint, dict(flash.link.values), flash.link_text) if flash.link else ()


def _linked(flash: Flash, endpoint: str = "", values: object = None, text: object = "") -> Flash:
    """Add the link that a cookie tells of, if there is such a page."""
    if not isinstance(values, dict):
        return flash
    # What begins so says how an address is written, and is not for a cookie to say.
    plain = {name: str(value) for name, value in values.items() if not name.startswith("_")}
    link = Link(str(endpoint), plain)
    try:
        link_url(link)
    except BuildError:
        return flash
    return replace(flash, link=link, link_text=str(text))


def _here() -> str:
    """Give this page's own address, with its filters, for forms that come back to it."""
    query = request.query_string.decode("ascii", errors="replace")
    path = quote(request.script_root + request.path, safe="/~")
    return f"{path}?{query}" if query else path


def _spelt(app: Flask, endpoint: str, values: dict[str, Any]) -> None:
    """Put bytes where a value of the query holds what is no text; paths have `tilde` for that."""
    for name, value in values.items():
        if isinstance(value, str) and not app.url_map.is_endpoint_expecting(endpoint, name):
            try:
                value.encode()
            except UnicodeEncodeError:
                values[name] = formatting.raw(value)


class _Template(Template):
    """A template whose macros are made once, where they are imported without context.

    Jinja looks each time whether the importing one has globals of its own. Here none has.
    """

    def _get_default_module(self, ctx: Context | None = None) -> TemplateModule:  # noqa: ARG002 - Jinja's
        return super()._get_default_module()


def _url_for(endpoint: str, **values: Any) -> str:  # noqa: ANN401 - as Flask's
    """Write the address of a page, as Flask does, at a part of the cost."""
    return link_url(Link(endpoint, values))


def install(app: Flask) -> None:
    """Give the app its converter, filters and static files."""
    app.url_map.converters["name"] = NameConverter
    app.url_defaults(partial(_spelt, app))
    environment = app.jinja_env
    environment.template_class = _Template
    environment.undefined = StrictUndefined
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.bytecode_cache = compiling.SHARED
    environment.filters |= {
        name: getattr(formatting, name)
        for name in (
            "ago",
            "count",
            "duration",
            "head",
            "iso",
            "isolated",
            "plain",
            "printable",
            "short_jid",
            "since",
            "size",
            "tilde",
            "until",
        )
    }
    # Times are written in the zone that the reader chose.
    environment.filters |= {"absolute": _absolute, "moment": _moment, "words": cells.words}
    environment.globals |= extended.GLOBALS
    environment.globals |= {"export_link": export.link, "operation_verbs": verbs.CHOICES}
    environment.tests["marked"] = formatting.ISOLATED.search
    environment.globals["verbatim"] = VERBATIM
    environment.globals |= {
        "asset": static_files.asset,
        "cells": cells.BY_NAME,
        "cookie_path": cookie_path,
        "href": href,
        "icon": cells.icon,
        "job_row": job_row,
        "link_url": link_url,
        "mounted": _mounted,
        "row_menu": row_menu,
        "url_for": _url_for,
    }
    environment.globals |= {"key_groups": keys.GROUPS, "go_key": keys.GO}
    environment.finalize = cells.finalize
    static_files.install(app)


def _mounted(address: str) -> str:
    """Write the address of a saved view where this console is mounted."""
    return quote(request.script_root, safe="/~") + address


def _absolute(when: float | None) -> str:
    return formatting.absolute(when, preferences().zone_name)


def _moment(when: float | None) -> str:
    return formatting.moment(when, preferences().zone_name)
