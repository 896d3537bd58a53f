"""Deployment settings: the only place that reads the environment.

Every setting is an environment variable `ATTEST_…` or a line of `.env` in the working folder; the environment wins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import platformdirs
from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, DotEnvSettingsSource, EnvSettingsSource, NoDecode, SettingsConfigDict

from bot.setting_forms import is_blocklist, is_host, is_url, severities
from grounding.errors import SettingsError
from grounding.policy import DEFAULT_POLICY, POLICIES

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # onnxruntime reads it at import; nothing imports it before this

PREFIX = "ATTEST_"
SAMPLE = Path(__file__).parent / "sample"
"""The knowledge base that comes with the product: kb/, web/, directory.yaml, golden.jsonl."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
CommaList = Annotated[tuple[str, ...], NoDecode]
Seconds = Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)]
_USERINFO = re.compile(r"(?<=://)[^/\s]*@")
_QUERY_VALUE = re.compile(r"(?<=[?&;#])([^=&;#\s]*=)[^&;#\s]*")
_SHOWN = 80


class Settings(BaseSettings):
    """All settings with their defaults. Secrets are `SecretStr`, so no printed form shows them."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
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
    statement_judge: Literal["off", "model"] = Field(
        "off", description="who judges sentences that the check leaves open; model is the one above, one call an answer"
    )
    pseudonyms: Literal["off", "on"] = Field(
        "off",
        description="on: prompts have placeholders such as [PERSON_1] for the customer's personal data, put back in the reply; AI Language gets it masked",
    )
    # the prompt screen
    screen: Literal["embedded", "content_safety", "moderation"] = Field(
        "embedded",
        description="the stronger screen behind the embedded one; embedded: none, what is in doubt is allowed and noted",
    )
    screen_when: Literal["doubt", "always"] = Field(
        "always", description="what it judges: all that the embedded screen allows, or only what that is in doubt about"
    )
    content_safety_endpoint: str | None = Field(
        None, description="Azure AI Content Safety: https://NAME.cognitiveservices.azure.com"
    )
    content_safety_key: SecretStr | None = Field(
        None, description="key of that resource; without it the identity of this machine (azure-identity) is used"
    )
    content_safety_severities: CommaList = Field(
        (), description="severity from which a category blocks, such as hate=2,violence=6,self_harm=off; not named: 4"
    )
    content_safety_levels: Literal["four", "eight"] = Field(
        "four", description="severities that the service tells: four (0, 2, 4, 6) or eight (0 to 7)"
    )
    content_safety_blocklists: CommaList = Field((), description="the resource's blocklists to apply, comma-separated")
    content_safety_halt_on_blocklist: bool = Field(
        False, description="true: what a blocklist hits is not analysed further"
    )
    moderation_base_url: str | None = Field(
        None, description="endpoint compatible with OpenAI's moderation; empty: OpenAI's own"
    )
    moderation_key: SecretStr | None = Field(None, description="key of that endpoint; a local server may need none")
    moderation_model: str = Field("omni-moderation-latest", description="its model")
    moderation_block_at: float = Field(
        0.5, gt=0, le=1, description="score from which a category blocks; what the service flags blocks at any score"
    )
    # names of an answer
    language_endpoint: str | None = Field(
        None,
        description="Azure AI Language, finds names beside the local list: https://NAME.cognitiveservices.azure.com; empty: off",
    )
    language_key: SecretStr | None = Field(
        None, description="key of that resource; without it the identity of this machine (azure-identity) is used"
    )
    # the web
    web: Literal["off", "serpapi", "sample"] = Field(
        "off", description="web search used when the knowledge base is not enough"
    )
    serpapi_key: SecretStr | None = Field(None, description="SerpAPI key")
    web_personal_data: Literal["removed", "sent"] = Field(
        "removed", description="whether names, numbers and addresses of the customer are taken out of a web query"
    )
    web_allow: CommaList = Field(
        (), description="only these hosts and their subdomains are used, comma-separated; empty: all but the denied"
    )
    web_deny: CommaList = Field((), description="hosts and their subdomains that are never used, comma-separated")
    # bounds
    turn_deadline_s: Seconds = Field(45.0, description="seconds in which a turn ends, one way or the other")
    call_deadline_s: Seconds = Field(20.0, description="seconds for one call of a remote service, retries included")
    retries: int = Field(2, ge=0, le=5, description="further tries of a failed remote call")
    chunk_min_tokens: int = Field(24, ge=1, description="a chunk is merged with its neighbour below this size")
    chunk_max_tokens: int = Field(
        200, ge=32, le=220, description="a chunk never holds more; above 220 the embedding model would cut it"
    )
    state_days: int = Field(30, ge=1, description="days after which a conversation's kept turns are deleted")

    @field_validator(
        "tenants", "service_url_hosts", "phone_regions", "web_allow", "web_deny", "api_keys",
        "content_safety_severities", "content_safety_blocklists", mode="before",
    )  # fmt: skip
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("policy")
    @classmethod
    def _known_policy(cls, value: str) -> str:
        if value not in POLICIES:
            raise ValueError(f"one of {', '.join(sorted(POLICIES))}")
        return value

    @field_validator("phone_regions")
    @classmethod
    def _regions(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(len(v) == 2 and v.isascii() and v.isalpha() and v.isupper() for v in value):
            raise ValueError("two-letter regions such as US,GB")
        return value

    @field_validator(
        "public_url", "openai_base_url", "language_endpoint", "content_safety_endpoint", "moderation_base_url"
    )
    @classmethod
    def _url(cls, value: str | None) -> str | None:
        if value is not None and not is_url(value):
            raise ValueError("an http:// or https:// URL with a host, such as https://bot.example.com")
        return value

    @field_validator("service_url_hosts")
    @classmethod
    def _reply_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        # one label alone, such as .com, would let replies go to anybody's server
        if not all(is_host(v.removeprefix("."), labels=2) for v in value):
            raise ValueError("host names of two labels or more, such as smba.trafficmanager.net or .botframework.com")
        return value

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

    @field_validator("web_allow", "web_deny")
    @classmethod
    def _sites(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(is_host(v.removeprefix("*").removeprefix("."), labels=1) for v in value):
            raise ValueError("host names such as example.com, without path or port")
        return value

    @model_validator(mode="after")
    def _together(self) -> Settings:
        broken = next((why for wrong, why in _conflicts(self) if wrong), None)
        if broken:
            raise ValueError(broken)
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
    def screen_model_path(self) -> Path:
        """The screen's classifier, beside the embedding model that it is made of."""
        return self.model_path.with_name("screen-int8.onnx")

    @property
    def off_policy_path(self) -> Path:
        """Where the company's list of excluded subjects is looked for."""
        return self.off_policy_file or self.home / "off_policy.yaml"

    @property
    def directory_path(self) -> Path:
        """The file that says who belongs to which groups, whether or not it is there."""
        return self.directory_file or self.home / "directory.yaml"


