"""The ways into one console, and whom each lets in."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from qless_web.access import ROLES, Grant
from qless_web.accounts.identity import Identity
from qless_web.accounts.provider import Provider
from qless_web.accounts.proxy import Proxy
from qless_web.accounts.secret_keys import keys
from qless_web.accounts.sessions import COOKIE, Session, Sessions
from qless_web.accounts.users import ELSEWHERE, Users, is_name
from qless_web.settings import state_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flask import Request

    from qless_web.accounts.identity import Way
    from qless_web.settings import Settings

    #: What an application around the console says of a request: nobody, a name, or a name and role.
    Identify = Callable[[Mapping[str, Any]], str | tuple[str, str] | None]

log = logging.getLogger("qless.web.accounts")


@dataclass(frozen=True, slots=True)
class Accounts:
    """Who may come in, and as what.

    Attributes:
        users: the file of users; None where there is none.
        sessions: None where nobody signs in here.
        proxy: None where no proxy signs in.
        provider: that speaks OpenID Connect; None where there is none.
        host: what the application around the console says; None where it says nothing.
        default_role: of those who are signed in elsewhere and are not in the file; "" lets none in.

    """

    users: Users | None = None
    sessions: Sessions | None = None
    proxy: Proxy | None = None
    provider: Provider | None = None
    host: Identify | None = None
    default_role: str = ""

    @classmethod
    def of(cls, settings: Settings, host: Identify | None) -> Accounts:
        """Make those that the settings ask for.

        Raises:
            SettingError: a file cannot be read, or makes no sense.

        """
        sessions = None
        if settings.users_file or settings.oidc_issuer:
            told = keys(settings.secret_keys, state_folder() / "secret-key")
            sessions = Sessions(told, settings.session_idle_s, settings.session_max_s)
        header = settings.proxy_user_header
        return cls(
            users=Users(settings.users_file) if settings.users_file else None,
            sessions=sessions,
            proxy=Proxy(header, settings.trusted_proxies) if header else None,
            provider=Provider(settings) if settings.oidc_issuer else None,
            host=host,
            default_role=settings.default_role,
        )

    def __bool__(self) -> bool:
        """Say whether one has to be somebody here."""
        return bool(self.users or self.sessions or self.proxy or self.host)

    def session(self, request: Request, now: float) -> Session | None:
        """Give the session that a request brings, if it is still good."""
        cookie = request.cookies.get(COOKIE, "")
        found = self.sessions.read(cookie, now) if self.sessions and cookie else None
        return found if found and self._grant(found) else None

    def identity(self, request: Request, session: Session | None) -> Identity:
        """Say who asks. The host knows best, then a proxy, then a session."""
        address = request.remote_addr or ""
        if not self:
            return Identity(request.remote_user or "", address)
        if self.host and (told := self.host(request.environ)):
            return self._of_host(told, address)
        if self.proxy and (name := self.proxy.name(request)):
            return Identity(name, address, "proxy", self.elsewhere(name))
        if session:
            way = cast("Way", session.way)
            return Identity(session.name, address, way, self._grant(session))
        return Identity("", address, grant=None)

    def elsewhere(self, name: str, role: str = "") -> Grant | None:
        """Give what somebody may do who was signed in elsewhere; None where they may not come in.

        Args:
            name: theirs; where the file of users has it, the file decides.
            role: what the other side says they are; "" where it says nothing.

        """
        if not is_name(name):
            log.warning("nobody may be called %s", ascii(name[:100]))
            return None
        known = self.users.find(name) if self.users else None
        if known:
            return known.grant
        role = role or self.default_role
        return Grant(role) if role in ROLES else None

    def provided(self, name: str, role: str) -> Grant | None:
        """Give what somebody may do whom the provider signs in; None where they may not come in.

        Who has a password here is let in by that alone: people may choose their names there.
        """
        known = self.users.find(name) if self.users else None
        if known and known.password != ELSEWHERE:
            log.warning("%s has a password here, and is not let in by the provider", name)
            return None
        return self.elsewhere(name, role)

    def _of_host(self, told: str | tuple[str, str], address: str) -> Identity:
        name, role = (told, "") if isinstance(told, str) else told
        return Identity(name, address, "host", self.elsewhere(name, role))

    def _grant(self, session: Session) -> Grant | None:
        """Give what the one of a session may do now; None where what it rests on has changed."""
        if session.way == "provider":
            is_its = self.provider is not None and self.provider.mark == session.mark
            return self.provided(session.name, session.role) if is_its else None
        known = self.users.find(session.name) if self.users else None
        return known.grant if known and known.mark == session.mark else None
