"""The provider as it answers, rightly and in every hostile way that the specifications warn of."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import ClientSession, web

from bot.http.errors import Refused
from bot.review.signin.flow import Flow
from bot.review.signin.ports import ProviderFacts
from bot.review.signin.provider import KEPT_S, LEEWAY_S, Provider
from bot.settings.load import load_settings
from grounding.errors import ServiceError
from tests.fakes.clock import Clock
from tests.fakes.identity_provider import CLIENT, FIRST, SECOND, SECRET, FakeProvider, confused, unsigned

BACK = "http://127.0.0.1:1/review/signed-in"


@pytest.fixture
async def fake() -> AsyncIterator[FakeProvider]:
    async with FakeProvider() as provider:
        provider.redirects.add(BACK)
        yield provider


def provider(fake: FakeProvider, clock: Clock | None = None, **overrides: object) -> Provider:
    given = {"signin_issuer": fake.root, "signin_client_id": CLIENT, "signin_client_secret": SECRET}
    settings = load_settings(**{**given, "signin_readers": "g", **overrides})
    return Provider(settings.signin, clock or Clock())


async def code_for(provider: Provider, flow: Flow) -> str:
    """What somebody brings back from the provider."""
    there = await provider.way_there(flow, BACK)
    async with ClientSession() as browser, browser.get(there, allow_redirects=False) as response:
        assert response.status == 302, await response.text()
        back = parse_qs(urlsplit(response.headers["Location"]).query)
    assert back["state"] == [flow.state]
    return back["code"][0]


async def claims_of(provider: Provider, flow: Flow | None = None) -> dict[str, Any]:
    flow = flow or Flow.begin("/review")
    return await provider.claims(flow, BACK, await code_for(provider, flow))


async def test_a_code_is_exchanged_for_a_token_that_holds(fake: FakeProvider) -> None:
    claims = await claims_of(provider(fake))
    assert (claims["sub"], claims["name"]) == ("ada", "Ada Lovelace")


@pytest.mark.parametrize("ways", [["client_secret_post"], ["client_secret_basic"], None])
async def test_the_secret_is_shown_in_the_way_that_the_provider_takes(fake: FakeProvider, ways: object) -> None:
    fake.metadata = {"token_endpoint_auth_methods_supported": ways}
    assert await claims_of(provider(fake))


async def test_a_public_client_shows_its_verifier_alone(fake: FakeProvider) -> None:
    fake.secret = None
    own = load_settings(signin_issuer=fake.root, signin_client_id=CLIENT, signin_readers="g").signin
    assert await claims_of(Provider(own, Clock()))


async def test_the_way_there_says_what_it_asks_for(fake: FakeProvider) -> None:
    flow = Flow.begin("/review")
    own = provider(fake, signin_scopes="openid,profile,groups")
    asked = parse_qs(urlsplit(await own.way_there(flow, BACK, anew=True)).query)
    assert (asked["state"], asked["nonce"]) == ([flow.state], [flow.nonce])
    assert (asked["scope"], asked["prompt"]) == (["openid profile groups"], ["login"])
    assert asked["code_challenge_method"] == ["S256"]
    assert flow.verifier not in str(asked)


def changed(**claims: object) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A token with these claims in place of its own; None takes one out."""
    return lambda told: {name: value for name, value in (told | claims).items() if value is not None}


NOW = int(time.time())
ALTERED = {
    "nonce of another": changed(nonce="another"),
    "no nonce": changed(nonce=None),
    "issuer of another": changed(iss="https://evil.example"),
    "issuer with a slash": lambda told: told | {"iss": told["iss"] + "/"},
    "no issuer": changed(iss=None),
    "audience of another": changed(aud="another"),
    "audience of another, for us": changed(aud="another", azp=CLIENT),
    "no audience": changed(aud=None),
    "two audiences, party of another": changed(aud=[CLIENT, "another"], azp="another"),
    "two audiences, no party": changed(aud=[CLIENT, "another"]),
    "expired": changed(exp=NOW - LEEWAY_S - 60, iat=NOW - 900),
    "no expiry": changed(exp=None),
    "not yet": changed(nbf=NOW + 86_400),
    "of tomorrow": changed(iat=NOW + 86_400, exp=NOW + 90_000),
    "nobody": changed(sub=None),
    "hash of another access token": changed(at_hash="AAAAAAAAAAAAAAAAAAAAAA"),
}


@pytest.mark.parametrize("alter", ALTERED.values(), ids=ALTERED.keys())
async def test_a_token_that_says_something_else_signs_nobody_in(
    fake: FakeProvider, alter: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    own = provider(fake)
    fake.alter = alter
    with pytest.raises(Refused) as refused:
        await claims_of(own)
    assert (refused.value.status, refused.value.code) == (403, "sign_in_token")
    fake.alter = lambda told: told
    assert await claims_of(own), "the next one is not worse off"


def swapped(told: dict[str, Any]) -> str:
    head, _, signature = FIRST.sign(told).split(".")
    return ".".join((head, FIRST.sign(told | {"sub": "eve"}).split(".")[1], signature))


FORGED = {
    "algorithm none": unsigned,
    "HS256 with the public key": confused,
    "a key that nobody published": SECOND.sign,
    "a strange key under a known id": lambda told: SECOND.sign(told, kid=FIRST.kid),
    "a key that the token brings": lambda told: SECOND.sign(told, kid=FIRST.kid, jku="https://evil.example/keys"),
    "no signature": lambda told: FIRST.sign(told).rpartition(".")[0] + ".",
    "claims of another": swapped,
}


@pytest.mark.parametrize("told_algorithms", [["RS256"], ["RS256", "HS256", "none"]], ids=["honest", "lying"])
@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED.keys())
async def test_a_forged_token_signs_nobody_in(
    fake: FakeProvider, forge: Callable[[dict[str, Any]], str], told_algorithms: list[str]
) -> None:
    """Also where the provider says that it supports algorithms without a pair of keys."""
    fake.metadata = {"id_token_signing_alg_values_supported": told_algorithms}
    fake.forge = forge
    with pytest.raises(Refused, match="does not hold"):
        await claims_of(provider(fake))


