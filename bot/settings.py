"""Deployment settings: the only place that reads the environment.

Every setting is an environment variable `ATTEST_…` or a line of `.env` in the working folder; the environment wins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

from pydantic import SecretStr, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource, SettingsConfigDict

from bot.setting_groups import Groups
from grounding.address import is_loopback
from grounding.chunking import USUAL, Chunking
from grounding.cloud import cloud_of, is_graph
from grounding.errors import SettingsError
from grounding.policy import Policy
from grounding.policy_files import read_policies

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # onnxruntime reads it at import; nothing imports it before this

PREFIX = "ATTEST_"
SAMPLE = Path(__file__).parent / "sample"
"""The knowledge base that comes with the product: kb/, web/, directory.yaml, golden.jsonl."""
EMBEDDING_WIDTHS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
"""Numbers of a vector of OpenAI's own models, by the names they have there."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_USERINFO = re.compile(r"(?<=://)[^/\s]*@")
_QUERY_VALUE = re.compile(r"(?<=[?&;#])([^=&;#\s]*=)[^&;#\s]*")
_SHOWN = 80


class Settings(Groups):
    """All settings with their defaults. Secrets are `SecretStr`, so no printed form shows them."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

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
    def embedding_url(self) -> str | None:
        """Where texts are embedded by a service; None is OpenAI's own address."""
        return self.embedding_base_url or self.openai_base_url

    @property
    def embedding_key(self) -> SecretStr | None:
        """The key for that address. The chat model's key goes to the chat model's address alone."""
        same = self.embedding_base_url in (None, self.openai_base_url)
        return self.embedding_api_key or (self.openai_api_key if same else None)

    @property
    def embedding_numbers(self) -> int:
        """Numbers of a vector of the service."""
        return self.embedding_width or EMBEDDING_WIDTHS[self.embedding_model]

    @property
    def screen_model_path(self) -> Path:
        """The screen's classifier, beside the embedding model that it is made of."""
        return self.model_path.with_name("screen-int8.onnx")

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


def _conflicts(s: Settings) -> Iterator[tuple[bool, str]]:
    """Settings that contradict each other: whether they do, and the line that says so."""
    no_model = s.openai_base_url is None and s.openai_api_key is None
    model = "needs ATTEST_OPENAI_API_KEY, or ATTEST_OPENAI_BASE_URL for a local server or a sign-in to Azure"
    yield from _web_conflicts(s)
    yield from _trace_conflicts(s)
    yield s.generator == "openai" and no_model, f"ATTEST_GENERATOR=openai {model}"
    yield s.statement_judge == "model" and no_model, f"ATTEST_STATEMENT_JUDGE=model {model}"
    yield s.grader == "model" and no_model, f"ATTEST_GRADER=model {model}"
    yield s.rewriter == "model" and no_model, f"ATTEST_REWRITER=model {model}"
    yield s.hyde == "model" and no_model, f"ATTEST_HYDE=model {model}"
    yield from _language_conflicts(s)
    yield from _cloud_conflicts(s)
    yield from _embedder_conflicts(s)
    yield from _price_conflicts(s)
    yield from _directory_conflicts(s)
    yield from _search_conflicts(s)
    yield from _screen_conflicts(s)
    yield from _chunk_conflicts(s)
    yield (
        bool(s.bot_app_type != "MultiTenant" and s.bot_app_id and s.bot_tenant_id is None),
        f"ATTEST_BOT_APP_TYPE={s.bot_app_type} needs ATTEST_BOT_TENANT_ID",
    )


