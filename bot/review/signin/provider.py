"""The OpenID Connect provider, by way of Authlib: discovery, the way there, the code for a token, and the token's validation. The one module that knows Authlib."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn
from urllib.parse import urlsplit

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.base_client import BaseApp, OAuthError
from authlib.integrations.base_client.async_app import AsyncOAuth2Mixin
from authlib.integrations.base_client.async_openid import AsyncOpenIDMixin
from authlib.integrations.httpx_client import AsyncOAuth2Client
from joserfc.errors import JoseError

from bot.http.errors import LOG, Refused
from bot.review.signin.flow import Flow
from bot.review.signin.ports import ProviderFacts
from bot.settings.groups.reviewing import WELL_KNOWN, SignIn
from grounding.errors import ServiceRejected, ServiceReplyInvalid, ServiceUnavailable
from grounding.services.address import is_loopback

SERVICE = "sign-in"
KEPT_S = 300.0
"""Seconds for which what the provider tells of itself is kept, its keys too. A key that it does not know yet is looked for at once; one that was taken back ends by then."""
WAIT_S = 10.0
LEEWAY_S = 60
"""Seconds by which the provider's clock may be another."""
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures of a key pair. One of a shared secret, or none at all, is never taken, whatever the provider says it supports."""
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri", "end_session_endpoint")
_KNOWN = (*_ENDPOINTS, "issuer")
_CODE = re.compile(r"[a-z_]{1,40}")


class Application(AsyncOAuth2Mixin, AsyncOpenIDMixin, BaseApp):  # type: ignore[misc]  # Authlib has no types
    """This application at the provider."""

    client_cls = AsyncOAuth2Client
    issuer = ""

    async def load_server_metadata(self) -> dict[str, Any]:
        """What the provider tells of itself, once. Nothing is taken but what is known here: Authlib hands it on to the HTTP client, which would take its options from it."""
        if "_loaded_at" not in self.server_metadata:
            async with self._get_session() as client:
                response = await client.request("GET", self._server_metadata_url, withhold_token=True)
                response.raise_for_status()
                found = response.json()
            self.server_metadata.update(checked(found, self.issuer), _loaded_at=time.time())
            if self.client_secret is not None:
                ways = found.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
                basic = "client_secret_basic" in ways
                self.client_kwargs["token_endpoint_auth_method"] = f"client_secret_{'basic' if basic else 'post'}"
        known: dict[str, Any] = self.server_metadata
        return known


def checked(found: Any, issuer: str) -> dict[str, Any]:
    """What of a discovery document is used. Raises ServiceReplyInvalid where it is of another issuer, or leaves out what a sign-in takes."""
    if not isinstance(found, Mapping):
        raise ServiceReplyInvalid(SERVICE, "the discovery document is no JSON object")
    if found.get("issuer") != issuer:
        said = str(found.get("issuer"))[:200]
        raise ServiceReplyInvalid(SERVICE, f"ATTEST_SIGNIN_ISSUER is not what the provider calls itself, {said!r}")
    for name in _ENDPOINTS:
        url = found.get(name)
        if url is None and name == "end_session_endpoint":
            continue
        if not isinstance(url, str) or not (urlsplit(url).scheme == "https" or is_loopback(url)):
            raise ServiceReplyInvalid(SERVICE, f"the discovery document has no {name} over https")
    told = found.get("id_token_signing_alg_values_supported") or ["RS256"]
    algorithms = [name for name in ALGORITHMS if name in told]
    if not algorithms:
        raise ServiceReplyInvalid(SERVICE, "the provider signs tokens by no pair of keys")
    return {**{n: found[n] for n in _KNOWN if n in found}, "id_token_signing_alg_values_supported": algorithms}


class Provider:
    """The provider that the settings name. `clock`: seconds, monotonic."""

    def __init__(self, signin: SignIn, clock: Callable[[], float] = time.monotonic) -> None:
        self._signin = signin
        self._clock = clock
        self._made: tuple[float, Application] | None = None

    @property
    def host(self) -> str:
        """The name of the provider, for people."""
        return urlsplit(self._signin.issuer or "").netloc

    async def way_there(self, flow: Flow, back: str, *, anew: bool = False) -> str:
        """The address at the provider where somebody signs in, who then comes `back`. `anew`: they are asked who they are, though they are signed in there. Raises ServiceError."""
        more = {"prompt": "login"} if anew else {}
        with _told():
            made = await self._application().create_authorization_url(
                back, state=flow.state, nonce=flow.nonce, code_verifier=flow.verifier, **more
            )
        return str(made["url"])

    async def claims(self, flow: Flow, back: str, code: str) -> dict[str, Any]:
        """What the token says that the code is exchanged for, once it is validated: signature, issuer, audience, times, nonce. Raises Refused (403) where it does not hold, ServiceError."""
        application = self._application()
        asked = {"iss": self._signin.issuer, "aud": self._signin.client_id}
        options = {name: {"essential": True, "value": value} for name, value in asked.items()}
        with _told():
            token = await application.fetch_access_token(back, code=code, code_verifier=flow.verifier)
            found = await application.parse_id_token(token, nonce=flow.nonce, claims_options=options, leeway=LEEWAY_S)
        if found is None:
            raise ServiceReplyInvalid(SERVICE, "the provider gave no ID token")
        return dict(found)

    async def way_out(self, back: str) -> str | None:
        """The address at the provider where one signs out there and comes `back`; None where it has none. Raises ServiceError."""
        application = self._application()
        with _told():
            known = await application.load_server_metadata()
            if "end_session_endpoint" not in known:
                return None
            made = await application.create_logout_url(back, client_id=self._signin.client_id)
        return str(made["url"])

    async def look(self) -> ProviderFacts:
        """What it tells of itself, asked anew. Raises ServiceError."""
        self._made = None
        application = self._application()
        with _told():
            known = await application.load_server_metadata()
            keys = await application.fetch_jwk_set()
        count = len(keys.get("keys", ())) if isinstance(keys, Mapping) else 0
        if not count:
            raise ServiceReplyInvalid(SERVICE, "the provider has no keys")
        return ProviderFacts(count, "end_session_endpoint" in known)

    def _application(self) -> Application:
        now = self._clock()
        if self._made is None or now - self._made[0] >= KEPT_S:
            self._made = (now, self._new())
        return self._made[1]

    def _new(self) -> Application:
        signin, issuer = self._signin, self._signin.issuer or ""
        secret = signin.client_secret
        made = Application(
            framework=None,
            name=SERVICE,
            client_id=signin.client_id,
            client_secret=secret.get_secret_value() if secret else None,
            server_metadata_url=issuer.rstrip("/") + WELL_KNOWN,
            client_kwargs={
                "scope": " ".join(signin.scopes),
                "code_challenge_method": "S256",
                "token_endpoint_auth_method": "none" if secret is None else "client_secret_basic",
                "timeout": WAIT_S,
                "trust_env": not is_loopback(issuer),
                "follow_redirects": False,
            },
        )
        made.issuer = issuer
        return made


@contextmanager
def _told() -> Iterator[None]:
    """Raises for whatever Authlib and the HTTP client below it say: Refused (403) for a token or a code that does not hold, ServiceError for the rest. No word of the provider goes further but its code of an error."""
    try:
        yield
    except httpx2.HTTPStatusError as error:
        raise ServiceUnavailable(SERVICE, f"the provider answers with status {error.response.status_code}") from None
    except httpx2.HTTPError as error:
        raise ServiceUnavailable(SERVICE, f"the provider does not answer ({type(error).__name__})") from None
    except OAuthError as error:
        _refused(error.error if isinstance(error.error, str) and _CODE.fullmatch(error.error) else "no code")
    except (JoseError, AuthlibBaseError) as error:
        LOG.warning("a sign-in was refused: the token does not hold (%s)", type(error).__name__)
        message = "What the provider says of you does not hold, so nobody was signed in. Try again."
        raise Refused(403, "sign_in_token", message, title="Not signed in") from None
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
    ) as error:  # what Authlib makes of a reply that it cannot read
        raise ServiceReplyInvalid(SERVICE, f"the provider's reply cannot be read ({type(error).__name__})") from None


def _refused(code: str) -> NoReturn:
    """A code of an error of the token endpoint: it is about the person's code, or about this application."""
    if code == "invalid_grant":
        message = "The provider's code was used before, is too old or is not for this browser. Sign in again."
        raise Refused(403, "sign_in_code", message, title="Not signed in")
    hint = ": check ATTEST_SIGNIN_CLIENT_ID and ATTEST_SIGNIN_CLIENT_SECRET" if "client" in code else ""
    raise ServiceRejected(SERVICE, f"the provider refuses this application ({code}){hint}")
