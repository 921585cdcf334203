"""Sessions: a signed cookie that says who, since when and until when; Redis knows those that ended.

Nothing is kept for a session, so any process with the keys knows it, and a page writes nothing.
What is signed holds no secret, and is still never shown to scripts of a page.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from itsdangerous import BadData, URLSafeSerializer

from qless_core.reads.plan import Read, Scope, call, read

if TYPE_CHECKING:
    from qless_core.keys import Keys

#: The cookie.
COOKIE = "qless_session"

#: Seconds between two cookies that say when somebody was last here.
RENEWED_S = 60.0

_SALT = "qless.session.1"


class SignedOut(Exception):  # noqa: N818 - it says what is the case
    """Raised when a session turns out to have been ended before its time."""


@dataclass(frozen=True, slots=True)
class Session:
    """One sign-in.

    Attributes:
        name: who.
        way: `password` or `provider`.
        mark: of the password that was given, or of the provider that was asked for it.
        role: what a provider says they are; "" where the file of users says so.
        began: when, epoch seconds on this machine's clock.
        seen: when they last did something.
        id: by which Redis knows that it has ended.

    """

    name: str
    way: str
    mark: str
    role: str
    began: float
    seen: float
    id: str

    @property
    def key(self) -> str:
        """Give what names this session where it must not be known which it is."""
        return hashlib.sha256(self.id.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Sessions:
    """Makes sessions and knows them again.

    Attributes:
        keys: the first signs.
        idle_s: seconds after which one ends where nothing is done.
        most_s: seconds after which one ends in any case.

    """

    keys: tuple[str, ...]
    idle_s: float
    most_s: float

    def __repr__(self) -> str:
        return f"Sessions(idle_s={self.idle_s}, most_s={self.most_s})"

    def begin(self, now: float, name: str, way: str, *, mark: str = "", role: str = "") -> Session:
        """Make a session of somebody who has just signed in."""
        return Session(name, way, mark, role, now, now, secrets.token_urlsafe(18))

    def write(self, session: Session) -> str:
        """Write the value of the cookie."""
        return str(self._signer.dumps(asdict(session)))

    def read(self, value: str, now: float) -> Session | None:
        """Read a cookie; None where it is forged, or its time is over."""
        try:
            found = Session(**self._signer.loads(value))
            fresh = now - found.seen <= self.idle_s and now - found.began <= self.most_s
        except (BadData, TypeError, ValueError, RecursionError):
            return None
        return found if fresh else None

    def renewed(self, session: Session, now: float) -> Session | None:
        """Give the session as it is written down by and by; None while it may stay as it is."""
        return replace(session, seen=now) if now - session.seen > RENEWED_S else None

    @property
    def _signer(self) -> URLSafeSerializer:
        # The last one signs there, the first one here.
        return URLSafeSerializer(
            list(reversed(self.keys)), salt=_SALT, signer_kwargs={"digest_method": hashlib.sha256}
        )


def ended_key(keys: Keys, session: Session) -> str:
    """Give the name in Redis of what says that a session has ended."""
    return keys.web(f"ended:{session.key}")


@read
def ended(scope: Scope, session: Session | None) -> Read[bool]:
    """Find out whether a session was ended before its time."""
    if session is None:
        return False
    (found,) = yield [call("exists", ended_key(scope.keys, session))]
    return bool(found)


@read
def end(scope: Scope, session: Session, most_s: float) -> Read[None]:
    """End a session for every process, for as long as its cookie could be good."""
    yield [call("set", ended_key(scope.keys, session), 1, ex=int(most_s) + 60)]
