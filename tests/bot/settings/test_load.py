"""What settings accept, and what the line says when they do not: which value, where it was set, what is allowed."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import platformdirs
import pytest

from bot.settings.forms import severities
from bot.settings.load import load_settings, unknown_names, without_credentials
from bot.settings.terms import terms
from grounding.errors import SettingsError
from rai.account import Prices, Terms


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def refusal(**overrides: object) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(**overrides)
    line = str(caught.value)
    assert "\n" not in line
    assert "Value error" not in line
    return line


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("PORT", "abc", "allowed is a whole number from 0 to 65535"),
        ("PORT", "65536", "allowed is a whole number from 0 to 65535"),
        ("RATE_PER_MINUTE", "0", "allowed is a whole number of at least 1"),
        ("LOG_LEVEL", "loud", "allowed is one of debug, info, warning, error"),
        ("POLICY", "strict", "allowed is one of attest, hybrid-crag, superrag"),
        ("PHONE_REGIONS", "US,usa", "allowed is two-letter regions"),
        ("PUBLIC_URL", "bot.example.com", "allowed is an http:// or https:// URL with a host"),
        ("PUBLIC_URL", "ftp://bot.example.com", "allowed is an http"),
        ("PUBLIC_URL", "https://", "allowed is an http"),
        ("PUBLIC_URL", "https://a b", "allowed is an http"),
        ("OPENAI_BASE_URL", "https://x:99999/v1", "allowed is an http"),
        ("OPENAI_BASE_URL", "javascript:alert(1)", "allowed is an http"),
        ("SERVICE_URL_HOSTS", ".com", "allowed is host names of two labels"),
        ("SERVICE_URL_HOSTS", "https://smba.trafficmanager.net", "allowed is host names"),
        ("SERVICE_URL_HOSTS", "..botframework.com", "allowed is host names"),
        ("SERVICE_URL_HOSTS", "ok.example.com,*", "allowed is host names"),
        ("TURN_DEADLINE_S", "inf", "allowed is a number above 0, at most 3600"),
        ("TURN_DEADLINE_S", "3600.5", "allowed is a number above 0, at most 3600"),
        ("CALL_DEADLINE_S", "nan", "allowed is a number above 0, at most 3600"),
        ("CALL_DEADLINE_S", "0", "allowed is a number above 0, at most 3600"),
        ("WEB_ALLOW", "https://example.com", "allowed is host names such as example.com"),
        ("WEB_DENY", "example.com/path", "allowed is host names such as example.com"),
        ("WEB_DENY", "10.0.0.1", "allowed is host names such as example.com"),
        ("SCREEN", "azure", "allowed is one of embedded, content_safety, moderation"),
        ("SCREEN_WHEN", "never", "allowed is one of doubt, always"),
        ("CONTENT_SAFETY_ENDPOINT", "name.cognitiveservices.azure.com", "allowed is an http"),
        ("CONTENT_SAFETY_SEVERITIES", "hate=8", "allowed is hate, sexual, self_harm, violence, each once"),
        ("CONTENT_SAFETY_SEVERITIES", "hate=2,hate=4", "each once"),
        ("CONTENT_SAFETY_SEVERITIES", "4", "such as hate=2,violence=6"),
        ("CONTENT_SAFETY_LEVELS", "six", "allowed is one of four, eight"),
        ("CONTENT_SAFETY_BLOCKLISTS", "our rivals", "allowed is names of blocklists"),
        ("MODERATION_BLOCK_AT", "0", "allowed is a number above 0, at most 1"),
        ("MODERATION_BLOCK_AT", "1.5", "allowed is a number above 0, at most 1"),
        ("CLOUD", "germany", "allowed is one of public, usgov, china"),
        ("IDENTITY_CLIENT_ID", "attest-identity", "allowed is a GUID such as"),
        ("PRICE_INPUT", "0,15", "allowed is a number from 0 to 1000000"),
        ("PRICE_INPUT", "$0.15", "allowed is a number from 0 to 1000000"),
        ("PRICE_OUTPUT", "-1", "allowed is a number from 0 to 1000000"),
        ("PRICE_EMBEDDING", "nan", "allowed is a number from 0 to 1000000"),
        ("PRICE_CURRENCY", "Euro", "three capital letters such as USD"),
        ("TURN_TOKENS", "many", "allowed is a whole number of at least 0"),
        ("TURN_COST", "1e-12", "with 9 decimals at most"),
        ("TURN_COST", "1e99", "allowed is a number from 0 to 1000000"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_at_the_start(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, part: str
) -> None:
    monkeypatch.setenv(f"ATTEST_{name}", value)
    line = refusal()
    assert line.startswith(f"ATTEST_{name}={value!r} (environment): ")
    assert part in line


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
    assert refusal() == "ATTEST_PORT='many' (.env): allowed is a whole number from 0 to 65535"
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
    assert refusal() == f"ATTEST_WEB={web} needs ATTEST_{missing}"


def test_duckduckgo_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_WEB", "duckduckgo")
    assert load_settings().web.kind == "duckduckgo"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"SCREEN": "content_safety"}, "ATTEST_SCREEN=content_safety needs ATTEST_CONTENT_SAFETY_ENDPOINT"),
        (
            {"SCREEN": "moderation"},
            "ATTEST_SCREEN=moderation needs ATTEST_MODERATION_KEY, or ATTEST_MODERATION_BASE_URL for a local server",
        ),
        (
            {"CONTENT_SAFETY_ENDPOINT": "https://name.cognitiveservices.azure.com"},
            "ATTEST_CONTENT_SAFETY_ENDPOINT needs ATTEST_SCREEN; embedded leaves it unused",
        ),
        ({"MODERATION_KEY": "canary"}, "ATTEST_MODERATION_KEY needs ATTEST_SCREEN; embedded leaves it unused"),
        ({"SCREEN_WHEN": "doubt"}, "ATTEST_SCREEN_WHEN needs ATTEST_SCREEN; embedded leaves it unused"),
    ],
)
def test_a_screen_that_could_not_work_or_that_nobody_switched_on_is_refused(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], line: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    assert refusal() == line


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
    ("given", "line"),
    [
        ({"CHUNKS": "words"}, "ATTEST_CHUNKS='words' (environment): allowed is one of paragraphs, characters, tokens"),
        ({"CHUNK_SIZE": "x"}, "ATTEST_CHUNK_SIZE='x' (environment): allowed is a whole number from 20 to 8000"),
        ({"CHUNK_OVERLAP": "-1"}, "ATTEST_CHUNK_OVERLAP='-1' (environment): allowed is a whole number from 0 to 4000"),
        ({"CHUNK_SIZE": "500"}, "ATTEST_CHUNK_SIZE needs ATTEST_CHUNKS=characters or tokens"),
        ({"CHUNK_OVERLAP": "0"}, "ATTEST_CHUNK_OVERLAP needs ATTEST_CHUNKS=characters or tokens"),
        ({"CHUNKS": "tokens", "CHUNK_MAX_TOKENS": "200"}, "ATTEST_CHUNK_MAX_TOKENS needs ATTEST_CHUNKS=paragraphs"),
        ({"CHUNKS": "tokens", "CHUNK_SIZE": "2001"}, "ATTEST_CHUNK_SIZE may be at most 2000 with ATTEST_CHUNKS=tokens"),
        (
            {"CHUNKS": "characters", "CHUNK_SIZE": "300"},
            "ATTEST_CHUNK_OVERLAP, here 200, may be at most half of ATTEST_CHUNK_SIZE, here 300",
        ),
        ({"CHUNK_MIN_TOKENS": "101"}, "ATTEST_CHUNK_MIN_TOKENS may be at most half of ATTEST_CHUNK_MAX_TOKENS"),
    ],
)
def test_limits_of_chunks_that_cannot_be_are_refused(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], line: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    assert refusal() == line


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
    ("given", "line"),
    [
        ({"TRACES_CONTENT": "on"}, "ATTEST_TRACES_CONTENT=on needs ATTEST_TRACES=console or otlp"),
        (
            {"TRACES": "console", "TRACES_ENDPOINT": "http://127.0.0.1:4318"},
            "ATTEST_TRACES_ENDPOINT needs ATTEST_TRACES=otlp; console leaves it unused",
        ),
        ({"EMBEDDING_WIDTH": "256"}, "ATTEST_EMBEDDING_WIDTH needs ATTEST_EMBEDDER=openai; embedded leaves it unused"),
        (
            {"EMBEDDER": "openai"},
            "ATTEST_EMBEDDER=openai needs ATTEST_EMBEDDING_API_KEY, or ATTEST_EMBEDDING_BASE_URL for a local server",
        ),
        (
            {"EMBEDDER": "openai", "EMBEDDING_API_KEY": "canary", "EMBEDDING_MODEL": "our-deployment"},
            "ATTEST_EMBEDDING_MODEL=our-deployment needs ATTEST_EMBEDDING_WIDTH; known without it are text-embedding-3-small, text-embedding-3-large, text-embedding-ada-002",
        ),
        (
            {"EMBEDDER": "openai", "EMBEDDING_API_KEY": "canary", "EMBEDDING_WIDTH": "4097"},
            "ATTEST_EMBEDDING_WIDTH='4097' (environment): allowed is a whole number from 8 to 4096",
        ),
        (
            {"EMBEDDER": "openai", "EMBEDDING_BASE_URL": "https://n.openai.azure.us/openai/v1/"},
            "ATTEST_EMBEDDING_BASE_URL without a key needs ATTEST_CLOUD=usgov",
        ),
        ({"SEARCH": "azure"}, "ATTEST_SEARCH=azure needs ATTEST_SEARCH_ENDPOINT"),
        ({"SEARCH_KEY": "canary"}, "ATTEST_SEARCH_KEY needs ATTEST_SEARCH=azure; embedded leaves it unused"),
        ({"SEARCH_AGENTIC": "on"}, "ATTEST_SEARCH_AGENTIC needs ATTEST_SEARCH=azure; embedded leaves it unused"),
        ({"SEARCH_SEMANTIC": "on"}, "ATTEST_SEARCH_SEMANTIC needs ATTEST_SEARCH=azure; embedded leaves it unused"),
        (
            {
                "SEARCH": "azure",
                "SEARCH_ENDPOINT": "https://n.search.windows.net",
                "HYDE": "model",
                "OPENAI_API_KEY": "k",
            },
            "ATTEST_HYDE=model needs ATTEST_SEARCH=embedded: what is imagined of passages is searched on this machine alone",
        ),
        (
            {"SEARCH": "azure", "SEARCH_ENDPOINT": "https://n.search.windows.net", "SEARCH_INDEX": "Attest_1"},
            "ATTEST_SEARCH_INDEX='Attest_1' (environment): allowed is 2 to 128 lower-case letters, digits and single dashes, not at either end",
        ),
    ],
)
def test_a_search_that_could_not_work_or_that_nobody_switched_on_is_refused(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], line: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    assert refusal() == line


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
    ("given", "line"),
    [
        (
            {"search": "azure", "search_endpoint": "https://n.search.azure.us"},
            "ATTEST_SEARCH_ENDPOINT without a key needs ATTEST_CLOUD=usgov",
        ),
        (
            {"cloud": "china", "openai_base_url": "https://n.openai.azure.com/openai/v1/"},
            "ATTEST_OPENAI_BASE_URL without a key needs ATTEST_CLOUD=public",
        ),
        (
            {"language_endpoint": "https://n.cognitiveservices.azure.cn"},
            "ATTEST_LANGUAGE_ENDPOINT without a key needs ATTEST_CLOUD=china",
        ),
    ],
)
def test_a_token_for_one_cloud_goes_to_no_other(given: dict[str, object], line: str) -> None:
    assert refusal(**given) == line


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
    ("given", "line"),
    [
        ({"PII": "language"}, "ATTEST_PII=language needs ATTEST_LANGUAGE_ENDPOINT"),
        ({"SUMMARIZER": "language"}, "ATTEST_SUMMARIZER=language needs ATTEST_LANGUAGE_ENDPOINT"),
        ({"ENTITIES": "language"}, "ATTEST_ENTITIES=language needs ATTEST_LANGUAGE_ENDPOINT"),
        ({"LANGUAGE_KEY": "canary"}, "ATTEST_LANGUAGE_KEY needs ATTEST_LANGUAGE_ENDPOINT"),
        ({"SUMMARIZER_DEADLINE_S": "3"}, "ATTEST_SUMMARIZER_DEADLINE_S needs ATTEST_SUMMARIZER=language"),
        (
            {"LANGUAGE_ENDPOINT": LANGUAGE, "ENTITIES": "embedded"},
            "ATTEST_LANGUAGE_ENDPOINT is used by nothing: ATTEST_ENTITIES, ATTEST_SUMMARIZER or ATTEST_PII may be language",
        ),
    ],
)
def test_a_language_service_that_could_not_work_or_that_nothing_uses_is_refused(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], line: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    assert refusal() == line


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
    ("given", "line"),
    [
        (
            {"directory": "graph", "directory_file": "people.yaml"},
            "ATTEST_DIRECTORY_FILE needs ATTEST_DIRECTORY=file; with graph nobody would read it",
        ),
        ({"directory_cache_s": 60}, "ATTEST_DIRECTORY_CACHE_S needs ATTEST_DIRECTORY=graph"),
        ({"graph_groups_file": "groups.yaml"}, "ATTEST_GRAPH_GROUPS_FILE needs ATTEST_DIRECTORY=graph"),
        (
            {"directory": "graph", "graph_groups_file": "groups.yaml"},
            "ATTEST_GRAPH_GROUPS_FILE=groups.yaml is not there",
        ),
        (
            {"directory": "graph", "graph_endpoint": "https://graph.example.com"},
            "ATTEST_GRAPH_ENDPOINT: allowed is an endpoint of Microsoft Graph, such as https://graph.microsoft.us",
        ),
    ],
)
def test_a_directory_that_nobody_would_read_is_refused(given: dict[str, object], line: str) -> None:
    assert refusal(**given) == line


def test_the_near_misses_of_another_directory_are_taken() -> None:
    Path("groups.yaml").write_text("groups: {}", "utf-8")
    assert load_settings(directory="graph", graph_groups_file="groups.yaml", directory_cache_s=60)
    assert load_settings(directory="graph", graph_endpoint="https://dod-graph.microsoft.us", cloud="usgov")


BOTH = {"price_input": "2.5", "price_output": "10"}


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"price_input": "2.5"}, "ATTEST_PRICE_INPUT needs ATTEST_PRICE_OUTPUT"),
        ({"price_output": "10"}, "ATTEST_PRICE_OUTPUT needs ATTEST_PRICE_INPUT"),
        ({"price_embedding": "0.02"}, "ATTEST_PRICE_EMBEDDING needs ATTEST_PRICE_INPUT"),
        ({"price_currency": "EUR"}, "ATTEST_PRICE_CURRENCY needs ATTEST_PRICE_INPUT"),
        ({**BOTH, "price_cached_input": "2.51"}, "ATTEST_PRICE_CACHED_INPUT may be at most ATTEST_PRICE_INPUT"),
        (
            {**BOTH, "embedder": "openai", "embedding_api_key": "k"},
            "ATTEST_PRICE_INPUT with ATTEST_EMBEDDER=openai needs ATTEST_PRICE_EMBEDDING; 0 where embeddings cost nothing",
        ),
        (
            {"turn_cost": "0.01"},
            "ATTEST_TURN_COST needs ATTEST_PRICE_INPUT and ATTEST_PRICE_OUTPUT: no prices are built in",
        ),
    ],
)
def test_prices_that_would_leave_something_out_of_the_cost_are_refused(given: dict[str, object], line: str) -> None:
    assert refusal(**given) == line


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
        with pytest.raises(
            SettingsError, match=r"ATTEST_JUDGE_MODEL needs a judge: ATTEST_STATEMENT_JUDGE=model, or auto"
        ):
            load_settings(**given, judge_model="gpt-judge")
