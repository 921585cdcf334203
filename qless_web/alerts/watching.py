"""Looks whether the rules hold, and tells when they do not: by one process of all there are.

Each process asks for the turn; the one that has it looks, and keeps it for as long as it comes
back in time. What is to be told is noted in Redis before it is sent: another one can go on with it.
"""

from __future__ import annotations

import logging
import os
import secrets
from dataclasses import replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from qless_core import reads
from qless_core.backoff import Backoff
from qless_core.clock import SERVER, Clock
from qless_core.errors import NotPermitted
from qless_web.alerts import keeping, looking, webhook
from qless_web.alerts.turning import message, turn
from qless_web.sending import call, send

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.client import Client
    from qless_core.reads import Plan
    from qless_web.alerts.keeping import Due, Kept
    from qless_web.alerts.rules import Rule
    from qless_web.settings import Settings

T = TypeVar("T")
log = logging.getLogger("qless.web.alerts")

#: Milliseconds after which another process takes the turn of one that does not come back.
LEASE_MS = 60_000
#: Attempts to send a message, over about half an hour, and those that are made at one look.
MOST_ATTEMPTS, AT_ONCE = 8, 10
#: Seconds until the next look where this one failed.
_AGAIN_S = 20.0

_BACKOFF = Backoff(first=20.0, longest=600.0)


class Watching:
    """Looks for one process.

    Args:
        client: whose queues are looked at.
        settings: `alerts`, `alerts_every_s`, `alerts_private` and `read_only` count.
        fixed: the rules of a file.

    Attributes:
        server: what the server is called where the console shows several; else "".

    """

    server = ""

    def __init__(self, client: Client, settings: Settings, fixed: Sequence[Rule] = ()) -> None:
        self._client = client
        self._settings = settings
        self.fixed = tuple(fixed)
        self._is_on = settings.alerts and not settings.read_only
        # Not the client's clock: in tests that one stands still, and here seconds must pass.
        self._clock = Clock()
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._end = Event()
        self._thread: Thread | None = None
        self._fails = False

    def start(self) -> None:
        """Look from now on, on a thread of this process; after a fork, call it in the child."""
        if self._is_on and (self._thread is None or not self._thread.is_alive()):
            self._name = f"{os.getpid()}-{secrets.token_hex(4)}"
            self._thread = Thread(target=self._run, name="qless-alerts", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Look no more; safe in a signal handler."""
        self._end.set()

    def look(self) -> bool:
        """Look once and send what is due, if it is this process's turn; says whether it was.

        Raises:
            QlessError: Redis could not be asked.

        """
        if not self._has_the_turn():
            return False
        found = self._ask(keeping.kept(self.fixed))
        if found.rules or found.states or found.outbox:
            self._judge(found)
            self._send(self._ask(keeping.kept(self.fixed)))
        return True

    def called(self, application: str) -> str:
        """Say how messages call this console: by its label, or by the name of its application."""
        label = self._settings.environment or application or "qless"
        return f"{label} {self.server}" if self.server else label

    def _run(self) -> None:
        pause = 0.0
        while not self._clock.wait(pause, self._end):
            pause = self._settings.alerts_every_s
            try:
                self.look()
            except Exception as error:  # noqa: BLE001 - it must outlive whatever Redis answers
                pause = max(pause, _AGAIN_S)
                if not self._fails:
                    log.warning("alerts are not looked at for now: %s", error)
                self._fails = True
            else:
                self._fails = False

    def _has_the_turn(self) -> bool:
        key = keeping.leader_key(self._client.keys)
        mine = call("set", key, self._name, nx=True, px=LEASE_MS)
        try:
            taken, holder = send(self._client, mine, call("get", key))
        except NotPermitted:
            # Of a user who may only read each page says so already; any other one lacks a right.
            if self._ask(reads.frame(probe=True)).read_only:
                return False
            raise
        if not taken and holder == self._name:
            # Kept a minute and renewed far sooner, so that it does not end between these two.
            (taken,) = send(self._client, call("set", key, self._name, xx=True, px=LEASE_MS))
        return bool(taken)

    def _judge(self, found: Kept) -> None:
        sight = self._ask(looking.seen(found.rules, found.paused))
        states = {
            rule.name: turn(rule, found.status(rule.name), looking.find(rule, sight), sight.now)
            for rule in found.rules
        }
        console = self.called(sight.around.application)
        told = [
            message(rule, states[rule.name], console)
            for rule in found.rules
            if not found.is_silent(rule.name)
        ]
        # First what is to be told: a process that ends between the two notes it down once more.
        self._ask(keeping.post([each for each in told if each]))
        noted = {each.alert: each.state for each in told if each}
        told_as = {"firing": "firing", "recovered": "ok"}
        states |= {
            name: replace(states[name], told=told_as[state]) for name, state in noted.items()
        }
        self._ask(keeping.note(found, states, sight.paused))

    def _send(self, found: Kept) -> None:
        due = sorted((each for each in found.outbox.values() if each.at <= found.now), key=_age)
        for each in due[:AT_ONCE]:
            if not self._has_the_turn():
                return
            self._attempt(found, each)

    def _attempt(self, found: Kept, due: Due) -> None:
        rule = found.find(due.message.alert)
        if rule is None:
            return
        self._ask(keeping.attempt(due, found.now + _BACKOFF.delay(due.attempts)))
        told = webhook.send(
            rule.url, due.message.body(rule.shape), private=self._settings.alerts_private
        )
        is_over = not told.problem or not told.passes or due.attempts + 1 >= MOST_ATTEMPTS
        status = replace(found.status(rule.name), sent_at=found.now, problem=told.problem)
        self._ask(keeping.settle(due, status, is_over=is_over))
        if told.problem:
            verb = "given up" if is_over else "tried again later"
            log.warning("alert %s is not told (%s): %s", ascii(rule.name), told.problem, verb)

    def _ask(self, plan: Plan[T]) -> T:
        stamp = self._client.clock.stamp()
        now = None if stamp == SERVER else float(stamp)
        plans: tuple[Plan[Any], ...] = (plan,)
        _, (found,) = reads.run(self._client.redis, self._client.keys, plans, now=now)
        answer: T = found
        return answer


def _age(due: Due) -> tuple[float, str]:
    return due.message.since, due.message.id
