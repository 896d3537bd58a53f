"""Deployment settings: the only place that reads the environment.

Every setting is an environment variable `ATTEST_…` or a line of `.env` in the working folder; the environment wins.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from grounding.errors import SettingsError
from grounding.policy import DEFAULT_POLICY, POLICIES

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # onnxruntime reads it at import; nothing imports it before this

PREFIX = "ATTEST_"
SAMPLE = Path(__file__).parent / "sample"
"""The knowledge base that comes with the product: kb/, web/, directory.yaml, golden.jsonl."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
CommaList = Annotated[tuple[str, ...], NoDecode]


class Settings(BaseSettings):
    """All settings with their defaults. Secrets are `SecretStr`, so no printed form shows them."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_file=".env", extra="ignore", frozen=True, hide_input_in_errors=True
    )

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
    directory_file: Path | None = Field(
        None, description="YAML file: user to list of groups; without it HOME/directory.yaml"
    )
    policy: str = Field(DEFAULT_POLICY, description="policy of a turn unless one is named")
    phone_regions: CommaList = Field(
        ("US", "GB", "DE", "FR"), description="regions in which local phone numbers are read"
    )
    company: str = Field("the company", description="name of the company in the system instructions")
    # the model
    generator: Literal["extractive", "openai", "demo"] = Field(
        "extractive", description="who drafts: extractive quotes, openai is any compatible server, demo plants errors"
    )
    openai_base_url: str | None = Field(
        None, description="OpenAI-compatible endpoint; Azure: https://NAME.openai.azure.com/openai/v1/"
    )
    openai_api_key: SecretStr | None = Field(None, description="key of that endpoint; a local server may need none")
    openai_model: str = Field("gpt-4o-mini", description="model or deployment name")
    # the web
    web: Literal["off", "serpapi", "sample"] = Field(
        "off", description="web search used when the knowledge base is not enough"
    )
    serpapi_key: SecretStr | None = Field(None, description="SerpAPI key")
    web_allow: CommaList = Field(
        (), description="only these hosts and their subdomains are used, comma-separated; empty: all but the denied"
    )
    web_deny: CommaList = Field((), description="hosts and their subdomains that are never used, comma-separated")
    # bounds
    turn_deadline_s: float = Field(45.0, gt=0, description="seconds in which a turn ends, one way or the other")
    call_deadline_s: float = Field(20.0, gt=0, description="seconds for one call of a remote service, retries included")
    retries: int = Field(2, ge=0, le=5, description="further tries of a failed remote call")
    chunk_min_tokens: int = Field(24, ge=1, description="a chunk is merged with its neighbour below this size")
    chunk_max_tokens: int = Field(
        200, ge=32, le=220, description="a chunk never holds more; above 220 the embedding model would cut it"
    )
    state_days: int = Field(30, ge=1, description="days after which a conversation's kept turns are deleted")

    @field_validator(
        "tenants", "service_url_hosts", "phone_regions", "web_allow", "web_deny", "api_keys", mode="before"
    )
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("policy")
    @classmethod
    def _known_policy(cls, value: str) -> str:
        if value not in POLICIES:
            raise ValueError(f"allowed: {', '.join(sorted(POLICIES))}")
        return value

    @field_validator("phone_regions")
    @classmethod
    def _regions(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        bad = [v for v in value if not (len(v) == 2 and v.isalpha() and v.isupper())]
        if bad:
            raise ValueError(f"{bad[0]!r} is not a two-letter region such as US")
        return value

    @model_validator(mode="after")
    def _together(self) -> Settings:
        if self.web == "serpapi" and self.serpapi_key is None:
            raise ValueError("web=serpapi needs ATTEST_SERPAPI_KEY")
        if self.generator == "openai" and self.openai_base_url is None and self.openai_api_key is None:
            raise ValueError(
                "generator=openai needs ATTEST_OPENAI_API_KEY, or ATTEST_OPENAI_BASE_URL for a local server"
            )
        if self.chunk_min_tokens * 2 > self.chunk_max_tokens:
            raise ValueError("chunk_min_tokens may be at most half of chunk_max_tokens")
        if self.bot_app_type != "MultiTenant" and self.bot_app_id and self.bot_tenant_id is None:
            raise ValueError(f"bot_app_type={self.bot_app_type} needs ATTEST_BOT_TENANT_ID")
        return self

    @property
    def on_loopback(self) -> bool:
        """True if only this machine can reach the server."""
        return self.host in LOOPBACK

    @property
    def model_path(self) -> Path:
        """The embedding model's file, whether or not it is there."""
        return self.model_file or self.home / "model" / "minilm-int8.onnx"

    @property
    def directory_path(self) -> Path:
        """The file that says who belongs to which groups, whether or not it is there."""
        return self.directory_file or self.home / "directory.yaml"


def load_settings(**overrides: object) -> Settings:
    """Settings from environment and `.env`, with `overrides` on top. Raises SettingsError: one line, no secret in it."""
    try:
        return Settings(**overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = PREFIX + "_".join(str(p) for p in first["loc"]).upper() if first["loc"] else "settings"
        raise SettingsError(f"{name}: {first['msg'].removeprefix('Value error, ')}") from None