def _conflicts(s: Settings) -> Iterator[tuple[bool, str]]:
    """Settings that contradict each other: whether they do, and the line that says so."""
    no_model = s.openai_base_url is None and s.openai_api_key is None
    model = "needs ATTEST_OPENAI_API_KEY, or ATTEST_OPENAI_BASE_URL for a local server"
    yield s.web == "serpapi" and s.serpapi_key is None, "ATTEST_WEB=serpapi needs ATTEST_SERPAPI_KEY"
    yield s.generator == "openai" and no_model, f"ATTEST_GENERATOR=openai {model}"
    yield s.statement_judge == "model" and no_model, f"ATTEST_STATEMENT_JUDGE=model {model}"
    yield (
        s.language_key is not None and s.language_endpoint is None,
        "ATTEST_LANGUAGE_KEY needs ATTEST_LANGUAGE_ENDPOINT",
    )
    yield from _screen_conflicts(s)
    yield (
        s.chunk_min_tokens * 2 > s.chunk_max_tokens,
        "ATTEST_CHUNK_MIN_TOKENS may be at most half of ATTEST_CHUNK_MAX_TOKENS",
    )
    yield (
        bool(s.bot_app_type != "MultiTenant" and s.bot_app_id and s.bot_tenant_id is None),
        f"ATTEST_BOT_APP_TYPE={s.bot_app_type} needs ATTEST_BOT_TENANT_ID",
    )


