"""Settings of how documents are cut into passages."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bot.settings.group import Conflicts, Group
from grounding.ingest.chunk_settings import USUAL, Chunking


class Chunks(Group):
    """The way of cutting (by paragraphs, characters or tokens), and the sizes."""

    kind: Literal["paragraphs", "characters", "tokens"] = Field(
        "paragraphs", alias="chunks", description="how documents are cut; another way cuts them anew at the next ingest"
    )
    size: int | None = Field(
        None,
        alias="chunk_size",
        ge=20,
        le=8000,
        description="most that a chunk of characters (default 1000) or tokens (250, 2000 at most) holds",
    )
    overlap: int | None = Field(
        None,
        alias="chunk_overlap",
        ge=0,
        le=4000,
        description="most that a chunk of characters or tokens shares with the one before; default 200 characters, 0 tokens",
    )
    min_tokens: int = Field(
        24,
        alias="chunk_min_tokens",
        ge=1,
        description="tokens below which a chunk of paragraphs is merged with its neighbour",
    )
    max_tokens: int = Field(
        200,
        alias="chunk_max_tokens",
        ge=32,
        le=220,
        description="most tokens of a chunk of paragraphs; above 220 the embedding model would not read it at once",
    )

    @property
    def fill(self) -> tuple[int, int]:
        """Size and overlap of chunks of characters or tokens."""
        size, overlap = USUAL[self.kind]
        return size if self.size is None else self.size, overlap if self.overlap is None else self.overlap

    @property
    def chunking(self) -> Chunking:
        """These settings as the ingest takes them."""
        if self.kind == "paragraphs":
            return Chunking("paragraphs", self.max_tokens, minimum=self.min_tokens)
        return Chunking(self.kind, *self.fill)


def chunk_conflicts(chunks: Chunks) -> Conflicts:
    """Rules on sizes: they can be kept together, and belong to the way of cutting."""
    short = chunks.min_tokens * 2 > chunks.max_tokens
    yield short, "ATTEST_CHUNK_MIN_TOKENS may be at most half of ATTEST_CHUNK_MAX_TOKENS"
    by_paragraph = chunks.kind == "paragraphs"
    idle = ("size", "overlap") if by_paragraph else ("min_tokens", "max_tokens")
    needed = "characters or tokens" if by_paragraph else "paragraphs"
    for field in idle:
        given = field in chunks.model_fields_set and getattr(chunks, field) is not None
        yield given, f"{chunks.variable(field)} needs ATTEST_CHUNKS={needed}"
    if not by_paragraph:
        size, overlap = chunks.fill
        yield chunks.kind == "tokens" and size > 2000, "ATTEST_CHUNK_SIZE may be at most 2000 with ATTEST_CHUNKS=tokens"
        yield (
            2 * overlap > size,
            f"ATTEST_CHUNK_OVERLAP, here {overlap}, may be at most half of ATTEST_CHUNK_SIZE, here {size}",
        )
