"""Settings that contradict each other, each with the one line that says so."""

from __future__ import annotations

from collections.abc import Iterator

from bot.settings.forms import PREFIX
from bot.settings.groups import EMBEDDING_WIDTHS, Groups
from grounding.services.address import is_loopback
from grounding.services.cloud import cloud_of, graph_cloud, is_azure_ai, is_graph


def conflicts(s: Groups) -> Iterator[tuple[bool, str]]:
    """Settings that contradict each other: whether they do, and the line that says so."""
    no_model = s.openai_base_url is None and s.openai_api_key is None
    model = "needs ATTEST_OPENAI_API_KEY, or ATTEST_OPENAI_BASE_URL for a local server or a sign-in to Azure"
    yield from _mode_conflicts(s)
    yield from _web_conflicts(s)
    yield from _trace_conflicts(s)
    yield s.generator == "openai" and no_model, f"ATTEST_GENERATOR=openai {model}"
    yield s.statement_judge == "model" and no_model, f"ATTEST_STATEMENT_JUDGE=model {model}"
    yield s.grader == "model" and no_model, f"ATTEST_GRADER=model {model}"
    yield s.rewriter == "model" and no_model, f"ATTEST_REWRITER=model {model}"
    yield s.hyde == "model" and no_model, f"ATTEST_HYDE=model {model}"
    unasked = "ATTEST_JUDGE_MODEL needs a judge: ATTEST_STATEMENT_JUDGE=model, or auto with a chat model configured"
    yield s.judge_model is not None and not s.judges, unasked
    yield from _openai_conflicts(s)
    yield from _language_conflicts(s)
    yield from _in_the_clear(s)
    yield from _cloud_conflicts(s)
    yield from _embedder_conflicts(s)
    yield from _price_conflicts(s)
    yield from _directory_conflicts(s)
    yield from _search_conflicts(s)
    yield from _screen_conflicts(s)
    yield from _chunk_conflicts(s)
    longer = "call_deadline_s" in s.model_fields_set and s.call_deadline_s > s.turn_deadline_s
    yield longer, f"ATTEST_CALL_DEADLINE_S may be at most ATTEST_TURN_DEADLINE_S, here {s.turn_deadline_s:g}"
    yield from _bot_conflicts(s)


def _bot_conflicts(s: Groups) -> Iterator[tuple[bool, str]]:
    """A registration that lacks something would fail at the first message that it sends, in words of its SDK."""
    if not s.bot_app_id:
        return
    kind = "ATTEST_BOT_APP_ID" if s.bot_app_type == "SingleTenant" else f"ATTEST_BOT_APP_TYPE={s.bot_app_type}"
    old = "; a bot that was registered as multi-tenant needs ATTEST_BOT_APP_TYPE=MultiTenant instead"
    only_default = "bot_app_type" not in s.model_fields_set
    tenant = f"{kind} needs ATTEST_BOT_TENANT_ID, the tenant that the bot is registered in{old if only_default else ''}"
    yield s.bot_app_type != "MultiTenant" and s.bot_tenant_id is None, tenant
    password = f"{kind} needs ATTEST_BOT_APP_PASSWORD; a managed identity has none, and needs ATTEST_BOT_APP_TYPE=UserAssignedMSI"
    yield s.bot_app_type == "SingleTenant" and s.bot_app_password is None, password


def _mode_conflicts(s: Groups) -> Iterator[tuple[bool, str]]:
    others = " and ".join(s.serves_others)
    both = f"ATTEST_LOCAL=on beside {others}: local mode serves this machine alone; leave one of them out"
    yield s.local == "on" and bool(others), both
    alone = "ATTEST_PROXIES needs ATTEST_LOCAL=off, ATTEST_PUBLIC_URL, ATTEST_API_KEYS or ATTEST_BOT_APP_ID: local mode refuses what a proxy passes on"
    yield bool(s.proxies) and s.local_mode, alone


def _openai_conflicts(s: Groups) -> Iterator[tuple[bool, str]]:
    """A header without a key, or a token that nobody asks for."""
    keyless = s.openai_auth != "bearer" and s.openai_api_key is None
    yield (
        keyless,
        f"ATTEST_OPENAI_AUTH={s.openai_auth} needs ATTEST_OPENAI_API_KEY; without one there is no key to send",
    )
    signs_in = s.openai_api_key is None and is_azure_ai(s.openai_base_url or "")
    yield (
        s.openai_scope is not None and not signs_in,
        "ATTEST_OPENAI_SCOPE needs an Azure endpoint in ATTEST_OPENAI_BASE_URL, and no ATTEST_OPENAI_API_KEY: only there is a token asked for",
    )


