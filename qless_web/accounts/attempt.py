"""A sign-in at a provider that is under way: in a cookie of its own until the browser is back.

It is signed, so any process with the keys knows it again; that it was used before, Redis knows.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Final

from itsdangerous import BadData, URLSafeSerializer

from qless_core.reads.plan import Read, Scope, call, read

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Seconds that somebody has at the provider.
LASTS_S: Final = 600

#: Seconds by which the clocks of hosts that serve one console may differ.
_SKEW_S: Final = 60

#: What the names of the cookies begin with: of several tabs each has its own.
COOKIE: Final = "qless_provider_"

_SALT: Final = "qless.provider.1"


def _random() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One sign-in that is under way.

    Attributes:
        began: when, epoch seconds on this machine's clock.
        back: the address that the provider sends the browser back to.
        wanted: the local address to go to afterwards.
        state: names it; the provider gives it back.
        nonce: stands in the token that the provider makes.
        verifier: proves that whoever brings the code is who asked for it.

    """

    began: float
    back: str
    wanted: str
    state: str = field(default_factory=_random, repr=False)
    nonce: str = field(default_factory=_random, repr=False)
    verifier: str = field(default_factory=_random, repr=False)

    @property
    def cookie(self) -> str:
        """The name of its cookie."""
        return cookie_of(self.state)


def cookie_of(state: str) -> str:
    """Name the cookie of an attempt."""
    return f"{COOKIE}{_digest(state)[:16]}"


def write(keys: tuple[str, ...], attempt: Attempt) -> str:
    """Write the value of its cookie."""
    return str(_signer(keys).dumps(asdict(attempt)))


def find(
    keys: tuple[str, ...], cookies: Mapping[str, str], state: str, now: float
) -> Attempt | None:
    """Find the attempt that a browser has come back of; None where it began none, or long ago."""
    try:
        found = Attempt(**_signer(keys).loads(cookies.get(cookie_of(state), "")))
        is_it = hmac.compare_digest(found.state.encode(), state.encode(errors="replace"))
        return found if is_it and -_SKEW_S <= now - found.began <= LASTS_S else None
    except (BadData, TypeError, ValueError, AttributeError, RecursionError):
        return None


def under_way(keys: tuple[str, ...], cookies: Mapping[str, str]) -> list[str]:
    """Name the cookies of the attempts that a browser has begun, the newest first."""
    began = {
        name: _began(keys, value) for name, value in cookies.items() if name.startswith(COOKIE)
    }
    # Of one moment: browsers name those first that they have had for longer.
    return sorted(began, key=lambda name: began[name])[::-1]


def _began(keys: tuple[str, ...], value: str) -> float:
    try:
        return float(_signer(keys).loads(value)["began"])
    except (BadData, TypeError, ValueError, KeyError, RecursionError):
        return float("-inf")


@read
def first_use(scope: Scope, attempt: Attempt) -> Read[bool]:
    """Note that an attempt is used; answers whether it had not been before."""
    key = scope.keys.web(f"signin:provider:{_digest(attempt.state)[:32]}")
    (noted,) = yield [call("set", key, 1, nx=True, ex=LASTS_S + 60)]
    return bool(noted)


def _digest(state: str) -> str:
    return hashlib.sha256(state.encode(errors="surrogatepass")).hexdigest()


def _signer(keys: tuple[str, ...]) -> URLSafeSerializer:
    # The last one signs there, the first one here.
    return URLSafeSerializer(
        list(reversed(keys)), salt=_SALT, signer_kwargs={"digest_method": hashlib.sha256}
    )
