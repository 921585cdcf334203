"""Several Redis servers in one console: each has addresses of its own, and shares nothing.

`/` lists them, `/servers/<name>/` is the console of one: an application as `create_app` makes it,
with its own client, hub and settings. Which one is shown is in the address alone. As shards of one
queue they have pages of all in front, and a sign-in that counts for each.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flask import Flask, render_template, request
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.wrappers import Response

from qless_core import reads
from qless_core.errors import QlessError
from qless_web import rendering, request_id, security, shards
from qless_web.app import create_app
from qless_web.console import EXTENSION
from qless_web.formatting import untilde
from qless_web.lanes import Lanes
from qless_web.others import Others
from qless_web.prefix import Prefix
from qless_web.presenters.page import ServerLink
from qless_web.presenters.servers import ServerRow, ServersPage, place
from qless_web.rendering import SERVERS
from qless_web.settings import SettingError, Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from qless_core.reads.frame import FrameCounts
    from qless_web.console import Console

#: Seconds that the list waits for servers that do not answer.
_ANSWERS_S = 2.0

#: What is said of one that does not in time.
_SILENT = f"no answer within {_ANSWERS_S:g} s"


class Servers:
    """A WSGI application: the list, and behind it the console of each server.

    Attributes:
        consoles: the application of each server, by its name.

    """

    def __init__(self, consoles: Mapping[str, Flask], settings: Settings) -> None:
        self.consoles = dict(consoles)
        self._app: WSGIApplication = self._dispatch
        self._home = _home(self.consoles, settings)
        self._are_shards = settings.shards
        if settings.prefix:
            self._app = Prefix(self._app, settings.prefix)
        if settings.proxy_hops:
            hops = settings.proxy_hops
            self._app = ProxyFix(
                self._app, x_for=hops, x_proto=hops, x_host=hops, x_port=hops, x_prefix=hops
            )

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        return self._app(environ, start_response)

    def _dispatch(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        script, path = environ.get("SCRIPT_NAME", ""), environ.get("PATH_INFO", "")
        _, servers, written, *rest = (*path.split("/", 3), "", "", "")[:5]
        name = untilde(written) if servers == "servers" else ""
        if name not in self.consoles:
            return self._home(environ, start_response)
        inside = f"{script}/servers/{written}"
        if path.count("/") < len(("", "servers", "name")):
            moved = Response(status=308, headers={"Location": f"{inside}/"})
            return moved(environ, start_response)
        environ["SCRIPT_NAME"], environ["PATH_INFO"] = inside, f"/{rest[0]}"
        if self._are_shards:
            environ[security.SIGN_IN_ROOT] = script
        environ[SERVERS] = (
            f"{script}/",
            tuple(ServerLink(each, place(script, each), each == name) for each in self.consoles),
        )
        return self.consoles[name](environ, start_response)


def create_servers(**settings: Any) -> Servers:  # noqa: ANN401 - as create_app takes them
    """Make a console of several servers.

    Args:
        settings: as `create_app` takes them, `extensions` and `identify` too; `servers` says which,
            as `{"shop": "redis://a:6379/0", "mail": "redis://b:6379/0"}`; with `shards` they have
            pages of all. All else counts for each.

    Returns:
        A WSGI application, to be served or mounted as that of `create_app`.

    Raises:
        SettingError: no server is named, or a setting makes no sense.

    """
    hooks = {name: settings.pop(name) for name in ("extensions", "identify") if name in settings}
    told = Settings.build(**settings)
    if not told.servers:
        message = "no servers are named: servers={'name': 'redis://…', …}"
        raise SettingError(message)
    each = told.values() | {"servers": (), "shards": False, "prefix": "", "proxy_hops": 0}
    # Live pages of all servers share the threads of one process.
    if told.live_max_streams:
        each["live_max_streams"] = max(1, told.live_max_streams // len(told.servers))
    consoles = {
        name: create_app(None, **hooks, **(each | {"redis_url": url})) for name, url in told.servers
    }
    for name, app in consoles.items():
        app.extensions[EXTENSION].watching.server = name
    if told.shards:
        _introduce(consoles)
    return Servers(consoles, told)


def _introduce(consoles: Mapping[str, Flask]) -> None:
    """Let each console know the others: whoever signs out of one is out of all."""
    clients = {name: app.extensions[EXTENSION].client for name, app in consoles.items()}
    lanes = Lanes()
    for name, app in consoles.items():
        others = {other: client for other, client in clients.items() if other != name}
        app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], others=Others(others, lanes))


def _home(consoles: Mapping[str, Flask], settings: Settings) -> Flask:
    """Make the application of the list."""
    home = Flask("qless_web", static_folder=None)
    request_id.install(home)
    rendering.install(home)
    security.install(home, settings)

    if settings.shards:
        shards.install(home, consoles)
    else:

        @home.get("/", endpoint="servers")
        def index() -> str:
            page = ServersPage(rows=tuple(_rows(consoles, request.script_root)))
            return render_template("servers/index.html", page=page)

    @home.get("/healthz", endpoint="healthz")
    def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @home.errorhandler(404)
    def missing(_error: Exception) -> tuple[str, int]:
        base = request.script_root
        rows = tuple(ServerRow(name=each, address=place(base, each)) for each in consoles)
        return render_template("servers/missing.html", page=ServersPage(rows=rows)), 404

    return home


def _rows(consoles: Mapping[str, Flask], base: str) -> Iterable[ServerRow]:
    """Ask all servers at once, and wait for none of them for long."""
    known: dict[str, Console] = {name: app.extensions[EXTENSION] for name, app in consoles.items()}
    threads = ThreadPoolExecutor(max_workers=len(known))
    try:
        asked = {
            # Where one has to be somebody, the list tells nobody what is there.
            name: None if console.accounts else threads.submit(_counts, console)
            for name, console in known.items()
        }
        for name, console in known.items():
            address = place(base, name)
            future = asked[name]
            if future is None:
                yield ServerRow(name=name, address=address)
                continue
            where = console.client.safe_url
            try:
                counts = future.result(_ANSWERS_S)
            except (QlessError, TimeoutError) as error:
                problem = str(error) or _SILENT
                yield ServerRow(name=name, address=address, where=where, problem=problem)
            else:
                yield ServerRow(name=name, address=address, where=where, counts=counts)
    finally:
        threads.shutdown(wait=False)


def _counts(console: Console) -> FrameCounts:
    client = console.client
    counts: FrameCounts
    _, (counts,) = reads.run(client.redis, client.keys, (reads.frame(probe=False),))
    return counts
