"""`create_app`: puts the parts of one console together, and does nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from qless_core.client import Client
from qless_web import (
    actions,
    allowed,
    api,
    errors,
    gate,
    own_changes,
    rendering,
    request_id,
    security,
)
from qless_web.access import Anyone, ReadOnly
from qless_web.accounts.accounts import Accounts
from qless_web.alerts import file as alerts_file
from qless_web.alerts.watching import Watching
from qless_web.asgi import WholeBody
from qless_web.console import EXTENSION, Console
from qless_web.extensions import NONE, Extensions
from qless_web.live.counting import Counting
from qless_web.live.hub import Hub
from qless_web.operations.background import Background
from qless_web.prefix import Prefix
from qless_web.reading import Reading
from qless_web.settings import SettingError, Settings
from qless_web.tokens import Tokens
from qless_web.triage.catalogue import Catalogue
from qless_web.views import (
    about,
    alerts,
    audit,
    compare,
    completed,
    config,
    exports,
    failures,
    health,
    jobs,
    keys,
    live,
    lives,
    metrics,
    names,
    operations,
    overview,
    palette,
    patterns,
    preferences,
    queues,
    recurring,
    scheduled,
    search,
    sign_in,
    tags,
    tracked,
    trash,
    trouble,
    views,
    workers,
)

if TYPE_CHECKING:
    from qless_web.access import Access
    from qless_web.accounts.accounts import Identify

_BLUEPRINTS = (
    actions,
    api,
    about,
    alerts,
    audit,
    compare,
    completed,
    config,
    exports,
    failures,
    health,
    jobs,
    keys,
    live,
    lives,
    metrics,
    names,
    operations,
    overview,
    palette,
    patterns,
    preferences,
    queues,
    recurring,
    scheduled,
    search,
    sign_in,
    tags,
    tracked,
    trouble,
    trash,
    views,
    workers,
)

#: Bytes of a request's body; forms of thousands of ticked jobs fit, floods do not.
_MAX_BODY = 4 * 1024 * 1024


def create_app(
    client_or_url: Client | str | None = None,
    *,
    extensions: Extensions = NONE,
    identify: Identify | None = None,
    **settings: object,
) -> Flask:
    """Make a console.

    Args:
        client_or_url: the client to use, or where Redis is; None takes the setting `redis_url`.
        extensions: what the host application adds, as in `qless_web.extensions`.
        identify: says of a request, by its WSGI environ, who has signed in at the host
            application: a name, a name and a role, or None for nobody.
        settings: as in `qless_web.settings`; unknown names are refused.

    Returns:
        A WSGI application: serve it, or mount it under any prefix. It starts without Redis.

    Raises:
        SettingError: a setting is not known, or its value makes no sense.

    """
    if isinstance(client_or_url, str):
        settings["redis_url"] = client_or_url
    told = Settings.build(**settings)
    if told.servers:
        message = "create_app makes a console of one server: create_servers makes one of several"
        raise SettingError(message)
    client = (
        client_or_url
        if isinstance(client_or_url, Client)
        else Client(told.redis_url, namespace=told.namespace)
    )
    reading = Reading.of(client, told.read_url)
    access: Access = ReadOnly() if told.read_only else Anyone()
    app = Flask("qless_web", static_folder=None)
    app.config.update(
        MAX_CONTENT_LENGTH=_MAX_BODY, MAX_FORM_MEMORY_SIZE=_MAX_BODY, MAX_FORM_PARTS=10_000
    )
    app.extensions[EXTENSION] = Console(
        client=client,
        settings=told,
        access=access,
        hub=Hub(client, told, reading),
        counting=Counting(client, told),
        operations=Background(client, told),
        index=Catalogue(client, told, extensions.hiding),
        reading=reading,
        tokens=Tokens.read(told.api_token_file),
        accounts=Accounts.of(told, identify),
        watching=Watching(client, told, alerts_file.read(told.alerts_file)),
        extensions=extensions,
    )
    request_id.install(app)
    rendering.install(app)
    allowed.install(app)
    security.install(app, told)
    gate.install(app)
    own_changes.install(app)
    errors.install(app)
    for family in _BLUEPRINTS:
        app.register_blueprint(family.blueprint)
    _wrap(app, told)
    return app


def count_minutes(app: Flask) -> None:
    """Note once a minute what was done, on a thread of this process; after a fork, in the child.

    `qless-web` does so by itself. Of all processes that do, one notes each minute.

    Args:
        app: as `create_app` made it.

    """
    app.extensions[EXTENSION].counting.start()


def keep_index(app: Flask) -> None:
    """Keep the index that searches ask, on a thread of this process; after a fork, in the child.

    `qless-web` does so by itself. Of all processes of a host, one does it at a time.

    Args:
        app: as `create_app` made it.

    """
    app.extensions[EXTENSION].index.start()


def run_operations(app: Flask) -> None:
    """Do operations on many jobs, on a thread of this process; after a fork, in the child.

    `qless-web` does so by itself. An operation that no process does waits for one.

    Args:
        app: as `create_app` made it.

    """
    app.extensions[EXTENSION].operations.start()


def watch_alerts(app: Flask) -> None:
    """Look whether alerts go off, on a thread of this process; after a fork, in the child.

    `qless-web` does so by itself. Of all processes that do, one looks at a time.

    Args:
        app: as `create_app` made it.

    """
    app.extensions[EXTENSION].watching.start()


def _wrap(app: Flask, told: Settings) -> None:
    app.wsgi_app = WholeBody(app.wsgi_app)  # type: ignore[method-assign]  # as Flask documents
    app.wsgi_app = security.PlaceCheck(app.wsgi_app)  # type: ignore[method-assign]  # as Flask documents
    if told.prefix:
        app.wsgi_app = Prefix(app.wsgi_app, told.prefix)  # type: ignore[method-assign]  # as Flask documents
    if told.proxy_hops:
        hops = told.proxy_hops
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign]  # as Flask documents
            app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops, x_port=hops, x_prefix=hops
        )
