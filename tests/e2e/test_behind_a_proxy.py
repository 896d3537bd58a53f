"""A real nginx in front of real servers: in every combination of settings and ways to proxy, what comes through opens nothing that is not meant to.

nginx stands on the machine of the server: its peer is 127.0.0.1, with a plain `proxy_pass` its Host is the server's own, and nothing on the request
tells of it. Only the deployment can say that others come this way.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from aiohttp import ClientSession, CookieJar

from bot.http.source_links import source_link
from bot.review.session import ReviewAccess
from bot.server.addresses import Addresses, addresses_of
from bot.server.serve import listening, serve_on
from bot.settings.settings import Settings
from bot.state import State
from tests.e2e.nginx import WAYS, in_front_of, nginx_path
from tests.e2e.processes import settings_over
from tests.knowledge_base import take_in

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEY = "key-of-a-program"
BEARER = {"Authorization": f"Bearer {KEY}"}
ASK = {"question": "From which sum does a goodwill credit need a team lead?"}
SECRET = "4,711"
"""Stands in a document that only billing may read."""
CHECK = {"answer": "It takes 30 days.", "sources": [{"id": "s", "text": "It takes 30 days."}]}
APP = {
    "bot_app_id": "11111111-2222-3333-4444-555555555555",
    "bot_tenant_id": "tenant-1",
    "bot_app_password": "not-a-secret",
    "tenants": "tenant-1",
}
SERVERS: dict[str, dict[str, Any]] = {
    "none": {},
    "bot id": APP,
    "keys": {"api_keys": KEY},
    "public url": {"public_url": "https://attest.example"},
    "outer host": {"host": "0.0.0.0", "api_keys": KEY},
    "outer host and bot id": {"host": "0.0.0.0", **APP},
    "bot id and keys": {**APP, "api_keys": KEY},
    "all": {**APP, "host": "0.0.0.0", "api_keys": KEY, "public_url": "https://attest.example"},
    "switched off": {"local": "off"},
}
OTHERS = [name for name in SERVERS if name != "none"]
COMBINATIONS = [(name, way) for name in OTHERS for way in WAYS]


@dataclass(frozen=True, slots=True)
class Behind:
    """A server, reached `directly` and through each front; `entry` is a turn of alice's about what only billing may read."""

    settings: Settings
    directly: str
    entry: str
    fronts: dict[str, str]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one document for all and one for billing, searched by words."""
    nginx_path()
    folder = tmp_path_factory.mktemp("proxy")
    home, documents = folder / "home", folder / "kb"
    for name, text in (
        ("all/returns.md", "# Returns\n\nAn unused item may be returned within 30 days of delivery."),
        ("billing/credit.md", f"# Goodwill credit\n\nA goodwill credit needs a team lead from a sum of €{SECRET} on."),
    ):
        (documents / name).parent.mkdir(parents=True)
        (documents / name).write_text(text, "utf-8")
    acl = folder / "readers.yaml"
    acl.write_text('"billing/**": [billing]\n', "utf-8")
    await take_in(settings_over(home), documents, acl=acl, lexical_only=True)
    (home / "directory.yaml").write_text("users: {alice: [billing]}\n", "utf-8")
    return home


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def servers(filled: Path) -> AsyncIterator[dict[str, Behind]]:
    """Every server of the table over one home, with nginx in front of all of them."""
    async with AsyncExitStack() as stack:
        made = {name: settings_over(filled, **more) for name, more in SERVERS.items()}
        bases = {name: await stack.enter_async_context(_running(settings)) for name, settings in made.items()}
        async with ClientSession() as session:
            status, reply = await _post(session, f"{bases['none']}/api/ask", ASK | {"as": "alice"})
        assert status == 200
        assert SECRET in reply, "alice herself is told"
        entry = json.loads(reply)["entry_id"]
        fronts = stack.enter_context(in_front_of(bases))
        yield {
            name: Behind(made[name], base, entry, {way: fronts[name, way] for way in WAYS})
            for name, base in bases.items()
        }


@asynccontextmanager
async def _running(settings: Settings) -> AsyncIterator[str]:
    """The base URL of a server in this process, by way of loopback."""
    ready: asyncio.Future[Addresses] = asyncio.get_running_loop().create_future()
    with listening(settings) as listener:
        task = asyncio.create_task(serve_on(listener, settings, ready.set_result))
        task.add_done_callback(lambda ended: ready.done() or ready.cancel(f"the server ended: {ended}"))
        await ready
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def _post(
    session: ClientSession, url: str, form: dict[str, Any], headers: dict[str, str] | None = None
) -> tuple[int, str]:
    async with session.post(url, json=form, headers=headers) as response:
        return response.status, await response.text()


async def _get(session: ClientSession, url: str, headers: dict[str, str] | None = None) -> tuple[int, str]:
    async with session.get(url, headers=headers) as response:
        return response.status, await response.text()


def activity() -> dict[str, Any]:
    """A message that nobody signed, from somebody who calls themselves alice."""
    return {
        "type": "message",
        "id": uuid.uuid4().hex,
        "channelId": "emulator",
        "serviceUrl": "https://smba.trafficmanager.net/emea/",
        "from": {"id": "alice"},
        "recipient": {"id": "bot"},
        "conversation": {"id": "c1"},
        "text": ASK["question"],
        "deliveryMode": "expectReplies",
    }


async def without_a_right(base: str, entry: str) -> dict[str, tuple[int, str]]:
    """What a stranger gets who asks for everything at `base`: status and text of each request."""
    async with ClientSession() as session:
        return {
            "ask": await _post(session, f"{base}/api/ask", ASK),
            "ask as": await _post(session, f"{base}/api/ask", ASK | {"as": "alice"}),
            "check": await _post(session, f"{base}/api/check", CHECK),
            "refusals": await _post(session, f"{base}/api/refusals", {"entry_id": entry, "as": "alice"}),
            "messages": await _post(session, f"{base}/api/messages", activity()),
            "chat": await _get(session, f"{base}/chat"),
            "options": await _get(session, f"{base}/chat/options"),
            "view": await _post(session, f"{base}/chat/view", {"entry_id": entry, "answer": "", "claims": []}),
            "metrics": await _get(session, f"{base}/metrics"),
            "source": await _get(session, f"{base}/source/{entry}/1"),
            "review": await _get(session, f"{base}/review"),
            "entry": await _get(session, f"{base}/review/{entry}"),
        }


API = frozenset({"ask", "ask as", "check", "refusals", "messages", "metrics"})


@pytest.mark.parametrize(("name", "way"), [*COMBINATIONS, *((name, "directly") for name in OTHERS)])
async def test_a_stranger_gets_nothing_however_they_come(servers: dict[str, Behind], name: str, way: str) -> None:
    behind = servers[name]
    got = await without_a_right(behind.fronts.get(way, behind.directly), behind.entry)
    assert {what: status for what, (status, _) in got.items()} == {what: 401 if what in API else 403 for what in got}
    assert not [what for what, (_, text) in got.items() if SECRET in text or "alice" in text]


@pytest.mark.parametrize(("name", "way"), [(n, w) for n, w in COMBINATIONS if "api_keys" in SERVERS[n]])
async def test_a_key_opens_the_api_for_a_stranger_and_nothing_else(
    servers: dict[str, Behind], name: str, way: str
) -> None:
    base, entry = servers[name].fronts[way], servers[name].entry
    async with ClientSession(headers=BEARER) as session:
        status, text = await _post(session, f"{base}/api/ask", ASK)
        assert status == 200
        assert SECRET not in text
        assert (await _post(session, f"{base}/api/ask", ASK | {"as": "alice"}))[0] == 403
        assert (await _post(session, f"{base}/api/check", CHECK))[0] == 200
        assert (await _get(session, f"{base}/metrics"))[0] == 200
        assert (await _post(session, f"{base}/api/messages", activity()))[0] == 401
        for path in ("/chat", "/chat/options", "/review", f"/review/{entry}", f"/source/{entry}/1"):
            assert (await _get(session, f"{base}{path}"))[0] == 403


@pytest.mark.parametrize(("name", "way"), COMBINATIONS)
async def test_links_open_what_they_are_for(servers: dict[str, Behind], name: str, way: str) -> None:
    """A signed link its source, and a reviewer's link the pages, once; both through the proxy, as people come."""
    behind = servers[name]
    base = behind.fronts[way]
    link = urlsplit(source_link(behind.settings, behind.entry, 1, "alice"))
    async with ClientSession() as session:
        status, text = await _get(session, f"{base}{link.path}?{link.query}")
        assert status == 200
        assert SECRET in text
        assert (await _get(session, f"{base}{link.path}?{link.query[:-4]}0000"))[0] == 403
    token = await _offered(behind.settings)
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as reviewer:
        async with reviewer.get(f"{base}/review?token={token}", allow_redirects=False) as response:
            assert response.status == 303
            cookie = response.cookies["attest_review"].OutputString().partition(";")[0]
        assert (await _get(reviewer, f"{base}/review/{behind.entry}", {"Cookie": cookie}))[0] == 200
    async with ClientSession() as second:
        assert (await _get(second, f"{base}/review?token={token}"))[0] == 403


