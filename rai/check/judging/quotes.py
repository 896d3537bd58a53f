"""A quotation looked up to the character: in the named source or nowhere, whatever white space and typography it was copied with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from grounding.text import fold
from rai.judgement import Quote
from rai.records import EvidenceSpan, Source

LONGEST = 600
"""Characters of a quotation. One that is longer points at nothing."""
MOST_QUOTES = 8
"""Quotations of one claim that are looked up."""
_WRAPPED = re.compile(r"""^["'\s]+|["'\s]+$""")
_GAP = re.compile(r"\s*(?:\[(?:…|\.\.\.)\]|…|\.\.\.)\s*")


@dataclass(frozen=True, slots=True)
class KnownTexts:
    """A quotation that was found. `source`: where; None: in what was said, and then `spans` lie in `said`."""

    source: Source | None
    spans: tuple[EvidenceSpan, ...]
    said: str = ""

    @property
    def text(self) -> str:
        return " ".join(span.text for span in self.spans)


def looked_up(quote: Quote, sources: Sequence[Source], said: Sequence[str]) -> KnownTexts | None:
    """Where `quote` stands, or None: it is in no such place, it cuts a word or a number, or it is too long.

    Parts that an ellipsis stands between must follow each other.
    """
    if not 0 < len(quote.text) <= LONGEST:
        return None
    if quote.source is None:
        for text in said:
            if spans := _spans(quote.text, Source("", text), "text"):
                return KnownTexts(None, spans, text)
        return None
    for source in sources:
        if source.id == quote.source:
            for field in ("text", "title"):
                if spans := _spans(quote.text, source, field):
                    return KnownTexts(source, spans)
    return None


def _spans(quoted: str, source: Source, field: str) -> tuple[EvidenceSpan, ...]:
    text = source.text if field == "text" else source.title
    for parts in _readings(quoted):
        places = list(_in_order(parts, text))
        if len(places) == len(parts):
            return tuple(
                EvidenceSpan(source.id, "text" if field == "text" else "title", a, b, text[a:b]) for a, b in places
            )
    return ()


def _readings(quoted: str) -> Iterator[list[str]]:
    """The quotation as it is, without marks around it, and in the parts that an ellipsis leaves."""
    plain = _squeezed(quoted)[0]
    bare = _WRAPPED.sub("", plain)
    parts = [part for part in _GAP.split(bare) if part]
    yield from (reading for reading in ([plain], [bare], parts) if reading and all(reading))


def _in_order(parts: Sequence[str], text: str) -> Iterator[tuple[int, int]]:
    plain, offsets = _squeezed(text)
    at = 0
    for part in parts:
        start = _whole(part, plain, at)
        if start is None:
            return
        at = start + len(part)
        yield offsets[start], offsets[at - 1] + 1


def _whole(part: str, plain: str, begin: int) -> int | None:
    """Where `part` stands from `begin` on without cutting a word or number."""
    at = plain.find(part, begin)
    while at >= 0:
        if not _cuts(plain, at) and not _cuts(plain, at + len(part)):
            return at
        at = plain.find(part, at + 1)
    return None


def _cuts(plain: str, at: int) -> bool:
    """True between the characters of a word or number: in "ca|se", "1,|249", "9|.50"."""
    before, after = plain[:at][-2:], plain[at : at + 2]
    if not before or not after:
        return False
    if before[-1].isalnum() and after[0].isalnum():
        return True
    point = before[-1] in ".," and before[:-1].isdigit() and after[0].isdigit()
    return point or (before[-1].isdigit() and after[0] in ".," and after[1:].isdigit())


@lru_cache(maxsize=256)
def _squeezed(text: str) -> tuple[str, tuple[int, ...]]:
    """`text` with plain quotes, dashes and single spaces, without white space around it; and the offset of each character of that in `text`."""
    kept: list[str] = []
    offsets: list[int] = []
    for at, char in enumerate(fold(text)):
        if not char.isspace():
            kept.append(char)
            offsets.append(at)
        elif kept and kept[-1] != " ":
            kept.append(" ")
            offsets.append(at)
    if kept and kept[-1] == " ":
        kept.pop()
        offsets.pop()
    return "".join(kept), tuple(offsets)