def _cloud_conflicts(s: Settings) -> Iterator[tuple[bool, str]]:
    """A token is for one cloud: an endpoint of another would get one that it refuses, and that is not its to see."""
    services = (
        ("openai_base_url", "openai_api_key"),
        ("embedding_base_url", "embedding_key"),
        *((f"{name}_endpoint", f"{name}_key") for name in ("search", "content_safety", "language")),
    )
    for endpoint, key in services:
        url = getattr(s, endpoint)
        cloud = cloud_of(url) if url and getattr(s, key) is None else None
        yield cloud not in (None, s.cloud), f"{PREFIX}{endpoint.upper()} without a key needs ATTEST_CLOUD={cloud}"


def _directory_conflicts(s: Settings) -> Iterator[tuple[bool, str]]:
    graph = s.directory == "graph"
    both = "ATTEST_DIRECTORY_FILE needs ATTEST_DIRECTORY=file; with graph nobody would read it"
    yield graph and s.directory_file is not None, both
    for name in ("directory_cache_s", "graph_groups_file", "graph_endpoint"):
        yield name in s.model_fields_set and not graph, f"{PREFIX}{name.upper()} needs ATTEST_DIRECTORY=graph"
    file, url = s.graph_groups_file, s.graph_endpoint
    yield file is not None and not file.is_file(), f"ATTEST_GRAPH_GROUPS_FILE={file} is not there"
    elsewhere = bool(url) and not is_graph(url or "") and not is_loopback(url or "")
    yield (
        elsewhere,
        "ATTEST_GRAPH_ENDPOINT: allowed is an endpoint of Microsoft Graph, such as https://graph.microsoft.us",
    )


def _chunk_conflicts(s: Settings) -> Iterator[tuple[bool, str]]:
    short = s.chunk_min_tokens * 2 > s.chunk_max_tokens
    yield short, "ATTEST_CHUNK_MIN_TOKENS may be at most half of ATTEST_CHUNK_MAX_TOKENS"
    by_paragraph = s.chunks == "paragraphs"
    idle = ("chunk_size", "chunk_overlap") if by_paragraph else ("chunk_min_tokens", "chunk_max_tokens")
    needed = "characters or tokens" if by_paragraph else "paragraphs"
    for name in idle:
        given = name in s.model_fields_set and getattr(s, name) is not None
        yield given, f"{PREFIX}{name.upper()} needs ATTEST_CHUNKS={needed}"
    if not by_paragraph:
        size, overlap = s.chunk_fill
        yield s.chunks == "tokens" and size > 2000, "ATTEST_CHUNK_SIZE may be at most 2000 with ATTEST_CHUNKS=tokens"
        yield (
            2 * overlap > size,
            f"ATTEST_CHUNK_OVERLAP, here {overlap}, may be at most half of ATTEST_CHUNK_SIZE, here {size}",
        )


def _trace_conflicts(s: Settings) -> Iterator[tuple[bool, str]]:
    elsewhere = "traces_endpoint" in s.model_fields_set and s.traces != "otlp"
    yield elsewhere, f"ATTEST_TRACES_ENDPOINT needs ATTEST_TRACES=otlp; {s.traces} leaves it unused"
    nowhere = s.traces_content == "on" and s.traces == "off"
    yield nowhere, "ATTEST_TRACES_CONTENT=on needs ATTEST_TRACES=console or otlp"


def _web_conflicts(s: Settings) -> Iterator[tuple[bool, str]]:
    needed = {"serpapi": ["serpapi_key"], "tavily": ["tavily_key"], "bing": ["bing_endpoint", "bing_key"]}
    for name in needed.get(s.web, ()):
        yield getattr(s, name) is None, f"ATTEST_WEB={s.web} needs {PREFIX}{name.upper()}"


