"""What settings accept, and what the line says when they do not: which value, where it was set, what is allowed."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import platformdirs
import pytest

from bot.settings.forms import severities
from bot.settings.groups.embedding import EMBEDDING_WIDTHS
from bot.settings.load import load_settings, unknown_names, without_credentials
from bot.settings.terms import terms
from grounding.services.ceiling import Ceiling
from rai.account import Prices, Terms
from tests.bot.settings.facts import allowed, facts, refusal


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


URL = "http:// https://"
HOSTS = "smba.trafficmanager.net .botframework.com"
SEVERITIES = "hate sexual self_harm violence =1 =7 =off"
MONEY = "0 1000000 9"
KIND_DAYS = "feedback refusal_report refusal_decision quarantine_decision verdict sample =1 =99999"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("PORT", "abc", "0 65535"),
        ("PORT", "65536", "0 65535"),
        ("RATE_PER_MINUTE", "0", "1"),
        ("SIGNIN_HOURS", "0", "0 168"),
        ("SIGNIN_IDLE_MINUTES", "2000", "0 1440"),
        ("REVIEW_SEES", "mine", "all team"),
        ("REVIEW_LINKS", "maybe", "auto on off"),
        ("LOG_LEVEL", "loud", "debug info warning error"),
        ("POLICY", "strict", "attest hybrid-crag superrag graph-crag agentic-crag dynamics"),
        ("PHONE_REGIONS", "US,usa", "US,GB"),
        ("PUBLIC_URL", "bot.example.com", URL),
        ("PUBLIC_URL", "ftp://bot.example.com", URL),
        ("PUBLIC_URL", "https://", URL),
        ("PUBLIC_URL", "https://a b", URL),
        ("OPENAI_BASE_URL", "https://x:99999/v1", URL),
        ("OPENAI_BASE_URL", "javascript:alert(1)", URL),
        ("SERVICE_URL_HOSTS", ".com", HOSTS),
        ("SERVICE_URL_HOSTS", "https://smba.trafficmanager.net", HOSTS),
        ("SERVICE_URL_HOSTS", "..botframework.com", HOSTS),
        ("SERVICE_URL_HOSTS", "ok.example.com,*", HOSTS),
        ("TURN_DEADLINE_S", "inf", "0 3600"),
        ("TURN_DEADLINE_S", "3600.5", "0 3600"),
        ("CALL_DEADLINE_S", "nan", "0 3600"),
        ("CALL_DEADLINE_S", "0", "0 3600"),
        ("WEB_ALLOW", "https://example.com", "example.com"),
        ("WEB_DENY", "example.com/path", "example.com"),
        ("WEB_DENY", "10.0.0.1", "example.com"),
        ("SCREEN", "azure", "embedded content_safety moderation"),
        ("SCREEN_WHEN", "never", "doubt always"),
        ("CONTENT_SAFETY_ENDPOINT", "name.cognitiveservices.azure.com", URL),
        ("CONTENT_SAFETY_SEVERITIES", "hate=8", SEVERITIES),
        ("CONTENT_SAFETY_SEVERITIES", "hate=2,hate=4", SEVERITIES),
        ("CONTENT_SAFETY_SEVERITIES", "4", SEVERITIES),
        ("CONTENT_SAFETY_LEVELS", "six", "four eight"),
        ("RETENTION_DAYS", "0", "1"),
        ("RETENTION_KINDS", "turn=30", KIND_DAYS),
        ("RETENTION_KINDS", "feedback=0", KIND_DAYS),
        ("RETENTION_KINDS", "feedback=1,feedback=2", KIND_DAYS),
        ("CONTENT_SAFETY_BLOCKLISTS", "our rivals", "letters digits . _ ~ - 64"),
        ("MODERATION_BLOCK_AT", "0", "0 1"),
        ("MODERATION_BLOCK_AT", "1.5", "0 1"),
        ("CLOUD", "germany", "public usgov china"),
        ("IDENTITY_CLIENT_ID", "attest-identity", "3f2504e0-4f89-11d3-9a0c-0305e82c3301"),
        ("PRICE_INPUT", "0,15", MONEY),
        ("PRICE_INPUT", "$0.15", MONEY),
        ("PRICE_OUTPUT", "-1", MONEY),
        ("PRICE_EMBEDDING", "nan", MONEY),
        ("PRICE_CURRENCY", "Euro", "three capital USD"),
        ("TURN_TOKENS", "many", "0"),
        ("TURN_COST", "1e-12", MONEY),
        ("TURN_COST", "1e99", MONEY),
        ("EMBEDDING_WIDTH", "4097", "8 4096"),
        ("SEARCH_INDEX", "Attest_1", "2 128"),
        ("CHUNKS", "words", "paragraphs characters tokens"),
        ("CHUNK_SIZE", "x", "20 8000"),
        ("CHUNK_OVERLAP", "-1", "0 4000"),
        ("OPENAI_SCOPE", "https://ai.azure.com", "/.default"),
        ("OPENAI_AUTH", "header", "bearer api-key both"),
        ("OPENAI_EFFORT", "very low", "auto"),
        ("OPENAI_THINKING_TOKENS", "-1", "0 25000"),
        ("OPENAI_THINKING_TOKENS", "25001", "0 25000"),
        ("LEDGER_CHECKPOINT_S", "0", "0 604800"),
        ("LEDGER_CHECKPOINT_S", "inf", "0 604800"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_at_the_start(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    monkeypatch.setenv(f"ATTEST_{name}", value)
    line = refusal()
    assert line.startswith(f"ATTEST_{name}={value!r} (environment): ")
    assert set(told.split()) <= allowed(line)


def test_an_effort_is_a_word() -> None:
    assert "auto" in allowed(refusal(openai_effort=""))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PUBLIC_URL", "https://bot.example.com:8443/base/"),
        ("OPENAI_BASE_URL", "http://[::1]:8000/v1"),
        ("SERVICE_URL_HOSTS", ".botframework.com,smba.trafficmanager.net"),
        ("TURN_DEADLINE_S", "3600"),
        ("CALL_DEADLINE_S", "0.5"),
        ("WEB_ALLOW", "example.com,.example.org,*.example.net,gov,bücher.example"),
    ],
)
def test_the_near_misses_of_those_are_taken(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"ATTEST_{name}", value)
    assert load_settings()


def test_the_line_says_where_the_value_was_set(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("ATTEST_PORT=many\n", "utf-8")
    assert refusal().startswith("ATTEST_PORT='many' (.env): ")
    monkeypatch.setenv("ATTEST_PORT", "more")
    assert "'more' (environment)" in refusal()
    assert "'most' (option)" in refusal(port="most")


def test_no_credential_is_in_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("ftp://user:canary@host/", "user:canary@host", "ftp://host/?api-key=canary"):
        monkeypatch.setenv("ATTEST_OPENAI_BASE_URL", value)
        assert "canary" not in refusal()
    monkeypatch.delenv("ATTEST_OPENAI_BASE_URL")
    assert refusal(openai_api_key=["canary"]).startswith("ATTEST_OPENAI_API_KEY (option): ")
    assert "canary" not in refusal(openai_api_key=["canary"])
    assert "canary" not in refusal(api_keys=({"canary": 1},))


@pytest.mark.parametrize(
    "value",
    [
        "http://name.blob.core.windows.net/audit?sig=canary",
        "https://name.blob.core.windows.net/audit?sp=rcl",
        "https://name.blob.core.windows.net/?sig=canary",
        "https:/name.blob.core.windows.net/audit?sig=canary",
        "https://canary@name.blob.core.windows.net/audit?sig=1",
        "wasbs://audit@name.blob.core.windows.net/?sig=canary",
    ],
)
def test_a_place_of_checkpoints_that_is_none_is_refused_without_its_secret(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("ATTEST_LEDGER_CHECKPOINTS", value)
    line = refusal()
    assert line.startswith("ATTEST_LEDGER_CHECKPOINTS (environment): allowed is a folder, or a blob container")
    assert "canary" not in line


@pytest.mark.parametrize("content", [b"\xff\xfe", b"ATTEST_COMPANY=caf\xe9\n"])
def test_a_file_that_is_not_utf_8_is_one_line(content: bytes) -> None:
    Path(".env").write_bytes(content)
    assert refusal().startswith(".env: not readable as UTF-8")


def test_an_empty_value_means_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_HOME", "")
    Path(".env").write_text("ATTEST_PORT=\n", "utf-8")
    settings = load_settings()
    assert settings.files.home == Path(platformdirs.user_data_dir("attest", appauthor=False))
    assert settings.serving.port == 3978


@pytest.mark.row("3-16")
@pytest.mark.parametrize(
    ("web", "given", "missing"),
    [
        ("serpapi", {}, "SERPAPI_KEY"),
        ("tavily", {}, "TAVILY_KEY"),
        ("bing", {"BING_KEY": "k"}, "BING_ENDPOINT"),
        ("bing", {"BING_ENDPOINT": "https://search.example.com/v7.0/search"}, "BING_KEY"),
    ],
)
def test_a_web_search_without_its_key_or_address_is_refused(
    monkeypatch: pytest.MonkeyPatch, web: str, given: dict[str, str], missing: str
) -> None:
    monkeypatch.setenv("ATTEST_WEB", web)
    for name, value in given.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    assert facts(refusal()) == f"WEB={web} {missing}"


def test_duckduckgo_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_WEB", "duckduckgo")
    assert load_settings().web.kind == "duckduckgo"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"SCREEN": "content_safety"}, "SCREEN=content_safety CONTENT_SAFETY_ENDPOINT"),
        ({"SCREEN": "moderation"}, "SCREEN=moderation MODERATION_KEY MODERATION_BASE_URL"),
        ({"CONTENT_SAFETY_ENDPOINT": "https://name.cognitiveservices.azure.com"}, "CONTENT_SAFETY_ENDPOINT SCREEN"),
        ({"MODERATION_KEY": "canary"}, "MODERATION_KEY SCREEN"),
        ({"SCREEN_WHEN": "doubt"}, "SCREEN_WHEN SCREEN"),
    ],
)
def test_a_screen_that_could_not_work_or_that_nobody_switched_on_is_refused(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], told: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    assert facts(refusal()) == told


@pytest.mark.parametrize(
    "given",
    [
        {"SCREEN": "content_safety", "CONTENT_SAFETY_ENDPOINT": "https://name.cognitiveservices.azure.com"},
        {"SCREEN": "moderation", "MODERATION_BASE_URL": "http://127.0.0.1:8080/v1", "SCREEN_WHEN": "doubt"},
        {"SCREEN": "moderation", "MODERATION_KEY": "k", "CONTENT_SAFETY_ENDPOINT": "https://name.example"},
        {"SCREEN": "embedded", "CONTENT_SAFETY_ENDPOINT": "https://name.example", "SCREEN_WHEN": "doubt"},
        {},
    ],
)
def test_a_screen_that_can_work_is_taken(monkeypatch: pytest.MonkeyPatch, given: dict[str, str]) -> None:
    """Settings of one that is switched off on purpose may stay where they are."""
    for name, value in given.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    assert load_settings().screen.kind == given.get("SCREEN", "embedded")


@pytest.mark.row("2-02")
@pytest.mark.row("C-08")
@pytest.mark.parametrize(
    ("given", "way"),
    [
        ({}, "paragraphs 24-200"),
        ({"CHUNK_MIN_TOKENS": "10", "CHUNK_MAX_TOKENS": "150"}, "paragraphs 10-150"),
        ({"CHUNKS": "characters"}, "characters 1000/200"),
        ({"CHUNKS": "tokens"}, "tokens 250/0"),
        ({"CHUNKS": "tokens", "CHUNK_OVERLAP": "50"}, "tokens 250/50"),
        ({"CHUNKS": "characters", "CHUNK_SIZE": "600", "CHUNK_OVERLAP": "0"}, "characters 600/0"),
    ],
)
def test_the_way_to_cut(monkeypatch: pytest.MonkeyPatch, given: dict[str, str], way: str) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    assert str(load_settings().chunks.chunking) == way


@pytest.mark.row("2-02")
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"CHUNK_SIZE": "500"}, "CHUNK_SIZE CHUNKS=characters or tokens"),
        ({"CHUNK_OVERLAP": "0"}, "CHUNK_OVERLAP CHUNKS=characters or tokens"),
        ({"CHUNKS": "tokens", "CHUNK_MAX_TOKENS": "200"}, "CHUNK_MAX_TOKENS CHUNKS=paragraphs"),
        ({"CHUNKS": "tokens", "CHUNK_SIZE": "2001"}, "CHUNK_SIZE 2000 CHUNKS=tokens"),
        ({"CHUNKS": "characters", "CHUNK_SIZE": "300"}, "CHUNK_OVERLAP 200 CHUNK_SIZE 300"),
        ({"CHUNK_MIN_TOKENS": "101"}, "CHUNK_MIN_TOKENS CHUNK_MAX_TOKENS"),
    ],
)
def test_limits_of_chunks_that_cannot_be_are_refused(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], told: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    assert facts(refusal()) == told


def test_severities_are_read_by_category() -> None:
    assert severities(()) == {"hate": 4, "sexual": 4, "self_harm": 4, "violence": 4}
    assert severities(("hate=2", "self_harm=off")) == {"hate": 2, "sexual": 4, "self_harm": None, "violence": 4}


def test_a_slip_in_a_name_is_found_in_both_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_PROT", "1")
    monkeypatch.setenv("attest_company", "x")
    Path(".env").write_text("ATTEST_QQQQQQQQ=1\nOTHER=2\nATTEST_HOST=localhost\n", "utf-8")
    found = dict(unknown_names())
    assert found["ATTEST_PROT"] == "ATTEST_PORT"
    assert found["ATTEST_QQQQQQQQ"] is None
    assert not {"OTHER", "ATTEST_HOST", "ATTEST_COMPANY"} & set(found)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://h/v1?api-key=secret&a=b", "https://h/v1?api-key=********&a=********"),
        ("https://u:p@h/v1", "https://********@h/v1"),
        ("https://h/v1", "https://h/v1"),
        ("a sentence? with k=v", "a sentence? with k=v"),
    ],
)
def test_credentials_of_a_url_are_masked(url: str, shown: str) -> None:
    assert without_credentials(url) == shown


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"TRACES_CONTENT": "on"}, "TRACES_CONTENT=on TRACES=console or otlp"),
        ({"TRACES": "console", "TRACES_ENDPOINT": "http://127.0.0.1:4318"}, "TRACES_ENDPOINT TRACES=otlp"),
        ({"EMBEDDING_WIDTH": "256"}, "EMBEDDING_WIDTH EMBEDDER=openai"),
        ({"EMBEDDER": "openai"}, "EMBEDDER=openai EMBEDDING_API_KEY EMBEDDING_BASE_URL"),
        (
            {"EMBEDDER": "openai", "EMBEDDING_API_KEY": "canary", "EMBEDDING_MODEL": "our-deployment"},
            "EMBEDDING_MODEL=our-deployment EMBEDDING_WIDTH",
        ),
        (
            {"EMBEDDER": "openai", "EMBEDDING_BASE_URL": "https://n.openai.azure.us/openai/v1/"},
            "EMBEDDING_BASE_URL CLOUD=usgov",
        ),
        ({"SEARCH": "azure"}, "SEARCH=azure SEARCH_ENDPOINT"),
        ({"SEARCH_KEY": "canary"}, "SEARCH_KEY SEARCH=azure"),
        ({"SEARCH_AGENTIC": "on"}, "SEARCH_AGENTIC SEARCH=azure"),
        ({"SEARCH_SEMANTIC": "on"}, "SEARCH_SEMANTIC SEARCH=azure"),
        (
            {
                "SEARCH": "azure",
                "SEARCH_ENDPOINT": "https://n.search.windows.net",
                "HYDE": "model",
                "OPENAI_API_KEY": "k",
            },
            "HYDE=model SEARCH=embedded",
        ),
    ],
)
def test_a_search_that_could_not_work_or_that_nobody_switched_on_is_refused(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], told: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    assert facts(refusal()) == told


def test_models_whose_width_is_known_are_named() -> None:
    line = refusal(embedder="openai", embedding_api_key="k", embedding_model="our-deployment")
    assert all(name in line for name in EMBEDDING_WIDTHS)


OURS, OTHER = "https://a.openai.azure.com/openai/v1/", "https://b.openai.azure.com/openai/v1/"


@pytest.mark.parametrize(
    ("given", "where", "key", "numbers"),
    [
        ({"openai_api_key": "chat"}, None, "chat", 1536),
        ({"openai_api_key": "chat", "openai_base_url": OURS}, OURS, "chat", 1536),
        ({"openai_api_key": "chat", "openai_base_url": OURS, "embedding_base_url": OURS}, OURS, "chat", 1536),
        ({"openai_api_key": "chat", "openai_base_url": OURS, "embedding_base_url": OTHER}, OTHER, None, 1536),
        ({"openai_api_key": "chat", "embedding_base_url": OTHER, "embedding_api_key": "own"}, OTHER, "own", 1536),
        ({"embedding_api_key": "own", "embedding_model": "text-embedding-3-large"}, None, "own", 3072),
        ({"embedding_api_key": "own", "embedding_model": "e", "embedding_width": 64}, None, "own", 64),
    ],
)
def test_the_chat_models_key_goes_to_the_chat_models_address_alone(
    given: dict[str, object], where: str | None, key: str | None, numbers: int
) -> None:
    settings = load_settings(embedder="openai", **given)
    found = settings.embedding_key.get_secret_value() if settings.embedding_key else None
    assert (settings.embedding_url, found, settings.embedding.numbers) == (where, key, numbers)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"search": "azure", "search_endpoint": "https://n.search.azure.us"}, "SEARCH_ENDPOINT CLOUD=usgov"),
        (
            {"cloud": "china", "openai_base_url": "https://n.openai.azure.com/openai/v1/"},
            "OPENAI_BASE_URL CLOUD=public",
        ),
        ({"language_endpoint": "https://n.cognitiveservices.azure.cn"}, "LANGUAGE_ENDPOINT CLOUD=china"),
    ],
)
def test_a_token_for_one_cloud_goes_to_no_other(given: dict[str, object], told: str) -> None:
    assert facts(refusal(**given)) == told


@pytest.mark.parametrize(
    "given",
    [
        {"cloud": "usgov", "search": "azure", "search_endpoint": "https://n.search.azure.us"},
        {"language_endpoint": "https://n.cognitiveservices.azure.cn", "language_key": "k"},
        {"cloud": "usgov", "openai_base_url": "http://127.0.0.1:11434/v1"},
        {"cloud": "china", "language_endpoint": "https://gateway.example.com/language"},
    ],
)
def test_the_near_misses_of_another_cloud_are_taken(given: dict[str, object]) -> None:
    assert load_settings(**given)


LANGUAGE = "https://name.cognitiveservices.azure.com"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"PII": "language"}, "PII=language LANGUAGE_ENDPOINT"),
        ({"SUMMARIZER": "language"}, "SUMMARIZER=language LANGUAGE_ENDPOINT"),
        ({"ENTITIES": "language"}, "ENTITIES=language LANGUAGE_ENDPOINT"),
        ({"LANGUAGE_KEY": "canary"}, "LANGUAGE_KEY LANGUAGE_ENDPOINT"),
        ({"SUMMARIZER_DEADLINE_S": "3"}, "SUMMARIZER_DEADLINE_S SUMMARIZER=language"),
        ({"LANGUAGE_ENDPOINT": LANGUAGE, "ENTITIES": "embedded"}, "LANGUAGE_ENDPOINT ENTITIES SUMMARIZER PII"),
    ],
)
def test_a_language_service_that_could_not_work_or_that_nothing_uses_is_refused(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], told: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    assert facts(refusal()) == told


@pytest.mark.parametrize(
    ("given", "uses"),
    [
        ({}, ()),
        ({"LANGUAGE_ENDPOINT": LANGUAGE}, ("names",)),
        ({"LANGUAGE_ENDPOINT": LANGUAGE, "PII": "language"}, ("names", "personal data")),
        ({"LANGUAGE_ENDPOINT": LANGUAGE, "ENTITIES": "embedded", "SUMMARIZER": "language"}, ("summaries",)),
        ({"ENTITIES": "embedded"}, ()),
    ],
)
def test_an_endpoint_alone_means_names(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], uses: tuple[str, ...]
) -> None:
    """As it always did; the other two uses are asked for, and names can be left to the local list."""
    for name, value in given.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    assert load_settings().language.uses == uses


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"directory": "graph", "directory_file": "people.yaml"}, "DIRECTORY_FILE DIRECTORY=file"),
        ({"directory_cache_s": 60}, "DIRECTORY_CACHE_S DIRECTORY=graph"),
        ({"graph_groups_file": "groups.yaml"}, "GRAPH_GROUPS_FILE DIRECTORY=graph"),
        ({"directory": "graph", "graph_groups_file": "groups.yaml"}, "GRAPH_GROUPS_FILE=groups.yaml"),
        ({"directory": "graph", "graph_endpoint": "https://graph.example.com"}, "GRAPH_ENDPOINT"),
    ],
)
def test_a_directory_that_nobody_would_read_is_refused(given: dict[str, object], told: str) -> None:
    assert facts(refusal(**given)) == told


def test_the_near_misses_of_another_directory_are_taken() -> None:
    Path("groups.yaml").write_text("groups: {}", "utf-8")
    assert load_settings(directory="graph", graph_groups_file="groups.yaml", directory_cache_s=60)
    assert load_settings(directory="graph", graph_endpoint="https://dod-graph.microsoft.us", cloud="usgov")


BOTH = {"price_input": "2.5", "price_output": "10"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"price_input": "2.5"}, "PRICE_INPUT PRICE_OUTPUT"),
        ({"price_output": "10"}, "PRICE_OUTPUT PRICE_INPUT"),
        ({"price_embedding": "0.02"}, "PRICE_EMBEDDING PRICE_INPUT"),
        ({"price_currency": "EUR"}, "PRICE_CURRENCY PRICE_INPUT"),
        ({**BOTH, "price_cached_input": "2.51"}, "PRICE_CACHED_INPUT PRICE_INPUT"),
        ({**BOTH, "embedder": "openai", "embedding_api_key": "k"}, "PRICE_INPUT EMBEDDER=openai PRICE_EMBEDDING 0"),
        ({"turn_cost": "0.01"}, "TURN_COST PRICE_INPUT PRICE_OUTPUT"),
    ],
)
def test_prices_that_would_leave_something_out_of_the_cost_are_refused(given: dict[str, object], told: str) -> None:
    assert facts(refusal(**given)) == told


@pytest.mark.parametrize(
    "given",
    [
        BOTH,
        {"price_input": "0", "price_output": "0"},
        {**BOTH, "price_cached_input": "2.5", "price_currency": "EUR", "turn_cost": "0.01", "turn_tokens": "12000"},
        {**BOTH, "embedder": "openai", "embedding_api_key": "k", "price_embedding": "0"},
        {"embedder": "openai", "embedding_api_key": "k"},
        {"turn_tokens": "1"},
        {"turn_cost": "0"},
    ],
)
def test_the_near_misses_of_those_prices_are_taken(given: dict[str, object]) -> None:
    assert load_settings(**given)


SERVICE = {"embedder": "openai", "embedding_api_key": "k"}
PRICED = {**BOTH, **SERVICE, "price_embedding": "0.02"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"ingest_run_tokens": "1000"}, "INGEST_RUN_TOKENS EMBEDDER=openai"),
        ({"ingest_day_cost": "1", **BOTH}, "INGEST_DAY_COST EMBEDDER=openai"),
        ({"ingest_day_cost": "1", **SERVICE}, "INGEST_DAY_COST PRICE_EMBEDDING 0"),
        ({"ingest_run_cost": "1", **PRICED, "price_embedding": "0"}, "INGEST_RUN_COST PRICE_EMBEDDING 0"),
        ({"ingest_day_tokens": "0", **SERVICE}, "INGEST_DAY_TOKENS 0 1"),
    ],
)
def test_a_ceiling_that_would_limit_nothing_is_refused(given: dict[str, object], told: str) -> None:
    assert facts(refusal(**given)) == told


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Ceiling()),
        ({"ingest_run_cost": "0", "ingest_day_cost": "0"}, Ceiling()),
        ({**SERVICE, "ingest_run_tokens": "1000"}, Ceiling(1000, None, "ATTEST_INGEST_RUN_TOKENS")),
        ({**PRICED, "ingest_day_cost": "0.5"}, Ceiling(None, 25_000_000, "", "ATTEST_INGEST_DAY_COST")),
        (
            {**PRICED, "ingest_day_cost": "0.5", "ingest_day_tokens": "1000000", "ingest_run_cost": "0.001"},
            Ceiling(50_000, 1_000_000, "ATTEST_INGEST_RUN_COST", "ATTEST_INGEST_DAY_TOKENS"),
        ),
    ],
)
def test_a_ceiling_is_the_lower_of_tokens_and_money(given: dict[str, object], expected: Ceiling) -> None:
    settings = load_settings(**given)
    assert settings.ceiling.within(settings.prices) == expected


def test_prices_are_what_was_written_to_the_last_digit() -> None:
    made = terms(load_settings(price_input="0.1", price_output="0.30", turn_tokens="0", turn_cost="0"))
    assert made == Terms(Prices(Decimal("0.1"), Decimal("0.3")))
    assert made.prices is not None
    assert made.prices.cost({"prompt_tokens": 3, "completion_tokens": 1}) == Decimal("0.0000006")
    assert not made.bounded


KEYED = {"openai_api_key": "k"}


@pytest.mark.parametrize(
    ("given", "judges"),
    [
        ({}, False),
        (KEYED, True),
        ({"openai_base_url": "http://127.0.0.1:11434/v1"}, True),
        ({**KEYED, "statement_judge": "off"}, False),
        ({**KEYED, "statement_judge": "model"}, True),
        ({**KEYED, "embedder": "openai"}, False),
        ({**KEYED, "embedder": "openai", "generator": "openai"}, True),
        ({**KEYED, "embedder": "openai", "grader": "model"}, True),
        ({**KEYED, "embedder": "openai", "statement_judge": "model"}, True),
    ],
)
def test_a_chat_model_judges_where_one_is_configured(given: dict[str, str], judges: bool) -> None:
    """A key or an address that is there for the embedding model alone configures none."""
    assert load_settings(**given).judges is judges


def test_another_model_judges_only_where_there_is_a_judge() -> None:
    assert load_settings(**KEYED, judge_model="gpt-judge").model.judge_name == "gpt-judge"
    for given in ({}, {**KEYED, "statement_judge": "off"}):
        assert facts(refusal(**given, judge_model="gpt-judge")) == "JUDGE_MODEL STATEMENT_JUDGE=model"
