"""A provider that signs people in: OpenID Connect, by an authorization code with PKCE.

What it says of itself is asked when somebody first signs in, so a console starts without it. The
token is checked whole: who made it and for whom, until when, for which sign-in, by which key.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import logging
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote_plus, urlsplit

from qless_web.access import ROLES
from qless_web.accounts import fetching
from qless_web.accounts.fetching import Unreachable
from qless_web.accounts.kept import Desk, Kept
from qless_web.settings import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_web.accounts.attempt import Attempt
    from qless_web.settings import Settings

log = logging.getLogger("qless.web.accounts")

#: Seconds after which is asked anew what a provider says of itself, and its keys.
_KEPT_S: Final = 3_600.0
#: Seconds for which that is believed where the provider says nothing that could be used.
_BELIEVED_S: Final = 86_400.0
#: Seconds between two questions for keys where a token names one that is not known.
_KEYS_AGAIN_S: Final = 30.0
#: Seconds by which its clock may be another.
_LEEWAY_S: Final = 60

#: How a token may be signed: with a key that only the provider has.
_SIGNED: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
_KEY_KINDS: Final = ("RSA", "EC", "OKP")

#: Addresses of it that are gone to: what it says of itself has to give each of them.
_ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")

#: Words of the protocol that may be shown: they come in an address that anybody can write.
_WORD: Final = re.compile(r"[a-z_]{1,60}")


class NotLetIn(Exception):  # noqa: N818 - it says what is the case
    """Raised where a sign-in at the provider came to nothing; the message is for people.

    Attributes:
        status: of the answer.

    """

    def __init__(self, text: str, status: int = HTTPStatus.FORBIDDEN) -> None:
        super().__init__(text)
        self.status = status


class Person(NamedTuple):
    """Whom the provider has signed in: `role` is "" where it says nothing of one."""

    name: str
    role: str


class Provider:
    """The provider of one console.

    Args:
        settings: those that begin with `oidc`.

    Raises:
        SettingError: the packages for it are not installed.

    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        try:
            self._claims: Any = importlib.import_module("authlib.oidc.core")
            self._parameters: Any = importlib.import_module("authlib.oauth2.rfc6749.parameters")
            self._pkce: Any = importlib.import_module("authlib.oauth2.rfc7636")
            self._jose: Any = importlib.import_module("joserfc")
            for name in ("jwk", "jwt", "errors"):
                importlib.import_module(f"joserfc.{name}")
        except ImportError:
            message = "oidc_issuer needs the extra oidc: pip install 'qless[oidc]'"
            raise SettingError(message) from None
        self._unreadable = (self._jose.errors.JoseError, ValueError, TypeError, KeyError)
        # Whoever waits for it keeps a thread from serving pages.
        self._desk = Desk(max(1, settings.threads // 4))
        self._itself = Kept(self._desk, self._description)
        self._keys: Kept[Any] = Kept(self._desk, self._key_set)

    @property
    def title(self) -> str:
        """What it is called on the page: its host."""
        return urlsplit(self._settings.oidc_issuer).hostname or ""

    @property
    def mark(self) -> str:
        """Give what tells what its word means from what it means once the settings are others."""
        told = self._settings
        parts = (told.oidc_issuer, told.oidc_client_id, told.oidc_name_claim)
        means = json.dumps([*parts, told.oidc_role_claim, sorted(told.oidc_roles)])
        return hashlib.sha256(means.encode()).hexdigest()[:16]

    def address(self, attempt: Attempt) -> str:
        """Give the address at the provider where somebody signs in.

        Raises:
            NotLetIn: the provider does not answer.

        """
        told = self._settings
        return str(
            self._parameters.prepare_grant_uri(
                self._endpoint("authorization_endpoint"),
                told.oidc_client_id,
                "code",
                redirect_uri=attempt.back,
                scope=" ".join(dict.fromkeys(("openid", *told.oidc_scopes))),
                state=attempt.state,
                nonce=attempt.nonce,
                code_challenge=self._pkce.create_s256_code_challenge(attempt.verifier),
                code_challenge_method="S256",
            )
        )

    def person(self, attempt: Attempt, given: Mapping[str, str], now: float) -> Person:
        """Find out who has come back.

        Args:
            attempt: the sign-in that they have come back of.
            given: what their address brings along.
            now: epoch seconds.

        Raises:
            NotLetIn: the provider let nobody in, does not answer, or says what cannot be believed.

        """
        if problem := given.get("error"):
            log.warning("the provider refused a sign-in: %s", ascii(dict(given))[:500])
            raise NotLetIn(_refusal(problem))
        if given.get("iss", self._issuer()) != self._issuer() or not given.get("code"):
            raise NotLetIn(_NONSENSE, HTTPStatus.BAD_REQUEST)
        answer = self._exchange(attempt, given["code"])
        return self._believe(self._checked(answer, attempt, now))

    # -- What the provider says of itself

    def _described(self) -> dict[str, Any]:
        place = f"{self._settings.oidc_issuer.rstrip('/')}/.well-known/openid-configuration"
        try:
            return self._itself.ask(place, _KEPT_S, _BELIEVED_S)
        except Unreachable as error:
            raise self._away(error) from None

    def _description(self, found: dict[str, Any]) -> dict[str, Any]:
        """Look at what it says of itself; Unreachable where that is of no use."""
        if str(found.get("issuer", "")).rstrip("/") != self._settings.oidc_issuer.rstrip("/"):
            problem = "it says that it is another provider"
            raise Unreachable(problem)
        for name in _ENDPOINTS:
            if not fetching.is_safe(found.get(name)):
                problem = f"its {name} is no address of https"
                raise Unreachable(problem)
        return found

    def _issuer(self) -> str:
        """Give the issuer as it spells itself."""
        return str(self._described()["issuer"])

    def _endpoint(self, name: str) -> str:
        return str(self._described()[name])

    def _away(self, error: Unreachable) -> NotLetIn:
        log.warning("the provider %s cannot be used: %s", self.title, error)
        text = f"{self.title} does not answer as it should. Try again in a while."
        return NotLetIn(text, HTTPStatus.BAD_GATEWAY)

    # -- From the code to a token

    def _exchange(self, attempt: Attempt, code: str) -> dict[str, Any]:
        told = self._settings
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": attempt.back,
            "code_verifier": attempt.verifier,
            "client_id": told.oidc_client_id,
        }
        headers = {}
        ways = self._described().get("token_endpoint_auth_methods_supported")
        by_form = isinstance(ways, list) and "client_secret_basic" not in ways
        if told.oidc_client_secret and by_form:
            fields["client_secret"] = told.oidc_client_secret
        elif told.oidc_client_secret:
            pair = f"{quote_plus(told.oidc_client_id)}:{quote_plus(told.oidc_client_secret)}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        place = self._endpoint("token_endpoint")
        try:
            with self._desk.place():
                return fetching.post(place, fields, headers)
        except Unreachable as error:
            if not 400 <= error.status < 500:  # noqa: PLR2004 - HTTP's own
                raise self._away(error) from None
            why = error.told.get("error")
            log.warning("the provider gave no token: %s, %s", error, ascii(why)[:100])
            text = f"{self.title} does not know of this sign-in any more. Sign in again."
            raise NotLetIn(text) from None

    def _checked(self, answer: Mapping[str, Any], attempt: Attempt, now: float) -> dict[str, Any]:
        """Give what the token says, once all of it is found to be right."""
        token, client = answer.get("id_token"), self._settings.oidc_client_id
        try:
            if not isinstance(token, str):
                problem = "there is none"
                raise ValueError(problem)  # noqa: TRY004 - one of several that are told alike
            read = self._verified(token)
            claims = self._claims.CodeIDToken(
                read.claims,
                read.header,
                {
                    "iss": {"essential": True, "value": self._issuer()},
                    "aud": {"essential": True, "value": client},
                    "exp": {"essential": True},
                    "nonce": {"essential": True, "value": attempt.nonce},
                },
                {
                    "nonce": attempt.nonce,
                    "client_id": client,
                    "access_token": answer.get("access_token"),
                },
            )
            claims.validate(int(now), _LEEWAY_S)
        except self._unreadable as error:
            log.warning("the token of a sign-in is not right: %s: %s", type(error).__name__, error)
            text = f"What {self.title} says of this sign-in cannot be believed. Sign in again."
            raise NotLetIn(text) from None
        return dict(claims)

    def _verified(self, token: str) -> Any:  # noqa: ANN401 - a package without types
        """Read a token with the provider's keys; where it has new ones, those are asked for."""
        try:
            return self._jose.jwt.decode(token, self._known_keys(_KEPT_S, _BELIEVED_S), _SIGNED)
        except (self._jose.errors.InvalidKeyIdError, self._jose.errors.BadSignatureError):
            newer = self._known_keys(_KEYS_AGAIN_S, _KEYS_AGAIN_S)
            return self._jose.jwt.decode(token, newer, _SIGNED)

    def _known_keys(self, kept_s: float, believed_s: float) -> Any:  # noqa: ANN401 - as above
        place = self._endpoint("jwks_uri")
        try:
            return self._keys.ask(place, kept_s, believed_s)
        except Unreachable as error:
            raise self._away(error) from None

    def _key_set(self, found: dict[str, Any]) -> Any:  # noqa: ANN401 - as above
        """Read its keys, those that can be read; Unreachable where there is none of them."""
        told = found.get("keys")
        given = told if isinstance(told, list) else []
        if keys := [key for each in given if (key := self._key(each)) is not None]:
            return self._jose.jwk.KeySet(keys)
        problem = "it has no key that could be used"
        raise Unreachable(problem)

    def _key(self, told: object) -> Any:  # noqa: ANN401 - as above
        """Read one key; None where it is of a kind that nothing here knows, or is none."""
        if not isinstance(told, dict) or told.get("use") == "enc":
            return None
        if told.get("kty") not in _KEY_KINDS:
            return None
        try:
            return self._jose.jwk.import_key(told)
        except self._unreadable:
            return None

    # -- From the token to somebody

    def _believe(self, claims: Mapping[str, Any]) -> Person:
        wanted = self._settings.oidc_name_claim
        name = _at(claims, wanted)
        if not isinstance(name, str) or not name:
            log.error("the provider's token has no %s: see the setting oidc_name_claim", wanted)
            text = f"{self.title} does not say what you are called: it gives no {wanted}."
            raise NotLetIn(text)
        if wanted == "email" and claims.get("email_verified") not in (True, "true"):
            text = f"{self.title} has not made sure that {name[:128]} is your address."
            raise NotLetIn(text)
        return Person(name, self._role(claims))

    def _role(self, claims: Mapping[str, Any]) -> str:
        """Give the highest role that a claim gives; "" where it gives none."""
        told = self._settings
        found = _at(claims, told.oidc_role_claim) if told.oidc_role_claim else None
        values = {
            each
            for each in (found if isinstance(found, list) else [found])
            if isinstance(each, str)
        }
        roles = dict(told.oidc_roles) or {role: role for role in ROLES}
        given = {role for value, role in roles.items() if value in values}
        return next((role for role in reversed(ROLES) if role in given), "")


_NONSENSE = "That is no answer to a sign-in that was begun here. Sign in again."


def _refusal(problem: str) -> str:
    if problem == "access_denied":
        return "The provider let nobody in: it was refused there."
    word = problem if _WORD.fullmatch(problem) else "something that is no word of the protocol"
    return f"The provider let nobody in. It said: {word}."


def _at(claims: Mapping[str, Any], path: str) -> Any:  # noqa: ANN401 - any JSON
    """Give a claim, also one within others; a name with dots is tried as a whole first.

    >>> _at({"realm_access": {"roles": ["ops"]}}, "realm_access.roles")
    ['ops']
    """
    if path in claims:
        return claims[path]
    found: Any = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found
