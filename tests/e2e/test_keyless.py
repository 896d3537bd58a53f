"""No key anywhere: every client that can do without one gets its token from one managed identity, and sends it to nobody else."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.commands.doctor.services import check_services
from bot.compose.resources import Resources
from bot.compose.services import openai_key
from bot.records import Ask
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from grounding.azure.core.identity import MachineIdentity
from grounding.azure.graph_directory import GraphDirectory
from grounding.azure.openai.chat import OpenAIChat
from grounding.azure.search.service import SearchService
from grounding.errors import ServiceRejected, SettingsError
from grounding.services.remote import Remote
from rai.azure.content_safety import ContentSafetyScreen
from rai.azure.language import LanguageRecognizer, LanguageTagger
from rai.embedded.tagger import GazetteerTagger
from rai.records import Outcome
from tests.fakes import faults
from tests.fakes.ai_search_server import AiSearchServer
from tests.fakes.content_safety_server import ContentSafetyServer
from tests.fakes.faults import FaultyServer
from tests.fakes.graph_server import GraphServer
from tests.fakes.identity_server import IdentityServer, token
from tests.knowledge_base import running, take_in_page

LEA = "11111111-2222-3333-4444-555555555555"
LEGAL = "aaaaaaaa-0000-0000-0000-000000000001"


class Listener(FaultyServer):
    """Answers everything with `{}`, and keeps the headers."""

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response({})


@pytest.fixture
async def identity_server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[IdentityServer]:
    async with IdentityServer() as server:
        server.install(monkeypatch)
        yield server


def remote(service: str) -> Remote:
    return Remote(service, deadline_s=5, retries=0)


async def _search(url: str, identity: MachineIdentity) -> None:
    client = SearchService(url, identity, "attest", remote("search"))
    try:
        await client.count()
    finally:
        await client.aclose()


async def _content_safety(url: str, identity: MachineIdentity) -> None:
    client = ContentSafetyScreen(url, identity, remote("content-safety"))
    try:
        await client.screen("When do you open?", ["At nine."])
    finally:
        await client.aclose()


async def _language(url: str, identity: MachineIdentity) -> None:
    client = LanguageTagger(GazetteerTagger(), LanguageRecognizer(url, identity), remote("language"))
    try:
        await client.tag("Ask Maria Lopez.")
    finally:
        await client.aclose()


async def _openai(url: str, identity: MachineIdentity) -> None:
    client = OpenAIChat(f"{url}/openai/v1", identity.bearer("openai"), "gpt", remote("openai"))
    try:
        await client.complete("s", "u", purpose="compose")
    finally:
        await client.aclose()


async def _graph(url: str, identity: MachineIdentity) -> None:
    client = GraphDirectory(url, identity, remote("directory"))
    try:
        await client.groups(LEA)
    finally:
        await client.aclose()


Use = Callable[[str, MachineIdentity], Awaitable[None]]
CLIENTS: dict[str, tuple[Use, str]] = {
    "search": (_search, "https://search.azure.com"),
    "content safety": (_content_safety, "https://cognitiveservices.azure.com"),
    "language": (_language, "https://cognitiveservices.azure.com"),
    "openai": (_openai, "https://cognitiveservices.azure.com"),
    "graph": (_graph, "https://graph.microsoft.com"),
}


@pytest.mark.parametrize("client", CLIENTS)
async def test_each_client_sends_the_token_for_its_own_service(identity_server: IdentityServer, client: str) -> None:
    use, resource = CLIENTS[client]
    async with Listener() as service, MachineIdentity() as identity:
        try:
            await use(service.root, identity)
        except Exception:  # noqa: BLE001  # what comes back is another test's matter: here it is what went out
            assert service.headers
        assert {h.get("Authorization") for h in service.headers} == {f"Bearer {token(resource)}"}
    assert identity_server.asked == {resource: 1}


@pytest.mark.parametrize("client", ["search", "content safety", "language", "graph"])
async def test_no_token_goes_over_plain_http_to_another_host(identity_server: IdentityServer, client: str) -> None:
    async with MachineIdentity() as identity:
        for host in ("http://name.example", "http://127.0.0.1.example", "http://127.0.0.1@name.example"):
            with pytest.raises(SettingsError):
                await CLIENTS[client][0](host, identity)
    assert not identity_server.asked


async def test_a_model_gets_a_token_where_azure_is_and_nowhere_else() -> None:
    resources = Resources()

    def key(url: str | None, **given: Any) -> object:
        return openai_key(load_settings(openai_base_url=url, **given), resources)

    assert callable(key("https://name.openai.azure.com/openai/v1/"))
    assert callable(key("https://name.services.ai.azure.com/openai/v1/"))
    assert callable(key("https://name.openai.azure.us/openai/v1/", cloud="usgov"))
    assert key("https://name.openai.azure.com/openai/v1/", openai_api_key="k") == "k"
    strangers = ["https://openai.azure.com.example/v1", "https://evilopenai.azure.com/v1", "http://127.0.0.1:11434/v1"]
    assert [key(url) for url in [None, *strangers]] == [None] * 4
    with pytest.raises(SettingsError, match="ATTEST_OPENAI_BASE_URL: allowed is https"):
        key("http://name.openai.azure.com/openai/v1/")
    assert len(resources) == 1  # one identity
    await resources.close()


# --- a whole system


def settings_of(tmp_path: Path, model_file: Path, search: str, safety: str, graph: str, **more: Any) -> Settings:
    return load_settings(
        home=tmp_path / "home",
        ledger_key_file=tmp_path / "config" / "ledger.key",
        model_file=model_file,
        retries=0,
        search="azure",
        search_endpoint=search,
        screen="content_safety",
        content_safety_endpoint=safety,
        directory="graph",
        graph_endpoint=graph,
        **more,
    )


async def test_a_system_without_keys_signs_in_once_and_leaves_nothing_open(
    tmp_path: Path, model_file: Path, identity_server: IdentityServer
) -> None:
    async with (
        AiSearchServer() as search,
        ContentSafetyServer(key=None) as safety,
        GraphServer({LEA: [LEGAL]}) as graph,
    ):
        settings = settings_of(tmp_path, model_file, search.root, safety.root, graph.root)
        await take_in_page(settings, tmp_path / "kb")
        identity_server.asked.clear()
        gc.collect()  # what tests before this one left, which 3.13 tells of wherever it is found
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            async with running(settings) as system:
                asking = (system.answer(Ask("What does Watch Plus cost a month?", user=LEA), None) for _ in range(3))
                replies = await asyncio.gather(*asking)
            del system
            gc.collect()
            await asyncio.sleep(0)
        assert {r.outcome for r in replies} == {Outcome.ANSWERED}
        assert identity_server.asked == dict.fromkeys((resource for _, resource in CLIENTS.values()), 1)
        assert [str(w.message) for w in told if w.category is ResourceWarning] == []
        assert len(graph.bodies) == 1
        doctor = {f.name: f for f in await check_services(settings)}
        assert (doctor["search"].status, doctor["content safety"].status) == ("ok", "ok")
        assert doctor["search"].detail == "signed in as this machine; answers (status 200)"


async def test_doctor_tells_a_missing_identity_from_a_missing_role(
    tmp_path: Path, model_file: Path, identity_server: IdentityServer
) -> None:
    async with Listener() as service:
        settings = settings_of(
            tmp_path, model_file, service.root, service.root, service.root, language_endpoint=service.root
        )
        service.otherwise = faults.status(403)
        for found in [f for f in await check_services(settings) if f.name != "traces"]:
            assert found.status == "fail"
            assert found.detail.startswith("refuses this machine's identity (status 403)")
            assert found.fix.startswith("give it the role ")
        service.bodies.clear()
        identity_server.otherwise = faults.echoed(400)
        for found in [f for f in await check_services(settings) if f.name != "traces"]:
            assert found.status == "fail"
            assert found.detail.startswith("this machine could not sign in (Microsoft Entra ID)")
            assert found.fix.startswith("give this machine a managed identity, or az login, or set ATTEST_")
        assert service.bodies == []


async def test_without_an_identity_a_turn_fails_closed_and_says_why(
    tmp_path: Path, model_file: Path, identity_server: IdentityServer
) -> None:
    identity_server.otherwise = faults.status(400)
    async with AiSearchServer() as search, ContentSafetyServer(key=None) as safety, GraphServer({}) as graph:
        async with running(settings_of(tmp_path, model_file, search.root, safety.root, graph.root)) as system:
            reply = await system.answer(Ask("What does Watch Plus cost a month?", user=LEA), None)
            assert reply.outcome is Outcome.FAILED
            assert reply.code == "screen_unavailable"
            with pytest.raises(ServiceRejected, match=r"^directory: this machine could not sign in"):
                await system.directory.groups(LEA)
        assert search.bodies == safety.bodies == graph.bodies == []
