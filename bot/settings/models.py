"""Settings of models: who drafts, grades and embeds, what it costs, and what a turn may take of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr, field_validator

from bot.settings.forms import Price, is_scope, is_word
from bot.settings.serving import Serving

OPENAI_MODEL = "gpt-6-luna"
"""What OpenAI names in place of gpt-4o-mini, which it ends on 14 January 2027 (developers.openai.com/api/docs/deprecations, looked up on
22 November 2026). What can be had changes by the month: a deployment sets its own.
"""


class Models(Serving):
    """The chat model, the embedding model, their prices."""

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
    openai_model: str = Field(OPENAI_MODEL, description="chat model: its name, or that of its deployment on Azure")
    openai_auth: Literal["bearer", "api-key", "both"] = Field(
        "bearer",
        description="header in which the chat model's key goes: api-key is what gateways such as API Management take",
    )
    openai_scope: str | None = Field(
        None,
        description="whom the token for an Azure endpoint without a key is for; default https://cognitiveservices.azure.com/.default, in a national cloud its own",
    )
    openai_api: Literal["chat", "responses"] = Field(
        "chat", description="interface of the chat model's endpoint: chat is what every server understands"
    )
    openai_stream: Literal["off", "on"] = Field(
        "off",
        description="on: the chat model's replies come in pieces, for proxies that cut a silent connection; checked whole as ever",
    )
    openai_effort: str = Field(
        "auto",
        description="how hard the chat model thinks, passed on as reasoning effort: none, minimal, low, medium, high or its own word; auto leaves it to the model",
    )
    openai_thinking_tokens: int = Field(
        4096,
        ge=0,
        le=25_000,
        description="tokens of room for thinking in each reply of a chat model that thinks; four times that after a cut reply; 0: none",
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
    statement_judge: Literal["auto", "off", "model"] = Field(
        "auto",
        description="who judges claims that the check leaves in doubt: model is the chat model, one call an answer; auto: it, where one is configured",
    )
    judge_model: str | None = Field(
        None, description="chat model that judges claims in doubt, at the same endpoint; default ATTEST_OPENAI_MODEL"
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

    @property
    def chat_model_uses(self) -> tuple[str, ...]:
        """The settings that switch the chat model on by name, the judge aside."""
        used = {"ATTEST_GENERATOR": self.generator == "openai"}
        used |= {f"ATTEST_{n.upper()}": getattr(self, n) == "model" for n in ("grader", "rewriter", "hyde")}
        return tuple(name for name, on in used.items() if on)

    @property
    def judges(self) -> bool:
        """True if a chat model judges what the check leaves in doubt: where one is configured, unless it is switched off.

        A key or address that is there for an embedding model alone configures no chat model.
        """
        if self.statement_judge != "auto":
            return self.statement_judge == "model"
        reached = self.openai_base_url is not None or self.openai_api_key is not None
        return reached and (bool(self.chat_model_uses) or self.embedder == "embedded")

    @field_validator("openai_effort")
    @classmethod
    def _effort(cls, value: str) -> str:
        if not is_word(value):
            raise ValueError("auto, or one word such as low, of letters, digits, - and _")
        return value

    @field_validator("openai_scope")
    @classmethod
    def _scope(cls, value: str | None) -> str | None:
        if value is not None and not is_scope(value):
            raise ValueError("a scope that ends in /.default, such as https://ai.azure.com/.default")
        return value

    @field_validator("price_currency")
    @classmethod
    def _currency(cls, value: str) -> str:
        if not (len(value) == 3 and value.isascii() and value.isalpha() and value.isupper()):
            raise ValueError("three capital letters such as USD or EUR")
        return value
