"""Passwords as the file of users holds them: scrypt, with its cost beside each.

`scrypt:15:8:3:<salt>:<digest>` are two to the power of 15 blocks of 8, three times; salt and digest
in URL-safe base64.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from threading import BoundedSemaphore

from qless_web.settings import SettingError

#: The cost: the power of two of blocks, the size of a block, how often. 32 MB and a tenth of a
#: second, as OWASP advises.
COST = (15, 8, 3)

#: Characters of a password: a short one is guessed, a huge one only keeps the machine busy.
SHORTEST, LONGEST = 8, 1_000

_FORM = re.compile(
    r"scrypt:([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2}):([\w=-]{4,100}):([\w=-]{20,100})", re.ASCII
)

#: The greatest cost that is taken from a file: a quarter of a gigabyte.
_MOST_BYTES = 256 * 1024 * 1024

#: Passwords that one process digests at once: each takes 32 MB.
_AT_ONCE = BoundedSemaphore(2)


def hashed(password: str, cost: tuple[int, int, int] = COST) -> str:
    """Write a password as the file holds it.

    Raises:
        SettingError: it is too short, or far too long.

    """
    if not SHORTEST <= len(password) <= LONGEST:
        message = f"a password has {SHORTEST} to {LONGEST:,} characters"
        raise SettingError(message)
    salt = secrets.token_bytes(16)
    power, size, times = cost
    parts = ["scrypt", power, size, times, _coded(salt), _coded(_digest(password, salt, cost))]
    return ":".join(map(str, parts))


def is_one(stored: str) -> bool:
    """Say whether a text is a password as the file holds it."""
    found = _FORM.fullmatch(stored)
    if not found:
        return False
    power, size, times = map(int, found.groups()[:3])
    # Beyond these OpenSSL refuses, or the machine would.
    fits = 10 <= power <= 20 and 1 <= size <= 32 and 1 <= times <= 16  # noqa: PLR2004 - as said
    return fits and 128 * size * (2**power + times) <= _MOST_BYTES


def matches(password: str, stored: str) -> bool:
    """Say whether this is the password; where nobody has one, it takes as long to say no."""
    found = _FORM.fullmatch(stored if is_one(stored) else _NOBODYS)
    if not found or len(password) > LONGEST:
        return False
    power, size, times = map(int, found.groups()[:3])
    try:
        salt, digest = map(base64.urlsafe_b64decode, found.groups()[3:])
    except binascii.Error:
        return False
    made = _digest(password, salt, (power, size, times))
    return hmac.compare_digest(made, digest) and stored != _NOBODYS and is_one(stored)


def _digest(password: str, salt: bytes, cost: tuple[int, int, int]) -> bytes:
    power, size, times = cost
    with _AT_ONCE:
        return hashlib.scrypt(
            password.encode(errors="surrogatepass"),
            salt=salt,
            n=2**power,
            r=size,
            p=times,
            maxmem=2 * _MOST_BYTES,
            dklen=32,
        )


def _coded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode()


#: What is compared with where there is nobody of that name.
_NOBODYS = ":".join(map(str, ["scrypt", *COST, _coded(bytes(16)), _coded(bytes(32))]))
