"""All settings together: those of the groups, the bounds within which everything works, and what is read alike in several. `bot.settings.load` reads them."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, field_validator

from bot.settings.forms import Seconds, is_url
from bot.settings.services import Services
from grounding.ingest.chunking import USUAL, Chunking
from grounding.policies.files import read_policies
from grounding.policy import Policy
from rai.model_files import CLASSIFIER, EMBEDDING, installed_models

EMBEDDING_WIDTHS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
"""Numbers of a vector of OpenAI's own models, by the names they have there."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Groups(Services):
    """All of them, and what follows from several."""

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
        "tenants", "service_url_hosts", "phone_regions", "web_allow", "web_deny", "web_trusted", "api_keys", "proxies",
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

    @property
    def on_loopback(self) -> bool:
        """True if the server listens to this machine alone; a reverse proxy on it may let in anyone all the same."""
        return self.host in LOOPBACK

    @property
    def serves_others(self) -> tuple[str, ...]:
        """The settings that say that others than this machine are served, as a person would name them; none in local mode."""
        said = {
            "ATTEST_BOT_APP_ID": self.bot_app_id is not None,
            "ATTEST_API_KEYS": bool(self.api_keys),
            "ATTEST_PUBLIC_URL": self.public_url is not None,
            f"ATTEST_HOST={self.host}": not self.on_loopback,
        }
        return tuple(name for name, given in said.items() if given)

    @property
    def local_mode(self) -> bool:
        """True if the server is for this machine alone: whoever reaches it may see everything and ask as anyone."""
        return self.local != "off" and not self.serves_others

    @cached_property
    def proxy_networks(self) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
        """Where the reverse proxies stand whose headers count."""
        return tuple(ipaddress.ip_network(proxy) for proxy in self.proxies)

    @property
    def model_path(self) -> Path:
        """The embedding model's file, whether or not it is there: the one that is named, else this installation's."""
        return self.model_file or installed_models() / EMBEDDING

    @property
    def embedding_url(self) -> str | None:
        """Where texts are embedded by a service; None is OpenAI's own address."""
        return self.embedding_base_url or self.openai_base_url

    @property
    def embedding_key(self) -> SecretStr | None:
        """The key for that address. The chat model's key goes to the chat model's address alone."""
        same = self.embedding_base_url in (None, self.openai_base_url)
        return self.embedding_api_key or (self.openai_api_key if same else None)

    @property
    def embedding_at_openai(self) -> bool:
        """True where texts are embedded at the chat model's address, with its key: then in the same header, or by the same token."""
        return self.embedding_url == self.openai_base_url and self.embedding_api_key is None

    @property
    def effort(self) -> str | None:
        """What the chat model is told of how hard to think; None: nothing."""
        return None if self.openai_effort == "auto" else self.openai_effort

    @property
    def embedding_numbers(self) -> int:
        """Numbers of a vector of the service."""
        return self.embedding_width or EMBEDDING_WIDTHS[self.embedding_model]

    @property
    def screen_model_path(self) -> Path:
        """The screen's classifier, beside the embedding model that it is made of."""
        return self.model_path.with_name(CLASSIFIER)

    @property
    def off_policy_path(self) -> Path:
        """Where the company's list of excluded subjects is looked for."""
        return self.off_policy_file or self.home / "off_policy.yaml"

    @cached_property
    def policies(self) -> Mapping[str, Policy]:
        """The product's policies and those of HOME/policies, by name. Raises SettingsError for a file that is no policy."""
        return read_policies(self.home / "policies")

    @property
    def chunk_fill(self) -> tuple[int, int]:
        """Size and overlap of chunks of characters or tokens."""
        size, overlap = USUAL[self.chunks]
        return (
            size if self.chunk_size is None else self.chunk_size,
            overlap if self.chunk_overlap is None else self.chunk_overlap,
        )

    @property
    def chunking(self) -> Chunking:
        """How documents are cut."""
        if self.chunks == "paragraphs":
            return Chunking("paragraphs", self.chunk_max_tokens, minimum=self.chunk_min_tokens)
        return Chunking(self.chunks, *self.chunk_fill)

    @property
    def language_uses(self) -> tuple[str, ...]:
        """What Azure AI Language is used for: names, summaries, personal data."""
        names = self.entities == "language" or (self.entities == "auto" and self.language_endpoint is not None)
        used = {"names": names, "summaries": self.summarizer == "language", "personal data": self.pii == "language"}
        return tuple(use for use, is_on in used.items() if is_on)

    @property
    def directory_path(self) -> Path:
        """The file that says who belongs to which groups, whether or not it is there."""
        return self.directory_file or self.home / "directory.yaml"
