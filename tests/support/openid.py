"""A small OpenID provider: a real HTTP server with keys of its own, and ways to go wrong."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, OKPKey, RSAKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from joserfc.jwk import KeyParameters

CLIENT, SECRET = "qless-console", "s3cr3t/+ of the console"


@cache
def key(name: str, alg: str = "RS256") -> RSAKey | ECKey | OKPKey:
    """Make a key for an algorithm; the same names give the same."""
    told: KeyParameters = {"kid": name, "use": "sig"}
    if alg == "ES256":
        return ECKey.generate_key("P-256", told)
    if alg.startswith("Ed"):
        return OKPKey.generate_key("Ed25519", told)
    return RSAKey.generate_key(2048, told)


def signed(claims: dict[str, Any], name: str, alg: str = "RS256", *, by: str = "") -> str:
    """Make a token that names a key, and is signed by that one or another."""
    return jwt.encode({"alg": alg, "kid": name}, claims, key(by or name, alg), [alg])


def unsigned(claims: dict[str, Any], name: str) -> str:
    """Make a token that names a key, and says that it has no signature."""
    return f"{_part({'alg': 'none', 'kid': name})}.{_part(claims)}."


def shared(claims: dict[str, Any], name: str, secret: bytes) -> str:
    """Make a token that names a key, and is signed with a secret that both sides would know."""
    text = f"{_part({'alg': 'HS256', 'kid': name})}.{_part(claims)}"
    return f"{text}.{_base64(hmac.digest(secret, text.encode(), 'sha256'))}"


def changed(claims: dict[str, Any], name: str, old: bytes, new: bytes) -> str:
    """Make a token that somebody has changed after it was signed."""
    head, body, signature = signed(claims, name).split(".")
    text = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    assert text.count(old) == 1
    return f"{head}.{_base64(text.replace(old, new))}.{signature}"


def _part(said: dict[str, Any]) -> str:
    return _base64(json.dumps(said).encode())


def _base64(text: bytes) -> str:
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


@dataclass
class Provider:
    """What it is asked to say, and what it was asked.

    Attributes:
        url: the issuer.
        now: gives its time, epoch seconds.
        claims: what its tokens say beside what they must.
        spoil: changes what a token says before it is signed.
        forge: makes the token of what it says, where it is not signed as it should be.
        key: the name of the key that signs; all names in `shown` are in its key set.
        alg: the algorithm of all its keys.
        by_form: whether it wants the secret in the form.
        answers: bodies by path, in place of its own; a status stands for itself.
        speaks: it says nothing while this is not set.
        asked: paths, in order.
        codes: what browsers asked for, by the code that each was given.

    """

    url: str = ""
    now: Callable[[], float] = lambda: 0.0
    claims: dict[str, Any] = field(default_factory=lambda: {"preferred_username": "dana"})
    spoil: Callable[[dict[str, Any]], dict[str, Any]] = lambda claims: claims
    forge: Callable[[dict[str, Any]], str] | None = None
    key: str = "first"
    alg: str = "RS256"
    shown: list[str] = field(default_factory=lambda: ["first"])
    by_form: bool = False
    answers: dict[str, Any] = field(default_factory=dict)
    speaks: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def agree(self, address: str) -> str:
        """Be somebody who signs in there: give the address that the browser is sent back to."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        query = {"code": code, "state": asked["state"], "iss": self.url}
        return f"{asked['redirect_uri']}?{urlencode(query)}"

    def token(self, sent: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """Give the tokens for a code, once, to whom it was made for."""
        asked = self.codes.pop(sent.get("code", ""), None)
        challenge = _base64(hashlib.sha256(sent.get("code_verifier", "").encode()).digest())
        if self._is_stranger(sent, authorization):
            return 401, {"error": "invalid_client"}
        if (
            asked is None
            or challenge != asked["code_challenge"]
            or sent["redirect_uri"] != asked["redirect_uri"]
        ):
            return 400, {"error": "invalid_grant"}
        now = int(self.now())
        claims = self.spoil(
            {
                "iss": self.url,
                "sub": "0815",
                "aud": CLIENT,
                "iat": now,
                "exp": now + 300,
                "nonce": asked["nonce"],
                **self.claims,
            }
        )
        token = self.forge(claims) if self.forge else signed(claims, self.key, self.alg)
        return 200, {"access_token": "a", "token_type": "Bearer", "id_token": token}

    def _is_stranger(self, sent: dict[str, str], authorization: str) -> bool:
        if self.by_form:
            return sent.get("client_secret") != SECRET
        words = base64.b64decode(authorization.partition(" ")[2]).decode()
        found = parse_qs(f"pair={words.replace(':', '&secret=')}")
        return found.get("secret") != [SECRET]

    def said(self, path: str) -> Any:
        """Give what it says of itself."""
        if path == "/jwks":
            return {"keys": [key(name, self.alg).as_dict(private=False) for name in self.shown]}
        if path == "/.well-known/openid-configuration":
            ways = ["client_secret_post" if self.by_form else "client_secret_basic"]
            return {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/jwks",
                "token_endpoint_auth_methods_supported": ways,
            }
        return 404


class _Handler(BaseHTTPRequestHandler):
    provider: ClassVar[Provider]

    def do_GET(self) -> None:
        """Send a browser back, or say something of itself."""
        self.provider.asked.append(self.path)
        self.provider.speaks.wait(60)
        if self.path.startswith("/authorize?"):
            self.send_response(302)
            self.send_header("Location", self.provider.agree(self.path))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self._answer(self.provider.answers.get(self.path, self.provider.said(self.path)))

    def do_POST(self) -> None:
        """Give tokens for a code."""
        self.provider.asked.append(self.path)
        self.provider.speaks.wait(60)
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        sent = {name: values[0] for name, values in parse_qs(body).items()}
        told = self.provider.answers.get(self.path)
        status, found = self.provider.token(sent, self.headers.get("Authorization", ""))
        self._answer(found if told is None else told, status)

    def _answer(self, said: Any, status: int = 200) -> None:
        if isinstance(said, int):
            status, said = said, {}
        body = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        if status in {301, 302, 307}:
            self.send_header("Location", f"{self.provider.url}/elsewhere")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def providing(now: Callable[[], float]) -> Iterator[Provider]:
    """Sign people in for as long as the block lasts."""
    provider = Provider(now=now)
    provider.speaks.set()
    handler = type("Handler", (_Handler,), {"provider": provider})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    provider.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield provider
    finally:
        provider.speaks.set()
        server.shutdown()
        server.server_close()
        thread.join(5)
