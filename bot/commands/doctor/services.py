"""The checks of `attest doctor` on services that are switched on: whether each answers and takes the key, and what mends it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal
from urllib.parse import urlencode

from pydantic import SecretStr

from bot.commands.doctor.backends import check_backends
from bot.commands.doctor.chat_model import check_chat_models
from bot.commands.doctor.diagnosis import WAIT_S, Diagnosis, fix_of, probe, probe_page
from bot.commands.doctor.retirement import with_retirement
from bot.commands.doctor.sign_in import check_sign_in
from bot.compose.embedder import SERVICE, service_embedder
from bot.compose.resources import Resources, machine_identity
from bot.compose.search import ask_ranker
from bot.settings.settings import Settings
from grounding.errors import AttestError, ServiceError, SettingsError
from grounding.services.address import check_address
from grounding.services.cloud import COGNITIVE, SEARCH, is_openai
from grounding.services.remote import Remote

Bearer = Callable[[str, str], Callable[[], Awaitable[str]]]
"""Name of a service and scope of its tokens to what gives one; that raises ServiceError."""


@dataclass(frozen=True, slots=True)
class _Access:
    """How an Azure service is entered: the settings of its key and address, whom a token is for where there is no key, the role that this
    takes, and the header in which a key goes.
    """

    key: str
    endpoint: str
    scope: str
    role: str = "Cognitive Services User"
    header: str = "Ocp-Apim-Subscription-Key"


async def check_services(settings: Settings) -> list[Diagnosis]:
    """Ask every service that is switched on one question, all at the same time: each within 5 s, signing in without a key within 10 s, the chat
    model within the time of a call.
    """
    async with machine_identity(settings) as identity:
        models = asyncio.gather(check_chat_models(settings), _embeddings(settings))
        services = await asyncio.gather(*_services(settings, identity.bearer))
        return [*services, *chain.from_iterable(await models)]


def _services(settings: Settings, bearer: Bearer) -> list[asyncio.Future[Diagnosis]]:
    calls = [_traces(settings)]
    if settings.search.kind == "azure":
        calls.append(_search(settings, bearer))
        if settings.search.semantic == "on":
            calls.append(_ranker(settings))
        if settings.search.agentic == "on":
            calls.append(_agentic(settings, bearer))
    if settings.screen.kind == "content_safety":
        calls.append(_content_safety(settings, bearer))
    if settings.screen.kind == "moderation":
        calls.append(_moderation(settings))
    if settings.language.endpoint is not None:
        calls.append(_language(settings, bearer))
    if settings.signin.is_on:
        calls.append(check_sign_in(settings))
    if settings.web.kind in WEB_SEARCHES:
        calls.append(WEB_SEARCHES[settings.web.kind](settings))
    return [asyncio.ensure_future(call) for call in calls]


async def _traces(settings: Settings) -> Diagnosis:
    """Never a failure: answers do not depend on a collector."""
    content = ", with questions, prompts and answers in them" if settings.traces.content == "on" else ""
    if settings.traces.exporter == "off":
        return Diagnosis("traces", "ok", "off")
    if settings.traces.exporter == "console":
        return Diagnosis("traces", "ok", f"to stderr{content}")
    url = settings.traces.endpoint.rstrip("/") + "/v1/traces"
    found = await probe("traces", url, {}, "ATTEST_TRACES_ENDPOINT", "ATTEST_TRACES_ENDPOINT")
    if found.detail == "answers (status 404)":
        found = replace(found, status="fail", detail="nothing takes traces there", fix="check ATTEST_TRACES_ENDPOINT")
    told = f"to a collector{content}: {found.detail}"
    return replace(found, status="note" if found.status == "fail" else "ok", detail=told)


def _of_models(found: Diagnosis, page: str, url_setting: str) -> Diagnosis:
    """What the list of models, which every such server has, tells beside that it answers: a wrong address."""
    if found.detail.endswith("(status 404)") or page.lstrip()[:1] == "<":
        fix = f"{url_setting} must end in /v1, for Azure in /openai/v1/"
        return replace(found, status="fail", detail="something answers there, but no model service", fix=fix)
    return found


async def _embeddings(settings: Settings) -> list[Diagnosis]:
    """The service that embeds, or each that is listed."""
    if settings.embedding.kind != "openai":
        return []
    asked, backends = settings.embedding.listed_in(settings.model), settings.model.backends

    async def look(own: Settings) -> list[Diagnosis]:
        return [await _embedding(own)]

    if asked and backends is not None:
        return await check_backends(settings, backends.embeddings, asked, look)
    found, url = await _embedding(settings), settings.embedding_url
    return [with_retirement(found, settings.embedding.model, url) if is_openai(url) else found]


async def _embedding(settings: Settings) -> Diagnosis:
    """Embeds one word: whether it answers, takes the key, knows the model, and gives vectors of the width that is expected."""
    resources = Resources()
    try:
        embedder = service_embedder(settings, Remote(SERVICE, deadline_s=WAIT_S, retries=0), resources)
        await embedder.embed(["attest"])
    except (AttestError, OSError) as error:
        rejected = "check ATTEST_EMBEDDING_API_KEY, ATTEST_EMBEDDING_MODEL and ATTEST_EMBEDDING_WIDTH"
        fix = fix_of(
            error, rejected, "check ATTEST_EMBEDDING_BASE_URL, and that the service runs", "ATTEST_EMBEDDING_API_KEY"
        )
        return Diagnosis(SERVICE, "fail", str(error).removeprefix(f"{SERVICE}: "), fix, service=True)
    finally:
        await resources.close()
    detail = f"answers; {settings.embedding.model} gives vectors of {settings.embedding.numbers} numbers"
    return Diagnosis(SERVICE, "ok", detail, service=True)


async def _search(settings: Settings, bearer: Bearer) -> Diagnosis:
    base = (settings.search.endpoint or "").rstrip("/")
    url = f"{base}/indexes('{settings.search.index}')/docs/$count?api-version=2026-04-01"  # a query key may ask this
    access = _Access(
        "ATTEST_SEARCH_KEY", "ATTEST_SEARCH_ENDPOINT", SEARCH, "Search Index Data Reader", header="api-key"
    )
    found = await _probe_azure("search", url, settings.search.key, access, bearer)
    if found.detail.endswith("(status 404)"):
        detail = f"the service has no index {settings.search.index!r} yet"
        return replace(found, status="fail", detail=detail, fix="attest ingest PATH, or check ATTEST_SEARCH_INDEX")
    return found


async def _ranker(settings: Settings) -> Diagnosis:
    """Never worse than a note: without it results stand in the order of the search. One query of those that are billed."""
    name, off = "semantic ranker", "set ATTEST_SEARCH_SEMANTIC=off"
    resources = Resources()
    try:
        refused = await ask_ranker(settings, resources, within_s=WAIT_S)
    except (AttestError, OSError):
        return Diagnosis(
            name, "note", "not looked at: the search did not answer", "see the line of search", service=True
        )
    finally:
        await resources.close()
    if refused is None:
        return Diagnosis(name, "ok", "ranks results by meaning", service=True)
    why, mends = refused
    return Diagnosis(name, "note", f"not available: {why}", f"{mends}; or {off}", service=True)


async def _agentic(settings: Settings, bearer: Bearer) -> Diagnosis:
    """Never worse than a note: where there is no knowledge base the search answers. Asking it itself would be billed."""
    base = (settings.search.endpoint or "").rstrip("/")
    url = f"{base}/knowledgebases('{settings.search.index}')?api-version=2026-04-01"
    access = _Access(
        "ATTEST_SEARCH_KEY", "ATTEST_SEARCH_ENDPOINT", SEARCH, "Search Service Contributor", header="api-key"
    )
    found = await _probe_azure("agentic retrieval", url, settings.search.key, access, bearer)
    if found.detail.endswith("(status 404)"):
        detail = f"there is no knowledge base {settings.search.index!r} yet: the search answers in its place"
        return replace(found, status="note", detail=detail, fix="attest ingest PATH")
    if found.detail.endswith(("(status 401)", "(status 403)")):
        detail = "whether there is a knowledge base only an admin key or a Search Service Contributor may ask"
        return replace(found, status="note", detail=detail, fix="")
    return replace(found, status="note" if found.status == "fail" else found.status)


async def _content_safety(settings: Settings, bearer: Bearer) -> Diagnosis:
    base = (settings.content_safety.endpoint or "").rstrip("/")
    url = f"{base}/contentsafety/text/blocklists?api-version=2023-10-01"
    access = _Access("ATTEST_CONTENT_SAFETY_KEY", "ATTEST_CONTENT_SAFETY_ENDPOINT", COGNITIVE)
    found = await _probe_azure("content safety", url, settings.content_safety.key, access, bearer)
    if found.detail.endswith("(status 404)"):
        fix = f"check {access.endpoint}: the resource must be of the kind Content Safety"
        return replace(found, status="fail", detail="something answers there, but no Content Safety", fix=fix)
    return found


async def _moderation(settings: Settings) -> Diagnosis:
    base = (settings.moderation.base_url or "https://api.openai.com/v1").rstrip("/")
    key = settings.moderation.key
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    found, page = await probe_page(
        "moderation", f"{base}/models", headers, "ATTEST_MODERATION_KEY", "ATTEST_MODERATION_BASE_URL"
    )
    return _of_models(found, page, "ATTEST_MODERATION_BASE_URL")


async def _language(settings: Settings, bearer: Bearer) -> Diagnosis:
    base = (settings.language.endpoint or "").rstrip("/")
    # a GET costs nothing; any answer but a refusal of the key says that the service is there
    url = f"{base}/language/:analyze-text?api-version=2023-04-01"
    access = _Access("ATTEST_LANGUAGE_KEY", "ATTEST_LANGUAGE_ENDPOINT", COGNITIVE)
    found = await _probe_azure("language service", url, settings.language.key, access, bearer)
    return replace(found, detail=f"{found.detail}; for {', '.join(settings.language.uses)}")


async def _serpapi(settings: Settings) -> Diagnosis:
    query = urlencode({"api_key": _secret(settings.web.serpapi_key)})
    url = f"https://serpapi.com/account.json?{query}"
    return await probe("web search", url, {}, "ATTEST_SERPAPI_KEY", "the network")


async def _tavily(settings: Settings) -> Diagnosis:
    base = (settings.web.tavily_base_url or "https://api.tavily.com").rstrip("/")
    headers = {"Authorization": f"Bearer {_secret(settings.web.tavily_key)}"}
    return await probe("web search", f"{base}/usage", headers, "ATTEST_TAVILY_KEY", "ATTEST_TAVILY_BASE_URL")


async def _duckduckgo(_: Settings) -> Diagnosis:
    url = "https://api.duckduckgo.com/?q=DuckDuckGo&format=json"
    return await probe("web search", url, {}, "the network", "the network")


async def _bing(settings: Settings) -> Diagnosis:
    headers = {"Ocp-Apim-Subscription-Key": _secret(settings.web.bing_key)}
    found = await probe(
        "web search", settings.web.bing_endpoint or "", headers, "ATTEST_BING_KEY", "ATTEST_BING_ENDPOINT"
    )
    detail = f"legacy: Microsoft retired Bing Web Search on 2025-08-11; this service {found.detail}"
    status: Literal["note", "fail"] = "note" if found.status == "ok" else "fail"
    return replace(found, status=status, detail=detail, fix=found.fix or "set ATTEST_WEB to serpapi or tavily")


WEB_SEARCHES = {"serpapi": _serpapi, "tavily": _tavily, "duckduckgo": _duckduckgo, "bing": _bing}
"""What each web search is asked, by its name in the settings."""


async def _probe_azure(name: str, url: str, key: SecretStr | None, access: _Access, bearer: Bearer) -> Diagnosis:
    """Ask for the page with the key, or without one as this machine."""
    if key:
        return await probe(name, url, {access.header: key.get_secret_value()}, access.key, access.endpoint)
    return await _signed_in(name, url, access, bearer)


async def _signed_in(name: str, url: str, access: _Access, bearer: Bearer) -> Diagnosis:
    """Ask for the page with the token of this machine's identity; what is wrong, signing in or a role, is told apart."""
    try:
        check_address(url, access.endpoint, "https://NAME.cognitiveservices.azure.com")
        token = await bearer(name, access.scope)()
    except SettingsError as error:
        return Diagnosis(name, "fail", str(error), f"correct {access.endpoint}", service=True)
    except ServiceError as error:
        fix = f"give this machine a managed identity, or az login, or set {access.key}"
        return Diagnosis(name, "fail", str(error).removeprefix(f"{name}: "), fix, service=True)
    found = await probe(name, url, {"Authorization": f"Bearer {token}"}, access.key, access.endpoint)
    if found.status == "fail" and "refuses the key" in found.detail:
        detail = found.detail.replace("the key", "this machine's identity")
        return replace(found, detail=detail, fix=f"give it the role {access.role} on the resource")
    return replace(found, detail=f"signed in as this machine; {found.detail}") if found.status == "ok" else found


def _secret(value: SecretStr | None) -> str:
    return value.get_secret_value() if value is not None else ""
