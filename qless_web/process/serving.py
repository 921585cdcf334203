"""gunicorn, run from inside: what it is told, and what it tells us."""

from __future__ import annotations

import logging
import resource
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]  # gunicorn has none

from qless_web.app import count_minutes, create_app, keep_index, run_operations, watch_alerts
from qless_web.process.compiled import compile_first_page, keep_compiled, keep_start
from qless_web.process.ending import Ending
from qless_web.process.patience import PatientWorker
from qless_web.servers import Servers, create_servers

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from flask import Flask

    from qless_web.settings import Settings

log = logging.getLogger("qless.web")

#: Files and connections that a worker may want beside those of browsers.
SPARE_FILES = 256
#: Seconds a stopping worker gives requests to finish: Ctrl-C ends all within three, whatever hangs.
GRACE_S = 1.0
#: Seconds after which the arbiter kills a worker that did not end itself; none should need it.
ARBITER_GRACE_S = 30
#: Seconds without a sign of life after which a worker is replaced.
STUCK_S = 60
#: Connections that a worker holds at least, those included that are kept alive.
LEAST_CONNECTIONS = 1000
#: Bytes of a request line: room for the longest names that come as links.
LONGEST_LINE = 8190


def serve(
    settings: Settings,
    listener: socket.socket,
    *,
    wait: Callable[[], None],
    up: Callable[[], None],
) -> None:
    """Serve until told to stop.

    Args:
        settings: of the console.
        listener: taken over.
        wait: called when all is prepared, before anything is served; waits for what is not.
        up: called by the first worker once it answers.

    Raises:
        SystemExit: always, as gunicorn ends itself and its workers so.

    """
    server = _Server(settings, listener.detach(), up)
    wait()
    _let_open(settings.live_max_streams + 4 * settings.threads + SPARE_FILES)
    server.run()


def _let_open(files: int) -> None:
    """Let this process and its workers have so many files and connections, as far as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = files if hard == resource.RLIM_INFINITY else min(files, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if most < files:
        log.warning("only %d files may be open (ulimit -n): some live pages may have to poll", most)


class _Server(BaseApplication):  # type: ignore[misc]  # the base has no types
    """The console as gunicorn wants it: a configuration and a way to load the application."""

    def __init__(self, settings: Settings, descriptor: int, up: Callable[[], None]) -> None:
        self._settings = settings
        self._descriptor = descriptor
        self._up = up
        # Made before the fork: whoever waits for the first page does not wait for its templates.
        self._app, self._consoles = _prepared(settings)
        self._ending = Ending(GRACE_S)
        super().__init__()

    def load_config(self) -> None:
        memory = Path("/dev/shm")  # noqa: S108 - gunicorn makes its own files there, privately
        options: dict[str, Any] = {
            "bind": f"fd://{self._descriptor}",
            "worker_class": PatientWorker,
            "threads": self._settings.threads,
            # Beyond as many it takes none in, and each thread may hold one: a stream does.
            "worker_connections": max(LEAST_CONNECTIONS, 2 * self._settings.threads),
            "graceful_timeout": ARBITER_GRACE_S,
            "timeout": STUCK_S,
            "limit_request_line": LONGEST_LINE,
            # It would wait for as long as a client reads.
            "sendfile": False,
            "proc_name": "qless-web",
            "loglevel": "warning",
            "accesslog": self._settings.access_log or None,
            # gunicorn believes X-Forwarded headers from this machine; `proxy_hops` decides here.
            "forwarded_allow_ips": "",
            # Its control socket would be shared by every gunicorn of this user.
            "control_socket_disable": True,
            "worker_tmp_dir": str(memory) if memory.is_dir() else None,
            "when_ready": self._when_ready,
            "post_fork": lambda _arbiter, _worker: self._ending.forked(),
            "pre_request": lambda _worker, _request: self._ending.begin(),
            "post_request": lambda _worker, _request, _environ, _answer: self._ending.end(),
            "post_worker_init": self._post_worker_init,
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> Flask | Servers:
        return self._app

    def _when_ready(self, arbiter: Any) -> None:  # noqa: ANN401 - the base has no types
        if self._settings.foreground:
            # A closed terminal means stop; gunicorn alone would reload and live on.
            signal.signal(signal.SIGHUP, lambda *_: arbiter.signal(signal.SIGTERM, None))

    def _post_worker_init(self, worker: Any) -> None:  # noqa: ANN401 - the base has no types
        self._ending.watch(self._close_streams)
        # A thread does not survive a fork, so it begins here.
        for console in self._consoles:
            count_minutes(console)
            run_operations(console)
            keep_index(console)
            watch_alerts(console)
        if worker.age == 1:
            self._up()

    def _close_streams(self) -> None:
        for console in self._consoles:
            console.extensions["qless_web"].hub.close()


def _prepared(settings: Settings) -> tuple[Flask | Servers, tuple[Flask, ...]]:
    """Make what is served, and the consoles in it: one, or one of each server."""
    app: Flask | Servers
    if settings.servers:
        app = create_servers(**settings.values())
        consoles = tuple(app.consoles.values())
    else:
        app = create_app(None, **settings.values())
        consoles = (app,)
    for console in consoles:
        keep_compiled(console)
        compile_first_page(console)
    keep_start()
    return app, consoles
