"""Settings of the chat model: where it is reached, and what it is used for."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, field_validator

from bot.settings.backends import BackendList, read_backends
from bot.settings.forms import Url, is_scope, is_word
from bot.settings.group import Conflicts, Group
from grounding.services.cloud import is_azure_ai

OPENAI_MODEL = "gpt-6-luna"
"""What OpenAI names in place of gpt-4o-mini, which it ends on 14 January 2027 (developers.openai.com/api/docs/deprecations, looked up on
22 November 2026). What can be had changes by the month: a deployment sets its own.
"""


class ChatModel(Group):
    """The chat model's server, what it is told, and the parts of a turn that it plays."""

    generator: Literal["extractive", "openai", "demo"] = Field(
        "extractive",
        alias="generator",
        description="who drafts: extractive quotes, openai is any compatible server, demo plants errors",
    )
    base_url: Url | None = Field(
        None,
        alias="openai_base_url",
        description="OpenAI-compatible endpoint; Azure: https://NAME.openai.azure.com/openai/v1/",
    )
    api_key: SecretStr | None = Field(
        None,
        alias="openai_api_key",
        description="key of the chat model's endpoint; without it an Azure one gets this machine's identity, a local server nothing",
    )
    name: str = Field(
        OPENAI_MODEL, alias="openai_model", description="chat model: its name, or that of its deployment on Azure"
    )
    auth: Literal["bearer", "api-key", "both"] = Field(
        "bearer",
        alias="openai_auth",
        description="header in which the chat model's key goes: api-key is what gateways such as API Management take",
    )
    scope: str | None = Field(
        None,
        alias="openai_scope",
        description="whom the token for an Azure endpoint without a key is for; default https://cognitiveservices.azure.com/.default, in a national cloud its own",
    )
    backends_file: Path | None = Field(
        None,
        alias="openai_backends",
        description="several deployments in place of one endpoint, of chat and of embedding models, by order and weight (YAML)",
    )
    api: Literal["chat", "responses"] = Field(
        "chat",
        alias="openai_api",
        description="interface of the chat model's endpoint: chat is what every server understands",
    )
    stream: Literal["off", "on"] = Field(
        "off",
        alias="openai_stream",
        description="on: the chat model's replies come in pieces, for proxies that cut a silent connection; checked whole as ever",
    )
    effort: str = Field(
        "auto",
        alias="openai_effort",
        description="how hard the chat model thinks, passed on as reasoning effort: none, minimal, low, medium, high or its own word; auto leaves it to the model",
    )
    thinking_tokens: int = Field(
        4096,
        alias="openai_thinking_tokens",
        ge=0,
        le=25_000,
        description="tokens of room for thinking in each reply of a chat model that thinks; four times that after a cut reply; 0: none",
    )
    grader: Literal["embedded", "model"] = Field(
        "embedded",
        alias="grader",
        description="who grades passages: model is the chat model, in the style of the policy",
    )
    rewriter: Literal["off", "model"] = Field(
        "off",
        alias="rewriter",
        description="who rewrites queries, imagines answers to search for, and plans, as the policy wants it",
    )
    hyde: Literal["off", "model"] = Field(
        "off",
        alias="hyde",
        description="who imagines, at ingest, questions and answers of each passage that are searched beside it: model is the chat model",
    )
    judge: Literal["auto", "off", "model"] = Field(
        "auto",
        alias="statement_judge",
        description="who judges claims that the check leaves in doubt: model is the chat model, one call an answer; auto: it, where one is configured",
    )
    judge_name: str | None = Field(
        None,
        alias="judge_model",
        description="chat model that judges claims in doubt, at the same endpoint; default ATTEST_OPENAI_MODEL",
    )
    pseudonyms: Literal["off", "on"] = Field(
        "off",
        alias="pseudonyms",
        description="on: prompts have placeholders such as [PERSON_1] for the customer's personal data, put back in the reply; AI Language gets it masked",
    )

    @property
    def uses(self) -> tuple[str, ...]:
        """The settings that switch the chat model on by name, the judge aside."""
        used = {"generator": self.generator == "openai"}
        used |= {name: getattr(self, name) == "model" for name in ("grader", "rewriter", "hyde")}
        return tuple(self.variable(name) for name, on in used.items() if on)

    @cached_property
    def backends(self) -> BackendList | None:
        """The list of backends, as it was when it was first looked at; None where there is none. Raises SettingsError."""
        return None if self.backends_file is None else read_backends(self.backends_file)

    @property
    def several(self) -> bool:
        """True where the chat model stands in the list of backends."""
        return self.backends is not None and bool(self.backends.chat)

    @property
    def is_reached(self) -> bool:
        """True if it is said where the model is, or with which key."""
        return self.base_url is not None or self.api_key is not None or self.several

    @property
    def reasoning_effort(self) -> str | None:
        """The effort that the chat model is asked for; None: it is told of none."""
        return None if self.effort == "auto" else self.effort

    @field_validator("effort")
    @classmethod
    def _effort(cls, value: str) -> str:
        if not is_word(value):
            raise ValueError("auto, or one word such as low, of letters, digits, - and _")
        return value

    @field_validator("scope")
    @classmethod
    def _scope(cls, value: str | None) -> str | None:
        if value is not None and not is_scope(value):
            raise ValueError("a scope that ends in /.default, such as https://ai.azure.com/.default")
        return value


def backend_conflicts(model: ChatModel) -> Conflicts:
    """Rules on the list of backends: what it says of each is not said once more for all of them."""
    one = ("base_url", "api_key", "name", "auth", "scope", "judge_name")
    given = [field for field in one if model.several and field in model.model_fields_set]
    yield (
        bool(given),
        f"{model.variable(given[0]) if given else ''} and ATTEST_OPENAI_BACKENDS with chat: allowed is one of them; the file says it for each backend",
    )


def role_conflicts(model: ChatModel, *, judges: bool) -> Conflicts:
    """Rules on what the chat model is used for: it must be reachable. `judges`: whether claims in doubt are judged."""
    needed = "needs ATTEST_OPENAI_API_KEY, or ATTEST_OPENAI_BASE_URL for a local server or a sign-in to Azure"
    missing = not model.is_reached
    yield model.generator == "openai" and missing, f"ATTEST_GENERATOR=openai {needed}"
    for field in ("judge", "grader", "rewriter", "hyde"):
        yield getattr(model, field) == "model" and missing, f"{model.variable(field)}=model {needed}"
    unasked = "ATTEST_JUDGE_MODEL needs a judge: ATTEST_STATEMENT_JUDGE=model, or auto with a chat model configured"
    yield model.judge_name is not None and not judges, unasked


def key_conflicts(model: ChatModel) -> Conflicts:
    """Rules on the key: no header without one, and no scope where no token is asked for."""
    keyless = model.auth != "bearer" and model.api_key is None
    yield keyless, f"ATTEST_OPENAI_AUTH={model.auth} needs ATTEST_OPENAI_API_KEY; without one there is no key to send"
    signs_in = model.api_key is None and is_azure_ai(model.base_url or "")
    yield (
        model.scope is not None and not signs_in,
        "ATTEST_OPENAI_SCOPE needs an Azure endpoint in ATTEST_OPENAI_BASE_URL, and no ATTEST_OPENAI_API_KEY: only there is a token asked for",
    )
