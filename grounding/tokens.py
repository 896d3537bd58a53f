"""Token counts of GPT-4o's byte-pair encoding (vocabulary o200k), offline.

semantic-text-splitter carries the vocabulary but tells only whether a text fits a capacity, so a count is the smallest capacity that keeps
the text whole. Byte-pair encoding works on pieces that a fixed pattern cuts first; a text is therefore cut where that pattern always cuts,
and the words, which repeat, are counted once each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from semantic_text_splitter import TextSplitter

MODEL = "gpt-4o"
CHAT_OVERHEAD = 8
"""Tokens a chat format adds around two messages (OpenAI's cookbook counts 3 a message and 3 for the reply)."""
_LONG = 100  # code points without a cut from which counting is slow
_SLICE = 400
"""Code points of a run without a cut that are counted at once: time grows with their square, and nobody writes longer ones."""

# The o200k pattern always cuts before white space that follows something else, but for line breaks, which punctuation
# takes along; behind those it cuts before a letter or digit. Letters and digits never take punctuation behind them.
_SPACE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_PIECE = re.compile(
    rf"[{_SPACE}]*[^{_SPACE}]+"
    rf"(?:(?<![A-Za-z0-9])[\r\n]+(?![A-Za-z0-9])[{_SPACE}]*[^{_SPACE}]*)*"
    rf"(?:(?<![A-Za-z0-9])[\r\n]+(?=[A-Za-z0-9]))?"
    rf"|[{_SPACE}]+"
)
_INNER_CUT = re.compile(r"(?<=[^\W_])(?=[、。，；：！？「」（）])")


def count_tokens(text: str) -> int:
    """Number of tokens of `text` in the GPT-4o vocabulary; special-token names such as <|endoftext|> count as plain text.

    Exact, but for white space that mixes spaces between line breaks, where the count may be a token or two too high (cleaned text, as
    readers give it, has none), and for runs of more than 400 code points without a cut (ruled lines, base64), where it may be off by a
    token or two for each 400. Time is linear in the text.
    """
    return sum(map(_count_piece, _PIECE.findall(text)))


def asked_tokens(system: str, user: str, schema: Mapping[str, Any] | None = None) -> int:
    """Number of tokens of a prompt of two messages, and of the JSON schema of its reply; other models count somewhat otherwise."""
    form = json.dumps(schema) if schema is not None else ""
    return sum(map(count_tokens, (system, user, form))) + CHAT_OVERHEAD


def fits(text: str, tokens: int) -> bool:
    """True if `text` has at most `tokens` tokens. A token holds at least one byte, so short texts cost nothing."""
    if len(text) * 4 <= tokens or len(text.encode("utf-8", "replace")) <= tokens:
        return True
    pieces = _PIECE.findall(text)
    if max(map(len, pieces)) > _LONG:
        return _whole(text, tokens)  # one look instead of a search for the exact number
    return sum(map(_count_piece, pieces)) <= tokens


@lru_cache(maxsize=512)
def splitter(tokens: int) -> TextSplitter:
    """A text splitter that fills chunks up to `tokens` and keeps white space; the first call loads the vocabulary (0.3 s)."""
    return TextSplitter.from_tiktoken_model(MODEL, tokens, trim=False)


def _count_piece(piece: str) -> int:
    if len(piece) <= _SLICE:
        return _count_short(piece)
    return sum(_count_short(piece[at : at + _SLICE]) for at in range(0, len(piece), _SLICE))


@lru_cache(maxsize=131072)
def _count_short(piece: str) -> int:
    if piece.isascii():
        return _bisect(piece) if len(piece) > 1 else len(piece)
    return sum(map(_bisect, _INNER_CUT.split(piece)))


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
