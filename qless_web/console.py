"""The console of this request: its client, its settings, and the one time the page is made at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from flask import current_app, g, request

from qless_core import reads
from qless_core.clock import SERVER
from qless_web.accounts.accounts import Accounts
from qless_web.accounts.identity import SESSION_WAYS, Identity
from qless_web.accounts.pace import Pace
from qless_web.accounts.sessions import SignedOut, ended
from qless_web.extensions import NONE, Extensions
from qless_web.outage import Outage
from qless_web.saved_views import saved
from qless_web.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.client import Client
    from qless_core.reads import Plan
    from qless_core.reads.frame import FrameCounts
    from qless_web.access import Access, Permission
    from qless_web.accounts.sessions import Session
    from qless_web.alerts.watching import Watching
    from qless_web.live.counting import Counting
    from qless_web.live.hub import Hub
    from qless_web.operations.background import Background
    from qless_web.others import Others
    from qless_web.reading import Reading
    from qless_web.saved_views import SavedView
    from qless_web.settings import Settings
    from qless_web.triage.catalogue import Catalogue

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")

#: Where the app keeps its console.
EXTENSION = "qless_web"

#: Seconds after which the console asks again whether this connection may write.
_RIGHTS_KEPT_S = 30.0

#: What a browser keeps for some seconds after it changed something.
CHANGED_COOKIE = "qless_changed"
#: The methods of requests that change nothing.
READING = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(slots=True)
class Rights:
    """Whether Redis lets this console write: asked along with a page, kept for half a minute.

    Threads share it without a lock: at worst two ask the same at once.
    """

    reason: str = ""
    #: What the server does when its memory is full; "" where there is nothing to fear.
    eviction: str = ""
    _told_at: float | None = None

    def due(self, monotonic: float) -> bool:
        """Say whether it is time to ask."""
        return self._told_at is None or monotonic - self._told_at >= _RIGHTS_KEPT_S

    def told(self, reason: str, monotonic: float) -> None:
        """Take the answer: why it may not write, or "". While Redis gives none, each page asks."""
        self.reason = reason
        self._told_at = monotonic


@dataclass(frozen=True, slots=True)
class Console:
    """One console: made once by `create_app`, shared by its requests, never changed by them."""

    client: Client
    settings: Settings
    access: Access
    hub: Hub
    counting: Counting
    operations: Background
    index: Catalogue
    reading: Reading
    rights: Rights = field(default_factory=Rights)
    outage: Outage = field(default_factory=Outage)
    tokens: Tokens = field(default_factory=Tokens)
    accounts: Accounts = field(default_factory=Accounts)
    watching: Watching | None = None
    pace: Pace = field(default_factory=Pace)
    extensions: Extensions = NONE
    #: The other shards, where one sign-in counts for all.
    others: Others | None = None


class Current:
    """What one request works with."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._identity: Identity | None = None
        self._session: Session | None = None
        self._counts: FrameCounts | None = None
        self._views: tuple[SavedView, ...] = ()
        #: Seconds by which this machine's clock is at least ahead of the server's; below 0 behind.
        self.skew = 0.0
        #: Whether to read at the primary, whatever a replica has.
        self.at_primary = False

    @property
    def client(self) -> Client:
        """The client of the queue."""
        return self.console.client

    @property
    def settings(self) -> Settings:
        """What this console was told."""
        return self.console.settings

    @property
    def extensions(self) -> Extensions:
        """What the host application adds."""
        return self.console.extensions

    @property
    def index(self) -> Catalogue:
        """The index of all jobs on this host."""
        return self.console.index

    @property
    def hub(self) -> Hub:
        """What feeds the browsers of this process."""
        return self.console.hub

    @property
    def now(self) -> float:
        """The time of this page, epoch seconds on the server's clock."""
        return self.counts.now

    @property
    def counts(self) -> FrameCounts:
        """The counts around the page; they come along with whatever is read first."""
        if self._counts is None:
            self._run(())
        return cast("FrameCounts", self._counts)

    @property
    def views(self) -> tuple[SavedView, ...]:
        """The saved views; they come along with the counts."""
        if self._counts is None:
            self._run(())
        return self._views

    @property
    def identity(self) -> Identity:
        """Who asks: their name, their role and the address that they ask from."""
        if self._identity is None:
            accounts = self.console.accounts
            # Until it is known, and where that fails: the page that says so is for a stranger.
            self._identity = Identity("", request.remote_addr or "", grant=None)
            session = accounts.session(request, self.client.clock.now())
            self._identity = accounts.identity(request, session)
            self._session = session if self._identity.way in SESSION_WAYS else None
        return self._identity

    @property
    def session(self) -> Session | None:
        """The sign-in that the request brings; None where somebody is known in another way."""
        return self._session if self.identity.role else None

    def is_asked_by(self, identity: Identity) -> None:
        """Take somebody for the one who asks."""
        self._identity, self._session = identity, None

    def refusal(self, permission: Permission, action: str = "", queues: Iterable[str] = ()) -> str:
        """Say why something may not be done here, or not by who asks; "" when it may.

        Args:
            permission: what it needs.
            action: its name, where it is one action.
            queues: those whose jobs it changes, as far as they are known.

        """
        here = self.console.access.refusal(permission)
        return (
            here or self.identity.refusal(permission, action, queues) or self.console.rights.reason
        )

    @overload
    def read(self, one: Plan[A], /) -> A: ...
    @overload
    def read(self, one: Plan[A], two: Plan[B], /) -> tuple[A, B]: ...
    @overload
    def read(self, one: Plan[A], two: Plan[B], three: Plan[C], /) -> tuple[A, B, C]: ...
    @overload
    def read(
        self, one: Plan[A], two: Plan[B], three: Plan[C], four: Plan[D], /
    ) -> tuple[A, B, C, D]: ...
    @overload
    def read(
        self, one: Plan[A], two: Plan[B], three: Plan[C], four: Plan[D], five: Plan[E], /
    ) -> tuple[A, B, C, D, E]: ...
    def read(self, *plans: Plan[Any]) -> Any:
        """Read what a page shows, and the counts around it, in the same round trips.

        Returns:
            What the read found; for several reads a tuple, in order.

        Raises:
            RedisUnavailable: Redis is gone.

        """
        found = self._run(plans)
        return found[0] if len(plans) == 1 else tuple(found)

    def ask(self, plan: Plan[A]) -> A:
        """Send the commands of one plan alone, without the counts; also such that change something.

        Raises:
            QlessError: Redis is gone, or refuses.

        """
        client = self.client
        _, found = reads.run(client.redis, client.keys, (plan,), now=client.clock.now())
        return cast("A", found[0])

    def tell(self, plan: Plan[Any]) -> None:
        """Send what changes something here, and to the other shards as far as they answer soon.

        Raises:
            QlessError: Redis is gone here, or refuses.

        """
        self.ask(plan)
        if self.console.others is not None:
            self.console.others.tell(plan)

    def _run(self, plans: tuple[Plan[Any], ...]) -> list[Any]:
        client, rights = self.client, self.console.rights
        began, wall = client.clock.monotonic(), client.clock.now()
        # A replica does not say what may be written at the primary.
        probe = rights.due(began)
        at_replica, (counts, is_over, views, *found) = self.console.reading.run(
            (reads.frame(probe=probe), ended(self.session), saved(), *plans),
            at_primary=self.at_primary or probe or _changes(),
        )
        if is_over:
            self.is_asked_by(Identity("", self.identity.address, grant=None))
            raise SignedOut
        if not at_replica:
            self.console.outage.is_over(client.safe_url)
        if counts.read_only is not None:
            rights.told(counts.read_only, began)
            rights.eviction = counts.eviction or ""
        if client.clock.stamp() == SERVER:
            self.skew = _outside(counts.now, wall, client.clock.now())
        self._counts, self._views = counts, views
        return found


def _changes() -> bool:
    """Say whether the request changes something, or comes from whoever has just done so."""
    return request.method not in READING or CHANGED_COOKIE in request.cookies


def _outside(told: float, began: float, ended: float) -> float:
    """Say how far a moment between two others must be off; no more is known of the way there.

    >>> _outside(12.0, 10.0, 13.0), _outside(20.0, 10.0, 13.0), _outside(4.0, 10.0, 13.0)
    (0.0, -7.0, 6.0)
    """
    return max(0.0, began - told) - max(0.0, told - ended)


def current() -> Current:
    """Give the console of this request."""
    if "qless_current" not in g:
        g.qless_current = Current(current_app.extensions[EXTENSION])
    return cast("Current", g.qless_current)
