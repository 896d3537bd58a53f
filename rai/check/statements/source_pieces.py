"""Sources cut into pieces: sentences, list items and rows, each with the words of what stands above it.

A piece is read with the title of its source, the headings above it, the lead-in of its list and the first row of its table: "- cards" under
"Not accepted:" says that cards are not accepted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from grounding.records import Span
from rai.check.lexicon.load import Cue, cues
from rai.check.phrasing.evidence import whole_sentences
from rai.check.statements.terms import Term, language, terms
from rai.records import EvidenceSpan, Source

_HEADING = re.compile(r"\s*(#{1,6})\s+|\s*\*\*[^*]{1,80}\*\*:?\s*$")
_STEP = re.compile(r"\s*(\d{1,2})[.)]\s")
_ITEM = re.compile(r"\s*(?:[-*•‣]|\d{1,2}[.)]|[a-z]\))\s")
_RULER = re.compile(r"[\s|:+-]+$")
_NO_KEYS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SourcePiece:
    """A sentence, list item or row of a source. `above`: keys of its title, headings, lead-in and columns; `over`: cues of its lead-in and heading.

    `number`: its index among the pieces of its source; `step`: its number in a numbered list, 0 if it has none; `row`: whether it is a row
    of a table; `question`: whether it asks.
    """

    span: EvidenceSpan
    terms: tuple[Term, ...]
    keys: frozenset[str]
    above: frozenset[str]
    cues: tuple[Cue, ...]
    over: tuple[Cue, ...]
    number: int
    step: int
    row: bool
    question: bool


@dataclass(frozen=True, slots=True)
class SourcePieces:
    """A source in pieces. `words`: those of its pieces as written, in lower case, to look compounds up in; `keys`: those of pieces and title."""

    source: Source
    language: str
    units: tuple[SourcePiece, ...]
    words: frozenset[str]
    keys: frozenset[str]


@lru_cache(maxsize=512)
def read(source: Source, code: str = "") -> SourcePieces:
    """The pieces of a source; `code`: its language, "" to tell it by its words."""
    code = code or language(source.text)
    title = _keys(source.title, code)
    units: list[SourcePiece] = []
    above = _Above(code, title)
    for sentence in whole_sentences(source.text):
        if _RULER.match(sentence.text):
            continue
        above.enter(source.text, sentence)
        units.append(_unit(source, sentence, above, len(units), code))
        above.leave(sentence)
    said = frozenset(t.word for u in units for t in u.terms)
    keys = title.union(*(u.keys for u in units)) if units else title
    return SourcePieces(source, code, tuple(units), said, keys)


class _Above:
    """What stands above the piece that is being read."""

    def __init__(self, code: str, title: frozenset[str]) -> None:
        self.code, self.title = code, title
        self.heading = self.lead = self.columns = _NO_KEYS
        self.cues: tuple[Cue, ...] = ()

    def enter(self, text: str, sentence: Span) -> None:
        """Drops what does not stand above the next piece, `sentence`."""
        item = _ITEM.match(sentence.text)
        parted = "\n\n" in text[max(0, sentence.start - 3) : sentence.start]
        if self.lead and not item and parted:
            self.lead, self.cues = _NO_KEYS, ()
        if "|" not in sentence.text:
            self.columns = _NO_KEYS

    def leave(self, sentence: Span) -> None:
        """Takes up what a piece puts above the next: a heading, a lead-in, the first row of a table."""
        told = _keys(sentence.text, self.code)
        if _HEADING.match(sentence.text):
            self.heading, self.lead, self.cues = told, _NO_KEYS, cues(sentence.text, self.code)
        elif sentence.text.endswith(":"):
            self.lead, self.cues = told, cues(sentence.text, self.code)
        elif "|" in sentence.text and not self.columns:
            self.columns = told

    def keys(self) -> frozenset[str]:
        """The keys of all words that stand above."""
        return self.title | self.heading | self.lead | self.columns


def _unit(source: Source, sentence: Span, above: _Above, number: int, code: str) -> SourcePiece:
    told = terms(sentence.text, code)
    step = _STEP.match(sentence.text)
    return SourcePiece(
        EvidenceSpan(source.id, "text", sentence.start, sentence.end, sentence.text),
        told,
        frozenset(t.key for t in told),
        above.keys(),
        cues(sentence.text, code),
        above.cues,
        number,
        int(step.group(1)) if step else 0,
        "|" in sentence.text,
        sentence.text.rstrip(" *_").endswith("?"),
    )


def _keys(text: str, code: str) -> frozenset[str]:
    return frozenset(t.key for t in terms(text, code))
