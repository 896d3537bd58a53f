"""Settings of the web search, which is used when the knowledge base is not enough."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr, field_validator

from bot.settings.forms import CommaList, Url, is_host
from bot.settings.group import Conflicts, Group

_NEEDED = {"serpapi": ("serpapi_key",), "tavily": ("tavily_key",), "bing": ("bing_endpoint", "bing_key")}


class Web(Group):
    """The provider of the web search, and what may be sent to it and used of it."""

    kind: Literal["off", "serpapi", "tavily", "duckduckgo", "bing", "sample"] = Field(
        "off",
        alias="web",
        description="web search used when the knowledge base is not enough; duckduckgo: simple queries only",
    )
    serpapi_key: SecretStr | None = Field(None, alias="serpapi_key", description="key of SerpAPI")
    tavily_key: SecretStr | None = Field(None, alias="tavily_key", description="key of Tavily")
    tavily_base_url: Url | None = Field(
        None, alias="tavily_base_url", description="a gateway that speaks Tavily; empty: https://api.tavily.com"
    )
    bing_endpoint: Url | None = Field(
        None,
        alias="bing_endpoint",
        description="legacy: a service that speaks Bing Web Search v7, path included; Microsoft retired its own",
    )
    bing_key: SecretStr | None = Field(
        None, alias="bing_key", description="legacy: key of a service that speaks Bing Web Search v7"
    )
    personal_data: Literal["removed", "sent"] = Field(
        "removed",
        alias="web_personal_data",
        description="whether names, numbers and addresses of the customer are taken out of a web query",
    )
    allow: CommaList = Field(
        (),
        alias="web_allow",
        description="only these hosts and their subdomains are used, comma-separated; empty: all but the denied",
    )
    deny: CommaList = Field(
        (), alias="web_deny", description="hosts and their subdomains that are never used, comma-separated"
    )
    trusted: CommaList = Field(
        (),
        alias="web_trusted",
        description="hosts shown as trusted and put first, as those of web_allow are, without shutting out others",
    )

    @field_validator("allow", "deny", "trusted")
    @classmethod
    def _sites(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(is_host(v.removeprefix("*").removeprefix("."), labels=1) for v in value):
            raise ValueError("host names such as example.com, without path or port")
        return value


def web_conflicts(web: Web) -> Conflicts:
    """The rule that a provider has its key, and its address where it has none of its own."""
    for field in _NEEDED.get(web.kind, ()):
        yield getattr(web, field) is None, f"ATTEST_WEB={web.kind} needs {web.variable(field)}"
