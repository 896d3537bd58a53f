"""All settings together: those of the groups, the bounds within which everything works, and what is read alike in several. `bot.settings` reads them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from bot.setting_forms import Seconds, is_url
from bot.setting_services import Services


class Groups(Services):
    """All of them."""

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
    # how documents are cut, and what is kept
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
