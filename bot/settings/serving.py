"""Settings of the deployment: where things live, who is served, and how. Names, defaults, allowed values, and what each is for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode

from bot.settings.forms import CommaList, Seconds, is_host, is_network
from grounding.policies.files import read_policies
from grounding.policy import DEFAULT_POLICY


class Serving(BaseSettings):
    """Where things live, who is served, and how."""

    # where things live
    home: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("attest", appauthor=False)),
        description="folder of index, ledger and state",
    )
    ledger_key_file: Path = Field(
        default_factory=lambda: Path(platformdirs.user_config_dir("attest", appauthor=False)) / "ledger.key",
        description="key of the ledger's chain; made once, mode 0600",
    )
    model_file: Path | None = Field(
        None,
        description="embedding model (ONNX), with tokenizer and classifier beside it; default: those of this installation",
    )
    off_policy_file: Path | None = Field(
        None,
        description="subjects that your company excludes (YAML); default HOME/off_policy.yaml; followed while running",
    )
    # serving
    host: str = Field("127.0.0.1", description="address that serve listens on")
    port: int = Field(3978, ge=0, le=65535, description="port that serve listens on; 0 picks a free one")
    public_url: str | None = Field(
        None, description="base URL under which people reach this server, for links to sources; ends local mode"
    )
    api_keys: Annotated[tuple[SecretStr, ...], NoDecode] = Field(
        (), description="bearer keys of /api and /metrics, comma-separated; end local mode"
    )
    local: Literal["auto", "on", "off"] = Field(
        "auto",
        description="local mode: /chat, asking as anyone and an anonymous bot, for this machine alone; auto: unless a bot id, keys, a public URL or an outer host is set",
    )
    proxies: CommaList = Field(
        (),
        description="addresses or networks of your reverse proxies, comma-separated; headers that tell of a forwarded request count from these alone",
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
        None, description="Microsoft App ID; without it the bot is anonymous, in local mode alone; ends local mode"
    )
    bot_app_password: SecretStr | None = Field(
        None, description="Microsoft App password; a UserAssignedMSI registration has none"
    )
    bot_app_type: Literal["SingleTenant", "UserAssignedMSI", "MultiTenant"] = Field(
        "SingleTenant",
        description="kind of bot registration; MultiTenant is for bots of before August 2025, when new ones ended",
    )
    bot_tenant_id: str | None = Field(None, description="tenant of the registration, unless it is MultiTenant")
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

    @field_validator("proxies")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(is_network(v) for v in value):
            raise ValueError("addresses or networks such as 10.0.0.7,10.1.0.0/16")
        return value

    @field_validator("service_url_hosts")
    @classmethod
    def _reply_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        # one label alone, such as .com, would let replies go to anybody's server
        if not all(is_host(v.removeprefix("."), labels=2) for v in value):
            raise ValueError("host names of two labels or more, such as smba.trafficmanager.net or .botframework.com")
        return value
