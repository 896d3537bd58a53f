"""The settings, in groups: names, defaults, allowed values, and what each is for. `bot.settings` reads them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from pydantic import BeforeValidator, Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode

from bot.setting_forms import is_blocklist, is_guid, is_host, is_index, is_url, price, severities
from grounding.cloud import CloudName
from grounding.policy import DEFAULT_POLICY
from grounding.policy_files import read_policies

CommaList = Annotated[tuple[str, ...], NoDecode]
Price = Annotated[Decimal, BeforeValidator(price)]
Seconds = Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)]


class Serving(BaseSettings):
    """Where things live, who is served, and how."""

    # where things live
    home: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("attest", appauthor=False)),
        description="folder of index, ledger, state and model file",
    )
    ledger_key_file: Path = Field(
        default_factory=lambda: Path(platformdirs.user_config_dir("attest", appauthor=False)) / "ledger.key",
        description="key of the ledger's chain; made once, mode 0600",
    )
    model_file: Path | None = Field(
        None, description="embedding model (ONNX); default HOME/model/minilm-int8.onnx; missing: search by words only"
    )
    off_policy_file: Path | None = Field(
        None,
        description="subjects that your company excludes (YAML); default HOME/off_policy.yaml; followed while running",
    )
    # serving
    host: str = Field("127.0.0.1", description="address that serve listens on")
    port: int = Field(3978, ge=0, le=65535, description="port that serve listens on; 0 picks a free one")
    public_url: str | None = Field(
        None, description="base URL under which people reach this server; used in source links"
    )
    api_keys: Annotated[tuple[SecretStr, ...], NoDecode] = Field(
        (), description="bearer keys for /api and /metrics off loopback, comma-separated"
    )
    rate_per_minute: int = Field(60, ge=1, description="turns a user may ask in a minute")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="what goes to the log on stderr"
    )
    log_format: Literal["text", "json"] = Field(
        "text", description="json: one object a line, with the turn's id, its trace and its ledger entry"
    )
    traces: Literal["off", "console", "otlp"] = Field(
        "off", description="where OpenTelemetry traces go: console is stderr, otlp a collector; off costs nothing"
    )
    traces_endpoint: str = Field(
        "http://127.0.0.1:4318", description="base URL of the collector (OTLP over HTTP); /v1/traces is added"
    )
    traces_content: Literal["off", "on"] = Field(
        "off", description="on: questions, prompts, drafts and answers stand in the traces, personal data included"
    )
    # the bot's channel
    bot_app_id: str | None = Field(
        None, description="Microsoft App ID; without it the bot is anonymous and serves loopback only"
    )
    bot_app_password: SecretStr | None = Field(None, description="Microsoft App password")
    bot_app_type: Literal["MultiTenant", "SingleTenant", "UserAssignedMSI"] = Field(
        "MultiTenant", description="kind of bot registration"
    )
    bot_tenant_id: str | None = Field(None, description="tenant of a SingleTenant or UserAssignedMSI registration")
    tenants: CommaList = Field(
        (), description="tenants whose activities are served, comma-separated; empty with an app id: only bot_tenant_id"
    )
    service_url_hosts: CommaList = Field(
        (".botframework.com", "smba.trafficmanager.net", ".teams.microsoft.com"),
        description="hosts (suffixes with a leading dot) that replies may be sent to, loopback excepted",
    )
    # people and policy
    directory: Literal["file", "graph"] = Field(
        "file", description="who knows the groups of a person: a file, or Microsoft Graph by this machine's identity"
    )
    directory_file: Path | None = Field(
        None, description="YAML file: user to list of groups; without it HOME/directory.yaml"
    )
    directory_cache_s: Seconds = Field(
        300.0, description="seconds for which the groups of a person are kept; a right that is taken away ends by then"
    )
    graph_groups_file: Path | None = Field(
        None,
        description="YAML file: object id of a group to its name in the rights of documents; without it they name object ids",
    )
    graph_endpoint: str | None = Field(None, description="Microsoft Graph elsewhere than the cloud's own; DoD has one")
    policy: str = Field(
        DEFAULT_POLICY, description="policy of a turn unless one is named; `attest policies` lists them"
    )
    phone_regions: CommaList = Field(
        ("US", "GB", "DE", "FR"), description="regions in which local phone numbers are read"
    )
    company: str = Field("the company", description="name of the company in the system instructions")

    @field_validator("policy")
    @classmethod
    def _known_policy(cls, value: str, info: ValidationInfo) -> str:
        known = read_policies(info.data["home"] / "policies" if "home" in info.data else None)
        if value not in known:
            raise ValueError(f"one of {', '.join(known)}")
        return value

    @field_validator("phone_regions")
    @classmethod
    def _regions(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(len(v) == 2 and v.isascii() and v.isalpha() and v.isupper() for v in value):
            raise ValueError("two-letter regions such as US,GB")
        return value

    @field_validator("service_url_hosts")
    @classmethod
    def _reply_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        # one label alone, such as .com, would let replies go to anybody's server
        if not all(is_host(v.removeprefix("."), labels=2) for v in value):
            raise ValueError("host names of two labels or more, such as smba.trafficmanager.net or .botframework.com")
        return value


class Services(Serving):
    """What the seams run on, and within which bounds."""

    # the model
    generator: Literal["extractive", "openai", "demo"] = Field(
        "extractive", description="who drafts: extractive quotes, openai is any compatible server, demo plants errors"
    )
    openai_base_url: str | None = Field(
        None, description="OpenAI-compatible endpoint; Azure: https://NAME.openai.azure.com/openai/v1/"
    )
    openai_api_key: SecretStr | None = Field(
        None,
        description="key of the chat model's endpoint; without it an Azure one gets this machine's identity, a local server nothing",
    )
    openai_model: str = Field("gpt-4o-mini", description="chat model: its name, or that of its deployment on Azure")
    openai_api: Literal["chat", "responses"] = Field(
        "chat", description="interface of the chat model's endpoint: chat is what every server understands"
    )
    openai_stream: Literal["off", "on"] = Field(
        "off",
        description="on: the chat model's replies come in pieces, for proxies that cut a silent connection; checked whole as ever",
    )
    grader: Literal["embedded", "model"] = Field(
        "embedded", description="who grades passages: model is the chat model, in the style of the policy"
    )
    rewriter: Literal["off", "model"] = Field(
        "off", description="who rewrites queries, imagines answers to search for, and plans, as the policy wants it"
    )
    hyde: Literal["off", "model"] = Field(
        "off",
        description="who imagines, at ingest, questions and answers of each passage that are searched beside it: model is the chat model",
    )
    statement_judge: Literal["off", "model"] = Field(
        "off",
        description="who judges sentences that the check leaves open; model is the chat model, one call an answer",
    )
    pseudonyms: Literal["off", "on"] = Field(
        "off",
        description="on: prompts have placeholders such as [PERSON_1] for the customer's personal data, put back in the reply; AI Language gets it masked",
    )
    # the meaning of texts
    embedder: Literal["embedded", "openai"] = Field(
        "embedded",
        description="whose vectors search uses: the model on this machine, or any server of OpenAI's embeddings; ingest again after a change",
    )
    embedding_base_url: str | None = Field(
        None,
        description="endpoint of the embedding model; default ATTEST_OPENAI_BASE_URL; Azure: https://NAME.openai.azure.com/openai/v1/",
    )
    embedding_api_key: SecretStr | None = Field(
        None,
        description="key of the embedding model's endpoint; default ATTEST_OPENAI_API_KEY where the endpoint is the same",
    )
    embedding_model: str = Field(
        "text-embedding-3-small", description="embedding model: its name, or that of its deployment on Azure"
    )
    embedding_width: int | None = Field(
        None,
        ge=8,
        le=4096,
        description="numbers of a vector of the embedding model, sent as dimensions; needed where its name is not one of OpenAI's own",
    )
    # the search
    search: Literal["embedded", "azure"] = Field(
        "embedded",
        description="where passages are searched: on this machine, or in Azure AI Search beside the store here",
    )
    search_endpoint: str | None = Field(None, description="Azure AI Search: https://NAME.search.windows.net")
    search_key: SecretStr | None = Field(
        None,
        description="key of Azure AI Search (admin to ingest, query to ask); without it the identity of this machine is used",
    )
    search_index: str = Field("attest", description="name of the index in Azure AI Search; attest ingest makes it")
    search_semantic: Literal["off", "on"] = Field(
        "off",
        description="whether the semantic ranker of Azure AI Search orders the best results anew; billed by the service",
    )
    search_agentic: Literal["off", "on"] = Field(
        "off",
        description="whether the agentic retrieval of Azure AI Search finds and ranks, with its plain search behind it; billed by the service; ingest again after a change",
    )
    search_others: Literal["off", "on"] = Field(
        "off",
        description="whether passages count that an indexer (SharePoint) put into the index of Azure AI Search; trimmed by their own groups field",
    )
    # the prompt screen
    screen: Literal["embedded", "content_safety", "moderation"] = Field(
        "embedded",
        description="the stronger screen behind the embedded one; embedded: none, what is in doubt is allowed and noted",
    )
    screen_when: Literal["doubt", "always"] = Field(
        "always",
        description="what the stronger screen judges: all that the embedded one allows, or only what that is in doubt about",
    )
    content_safety_endpoint: str | None = Field(
        None, description="Azure AI Content Safety: https://NAME.cognitiveservices.azure.com"
    )
    content_safety_key: SecretStr | None = Field(
        None, description="key of Content Safety; without it the identity of this machine (azure-identity) is used"
    )
    content_safety_severities: CommaList = Field(
        (),
        description="severity from which a category of Content Safety blocks, such as hate=2,violence=6,self_harm=off; not named: 4",
    )
    content_safety_levels: Literal["four", "eight"] = Field(
        "four", description="severities that Content Safety tells: four (0, 2, 4, 6) or eight (0 to 7)"
    )
    content_safety_blocklists: CommaList = Field((), description="the resource's blocklists to apply, comma-separated")
    content_safety_halt_on_blocklist: bool = Field(
        False, description="true: what a blocklist hits is not analysed further"
    )
    moderation_base_url: str | None = Field(
        None, description="endpoint compatible with OpenAI's moderation; empty: OpenAI's own"
    )
    moderation_key: SecretStr | None = Field(
        None, description="key of the moderation endpoint; a local server may need none"
    )
    moderation_model: str = Field("omni-moderation-latest", description="model of the moderation endpoint")
    moderation_block_at: float = Field(
        0.5, gt=0, le=1, description="score from which a category blocks; what the service flags blocks at any score"
    )
    # language: names of an answer, summaries of a conversation, personal data
    language_endpoint: str | None = Field(
        None, description="Azure AI Language: https://NAME.cognitiveservices.azure.com; empty: off"
    )
    language_key: SecretStr | None = Field(
        None, description="key of Azure AI Language; without it the identity of this machine (azure-identity) is used"
    )
    entities: Literal["auto", "embedded", "language"] = Field(
        "auto",
        description="who finds names in an answer beside the local list; auto: language where it has an endpoint",
    )
    summarizer: Literal["embedded", "language"] = Field(
        "embedded", description="who ranks the sentences of a conversation too long to be searched for whole"
    )
    summarizer_deadline_s: Seconds = Field(
        6.0, description="seconds for a summary by Azure AI Language, its waiting included; at most half of the turn's"
    )
    pii: Literal["embedded", "language"] = Field(
        "embedded", description="who looks for personal data in a conversation: language does so beside our own rules"
    )
    # the web
    web: Literal["off", "serpapi", "tavily", "duckduckgo", "bing", "sample"] = Field(
        "off", description="web search used when the knowledge base is not enough; duckduckgo: simple queries only"
    )
    serpapi_key: SecretStr | None = Field(None, description="key of SerpAPI")
    tavily_key: SecretStr | None = Field(None, description="key of Tavily")
    tavily_base_url: str | None = Field(None, description="a gateway that speaks Tavily; empty: https://api.tavily.com")
    bing_endpoint: str | None = Field(
        None, description="legacy: a service that speaks Bing Web Search v7, path included; Microsoft retired its own"
    )
    bing_key: SecretStr | None = Field(None, description="legacy: key of a service that speaks Bing Web Search v7")
    web_personal_data: Literal["removed", "sent"] = Field(
        "removed", description="whether names, numbers and addresses of the customer are taken out of a web query"
    )
    web_allow: CommaList = Field(
        (), description="only these hosts and their subdomains are used, comma-separated; empty: all but the denied"
    )
    web_deny: CommaList = Field((), description="hosts and their subdomains that are never used, comma-separated")
    web_trusted: CommaList = Field(
        (), description="hosts shown as trusted and put first, as those of web_allow are, without shutting out others"
    )
    # signing in to Azure where no key is given
    cloud: CloudName = Field(
        "public",
        description="Azure cloud of services without a key: where this machine signs in, and whom its tokens are for",
    )
    identity_client_id: str | None = Field(
        None, description="client id of a user-assigned managed identity; empty: the machine's own, or AZURE_CLIENT_ID"
    )
    # bounds
    turn_deadline_s: Seconds = Field(45.0, description="seconds in which a turn ends, one way or the other")
    call_deadline_s: Seconds = Field(20.0, description="seconds for one call of a remote service, retries included")
    retries: int = Field(2, ge=0, le=5, description="further tries of a failed remote call")
    concurrent_calls: int = Field(
        100, ge=1, le=1000, description="calls of one service at the same time; further ones wait within their deadline"
    )
    breaker_s: Seconds = Field(
        30.0, description="seconds for which a service that failed five times in a row is left alone"
    )
    # what a turn costs, and may take
    price_input: Price | None = Field(
        None, description="price of a million prompt tokens; yours, as your contract has it: none is built in"
    )
    price_cached_input: Price | None = Field(
        None,
        description="price of a million prompt tokens that the service had cached; without it they cost like others",
    )
    price_output: Price | None = Field(None, description="price of a million tokens that the model writes")
    price_embedding: Price | None = Field(None, description="price of a million tokens that are embedded by a service")
    price_currency: str = Field("USD", description="currency of the prices of models")
    turn_tokens: int = Field(
        0,
        ge=0,
        description="tokens that the chat model may read and write in a turn; what does not fit is not asked; 0: any number",
    )
    turn_cost: Price | None = Field(
        None, description="what the chat model may cost in a turn, in the currency of the prices; 0 or empty: anything"
    )
    chunks: Literal["paragraphs", "characters", "tokens"] = Field(
        "paragraphs", description="how documents are cut; another way cuts them anew at the next ingest"
    )
    chunk_size: int | None = Field(
        None,
        ge=20,
        le=8000,
        description="most that a chunk of characters (default 1000) or tokens (250, 2000 at most) holds",
    )
    chunk_overlap: int | None = Field(
        None,
        ge=0,
        le=4000,
        description="most that a chunk of characters or tokens shares with the one before; default 200 characters, 0 tokens",
    )
    chunk_min_tokens: int = Field(
        24, ge=1, description="tokens below which a chunk of paragraphs is merged with its neighbour"
    )
    chunk_max_tokens: int = Field(
        200,
        ge=32,
        le=220,
        description="most tokens of a chunk of paragraphs; above 220 the embedding model would not read it at once",
    )
    state_days: int = Field(30, ge=1, description="days after which a conversation's kept turns are deleted")

    @field_validator("content_safety_severities")
    @classmethod
    def _severities(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        severities(value)
        return value

    @field_validator("content_safety_blocklists")
    @classmethod
    def _blocklists(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(is_blocklist(v) for v in value):
            raise ValueError("names of blocklists: letters, digits, . _ ~ and -, 64 at most")
        return value

    @field_validator("search_index")
    @classmethod
    def _index_name(cls, value: str) -> str:
        if not is_index(value):
            raise ValueError("2 to 128 lower-case letters, digits and single dashes, not at either end")
        return value

    @field_validator("price_currency")
    @classmethod
    def _currency(cls, value: str) -> str:
        if not (len(value) == 3 and value.isascii() and value.isalpha() and value.isupper()):
            raise ValueError("three capital letters such as USD or EUR")
        return value

    @field_validator("identity_client_id")
    @classmethod
    def _client_id(cls, value: str | None) -> str | None:
        if value is not None and not is_guid(value):
            raise ValueError("a GUID such as 3f2504e0-4f89-11d3-9a0c-0305e82c3301")
        return value

    @field_validator("web_allow", "web_deny", "web_trusted")
    @classmethod
    def _sites(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(is_host(v.removeprefix("*").removeprefix("."), labels=1) for v in value):
            raise ValueError("host names such as example.com, without path or port")
        return value


class Groups(Services):
    """All of them, with what is read alike in more than one group."""

    @field_validator(
        "tenants", "service_url_hosts", "phone_regions", "web_allow", "web_deny", "web_trusted", "api_keys",
        "content_safety_severities", "content_safety_blocklists", mode="before",
    )  # fmt: skip
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator(
        "public_url", "openai_base_url", "embedding_base_url", "search_endpoint", "language_endpoint", "content_safety_endpoint", "moderation_base_url",
        "tavily_base_url", "bing_endpoint", "traces_endpoint", "graph_endpoint",
    )  # fmt: skip
    @classmethod
    def _url(cls, value: str | None) -> str | None:
        if value is not None and not is_url(value):
            raise ValueError("an http:// or https:// URL with a host, such as https://bot.example.com")
        return value
