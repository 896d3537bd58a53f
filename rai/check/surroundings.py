"""The surroundings of each value of an answer: its sentence, its frame, and what leads up to it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from grounding.records import Span
from grounding.text import body_start, sentences
from rai.check.context import Around
from rai.check.reading.frames import frames
from rai.check.reading.owners import clauses
from rai.check.reading.role_words import numbered, role_terms
from rai.check.reading.sources import plain_words
from rai.claims.found import Found

LONGEST = 2000
"""Most characters of a sentence whose clauses are told apart."""
_REACH = 40
"""Characters kept before and after a value."""
_NEAR = 120
"""Characters to each side of a value that stand for its sentence where that is longer than `LONGEST`."""
_LEADS = re.compile(r"#{1,6} .*|.*:\s*(?:\[\d{1,3}\]\s*)?|\*\*[^*]{1,80}\*\*:?")


def surroundings(answer: str, values: Sequence[Found]) -> dict[Found, Around]:
    """For each of `values`, ascending, what stands around it. Values outside any sentence have only their own characters."""
    spans = sentences(answer)
    starts = [s.start for s in spans]
    inside: dict[int, list[Found]] = {}
    for value in values:
        inside.setdefault(bisect_right(starts, value.start) - 1, []).append(value)
    leading = _leading(spans)
    found: dict[Found, Around] = {}
    for at, group in inside.items():
        span = spans[at] if at >= 0 else Span(0, 0, "")
        whole = len(span.text) <= LONGEST
        plain = plain_words(span.text) if whole else ""
        for value, frame in zip(group, frames(answer, span.start, span.end, group, leads=False), strict=True):
            sentence = _sentence(answer, span, value)
            before, after = answer[max(0, value.start - _REACH) : value.start], answer[value.end : value.end + _REACH]
            contact = whole and value.kind in ("phone", "url", "email")
            clause = _clause(sentence, value.start - span.start) if contact else ""
            found[value] = Around(
                sentence, before, after, frame, leading[at] if at >= 0 else frozenset(), clause, plain
            )
    return found


def _sentence(answer: str, span: Span, value: Found) -> str:
    """The sentence of a value; of an endless one what stands near, for it is read again for every value."""
    if value.start >= span.end:
        return answer[value.start : value.end]
    if len(span.text) <= LONGEST:
        return span.text
    return answer[max(span.start, value.start - _NEAR) : min(span.end, value.end + _NEAR)]


def _clause(sentence: str, at: int) -> str:
    return next((sentence[a:b] for a, b in clauses(sentence) if a <= at < b), sentence)


def _leading(spans: Sequence[Span]) -> list[frozenset[str]]:
    """For each sentence the words of its heading, of the lead-in of its list, and of the sentence before it in a paragraph."""
    heading: frozenset[str] = frozenset()
    lead: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    found = []
    for span in spans:
        item = body_start(span.text) > 0 and not span.text.startswith("#")
        found.append(heading | lead | (frozenset() if item else before))
        words = role_terms(span.text) | numbered(span.text)
        if span.text.startswith("#"):
            heading, lead = words, frozenset()
        elif _LEADS.fullmatch(span.text):
            lead = words
        elif not item:
            lead = frozenset()
        before = words
    return found
