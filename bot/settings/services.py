"""Settings of the other services: search, prompt screen, language, the web, and signing in to them without a key."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr, field_validator

from bot.settings.forms import CommaList, Seconds, is_blocklist, is_guid, is_host, is_index, severities
from bot.settings.models import Models
from grounding.services.cloud import CloudName


class Services(Models):
    """What the other seams run on."""

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