def _in_the_clear(s: Groups) -> Iterator[tuple[bool, str]]:
    """A key or a token over plain http can be read by whoever is on the way. A server without a key may be reached so."""
    keyed = (
        ("openai_base_url", "openai_api_key"),
        ("embedding_base_url", "embedding_key"),
        ("moderation_base_url", "moderation_key"),
    )
    always = ("search_endpoint", "content_safety_endpoint", "language_endpoint", "tavily_base_url", "bing_endpoint")
    for name, key in (*keyed, *((name, None) for name in always)):
        url = getattr(s, name)
        clear = bool(url) and url.lower().startswith("http://") and not is_loopback(url)
        carried = key is None or getattr(s, key) is not None
        yield clear and carried, f"{PREFIX}{name.upper()}: allowed is https, the key would travel in the clear"


def _cloud_conflicts(s: Groups) -> Iterator[tuple[bool, str]]:
    """A token is for one cloud: an endpoint of another would get one that it refuses, and that is not its to see."""
    services = (
        ("openai_base_url", "openai_api_key"),
        ("embedding_base_url", "embedding_key"),
        *((f"{name}_endpoint", f"{name}_key") for name in ("search", "content_safety", "language")),
    )
    for endpoint, key in services:
        url = getattr(s, endpoint)
        cloud = cloud_of(url) if url and getattr(s, key) is None else None
        yield cloud not in (None, s.cloud), f"{PREFIX}{endpoint.upper()} without a key needs ATTEST_CLOUD={cloud}"


def _directory_conflicts(s: Groups) -> Iterator[tuple[bool, str]]:
    graph = s.directory == "graph"
    both = "ATTEST_DIRECTORY_FILE needs ATTEST_DIRECTORY=file; with graph nobody would read it"
    yield graph and s.directory_file is not None, both
    for name in ("directory_cache_s", "graph_groups_file", "graph_endpoint"):
        yield name in s.model_fields_set and not graph, f"{PREFIX}{name.upper()} needs ATTEST_DIRECTORY=graph"
    file, url = s.graph_groups_file, s.graph_endpoint
    yield file is not None and not file.is_file(), f"ATTEST_GRAPH_GROUPS_FILE={file} is not there"
    elsewhere = bool(url) and not is_graph(url or "") and not is_loopback(url or "")
    other = graph and bool(url) and is_graph(url or "") and graph_cloud(url or "") != s.cloud
    yield other, f"ATTEST_GRAPH_ENDPOINT needs ATTEST_CLOUD={graph_cloud(url or '')}"
    yield (
        elsewhere,
        "ATTEST_GRAPH_ENDPOINT: allowed is an endpoint of Microsoft Graph, such as https://graph.microsoft.us",
    )


def _chunk_conflicts(s: Groups) -> Iterator[tuple[bool, str]]:
    short = s.chunk_min_tokens * 2 > s.chunk_max_tokens
    yield short, "ATTEST_CHUNK_MIN_TOKENS may be at most half of ATTEST_CHUNK_MAX_TOKENS"
    by_paragraph = s.chunks == "paragraphs"
    idle = ("chunk_size", "chunk_overlap") if by_paragraph else ("chunk_min_tokens", "chunk_max_tokens")
    needed = "characters or tokens" if by_paragraph else "paragraphs"
    for name in idle:
        given = name in s.model_fields_set and getattr(s, name) is not None
        yield given, f"{PREFIX}{name.upper()} needs ATTEST_CHUNKS={needed}"
    if not by_paragraph:
        size, overlap = s.chunk_fill
        yield s.chunks == "tokens" and size > 2000, "ATTEST_CHUNK_SIZE may be at most 2000 with ATTEST_CHUNKS=tokens"
        yield (
            2 * overlap > size,
            f"ATTEST_CHUNK_OVERLAP, here {overlap}, may be at most half of ATTEST_CHUNK_SIZE, here {size}",
        )


def _trace_conflicts(s: Groups) -> Iterator[tuple[bool, str]]:
    elsewhere = "traces_endpoint" in s.model_fields_set and s.traces != "otlp"
    yield elsewhere, f"ATTEST_TRACES_ENDPOINT needs ATTEST_TRACES=otlp; {s.traces} leaves it unused"
    nowhere = s.traces_content == "on" and s.traces == "off"
    yield nowhere, "ATTEST_TRACES_CONTENT=on needs ATTEST_TRACES=console or otlp"


def _web_conflicts(s: Groups) -> Iterator[tuple[bool, str]]:
    needed = {"serpapi": ["serpapi_key"], "tavily": ["tavily_key"], "bing": ["bing_endpoint", "bing_key"]}
    for name in needed.get(s.web, ()):
        yield getattr(s, name) is None, f"ATTEST_WEB={s.web} needs {PREFIX}{name.upper()}"


