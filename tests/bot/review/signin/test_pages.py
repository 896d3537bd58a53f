"""Signing in and out through the pages, with a provider on loopback: the whole way, and every way that somebody could bend it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

import pytest
from aiohttp import ClientResponse, ClientSession, CookieJar
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.web import Application, Request
from yarl import URL

from bot.review.door import ACCESS
from bot.review.session import COOKIE, ReviewAccess
from bot.review.signin.flow import Flow, cookie_name
from bot.server.app import build_app
from tests.fakes.identity_provider import CLIENT, SECRET, FakeProvider, state_of
from tests.fakes.system import Fake, fake_system

BACK = "/review/signed-in"


@dataclass
class Browser:
    """A browser with a jar of its own, over a server and a provider."""

    client: TestClient[Request, Application]
    base: str

    async def get(self, place: str | URL, **headers: str) -> ClientResponse:
        """A page, without following where it leads."""
        path = str(place).removeprefix(self.base)
        return await self.client.get(URL(path, encoded=True), allow_redirects=False, headers=headers)

    async def to_provider(self, to: str = "/review") -> str:
        """The address at the provider that the button leads to."""
        response = await self.get(f"/review/sign-in/go?to={to}")
        assert response.status == 303, await response.text()
        return response.headers["Location"]

    async def at_provider(self, there: str) -> str:
        """The address that the provider sends this browser back to."""
        async with ClientSession() as session, session.get(there, allow_redirects=False) as response:
            assert response.status == 302, await response.text()
            return response.headers["Location"]

    async def sign_in(self, to: str = "/review") -> ClientResponse:
        return await self.get(await self.at_provider(await self.to_provider(to)))

    async def session(self) -> str:
        """The value of the session's cookie, "" without one."""
        jar = self.client.session.cookie_jar.filter_cookies(URL(self.base + "/review"))
        return jar[COOKIE].value if COOKIE in jar else ""


Start = Callable[..., Awaitable[Browser]]


@pytest.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with FakeProvider() as made:
        yield made


@pytest.fixture
def fake(provider: FakeProvider) -> Fake:
    return desk_of(provider)


def desk_of(provider: FakeProvider, **settings: Any) -> Fake:
    given = {"signin_issuer": provider.root, "signin_client_id": CLIENT, "signin_client_secret": SECRET}
    return fake_system(**{**given, "signin_reviewers": "desk-reviewers", **settings})


@pytest.fixture
async def start(provider: FakeProvider) -> AsyncIterator[Start]:
    clients = list[TestClient[Request, Application]]()

    async def run(fake: Fake, server: TestServer | None = None) -> Browser:
        server = server or TestServer(build_app(fake.system))
        client = TestClient[Request, Application](server, cookie_jar=CookieJar(unsafe=True))
        clients.append(client)
        await client.start_server()
        base = str(client.make_url("")).rstrip("/")
        provider.redirects.add(f"{base}{BACK}")
        return Browser(client, base)

    yield run
    for client in clients:
        await client.close()


@pytest.fixture
async def browser(start: Start, fake: Fake) -> Browser:
    return await start(fake)


def code_of(text: str) -> str:
    found = re.search(r"Code: <code>(\w+)</code>", text)
    assert found
    return found.group(1)


async def test_the_whole_way(browser: Browser, fake: Fake) -> None:
    await browser.client.post("/api/ask", json={"question": "How do I return something?"})
    entry = fake.ledger.kept[0].entry_id
    asked = await browser.get(f"/review/{entry}?all")
    page = await (await browser.get(asked.headers["Location"])).text()
    button = re.search(r'href="(/review/sign-in/go\?[^"]+)"', page)
    assert button
    there = (await browser.get(button.group(1))).headers["Location"]
    response = await browser.get(await browser.at_provider(there))
    assert (response.status, response.headers["Location"]) == (303, f"/review/{entry}?all")
    cookie = response.cookies[COOKIE]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/review")
    assert response.cookies[cookie_name(state_of(there))]["max-age"] == "0"
    shown = await (await browser.get(response.headers["Location"])).text()
    assert "Ada Lovelace" in shown
    read = fake.ledger.kept[-1]
    who = {"user": "ada", "name": "Ada Lovelace", "role": "reviewer", "tenant": fake.system.settings.signin.issuer}
    assert read.kind == "read"
    assert {name: read.body["actor"][name] for name in who} == who


