"""GPT-4o byte-pair tokens (vocabulary o200k), counted offline.

semantic-text-splitter carries the vocabulary but tells only whether a text fits a capacity, so a count is the
smallest capacity that keeps the text whole. Byte-pair encoding works on pieces that a fixed pattern cuts first; a
text is therefore cut where that pattern always cuts, and the words, which repeat, are counted once each.
"""

from __future__ import annotations

import re
from functools import lru_cache

from semantic_text_splitter import TextSplitter

MODEL = "gpt-4o"

# In the o200k pattern a space can stand inside a piece only behind other white space, a piece that ends in an ASCII
# letter or digit holds no line break, a piece that ends in a line break goes on only with / or white space, and
# punctuation (CJK here: such text has no spaces) never follows a letter inside a piece.
_CUT = re.compile(r"(?<=\S)(?= )|(?<=[A-Za-z0-9])(?=\n)|(?<=\n)(?=[A-Za-z0-9])|(?<=[^\W_])(?=[、。，；：！？「」（）])")


def count_tokens(text: str) -> int:
    """Tokens of `text` in the GPT-4o vocabulary; special-token names such as <|endoftext|> count as plain text."""
    return sum(map(_count_piece, _CUT.split(text))) if text else 0


def fits(text: str, tokens: int) -> bool:
    """True if `text` has at most `tokens` tokens. A token holds at least one byte, so short texts cost nothing."""
    return len(text) * 4 <= tokens or len(text.encode("utf-8", "replace")) <= tokens or count_tokens(text) <= tokens


@lru_cache(maxsize=512)
def splitter(tokens: int) -> TextSplitter:
    """A splitter that fills chunks up to `tokens` and keeps white space; the first call loads the vocabulary (0.3 s)."""
    return TextSplitter.from_tiktoken_model(MODEL, tokens, trim=False)


@lru_cache(maxsize=131072)
def _count_piece(piece: str) -> int:
    if len(piece) < 2:
        return len(piece) if piece.isascii() else _bisect(piece)
    return _bisect(piece)


def _bisect(piece: str) -> int:
    guess = max(1, len(piece.encode("utf-8", "replace")) // 5)
    low, high = 0, guess  # the count is more than `low`, and once found whole at most `high`
    while not _whole(piece, high):
        low, high = high, high + max(1, high // 2)
    while high - low > 1:
        middle = max((low + high) // 2, low + 1) if low else max(high * 3 // 4, 1)
        if _whole(piece, middle):
            high = middle
        else:
            low = middle
    return high


def _whole(piece: str, tokens: int) -> bool:
    return len(splitter(tokens).chunks(piece)) == 1
