"""The one identity of this machine: azure-identity itself against a loopback endpoint of managed identities, and its bounds."""

from __future__ import annotations

import asyncio
import gc
import traceback
import warnings
from collections.abc import Callable

import pytest
from azure.core.credentials import AccessTokenInfo, TokenRequestOptions
from azure.core.exceptions import ClientAuthenticationError

from grounding.azure.core.identity import EARLY_S, FAILED_S, MachineIdentity
from grounding.errors import ServiceRejected
from grounding.services.cloud import CLOUDS, COGNITIVE, GRAPH, SEARCH, CloudName
from tests.fakes import faults
from tests.fakes.faults import Fault
from tests.fakes.identity_server import IdentityServer, token

NOW = 1_000_000.0
LIVES_S = 3600


class Credential:
    """As one of azure-identity.aio: counts, waits for `gate`, fails with `error`."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.closed = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.error: Exception | None = None
        self.expires_on = int(NOW) + LIVES_S

    async def get_token_info(self, *scopes: str, options: TokenRequestOptions | None = None) -> AccessTokenInfo:
        self.asked.append((scopes[0], (options or {}).get("claims")))
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return AccessTokenInfo(f"token-{len(self.asked)}", self.expires_on)

    async def close(self) -> None:
        self.closed += 1


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


def identity(credential: Credential, **options: object) -> tuple[MachineIdentity, Clock]:
    clock = Clock()
    return MachineIdentity(make=lambda: credential, clock=clock, **options), clock  # type: ignore[arg-type]  # options of MachineIdentity


async def test_nothing_is_made_before_it_is_needed_and_everything_is_closed_once() -> None:
    made: list[Credential] = []

    def make() -> Credential:
        made.append(Credential())
        return made[-1]

    unused = MachineIdentity(make=make)
    await unused.close()
    assert made == []
    used = MachineIdentity(make=make, clock=Clock())
    await asyncio.gather(*(used.get_token(scope) for scope in (SEARCH, COGNITIVE, GRAPH)))
    await used.close()
    await used.close()
    assert [c.closed for c in made] == [1]


async def test_a_token_is_asked_for_once_however_many_want_it() -> None:
    credential = Credential()
    one, _ = identity(credential)
    found = await asyncio.gather(*(one.get_token_info(SEARCH) for _ in range(50)))
    assert {t.token for t in found} == {"token-1"}
    assert (await one.get_token(SEARCH)).token == "token-1"
    assert credential.asked == [(SEARCH, None)]


async def test_a_token_is_replaced_before_it_ends() -> None:
    credential = Credential()
    one, clock = identity(credential)
    await one.get_token_info(SEARCH)
    clock.now += LIVES_S - EARLY_S
    assert (await one.get_token_info(SEARCH)).token == "token-1"
    clock.now += 1
    assert (await one.get_token_info(SEARCH)).token == "token-2"


async def test_a_renewal_that_fails_leaves_the_token_until_its_end() -> None:
    credential = Credential()
    one, clock = identity(credential)
    await one.get_token_info(SEARCH)
    credential.error = RuntimeError("no")
    clock.now += LIVES_S - 1
    assert (await one.get_token_info(SEARCH)).token == "token-1"
    clock.now += 1
    with pytest.raises(ClientAuthenticationError):
        await one.get_token_info(SEARCH)


async def test_a_service_that_wants_a_newer_token_gets_one() -> None:
    """Claims come with a challenge (continuous access evaluation): the token held was revoked."""
    credential = Credential()
    one, _ = identity(credential)
    await one.get_token(SEARCH)
    assert (await one.get_token(SEARCH, claims="c")).token == "token-2"
    assert (await one.get_token(SEARCH)).token == "token-2"
    assert credential.asked == [(SEARCH, None), (SEARCH, "c")]


async def test_a_failed_sign_in_is_one_line_and_is_not_tried_by_every_call() -> None:
    credential = Credential()
    credential.error = RuntimeError("canary: alice@contoso.example of tenant 7")
    one, clock = identity(credential)
    for _ in range(5):
        with pytest.raises(ClientAuthenticationError) as caught:
            await one.get_token_info(SEARCH)
        assert "canary" not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(ServiceRejected, match=r"^openai: this machine could not sign in \(Microsoft Entra ID\)$"):
        await one.bearer("openai", SEARCH)()
    assert len(credential.asked) == 1
    credential.error = None
    clock.now += FAILED_S
    assert (await one.get_token_info(SEARCH)).token == "token-2"


async def test_a_sign_in_that_hangs_ends_in_time_for_all() -> None:
    credential = Credential()
    credential.gate.clear()
    one, _ = identity(credential, within_s=0.05)
    found = await asyncio.gather(*(one.get_token_info(SEARCH) for _ in range(4)), return_exceptions=True)
    assert [type(e) for e in found] == [ClientAuthenticationError] * 4
    assert len(credential.asked) == 1


@pytest.mark.parametrize("cloud", CLOUDS)
async def test_a_token_is_for_the_service_of_its_own_cloud(cloud: CloudName) -> None:
    credential = Credential()
    one, _ = identity(credential, cloud=cloud)
    for scope in (COGNITIVE, SEARCH, GRAPH, "https://other.example/.default"):
        await one.get_token_info(scope)
    there = CLOUDS[cloud]
    wanted = (there.cognitive, there.search, there.graph, "https://other.example")
    assert [scope for scope, _ in credential.asked] == [f"{resource}/.default" for resource in wanted]


# --- azure-identity itself


async def test_a_managed_identity_signs_in(monkeypatch: pytest.MonkeyPatch) -> None:
    client = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
    async with IdentityServer() as server:
        server.install(monkeypatch)
        async with MachineIdentity("usgov", client) as one:
            for _ in range(3):
                assert (await one.get_token(SEARCH)).token == token("https://search.azure.us")
        assert server.asked == {"https://search.azure.us": 1}
        assert server.clients == {client}


async def test_nothing_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()  # what other tests left is told of now: since Python 3.13 that is every database connection nobody closed
    async with IdentityServer() as server:
        server.install(monkeypatch)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            problems: list[dict[str, object]] = []
            asyncio.get_running_loop().set_exception_handler(lambda _loop, context: problems.append(context))
            one = MachineIdentity()
            await one.get_token(SEARCH)
            await one.close()
            del one
            gc.collect()
            await asyncio.sleep(0)
    assert [str(w.message) for w in told if w.category is ResourceWarning] == []
    assert problems == []


FAULTS: dict[str, Callable[[], Fault]] = {
    "500": lambda: faults.status(500),
    "400": lambda: faults.echoed(400),
    "HTML": lambda: faults.html(200),
    "no answer": faults.slow,
    "closed socket": faults.closed,
    "cut JSON": faults.truncated,
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_an_endpoint_that_fails_is_a_failed_sign_in(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    """Within its bound and without a word of the endpoint, whatever that says; the SDK's own retries would take longer."""
    async with IdentityServer(otherwise=FAULTS[fault]()) as server:
        server.install(monkeypatch)
        async with MachineIdentity(within_s=0.5) as one:
            with pytest.raises(ClientAuthenticationError) as caught:
                await one.get_token(SEARCH)
    assert str(caught.value) == "this machine could not sign in (Microsoft Entra ID)"
    assert "canary" not in "".join(traceback.format_exception(caught.value)) + caplog.text


async def test_the_metadata_service_is_asked_past_every_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with IdentityServer() as server, IdentityServer() as proxy:
        server.install(monkeypatch)
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, proxy.root)
        async with MachineIdentity() as one:
            await one.get_token(SEARCH)
        assert (len(server.bodies), len(proxy.bodies)) == (1, 0)