async def test_nothing_of_the_token_is_kept_or_logged(
    browser: Browser, fake: Fake, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    assert (await browser.sign_in()).status == 303
    home = fake.system.settings.files.home
    kept = b"".join(path.read_bytes() for path in home.glob("state.db*"))
    assert (await browser.session()).encode() not in kept
    for secret in (b"canary-access-token", SECRET.encode(), b"eyJ"):
        assert secret not in kept
        assert secret.decode() not in caplog.text


@pytest.mark.parametrize(
    "to", ["https://evil.example/", "//evil.example", "/\\evil.example", "/chat", "/review%0d%0aX:y"]
)
async def test_signing_in_leads_to_the_desk_alone(browser: Browser, to: str) -> None:
    assert (await browser.sign_in(to)).headers["Location"] == "/review"
    page = await (await browser.get(f"/review/sign-in?to={to}")).text()
    assert 'href="/review/sign-in/go?to=/review"' in page


async def refused(response: ClientResponse, code: str) -> None:
    text = await response.text()
    assert (response.status, code_of(text)) == (403, code)
    assert COOKIE not in response.cookies
    assert "Try again" in text


async def test_a_way_back_that_this_browser_did_not_begin_signs_nobody_in(
    browser: Browser, start: Start, fake: Fake
) -> None:
    """Another's code and state, as somebody would send them who wants me to work in their session."""
    other = await start(fake, cast("TestServer", browser.client.server))  # the same server, another jar
    back = await other.at_provider(await other.to_provider())
    await refused(await browser.get(back), "sign_in_state")
    assert (await other.get(back)).status == 303, "and it is no worse for who began it"


@pytest.mark.parametrize("state", ["", "x", "../../x", "%00", "%ff"])
async def test_a_wrong_state_signs_nobody_in(browser: Browser, state: str) -> None:
    back = URL(await browser.at_provider(await browser.to_provider()))
    await refused(await browser.get(f"{BACK}?code={back.query['code']}&state={state}"), "sign_in_state")
    await refused(await browser.get(f"{BACK}?code={back.query['code']}"), "sign_in_state")


async def test_the_way_back_works_once(browser: Browser) -> None:
    there = await browser.to_provider()
    back = await browser.at_provider(there)
    kept = {
        name: morsel.value
        for name, morsel in browser.client.session.cookie_jar.filter_cookies(URL(browser.base + BACK)).items()
    }
    assert (await browser.get(back)).status == 303
    await refused(await browser.get(back), "sign_in_state")
    browser.client.session.cookie_jar.update_cookies(kept, URL(browser.base + BACK))
    await refused(await browser.get(back), "sign_in_state")


async def test_a_code_that_was_used_is_told(browser: Browser) -> None:
    back = URL(await browser.at_provider(await browser.to_provider()))
    assert (await browser.get(str(back))).status == 303
    state = state_of(await browser.to_provider())
    await refused(await browser.get(f"{BACK}?code={back.query['code']}&state={state}"), "sign_in_code")


async def test_who_takes_too_long_at_the_provider_begins_again(start: Start, fake: Fake) -> None:
    browser = await start(fake)
    there = await browser.to_provider()
    access: ReviewAccess = browser.client.app[ACCESS]
    await access.revoke()  # what is over is forgotten in the same way
    await refused(await browser.get(await browser.at_provider(there)), "sign_in_state")


async def test_two_pages_of_a_browser_sign_in_at_once(browser: Browser) -> None:
    one, two = await browser.to_provider("/review?words=one"), await browser.to_provider("/review?words=two")
    for there, words in ((one, "one"), (two, "two")):
        response = await browser.get(await browser.at_provider(there))
        assert response.headers["Location"] == f"/review?words={words}"


async def test_a_session_that_was_planted_is_not_taken_over(browser: Browser) -> None:
    """Session fixation: who signs in gets a new session, and the one that lay in the browser ends."""
    assert (await browser.sign_in()).status == 303
    planted = await browser.session()
    assert (await browser.sign_in()).status == 303
    assert await browser.session() not in ("", planted)
    browser.client.session.cookie_jar.clear()
    assert (await browser.get("/review", Cookie=f"{COOKIE}={planted}")).status == 303
    browser.client.session.cookie_jar.update_cookies({COOKIE: "chosen-by-somebody"}, URL(browser.base + "/review"))
    assert (await browser.sign_in()).status == 303
    assert await browser.session() != "chosen-by-somebody"


async def test_another_providers_answer_is_no_answer(browser: Browser) -> None:
    back = URL(await browser.at_provider(await browser.to_provider()))
    await refused(await browser.get(str(back.update_query(iss="https://evil.example"))), "sign_in_issuer")


@pytest.mark.parametrize(("error", "said"), [("access_denied", "access_denied"), ("<b>x</b>", "an error")])
async def test_what_the_provider_refuses_is_told(browser: Browser, error: str, said: str) -> None:
    state = state_of(await browser.to_provider())
    response = await browser.get(URL(BACK).with_query(state=state, error=error, error_description="canary words"))
    text = await response.text()
    assert (response.status, code_of(text)) == (403, "sign_in_refused")
    assert f"did not sign you in: {said}." in text
    assert "canary" not in text


@pytest.mark.parametrize(
    ("person", "code"),
    [
        ({"sub": "eve", "groups": ["others"]}, "sign_in_no_role"),
        ({"sub": "eve", "_claim_names": {"groups": "src1"}}, "sign_in_overage"),
        ({"groups": ["desk-reviewers"], "sub": " "}, "sign_in_nobody"),
    ],
)
async def test_who_has_no_role_stays_outside(
    browser: Browser, provider: FakeProvider, person: dict[str, Any], code: str, caplog: pytest.LogCaptureFixture
) -> None:
    provider.person = person
    await refused(await browser.sign_in(), code)
    assert f"a sign-in was refused: {code}" in caplog.text
    assert "eve" not in caplog.text
    assert (await browser.get("/review")).status == 303


async def test_a_hostile_name_is_text(browser: Browser, provider: FakeProvider) -> None:
    provider.person |= {"name": "<script>alert(1)</script>\u202eadA"}
    assert (await browser.sign_in()).status == 303
    text = await (await browser.get("/review")).text()
    assert "<script>alert" not in text
    assert "\u202e" not in text


async def test_signing_out_here_shows_the_way_out_there(browser: Browser, provider: FakeProvider) -> None:
    await browser.sign_in()
    form = re.search(r'name="form" value="(\w+)"', await (await browser.get("/review")).text())
    assert form
    response = await browser.client.post("/review/sign-out", data={"form": form.group(1)})
    text = (await response.text()).replace("&amp;", "&")
    out = re.search(rf'href="({provider.root}/logout\?[^"]+)"', text)
    assert out
    assert await browser.at_provider(out.group(1)) == f"{browser.base}/review/sign-in"
    assert (await browser.get("/review")).status == 303
    assert await browser.session() == ""


async def test_a_provider_without_a_way_out_is_told_of(browser: Browser, provider: FakeProvider) -> None:
    provider.metadata = {"end_session_endpoint": None}
    text = await (await browser.get("/review/signed-out")).text()
    assert "You may still be signed in at" in text
    assert "/review/sign-in/go?anew=1" in text
    await browser.get("/review/sign-in/go?anew=1")
    await browser.at_provider(response_of := (await browser.get("/review/sign-in/go?anew=1")).headers["Location"])
    assert "prompt=login" in response_of
    assert provider.prompts[-1] == "login"


async def test_a_provider_that_is_down_is_a_503_and_signing_out_still_works(start: Start) -> None:
    gone = FakeProvider()
    gone.root = "http://127.0.0.1:9"
    browser = await start(desk_of(gone))
    response = await browser.get("/review/sign-in/go")
    assert response.status == 503
    assert "the provider does not answer" in await response.text()
    assert "You are signed out" in await (await browser.get("/review/signed-out")).text()


async def test_behind_a_proxy_addresses_and_cookies_are_those_that_people_see(
    start: Start, provider: FakeProvider
) -> None:
    browser = await start(desk_of(provider, public_url="https://attest.example/", proxies="127.0.0.1"))
    provider.redirects = {f"https://attest.example{BACK}"}
    headers = {"Host": "attest.example", "X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
    response = await browser.get("/review/sign-in/go", **headers)
    there = response.headers["Location"]
    assert URL(there).query["redirect_uri"] == f"https://attest.example{BACK}"
    (flow,) = (c for name, c in response.cookies.items() if name.startswith("attest_sign_in_"))
    assert (flow["secure"], flow["httponly"], flow["samesite"], flow["path"]) == (True, True, "Lax", BACK)
    back = URL(await browser.at_provider(there))
    brought = {"Cookie": f"{flow.key}={flow.value}"}
    entered = await browser.get(back.path_qs, **headers, **brought)
    assert entered.status == 303
    assert entered.cookies[COOKIE]["secure"]
    evil = await browser.get(
        "/review/sign-in/go", **headers | {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    )
    assert URL(evil.headers["Location"]).query["redirect_uri"] == f"https://attest.example{BACK}"


def test_a_cookie_of_a_flow_opens_nothing_else() -> None:
    flow = Flow.begin("/review")
    assert COOKIE not in cookie_name(flow.state)