async def _offered(settings: Settings) -> str:
    """As `attest review-link` makes it, over the home."""
    state = State(settings.files.home / "state.db")
    await state.open()
    try:
        return await ReviewAccess(state).offer()
    finally:
        await state.close()


@pytest.mark.parametrize(("way", "trace"), [("plain", "HTTP/1.0"), ("careful", "X-Forwarded-For")])
async def test_local_mode_refuses_what_shows_that_a_proxy_passed_it_on(
    servers: dict[str, Behind], way: str, trace: str
) -> None:
    behind = servers["none"]
    got = await without_a_right(behind.fronts[way], behind.entry)
    assert {status for status, _ in got.values()} == {403}
    assert trace in got["ask"][1]
    assert "ATTEST_PUBLIC_URL" in got["ask"][1]


async def test_in_local_mode_a_proxy_that_leaves_no_trace_cannot_be_told(servers: dict[str, Behind]) -> None:
    """The one hole that is left, where nothing is set that says that others come: the start and the documents tell of it."""
    got = await without_a_right(servers["none"].fronts["modern"], servers["none"].entry)
    assert (got["ask as"][0], got["chat"][0]) == (200, 200)
    *_, line = addresses_of(servers["none"].settings, 3978, "t").lines()
    assert "nothing tells a reverse proxy from a person" in line


async def test_in_local_mode_this_machine_has_everything(servers: dict[str, Behind]) -> None:
    """Without a proxy, the same requests as above: else those would prove nothing."""
    got = await without_a_right(servers["none"].directly, servers["none"].entry)
    open_ = {what for what, (status, _) in got.items() if status == 200}
    assert open_ == {"ask", "ask as", "check", "messages", "chat", "options", "view", "metrics", "source"}
    assert {what for what, (_, text) in got.items() if SECRET in text} >= {"ask as", "messages", "view", "source"}
