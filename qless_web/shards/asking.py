"""One question for every shard: asked of each console as this visitor would ask it, all at once.

So whoever may not see a page of a shard does not see it here, and what a console hides is hidden.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from flask import Response, request
from werkzeug.exceptions import HTTPException

from qless_core.clock import REAL
from qless_core.errors import QlessError
from qless_web import gate
from qless_web.accounts.sessions import SignedOut
from qless_web.lanes import ANSWERS_S
from qless_web.presenters.servers import place
from qless_web.security import SIGN_IN_ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Future

    from flask import Flask

    from qless_web.lanes import Lanes

T = TypeVar("T")

if TYPE_CHECKING:
    #: An answer to come, and what the browser is told to keep.
    _Asked = Future[tuple[T, tuple[str, ...]]]

log = logging.getLogger("qless.web")

_SILENT = f"no answer within {ANSWERS_S:g} s"


class TurnedAway(Exception):  # noqa: N818 - it says what is the case
    """Raised with a console's answer to somebody who may not see what was asked for."""

    def __init__(self, shard: str, response: Response) -> None:
        super().__init__(shard)
        self.shard = shard
        self.response = response


@dataclass(frozen=True, slots=True)
class Answers(Generic[T]):
    """What the shards answered.

    Attributes:
        found: the answers by shard, in the order of the shards.
        silent: why there is none, by shard.
        cookies: what the browser is told to keep.

    """

    found: dict[str, T]
    silent: dict[str, str]
    cookies: tuple[str, ...] = ()


class Asking:
    """Asks the consoles of all shards.

    Args:
        consoles: the application of each shard, by its name.
        lanes: of threads, by the same names.

    """

    def __init__(self, consoles: Mapping[str, Flask], lanes: Lanes) -> None:
        self.consoles = dict(consoles)
        self._lanes = lanes
        self._lock = Lock()
        #: Of each shard, the question that it has not answered in time.
        self._late: dict[str, Future[Any]] = {}

    def ask(self, question: Callable[[], T], path: str = "/queues") -> Answers[T]:
        """Ask the console of every shard, and wait for none of them for long.

        Args:
            question: called in a request to the console.
            path: of a page that shows the same: whoever may see that may ask.

        Raises:
            TurnedAway: a console wants to know first who asks.

        """
        asked = {name: self._begin(name, question, path) for name in self.consoles}
        try:
            return self._gather(asked)
        finally:
            for future in asked.values():
                # What no thread has begun is nobody's question any more.
                if future is not None:
                    future.cancel()

    def _gather(self, asked: Mapping[str, _Asked[T] | None]) -> Answers[T]:
        """Wait for the answers."""
        found: dict[str, T] = {}
        silent: dict[str, str] = {}
        cookies: tuple[str, ...] = ()
        until = REAL.monotonic() + ANSWERS_S
        for name, future in asked.items():
            if future is None:
                silent[name] = _SILENT
                continue
            try:
                answer, kept = future.result(max(0.0, until - REAL.monotonic()))
            except QlessError as error:
                silent[name] = str(error)
            except TimeoutError:
                silent[name] = _SILENT
                with self._lock:
                    self._late[name] = future
            except TurnedAway:
                raise
            except Exception:
                log.exception("the shard %s could not be asked", name)
                silent[name] = "something went wrong; the log says what"
            else:
                found[name], cookies = answer, cookies or kept
        return Answers(found, silent, cookies)

    def _begin(self, name: str, question: Callable[[], T], path: str) -> _Asked[T] | None:
        """Ask one shard; None while it owes an answer, so that nobody waits for it once more."""
        with self._lock:
            late = self._late.get(name)
            if late is not None and not late.done():
                return None
            self._late.pop(name, None)
        environ = _inside(request.environ, name, path)
        return self._lanes.begin(name, _answer, self.consoles[name], environ, name, question)


def _inside(environ: Mapping[str, Any], name: str, path: str) -> dict[str, Any]:
    """Make a request to the console of a shard, of the one that there is."""
    inside = {key: value for key, value in environ.items() if not key.startswith("werkzeug.")}
    script = place(inside.get("SCRIPT_NAME", ""), name).rstrip("/")
    return inside | {
        "REQUEST_METHOD": "GET",
        "SCRIPT_NAME": script,
        "PATH_INFO": path,
        "CONTENT_LENGTH": "0",
        "wsgi.input": BytesIO(),
        SIGN_IN_ROOT: inside.get("SCRIPT_NAME", ""),
    }


def _answer(
    console: Flask, environ: dict[str, Any], name: str, question: Callable[[], T]
) -> tuple[T, tuple[str, ...]]:
    """Let a console answer, as it would answer a request for a page of its own."""
    with console.request_context(environ):
        try:
            turned = console.preprocess_request()
            if turned is None:
                answer = question()
                # A session that is used is renewed.
                after = console.process_response(Response())
                return answer, tuple(after.headers.getlist("Set-Cookie"))
        except SignedOut:
            turned = gate.turned_away()
        except HTTPException as error:
            turned = console.handle_user_exception(error)
        raise TurnedAway(name, console.make_response(turned))