def _embedder_conflicts(s: Settings) -> Iterator[tuple[bool, str]]:
    service = s.embedder == "openai"
    idle = sorted(n for n in s.model_fields_set if n.startswith("embedding_"))
    if idle and not service:
        yield True, f"{PREFIX}{idle[0].upper()} needs ATTEST_EMBEDDER=openai; embedded leaves it unused"
    yield (
        service and s.embedding_url is None and s.embedding_key is None,
        "ATTEST_EMBEDDER=openai needs ATTEST_EMBEDDING_API_KEY, or ATTEST_EMBEDDING_BASE_URL for a local server",
    )
    yield (
        service and s.embedding_width is None and s.embedding_model not in EMBEDDING_WIDTHS,
        f"ATTEST_EMBEDDING_MODEL={s.embedding_model} needs ATTEST_EMBEDDING_WIDTH; known without it are {', '.join(EMBEDDING_WIDTHS)}",
    )


def _price_conflicts(s: Settings) -> Iterator[tuple[bool, str]]:
    """A cost that leaves something out would be believed."""
    given = sorted(n for n in s.model_fields_set if n.startswith("price_") and getattr(s, n) is not None)
    for name in ("price_input", "price_output"):
        yield (
            bool(given) and getattr(s, name) is None,
            f"{PREFIX}{given[0].upper() if given else ''} needs {PREFIX}{name.upper()}",
        )
    cached, full = s.price_cached_input, s.price_input
    yield (
        cached is not None and full is not None and cached > full,
        "ATTEST_PRICE_CACHED_INPUT may be at most ATTEST_PRICE_INPUT",
    )
    yield (
        bool(given) and s.embedder == "openai" and s.price_embedding is None,
        "ATTEST_PRICE_INPUT with ATTEST_EMBEDDER=openai needs ATTEST_PRICE_EMBEDDING; 0 where embeddings cost nothing",
    )
    yield (
        bool(s.turn_cost) and not given,
        "ATTEST_TURN_COST needs ATTEST_PRICE_INPUT and ATTEST_PRICE_OUTPUT: no prices are built in",
    )


def _search_conflicts(s: Settings) -> Iterator[tuple[bool, str]]:
    azure = s.search == "azure"
    yield azure and s.search_endpoint is None, "ATTEST_SEARCH=azure needs ATTEST_SEARCH_ENDPOINT"
    idle = sorted(n for n in s.model_fields_set if n.startswith("search_"))
    if idle and not azure:  # or somebody believes that their answers come from another index
        yield True, f"{PREFIX}{idle[0].upper()} needs ATTEST_SEARCH=azure; embedded leaves it unused"
    embedded_only = (
        "ATTEST_HYDE=model needs ATTEST_SEARCH=embedded: what is imagined of passages is searched on this machine alone"
    )
    yield azure and s.hyde == "model", embedded_only


def _language_conflicts(s: Settings) -> Iterator[tuple[bool, str]]:
    missing = s.language_endpoint is None
    yield s.language_key is not None and missing, "ATTEST_LANGUAGE_KEY needs ATTEST_LANGUAGE_ENDPOINT"
    for name in ("entities", "summarizer", "pii"):
        by_service = getattr(s, name) == "language"
        yield by_service and missing, f"{PREFIX}{name.upper()}=language needs ATTEST_LANGUAGE_ENDPOINT"
    waits = "summarizer_deadline_s" in s.model_fields_set and s.summarizer == "embedded"
    yield waits, "ATTEST_SUMMARIZER_DEADLINE_S needs ATTEST_SUMMARIZER=language"
    idle = (
        "ATTEST_LANGUAGE_ENDPOINT is used by nothing: ATTEST_ENTITIES, ATTEST_SUMMARIZER or ATTEST_PII may be language"
    )
    yield not missing and not s.language_uses, idle


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
    if field.annotation in (int, int | None):
        low, high = _bound(field, "ge"), _bound(field, "le")
        return f"a whole number from {low} to {high}" if high is not None else f"a whole number of at least {low}"
    if field.annotation is float:
        return f"a number above {_bound(field, 'gt')}, at most {_bound(field, 'le')}"
    return message[:1].lower() + message[1:]


def _bound(field: FieldInfo, name: str) -> Any:
    return next((getattr(part, name) for part in field.metadata if hasattr(part, name)), None)
