"""Settings of the embedding model whose vectors search uses."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from bot.settings.backends import ListedBackend
from bot.settings.forms import PREFIX, Url
from bot.settings.group import Conflicts, Group
from bot.settings.groups.chat_model import ChatModel

EMBEDDING_WIDTHS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
"""Numbers of a vector of OpenAI's own models, by the names they have there."""


class Embedding(Group):
    """The embedding model: the one on this machine, or a server of OpenAI's embeddings."""

    kind: Literal["embedded", "openai"] = Field(
        "embedded",
        alias="embedder",
        description="whose vectors search uses: the model on this machine, or any server of OpenAI's embeddings; ingest again after a change",
    )
    base_url: Url | None = Field(
        None,
        alias="embedding_base_url",
        description="endpoint of the embedding model; default ATTEST_OPENAI_BASE_URL; Azure: https://NAME.openai.azure.com/openai/v1/",
    )
    api_key: SecretStr | None = Field(
        None,
        alias="embedding_api_key",
        description="key of the embedding model's endpoint; default ATTEST_OPENAI_API_KEY where the endpoint is the same",
    )
    model: str = Field(
        "text-embedding-3-small",
        alias="embedding_model",
        description="embedding model: its name, or that of its deployment on Azure",
    )
    width: int | None = Field(
        None,
        alias="embedding_width",
        ge=8,
        le=4096,
        description="numbers of a vector of the embedding model, sent as dimensions; needed where its name is not one of OpenAI's own",
    )

    at_once: int = Field(
        4,
        alias="embedding_parallel",
        ge=1,
        le=32,
        description="batches of 64 passages that an ingest sends to the embedding service at the same time",
    )

    batch: Literal["off", "on"] = Field(
        "off",
        alias="embedding_batch",
        description="on: an ingest hands passages in as jobs of OpenAI's batch API, done within 24 hours at its own price, and waits for them",
    )

    @property
    def numbers(self) -> int:
        """Numbers of a vector of the service."""
        return self.width or EMBEDDING_WIDTHS[self.model]

    @property
    def known_width(self) -> int:
        """The same; 0 where it is not known."""
        return self.width or EMBEDDING_WIDTHS.get(self.model, 0)

    def listed_in(self, chat: ChatModel) -> tuple[ListedBackend, ...]:
        """The backends of the list that give these vectors; none where the list has no embedding models, or none is used."""
        if self.kind != "openai" or chat.backends is None or not chat.backends.embeddings:
            return ()
        return chat.backends.embeddings_within(self.model, self.known_width, EMBEDDING_WIDTHS)

    def url_beside(self, chat: ChatModel) -> str | None:
        """The address of the service that embeds, that of the chat model where none is given; None is OpenAI's own."""
        return self.base_url or chat.base_url

    def key_beside(self, chat: ChatModel) -> SecretStr | None:
        """The key for that address. The chat model's key goes to the chat model's address alone."""
        same = self.base_url in (None, chat.base_url)
        return self.api_key or (chat.api_key if same else None)

    def shares_door_of(self, chat: ChatModel) -> bool:
        """True where texts are embedded at the chat model's address, with its key: then in the same header, or by the same token."""
        return self.url_beside(chat) == chat.base_url and self.api_key is None


def embedding_conflicts(embedding: Embedding, chat: ChatModel) -> Conflicts:
    """Rules on the embedding service: nothing is said of it where it is not used, nothing is missing where it is."""
    service = embedding.kind == "openai"
    idle = [name for name in embedding.given() if name != "embedder"]
    if idle and not service:
        yield True, f"{PREFIX}{idle[0].upper()} needs ATTEST_EMBEDDER=openai; embedded leaves it unused"
    listed = service and chat.backends is not None and bool(chat.backends.embeddings)
    doors = [name for name in ("embedding_base_url", "embedding_api_key") if listed and name in embedding.given()]
    yield (
        bool(doors),
        f"{PREFIX}{''.join(doors[:1]).upper()} and ATTEST_OPENAI_BACKENDS with embeddings: allowed is one of them; the file says it for each backend",
    )
    yield (
        service and not listed and embedding.url_beside(chat) is None and embedding.key_beside(chat) is None,
        "ATTEST_EMBEDDER=openai needs ATTEST_EMBEDDING_API_KEY, or ATTEST_EMBEDDING_BASE_URL for a local server",
    )
    yield (
        service and embedding.width is None and embedding.model not in EMBEDDING_WIDTHS,
        f"ATTEST_EMBEDDING_MODEL={embedding.model} needs ATTEST_EMBEDDING_WIDTH; known without it are {', '.join(EMBEDDING_WIDTHS)}",
    )
    yield (
        listed and embedding.batch == "on",
        "ATTEST_EMBEDDING_BATCH=on and ATTEST_OPENAI_BACKENDS with embeddings: allowed is one of them; a job stays with the service that has it",
    )
    yield (
        listed and not embedding.listed_in(chat),
        f"ATTEST_OPENAI_BACKENDS: no backend within the boundaries gives vectors of {embedding.model} with {embedding.known_width} numbers; allowed is one at least (ATTEST_EMBEDDING_MODEL, ATTEST_EMBEDDING_WIDTH)",
    )
