"""A loopback OpenID Connect provider with keys of its own: discovery, JWKS, the authorization code flow with PKCE, RP-initiated logout.

It keeps to the specifications: a code works once, for the client, the address and the verifier that it was made for; the client shows its secret. A test makes it
hostile by `alter`, which changes a token's claims, `forge`, which makes another token of them, and `metadata`, which changes what it tells of itself.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.fakes.faults import LoopbackServer

CLIENT, SECRET = "attest-desk", "canary-client-secret"
TENANT = "9f0c2b7e-1111-4222-8333-444455556666"
Claims = dict[str, Any]


class SigningKey:
    """A pair of RSA keys under an id."""

    def __init__(self, kid: str) -> None:
        self.kid = kid
        self.private: RSAPrivateKey = generate_private_key(65537, 2048)

    def sign(self, claims: Mapping[str, Any], **header: str) -> str:
        return jwt.encode(dict(claims), self.private, "RS256", headers={"kid": self.kid, **header})

    @property
    def jwk(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key()))
        return {**public, "kid": self.kid, "use": "sig", "alg": "RS256"}

    @property
    def pem(self) -> bytes:
        """The public half, which everybody has."""
        return self.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


FIRST, SECOND = SigningKey("first"), SigningKey("second")
"""Made once: it takes a tenth of a second."""


class FakeProvider(LoopbackServer):
    """`person`: the claims of whoever sits at the browser; `redirects`: addresses that are registered; `asks`: with a page to click on, else it signs in at once."""

    def __init__(self, person: Claims | None = None, *, asks: bool = False, secret: str | None = SECRET) -> None:
        app = web.Application()
        app.router.add_get("/.well-known/openid-configuration", self._discovery)
        app.router.add_get("/keys", self._keys)
        app.router.add_get("/authorize", self._authorize)
        app.router.add_post("/token", self._token)
        app.router.add_get("/logout", self._logout)
        super().__init__(app)
        self.person = person or {"sub": "ada", "name": "Ada Lovelace", "groups": ["desk-reviewers"]}
        self.asks, self.secret = asks, secret
        self.redirects: set[str] = set()
        self.key, self.published = FIRST, [FIRST]
        self.metadata: Claims = {}
        self.alter: Callable[[Claims], Claims] = lambda claims: claims
        self.forge: Callable[[Claims], str] | None = None
        self.answers: Callable[[dict[str, Any]], web.Response] | None = None
        self.asked: list[str] = []
        self.prompts: list[str | None] = []
        self._codes: dict[str, Mapping[str, str]] = {}

    def rotate(self, key: SigningKey) -> None:
        """Sign with another key from now on, and publish it alone."""
        self.key, self.published = key, [key]

    async def _discovery(self, request: web.Request) -> web.Response:
        self.asked.append("discovery")
        told = {
            "issuer": self.root,
            "authorization_endpoint": f"{self.root}/authorize",
            "token_endpoint": f"{self.root}/token",
            "jwks_uri": f"{self.root}/keys",
            "end_session_endpoint": f"{self.root}/logout",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            "code_challenge_methods_supported": ["S256"],
        }
        return web.json_response({name: v for name, v in (told | self.metadata).items() if v is not None})

    async def _keys(self, _request: web.Request) -> web.Response:
        self.asked.append("keys")
        return web.json_response({"keys": [key.jwk for key in self.published]})

    async def _authorize(self, request: web.Request) -> web.Response:
        query = dict(request.query)
        self.prompts.append(query.get("prompt"))
        right = (
            query.get("client_id") == CLIENT
            and query.get("redirect_uri") in self.redirects
            and query.get("response_type") == "code"
            and "openid" in query.get("scope", "").split()
            and query.get("code_challenge_method") == "S256"
        )
        if not right:
            return web.Response(status=400, text=f"not registered: {query}")
        code = secrets.token_urlsafe(16)
        self._codes[code] = query
        back = f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state'], 'iss': self.root})}"
        if self.asks:
            link = f'<!doctype html><title>Provider</title><a id="go" href="{back.replace("&", "&amp;")}">Go on</a>'
            return web.Response(text=link, content_type="text/html")
        return web.Response(status=302, headers={"Location": back})

    async def _token(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.asked.append("token")
        if not self._is_client(request, form):
            return web.json_response({"error": "invalid_client"}, status=401)
        asked = self._codes.pop(form.get("code", ""), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        fits = asked is not None and (
            form.get("grant_type") == "authorization_code"
            and form.get("redirect_uri") == asked["redirect_uri"]
            and challenge.rstrip(b"=").decode() == asked["code_challenge"]
        )
        if asked is None or not fits:
            return web.json_response({"error": "invalid_grant", "error_description": "canary words"}, status=400)
        now = int(time.time())
        claims = {
            **self.person,
            "iss": self.root,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 600,
            "nonce": asked["nonce"],
        }
        claims = self.alter(claims)
        token = self.forge(claims) if self.forge else self.key.sign(claims)
        reply = {"access_token": "canary-access-token", "token_type": "Bearer", "expires_in": 600, "id_token": token}
        return self.answers(reply) if self.answers else web.json_response(reply)

    def _is_client(self, request: web.Request, form: Mapping[str, str]) -> bool:
        kind, _, given = request.headers.get("Authorization", "").partition(" ")
        if kind == "Basic":
            name, _, secret = base64.b64decode(given).decode().partition(":")
            return (unquote(name), unquote(secret)) == (CLIENT, self.secret)
        return (form.get("client_id"), form.get("client_secret")) == (CLIENT, self.secret)

    async def _logout(self, request: web.Request) -> web.Response:
        self.asked.append("logout")
        back = request.query.get("post_logout_redirect_uri")
        if request.query.get("client_id") != CLIENT or back is None:
            return web.Response(status=400, text="no client")
        return web.Response(status=302, headers={"Location": back})


def unsigned(claims: Claims) -> str:
    """A token of algorithm `none`."""
    return f"{_head('none')}.{_part(json.dumps(claims).encode())}."


def confused(claims: Claims) -> str:
    """A token of HS256, whose shared secret is the public key that everybody has."""
    signed = f"{_head('HS256')}.{_part(json.dumps(claims).encode())}"
    return f"{signed}.{_part(hmac.new(FIRST.pem, signed.encode(), 'sha256').digest())}"


def _head(algorithm: str) -> str:
    return _part(json.dumps({"alg": algorithm, "typ": "JWT", "kid": FIRST.kid}).encode())


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def state_of(address: str) -> str:
    """The state in the address that somebody is sent to."""
    return parse_qs(urlsplit(address).query)["state"][0]
