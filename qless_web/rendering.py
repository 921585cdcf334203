"""The one way from a page to HTML: layout, filters, names in addresses, static files."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args
from urllib.parse import quote, unquote

from flask import (
    Response,
    g,
    make_response,
    render_template,
    request,
    send_from_directory,
    url_for,
)
from jinja2 import StrictUndefined
from markupsafe import Markup, escape
from werkzeug.routing import BaseConverter, BuildError

from qless_core.errors import RedisUnavailable
from qless_web import compiling, extended, formatting, htmx
from qless_web.addresses import link_url
from qless_web.console import current
from qless_web.menus import job_menu
from qless_web.operations import verbs
from qless_web.presenters import export, keys
from qless_web.presenters.cautions import cautions
from qless_web.presenters.frame import Asked, frame, shell
from qless_web.presenters.page import Flash, Link, Tone
from qless_web.remembered import cookie_path, preferences

if TYPE_CHECKING:
    from flask import Flask

    from qless_core.reads.frame import FrameCounts
    from qless_web.presenters.page import Page

STATIC = Path(__file__).parent / "static"

#: Where the dispatcher of several servers says which there are, and where they are listed.
SERVERS = "qless_web.servers"

#: What the last action did is told by the next page: a cookie that page clears. It holds text
#: only, printed escaped, so a forged one can say something but do nothing.
FLASH_COOKIE = "qless_flash"
_FLASH_S = 60
_FLASH_BYTES = 3_000

_SILENT = Markup('aria-hidden="true"')
_ICON = Markup('<svg class="icon" {} width="16" height="16"><use href="{}#{}"></use></svg>')


#: Stands in the element of a name, or of other data: it is for nobody to translate, and what is
#: written from the right there moves nothing of the line around it.
_VERBATIM = Markup('translate="no" dir="auto"')


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


def href(link: Link | str) -> str:
    """Write the address of a link; a ready address stays what it is."""
    return link if isinstance(link, str) else link_url(link)


def icon(name: str, label: str = "") -> Markup:
    """Draw an icon of the sprite; with a label it speaks, without one it is decoration."""
    kept = g.setdefault("qless_icons", {})
    if (name, label) not in kept:
        said = Markup('role="img" aria-label="{}"').format(_finalize(label))
        # A state that is stored may be anything.
        drawn = _ICON.format(said if label else _SILENT, asset("icons.svg"), _finalize(name))
        kept[name, label] = drawn
    return cast("Markup", kept[name, label])


def install(app: Flask) -> None:
    """Give the app its converter, filters and static files."""
    app.url_map.converters["name"] = NameConverter
    app.url_defaults(partial(_spelt, app))
    environment = app.jinja_env
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
    environment.filters |= {"absolute": _absolute, "moment": _moment, "words": _words}
    environment.globals |= extended.GLOBALS
    environment.globals |= {"export_link": export.link, "operation_verbs": verbs.CHOICES}
    environment.tests["marked"] = formatting.ISOLATED.search
    environment.globals["verbatim"] = _VERBATIM
    environment.globals |= {
        "asset": asset,
        "cookie_path": cookie_path,
        "href": href,
        "icon": icon,
        "job_menu": job_menu,
        "link_url": link_url,
        "mounted": _mounted,
    }
    environment.globals |= {"key_groups": keys.GROUPS, "go_key": keys.GO}
    # Names and messages may hold bytes that are not UTF-8: shown as such, never an error.
    environment.finalize = _finalize
    app.add_url_rule("/static/<version>/<path:filename>", "static", _static)
    # Browsers ask for it wherever no page names another, as beside JSON or plain text.
    app.add_url_rule("/favicon.ico", "favicon", _favicon)


def _mounted(address: str) -> str:
    """Write the address of a saved view where this console is mounted."""
    return quote(request.script_root, safe="/~") + address


def _absolute(when: float | None) -> str:
    return formatting.absolute(when, preferences().zone_name)


def _moment(when: float | None) -> str:
    return formatting.moment(when, preferences().zone_name)


def _words(text: str) -> Markup:
    """Print a sentence: the names that are marked in it are not for those who translate pages."""
    parts = formatting.ISOLATED.split(text)
    written = [str(escape(_finalize(part))) for part in parts]
    written[1::2] = [f'<bdi translate="no">{part}</bdi>' for part in written[1::2]]
    return Markup("".join(written))  # noqa: S704 - each part is escaped


def _finalize(value: Any) -> Any:  # noqa: ANN401 - whatever a template prints
    return formatting.printable(value) if type(value) is str and not value.isascii() else value


def asset(filename: str) -> str:
    """Write the address of a static file; it changes with the files, and is kept for ever."""
    kept: dict[str, str] = g.setdefault("qless_assets", {})
    if filename not in kept:
        kept[filename] = url_for("static", version=static_version(), filename=filename)
    return kept[filename]


@cache
def static_version() -> str:
    """Digest all static files: modules import one another by relative path, so they go together."""
    digest = hashlib.sha256()
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(STATIC).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _favicon() -> Response:
    response = send_from_directory(STATIC, "favicon.ico")
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response


def _static(version: str, filename: str) -> Response:
    response = send_from_directory(STATIC, filename)
    if version == static_version():
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    else:
        response.headers["Cache-Control"] = "no-cache"
    return response