def _embedder_conflicts(s: Groups) -> Iterator[tuple[bool, str]]:
    service = s.embedder == "openai"
    idle = sorted(n for n in s.model_fields_set if n.startswith("embedding_"))
    if idle and not service:
        yield True, f"{PREFIX}{idle[0].upper()} needs ATTEST_EMBEDDER=openai; embedded leaves it unused"
    yield (
        service and s.embedding_url is None and s.embedding_key is None,
        "ATTEST_EMBEDDER=openai needs ATTEST_EMBEDDING_API_KEY, or ATTEST_EMBEDDING_BASE_URL for a local server",
    )
    yield (
        service and s.embedding_width is None and s.embedding_model not in EMBEDDING_WIDTHS,
        f"ATTEST_EMBEDDING_MODEL={s.embedding_model} needs ATTEST_EMBEDDING_WIDTH; known without it are {', '.join(EMBEDDING_WIDTHS)}",
    )


def _price_conflicts(s: Groups) -> Iterator[tuple[bool, str]]:
    """A cost that leaves something out would be believed."""
    given = sorted(n for n in s.model_fields_set if n.startswith("price_") and getattr(s, n) is not None)
    for name in ("price_input", "price_output"):
        yield (
            bool(given) and getattr(s, name) is None,
            f"{PREFIX}{given[0].upper() if given else ''} needs {PREFIX}{name.upper()}",
        )
    cached, full = s.price_cached_input, s.price_input
    yield (
        cached is not None and full is not None and cached > full,
        "ATTEST_PRICE_CACHED_INPUT may be at most ATTEST_PRICE_INPUT",
    )
    yield (
        bool(given) and s.embedder == "openai" and s.price_embedding is None,
        "ATTEST_PRICE_INPUT with ATTEST_EMBEDDER=openai needs ATTEST_PRICE_EMBEDDING; 0 where embeddings cost nothing",
    )
    yield (
        bool(s.turn_cost) and not given,
        "ATTEST_TURN_COST needs ATTEST_PRICE_INPUT and ATTEST_PRICE_OUTPUT: no prices are built in",
    )


def _search_conflicts(s: Groups) -> Iterator[tuple[bool, str]]:
    azure = s.search == "azure"
    yield azure and s.search_endpoint is None, "ATTEST_SEARCH=azure needs ATTEST_SEARCH_ENDPOINT"
    idle = sorted(n for n in s.model_fields_set if n.startswith("search_"))
    if idle and not azure:  # or somebody believes that their answers come from another index
        yield True, f"{PREFIX}{idle[0].upper()} needs ATTEST_SEARCH=azure; embedded leaves it unused"
    embedded_only = (
        "ATTEST_HYDE=model needs ATTEST_SEARCH=embedded: what is imagined of passages is searched on this machine alone"
    )
    yield azure and s.hyde == "model", embedded_only


def _language_conflicts(s: Groups) -> Iterator[tuple[bool, str]]:
    missing = s.language_endpoint is None
    yield s.language_key is not None and missing, "ATTEST_LANGUAGE_KEY needs ATTEST_LANGUAGE_ENDPOINT"
    for name in ("entities", "summarizer", "pii"):
        by_service = getattr(s, name) == "language"
        yield by_service and missing, f"{PREFIX}{name.upper()}=language needs ATTEST_LANGUAGE_ENDPOINT"
    waits = "summarizer_deadline_s" in s.model_fields_set and s.summarizer == "embedded"
    yield waits, "ATTEST_SUMMARIZER_DEADLINE_S needs ATTEST_SUMMARIZER=language"
    idle = (
        "ATTEST_LANGUAGE_ENDPOINT is used by nothing: ATTEST_ENTITIES, ATTEST_SUMMARIZER or ATTEST_PII may be language"
    )
    yield not missing and not s.language_uses, idle


def _screen_conflicts(s: Groups) -> Iterator[tuple[bool, str]]:
    missing = s.off_policy_file is not None and not s.off_policy_file.exists()
    yield missing, f"ATTEST_OFF_POLICY_FILE={s.off_policy_file} is not there: a list that is named must exist"
    no_endpoint = s.screen == "content_safety" and s.content_safety_endpoint is None
    yield no_endpoint, "ATTEST_SCREEN=content_safety needs ATTEST_CONTENT_SAFETY_ENDPOINT"
    no_key = s.screen == "moderation" and s.moderation_key is None and s.moderation_base_url is None
    yield (
        no_key,
        "ATTEST_SCREEN=moderation needs ATTEST_MODERATION_KEY, or ATTEST_MODERATION_BASE_URL for a local server",
    )
    idle = sorted(n for n in s.model_fields_set if n.startswith(("content_safety_", "moderation_", "screen_")))
    if idle and "screen" not in s.model_fields_set:  # or somebody believes to be safer than they are
        yield True, f"{PREFIX}{idle[0].upper()} needs ATTEST_SCREEN; embedded leaves it unused"
