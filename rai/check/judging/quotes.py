"""Quotations of a judge, looked up in the sources: where one stands to the character, and whether it has to do with what it is to show.

It is looked up in the named source or nowhere, whatever white space and typography it was copied with. It need not say what it shows in the same
words, but one of them must be there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from grounding.text import caseless, fold, terms, words
from rai.check.phrasing.antonyms import alike, key
from rai.judgement import Quote
from rai.records import EvidenceSpan, Source

LONGEST = 600
"""Most characters of a quotation. One that is longer points at nothing."""
MOST_QUOTES = 8
"""Most quotations of one claim that are looked up."""
LEAST_SHARED = 5
"""Fewest letters at the beginning that make two words of one family: cancel and cancellation, stornieren and Stornierung."""
LEAST_SAID = 2
"""Fewest words of a quotation: "unlimited" alone says nothing of anything."""
_WRAPPED = re.compile(r"""^["'\s]+|["'\s]+$""")
_GAP = re.compile(r"\s*(?:\[(?:…|\.\.\.)\]|…|\.\.\.)\s*")


@dataclass(frozen=True, slots=True)
class FoundQuote:
    """A quotation that was found. `source`: where, None if in what the person said, and then `spans` lie in `said`; `spans`: one for each part."""

    source: Source | None
    spans: tuple[EvidenceSpan, ...]
    said: str = ""

    @property
    def text(self) -> str:
        """The words as they stand there, parts joined by a space."""
        return " ".join(span.text for span in self.spans)


def looked_up(quote: Quote, sources: Sequence[Source], said: Sequence[str]) -> FoundQuote | None:
    """The place of `quote` in the source that it names, or in what was said; None if it is not there, cuts a word or number, or is too long.

    Parts that an ellipsis stands between must follow each other.
    """
    if not 0 < len(quote.text) <= LONGEST:
        return None
    if quote.source is None:
        for text in said:
            if spans := _spans(quote.text, Source("", text), "text"):
                return FoundQuote(None, spans, text)
        return None
    for source in sources:
        if source.id == quote.source:
            for field in ("text", "title"):
                if spans := _spans(quote.text, source, field):
                    return FoundQuote(source, spans)
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
    """The ways to read a quotation: as it is, without marks around it, and in the parts between ellipses."""
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
    """The first offset from `begin` on at which `part` stands without cutting a word or number."""
    at = plain.find(part, begin)
    while at >= 0:
        if not _cuts(plain, at) and not _cuts(plain, at + len(part)):
            return at
        at = plain.find(part, at + 1)
    return None


def _cuts(plain: str, at: int) -> bool:
    """True if the offset `at` is within a word or number: "ca|se", "1,|249", "9|.50"."""
    before, after = plain[:at][-2:], plain[at : at + 2]
    if not before or not after:
        return False
    if before[-1].isalnum() and after[0].isalnum():
        return True
    point = before[-1] in ".," and before[:-1].isdigit() and after[0].isdigit()
    return point or (before[-1].isdigit() and after[0] in ".," and after[1:].isdigit())


@lru_cache(maxsize=256)
def _squeezed(text: str) -> tuple[str, tuple[int, ...]]:
    """A text with plain quotes, dashes and single spaces, without white space around it; and the offset of each character of that in `text`."""
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


def has_substance(quoted: str) -> bool:
    """True if a quotation says something by itself."""
    return len(words(quoted)) >= LEAST_SAID and bool(_terms(quoted))


def shares(texts: Iterable[str], others: Iterable[str]) -> int:
    """The number of different content words of `texts` that `others` have too, in this or another form. Numbers count as words."""
    mine, theirs = _content(texts), _content(others)
    return sum(1 for word in mine if word in theirs or any(_akin(word, other) for other in theirs))


def foreign(text: str, others: Sequence[str]) -> list[str]:
    """The content words of `text` that `others` have in no form."""
    theirs = _content(others)
    return [w for w in _terms(text) if w not in theirs and not any(_akin(w, other) for other in theirs)]


def _akin(word: str, other: str) -> bool:
    mine, theirs = key(word), key(other)
    if mine == theirs or theirs in alike(mine):
        return True
    least = min(len(word), len(other))
    return least >= LEAST_SHARED and word[:LEAST_SHARED] == other[:LEAST_SHARED] and word.isalpha() and other.isalpha()


def _content(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _terms(text))


def _terms(text: str) -> list[str]:
    return terms(caseless(text))
