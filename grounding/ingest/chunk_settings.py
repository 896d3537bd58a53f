"""Chunking settings as a record, and how an index notes with which settings a document was chunked.

Three ways. `paragraphs` is the default (seed requirement 4-08). `characters` is the recursive splitter of the LangGraph tutorial, 1000
characters of which 200 are shared with the chunk before; `tokens` is the 250 tokens without overlap that stand beside it there (2-02).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["paragraphs", "characters", "tokens"]
USUAL: dict[Kind, tuple[int, int]] = {"characters": (1000, 200), "tokens": (250, 0)}
"""Size and overlap of the LangGraph tutorial."""
READ_AT_ONCE = 220
"""GPT-4o tokens of a chunk up to which the embedding model reads it in one piece: some 256 word pieces, title included."""
_MARK = " | "


@dataclass(frozen=True, slots=True)
class Chunking:
    """One way to chunk. `size` is the most that a chunk holds and `overlap` the most that it shares with the one before, in characters
    (code points) or GPT-4o tokens.

    Paragraphs are counted in tokens, share nothing, and hold at least `minimum`, which the other ways do not have. Raises ValueError unless
    0 <= 2 * overlap <= size, and for paragraphs 0 < 2 * minimum <= size and no overlap.
    """

    kind: Kind = "paragraphs"
    size: int = 200
    overlap: int = 0
    minimum: int = 24

    def __post_init__(self) -> None:
        if self.size < 1 or not 0 <= 2 * self.overlap <= self.size:
            raise ValueError("the overlap must not be negative, and at most half of the size")
        if self.kind == "paragraphs" and (self.overlap or not 0 < 2 * self.minimum <= self.size):
            raise ValueError("the minimum must be positive and at most half of the maximum; paragraphs share nothing")

    def __str__(self) -> str:
        """Name of the settings, such as `paragraphs 24-200`, `characters 1000/200` or `tokens 250/0`; equal names chunk alike."""
        limits = f"{self.minimum}-{self.size}" if self.kind == "paragraphs" else f"{self.size}/{self.overlap}"
        return f"{self.kind} {limits}"


DEFAULT = Chunking()
"""Also what a stamp without a mark means: were the default another, this meaning would have to stay."""


def marked(stamp: str, chunking: Chunking) -> str:
    """The stamp that an index keeps of a document: the stamp of its file, with the name of its chunking where that is not the default."""
    return stamp if chunking == DEFAULT else f"{stamp}{_MARK}{chunking}"


def unmarked(kept: str) -> tuple[str, str]:
    """Inverse of `marked`: the stamp of the file, and the name of the chunking."""
    stamp, _, way = kept.partition(_MARK)
    return stamp, way or str(DEFAULT)
