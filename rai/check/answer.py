"""An answer read for the check: its sentences and values, and the sentence and surroundings of each value."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grounding.records import Span
from grounding.text import sentences
from rai.check.context import Around, CheckContext, standing
from rai.check.operands import Operand
from rai.check.reading.keys import Spoken, spoken
from rai.check.reading.sources import Place
from rai.check.surroundings import surroundings
from rai.claims.found import Found
from rai.records import EvidenceSpan

_OTHER_THAN = re.compile(
    r"\b(?:is ?n[o']t|are ?n[o']t|not (?:in|at|for|the)|outside|unlike|other than|rather than|instead of|nicht|außerhalb|hors|fuera de|fuori|buiten|poza) [\w-]{1,40}",
    re.IGNORECASE,
)
"""Finds what a text names to say that it is not meant."""
_BEFORE = 24
"""Characters before a value in which "instead of" and the like are looked for."""
_COMPARED = re.compile(
    r"\b(?:instead of|rather than|than|against|compared (?:with|to)|versus|vs\.?|unlike|not|from|statt|anstelle|als|gegenüber|au lieu de|contre|en vez de|que|invece di|rispetto|em vez de|in plaats van|dan|zamiast|niż)\W+(?:\w+ ){0,2}$",
    re.IGNORECASE,
)

_BOUND = re.compile(
    r"\b(?:(?:more|less|fewer|later|earlier|longer|older) than|(?:mehr|weniger|später|früher|länger|älter) als|(?:plus|moins) (?:tard |longtemps )?que|(?:más|menos) que|(?:più|meno) che|(?:mais|menos) (?:do )?que|(?:meer|minder|later|langer) dan|(?:więcej|mniej|później) niż)\W+(?:\w+ ){0,2}$",
    re.IGNORECASE,
)
"""Finds before a value that it is a bound: no more than 30 days is compared with nothing."""


def named(text: str) -> Spoken:
    """The words of `text` that name what it is about."""
    return spoken(without_others(text))


def without_others(text: str) -> str:
    """A text without what it names to say that it is not meant: "since Leeds is not London"."""
    return _OTHER_THAN.sub(" ", text)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with all that the check has read of it.

    `values`: ascending; `at[n]`: the number of the sentence of `values[n]`, -1 outside of any; `asked`: what the question names; `words`:
    all words of the answer, in lower case. `operands` and `places` keep what was worked out once, by value: what may be reckoned with
    outside of the answer's own values, and where the sources hold it.
    """

    text: str
    sentences: tuple[Span, ...]
    values: tuple[Found, ...]
    at: tuple[int, ...]
    around: Mapping[Found, Around]
    context: CheckContext
    asked: Spoken
    words: frozenset[str]
    operands: dict[int, tuple[tuple[Operand, ...], tuple[Operand, ...]]] = field(default_factory=dict, compare=False)
    places: dict[int | Found, Sequence[Place]] = field(default_factory=dict, compare=False)

    @classmethod
    def read(cls, text: str, values: Sequence[Found], context: CheckContext) -> Answer:
        """Reads an answer beside its context. `values`: those of `text`, ascending."""
        spans = tuple(sentences(text))
        starts = [s.start for s in spans]
        at = tuple(bisect_right(starts, v.start) - 1 for v in values)
        question = context.question.source.text if context.question else ""
        return cls(
            text, spans, tuple(values), at, surroundings(text, values), context, named(question), named(text).said
        )

    def sentence(self, n: int) -> str:
        """The sentence of the n-th value; "" outside of any."""
        return self.sentences[self.at[n]].text if self.at[n] >= 0 else ""

    def standing(self, n: int) -> Sequence[Place]:
        """The places of the sources that hold the n-th value: looked for once, however many rules ask and however often it is said."""
        if n not in self.places:
            value = replace(self.values[n], start=0, end=0)
            if value not in self.places:
                self.places[value] = standing(self.values[n], self.context.sources)
            self.places[n] = self.places[value]
        return self.places[n]

    def in_texts(self, evidence: Iterable[EvidenceSpan]) -> Iterator[tuple[str, EvidenceSpan]]:
        """The spans of `evidence` that lie in the text of a source, each behind that text."""
        texts = {s.source.id: s.source.text for s in self.context.sources}
        return ((texts.get(span.source, ""), span) for span in evidence if span.field == "text")

    def written(self, n: int) -> str:
        """The characters of the n-th value."""
        return self.text[self.values[n].start : self.values[n].end]

    def near(self, n: int, reach: int) -> range:
        """The numbers of the values in up to `reach` sentences to each side of the n-th value's, and in its own."""
        return range(bisect_left(self.at, self.at[n] - reach), bisect_right(self.at, self.at[n] + reach))


def is_compared(n: int, answer: Answer) -> bool:
    """True if the n-th value follows on "instead of", "from" and the like."""
    start = answer.values[n].start
    before = max(0, start - _BEFORE), start
    return _COMPARED.search(answer.text, *before) is not None and _BOUND.search(answer.text, *before) is None