async def test_a_key_that_is_new_is_looked_for_at_once(fake: FakeProvider) -> None:
    own = provider(fake)
    assert await claims_of(own)
    fake.rotate(SECOND)
    assert await claims_of(own)
    assert fake.asked.count("keys") == 2


async def test_a_key_that_was_taken_back_ends(fake: FakeProvider) -> None:
    clock = Clock()
    own = provider(fake, clock)
    assert await claims_of(own)
    fake.rotate(SECOND)
    fake.forge = FIRST.sign
    clock.passed += KEPT_S
    with pytest.raises(Refused, match="does not hold"):
        await claims_of(own)


async def test_a_code_works_once_and_for_its_own_browser(fake: FakeProvider) -> None:
    own, flow = provider(fake), Flow.begin("/review")
    code = await code_for(own, flow)
    assert await own.claims(flow, BACK, code)
    for stolen, thief in ((code, flow), (await code_for(own, flow), Flow.begin("/review"))):
        with pytest.raises(Refused) as refused:
            await own.claims(thief, BACK, stolen)
        assert refused.value.code == "sign_in_code"
        assert "canary" not in str(refused.value)


async def test_a_wrong_secret_is_told_by_its_setting(fake: FakeProvider) -> None:
    with pytest.raises(ServiceError, match="ATTEST_SIGNIN_CLIENT_SECRET") as told:
        await claims_of(provider(fake, signin_client_secret="canary-of-another"))
    assert "canary" not in str(told.value)


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"issuer": "https://other.example/x"}, "calls itself, 'https://other.example/x'"),
        ({"issuer": None}, "calls itself"),
        ({"token_endpoint": "http://evil.example/token"}, "token_endpoint over https"),
        ({"authorization_endpoint": "ftp://evil.example"}, "authorization_endpoint over https"),
        ({"jwks_uri": None}, "jwks_uri over https"),
        ({"id_token_signing_alg_values_supported": ["HS256", "none"]}, "no pair of keys"),
    ],
)
async def test_what_the_provider_tells_of_itself_is_looked_at(
    fake: FakeProvider, metadata: dict[str, Any], said: str
) -> None:
    fake.metadata = metadata
    with pytest.raises(ServiceError, match=said) as told:
        await provider(fake).way_there(Flow.begin("/review"), BACK)
    assert "\n" not in str(told.value)


async def test_what_else_it_tells_changes_nothing_here(fake: FakeProvider) -> None:
    """Authlib hands a discovery document on to the HTTP client, which would take its options from it."""
    fake.metadata = {"verify": False, "proxy": "http://127.0.0.1:1", "timeout": 0.000_001, "client_secret": "x"}
    assert await claims_of(provider(fake))


@pytest.mark.parametrize(
    "reply",
    [
        lambda _told: web.Response(text="<h1>Proxy</h1>", content_type="text/html"),
        lambda _told: web.json_response([]),
        lambda _told: web.json_response({"access_token": "a", "token_type": "Bearer"}),
        lambda told: web.json_response(told | {"id_token": "x"}),
        lambda told: web.json_response(told | {"id_token": 7}),
        lambda _told: web.json_response({"error": ["canary"]}, status=400),
        lambda _told: web.Response(status=503, text="canary"),
    ],
)
async def test_a_reply_that_is_none_is_told_in_a_line(
    fake: FakeProvider, reply: Callable[[dict[str, Any]], web.Response]
) -> None:
    fake.answers = reply
    with pytest.raises((ServiceError, Refused)) as told:
        await claims_of(provider(fake))
    assert "canary" not in str(told.value)
    assert "\n" not in str(told.value)


async def test_a_provider_that_is_not_there_is_told(fake: FakeProvider) -> None:
    own = provider(fake, signin_issuer="http://127.0.0.1:9")
    for asked in (own.look(), own.way_out(BACK), own.way_there(Flow.begin("/review"), BACK)):
        with pytest.raises(ServiceError, match="does not answer"):
            await asked


async def test_the_way_out_names_the_application_and_keeps_no_token(fake: FakeProvider) -> None:
    out = await provider(fake).way_out("https://attest.example/review/sign-in")
    asked = parse_qs(urlsplit(out or "").query)
    assert (asked["client_id"], asked["post_logout_redirect_uri"]) == (
        [CLIENT],
        ["https://attest.example/review/sign-in"],
    )
    fake.metadata = {"end_session_endpoint": None}
    assert await provider(fake).way_out(BACK) is None


async def test_it_tells_how_it_stands(fake: FakeProvider) -> None:
    assert await provider(fake).look() == ProviderFacts(keys=1, signs_out=True)
    fake.published = []
    with pytest.raises(ServiceError, match="no keys"):
        await provider(fake).look()
