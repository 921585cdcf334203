"""Tokens of the API: who has one, what it is good for, and how one is made.

A file has a line for each: name, scope and the SHA-256 of the token. The token itself is nowhere.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from qless_web.access import Grant
from qless_web.settings import SettingError

if TYPE_CHECKING:
    from pathlib import Path

    from qless_web.access import Role

#: What a token is good for: to look, to change jobs as well, or to do everything.
Scope = Literal["read", "operate", "admin"]

SCOPES: tuple[Scope, ...] = get_args(Scope)

_ROLES: dict[Scope, Role] = {"read": "viewer", "operate": "operator", "admin": "admin"}

_CHOICES = "read, operate or admin"
_PREFIX = "sha256:"
_NAME = re.compile(r"[A-Za-z0-9._@-]{1,64}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")

#: Bytes of chance in a token: nobody guesses it, so that a fast digest is enough.
_BYTES = 32


@dataclass(frozen=True, slots=True)
class Token:
    """One line of the file. `digest` is never shown."""

    name: str
    scope: Scope
    digest: str

    @property
    def grant(self) -> Grant:
        """What whoever brings it may do."""
        return Grant(_ROLES[self.scope])

    def __repr__(self) -> str:
        return f"Token(name={self.name!r}, scope={self.scope!r})"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Those who may use the API; without any, the rules of the pages count."""

    known: tuple[Token, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.known)

    def find(self, given: str) -> Token | None:
        """Find whose token this is. Every one is compared, and each takes the same time."""
        digest = digest_of(given)
        found = None
        for token in self.known:
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found

    @classmethod
    def read(cls, place: Path | None) -> Tokens:
        """Read the file; without one there are no tokens.

        Raises:
            SettingError: it cannot be read, or a line makes no sense. A line is never quoted: it
                may hold a token.

        """
        if place is None:
            return cls()
        try:
            lines = place.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            message = f"api_token_file cannot be read: {error}"
            raise SettingError(message) from None
        found: dict[str, Token] = {}
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            token = _token(line, f"{place}, line {number}")
            if token.name in found:
                message = f"{place}, line {number}: there are two tokens named {token.name}"
                raise SettingError(message)
            found[token.name] = token
        if not found:
            message = f"{place} names no token, so that nobody could use the API"
            raise SettingError(message)
        return cls(tuple(found.values()))


def _token(line: str, where: str) -> Token:
    match line.split():
        case [name, scope, digest] if (
            _NAME.fullmatch(name) and scope in SCOPES and _DIGEST.fullmatch(digest)
        ):
            return Token(name, scope, digest)
    message = f"{where}: must be a name, {_CHOICES}, and sha256:<64 hex digits>"
    raise SettingError(message)


def digest_of(token: str) -> str:
    """Digest a token as the file holds it."""
    return _PREFIX + hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()


def make(name: str, scope: str) -> tuple[str, str]:
    """Make a token.

    Returns:
        The token, and its line for the file.

    Raises:
        SettingError: the name or the scope makes no sense.

    """
    if not _NAME.fullmatch(name) or scope not in SCOPES:
        message = (
            "a token is made for NAME:SCOPE, as deploy:operate: a name of letters, digits and "
            f"._@-, and {_CHOICES}"
        )
        raise SettingError(message)
    token = f"qless_{secrets.token_urlsafe(_BYTES)}"
    return token, f"{name} {scope} {digest_of(token)}"
