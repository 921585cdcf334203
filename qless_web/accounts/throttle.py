"""How often somebody may try to sign in: counted in Redis, for all processes together.

An attempt counts before the password is looked at, or a code of the provider, so that many at once
gain nothing. The count of a name from everywhere is high: nobody is to be locked out by others who
try their name.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from qless_core.reads.plan import Read, Scope, call, read
from qless_web.accounts.household import household

if TYPE_CHECKING:
    from qless_core.keys import Keys

#: Seconds over which attempts are counted.
WINDOW_S = 300

#: Attempts within that time: of a name from one address, from one address, of a name.
MOST = {"both": 5, "from": 30, "name": 100}


@read
def attempt(scope: Scope, name: str | None, address: str) -> Read[int]:
    """Count an attempt; give the seconds to wait before the next, 0 where this one may go on.

    The name is None where a provider is to say it.
    """
    keys = _keys(scope.keys, name, address)
    answers = yield [
        each
        for key in keys.values()
        for each in (
            call("set", key, 0, nx=True, ex=WINDOW_S),
            call("incr", key),
            call("ttl", key),
        )
    ]
    found = dict(zip(keys, zip(answers[1::3], answers[2::3], strict=True), strict=True))
    # One that ran out between two of these commands was made anew, and would stay for ever.
    endless = [keys[kind] for kind, (_, ttl) in found.items() if ttl < 0]
    if endless:
        yield [call("expire", key, WINDOW_S) for key in endless]
    over = [ttl for kind, (count, ttl) in found.items() if count > MOST[kind]]
    return max(1, *over) if over else 0


@read
def success(scope: Scope, name: str | None, address: str) -> Read[None]:
    """Forget the attempts of this name from this address: somebody is in."""
    keys = _keys(scope.keys, name, address)
    yield [call("delete" if kind == "both" else "decr", key) for kind, key in keys.items()]


def _keys(keys: Keys, name: str | None, address: str) -> dict[str, str]:
    address = household(address)
    # Digests: what was typed as a name may be a password.
    parts = {"from": address}
    if name is not None:
        parts = {"both": f"{address} {name}", "from": address, "name": name}
    return {kind: keys.web(f"signin:{kind}:{_digest(part)}") for kind, part in parts.items()}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]