def _screen_conflicts(s: Settings) -> Iterator[tuple[bool, str]]:
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


def load_settings(**overrides: object) -> Settings:
    """Settings from environment and `.env`, with `overrides` on top. Raises SettingsError: one line, no secret in it."""
    try:
        return Settings(**overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        raise SettingsError(_line(error, overrides)) from None
    except UnicodeDecodeError:
        raise SettingsError(".env: not readable as UTF-8; allowed is UTF-8 text, one NAME=VALUE to a line") from None
    except OSError as error:
        raise SettingsError(f".env: {(error.strerror or 'cannot be read').lower()}") from None


def said(name: str, value: object, given: Mapping[str, object] | None = None) -> str:
    """`ATTEST_PORT='abc' (environment)`: a setting's variable, its value unless it is a secret, and where it was set."""
    field, where = Settings.model_fields[name], _origin(name, given or {})
    shown = "" if _is_secret(field) else f"={_quoted(name, value)}"
    return f"{PREFIX}{name.upper()}{shown} ({where})"


def without_credentials(text: str) -> str:
    """`text` with user information and the values of the query masked in every URL."""
    return _QUERY_VALUE.sub(r"\1********", _USERINFO.sub("********@", text)) if "://" in text else text


def unknown_names() -> list[tuple[str, str | None]]:
    """Variables that look like settings but are none, in environment and `.env`, each with the nearest known name."""
    known = [PREFIX + name.upper() for name in Settings.model_fields]
    found = {name.upper() for values in _sources() for name in values} - set(known)
    return [
        (name, next(iter(get_close_matches(name, known, n=1)), None))
        for name in sorted(found)
        if name.startswith(PREFIX)
    ]


def _sources() -> tuple[Mapping[str, str | None], Mapping[str, str | None]]:
    """Environment and `.env`, names in lower case, empty values left out."""
    return EnvSettingsSource(Settings).env_vars, DotEnvSettingsSource(Settings).env_vars


def _origin(name: str, given: Mapping[str, object]) -> str:
    if name in given:
        return "option"
    key = f"{PREFIX}{name}".lower()
    return next(
        (at for at, values in zip(("environment", ".env"), _sources(), strict=True) if key in values), "default"
    )


def _line(error: ValidationError, given: Mapping[str, object]) -> str:
    first = error.errors(include_url=False)[0]
    message = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return message
    name = str(first["loc"][0])
    own = first["type"] == "value_error"
    return f"{said(name, _raw(name, given), given)}: allowed is {message if own else _allowed(name, message)}"


def _raw(name: str, given: Mapping[str, object]) -> object:
    key = f"{PREFIX}{name}".lower()
    return next((values[key] for values in _sources() if key in values), None) if name not in given else given[name]


def _quoted(name: str, value: object) -> str:
    text = value if isinstance(value, str) else str(value)
    if name.endswith(("_url", "_endpoint")):
        text = without_credentials(re.sub(r"^(\w+://)?.*@", r"\1********@", text, flags=re.DOTALL))
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def _is_secret(field: FieldInfo) -> bool:
    return "SecretStr" in str(field.annotation)


def _allowed(name: str, message: str) -> str:
    field = Settings.model_fields[name]
    choices = get_args(field.annotation)
    if choices and all(isinstance(choice, str) for choice in choices):
        return f"one of {', '.join(choices)}"
    if field.annotation is int:
        low, high = _bound(field, "ge"), _bound(field, "le")
        return f"a whole number from {low} to {high}" if high is not None else f"a whole number of at least {low}"
    if field.annotation is float:
        return f"a number above {_bound(field, 'gt')}, at most {_bound(field, 'le')}"
    return message[:1].lower() + message[1:]


def _bound(field: FieldInfo, name: str) -> Any:
    return next((getattr(part, name) for part in field.metadata if hasattr(part, name)), None)
