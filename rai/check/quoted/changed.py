"""Changes that an answer makes in what it quotes: values, names, codes and negations that the quoted unit has otherwise.

A change is allowed if it is the same value in another form, if the cell or clause it stands in stands as a whole in the
quoted unit (cells in another order), or if another unit holds all that this one lacks (the sentence is about that one).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from grounding.text import STOP_WORDS, caseless, sentences
from rai.check.comparison.edit_distance import edit_distance
from rai.check.comparison.values import same_value
from rai.check.phrasing.plain import plain_words
from rai.check.phrasing.sense import comparable, sense
from rai.check.quoted.align import LONGEST, Alignment, Difference, Token, align, clauses, part_keys, parts, segments
from rai.check.quoted.renamed import is_name, is_told, renamed
from rai.check.reading.sources import Prepared
from rai.claims.found import Found
from rai.claims.names.name_words import SPELT_OUT
from rai.claims.numbers.read_digits import items_in_line
from rai.records import EvidenceSpan, Source

LONG_NAME = 5
"""Fewest letters of a name that may differ in one and is then taken for another spelling."""

_NEGATIONS = frozenset(
    "not no never none nor neither cannot without isn't aren't can't don't doesn't didn't won't wasn't weren't "
    "shouldn't mustn't couldn't wouldn't hasn't haven't".split()
)
_DETERMINERS = frozenset("no none never neither nor without".split())
_CARRIERS = frozenset("do does did can be is are will must may should to".split())
_DIGIT = re.compile(r"(?<![\w@/])[^\W_]*\d[^\W_]*(?:[.,:]\d[^\W_]*)*")
_RANGE = re.compile(r"(?<![\w.,:-])(\d+(?:\.\d+)?)(?: to |[ ]?[-–][ ]?)(\d+(?:\.\d+)?)(?![\w:-]|[.,]\d)")
_MARKS = re.compile(
    r"\[[0-9]{1,3}(?:\s?[,–-]\s?[0-9]{1,3}){0,9}\]|【[0-9]{1,3}】|^[ \t]*[0-9]{1,3}[.)](?=\s)|\bsteps? [0-9]{1,3}\b",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Changed:
    """A change: `answer[start:end]` is not what the quoted unit has there, which is `says`. `negation`: its sense is turned round; `name`: it is another's name."""

    start: int
    end: int
    says: EvidenceSpan
    negation: bool = False
    name: Found | None = None


def changes(answer: str, values: Sequence[Found], sources: Sequence[Prepared]) -> tuple[Changed, ...]:
    """Every change in sentences of `answer` that quote a unit of `sources`, ascending; `values` are those of `answer`."""
    texts = tuple(p.source for p in sources)
    readings = {p.source: [q.found for q in p.places if q.unit.field == "text"] for p in sources}
    found: list[Changed] = []
    ascending = sorted(values, key=_start)
    for sentence in sentences(answer):
        best: list[Changed] | None = None
        for alignment in align(answer, sentence.start, sentence.end, texts):
            # what stands after the last token is not compared
            end = alignment.tokens[-1].end if len(alignment.tokens) == LONGEST else sentence.end
            mine = _within(ascending, sentence.start, end)
            theirs = readings[alignment.segment.source]
            reader = _QuoteReader(answer, sentence.start, sentence.end, mine, alignment, theirs)
            every = [c for d in alignment.differences for c in reader.changed(d)] + reader.ranges()
            here = [c for c in every if not reader.allowed(c, texts)]
            best = here if best is None or len(here) < len(best) else best
        found += best or []
    return tuple(found)


def loose_digits(answer: str, values: Sequence[Found]) -> tuple[Found, ...]:
    """Finds tokens with a digit that no value covers (1080p), without list, step and citation marks, as numbers."""
    taken = _Taken.of([(v.start, v.end) for v in values] + [m.span() for m in _MARKS.finditer(answer)])
    return tuple(
        Found("number", m.start(), m.end(), m.group().lower())
        for m in _DIGIT.finditer(answer)
        if taken.free(m.start(), m.end()) and m.start() not in items_in_line(answer)
    )


def changed_digits(answer: str, values: Sequence[Found], changed: Sequence[Changed]) -> list[Found]:
    """The changed tokens that are no values by themselves (the number of a step), as numbers."""
    taken = _Taken.of([(v.start, v.end) for v in values])
    return [
        Found("number", c.start, c.end, caseless(answer[c.start : c.end]))
        for c in changed
        if not c.negation and taken.free(c.start, c.end)
    ]


@dataclass(frozen=True, slots=True)
class _Taken:
    """The stretches of a text that are taken, put together where they overlap, ascending."""

    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, spans: list[tuple[int, int]]) -> _Taken:
        """Puts `spans` together, which are half open and in any order."""
        taken = cls([], [])
        for start, end in sorted(spans):
            if taken.ends and start < taken.ends[-1]:
                taken.ends[-1] = max(taken.ends[-1], end)
            else:
                taken.starts.append(start)
                taken.ends.append(end)
        return taken

    def free(self, start: int, end: int) -> bool:
        """True if nothing of `[start, end)` is taken."""
        at = bisect_left(self.starts, end)
        return at == 0 or self.ends[at - 1] <= start


@dataclass(frozen=True, slots=True)
class _QuoteReader:
    """One sentence of an answer, its values, and the unit that it quotes with the values of its source."""

    answer: str
    start: int
    end: int
    values: Sequence[Found]
    alignment: Alignment
    theirs: Sequence[Found]

    def changed(self, difference: Difference) -> list[Changed]:
        """The changes within one difference."""
        turned = self._turned(difference)
        if turned:
            return [turned]
        if difference.change == "delete":
            return []
        if difference.change == "insert":
            return self._moved(difference)
        return self._replaced(difference)

    def _replaced(self, difference: Difference) -> list[Changed]:
        says = _touched(self.theirs, difference.theirs)
        found = []
        for value in _touched(self.values, difference.mine):
            if value.kind == "entity" and value.entity != "code":
                continue  # word by word below: a longer or shorter form of a name is no other name
            rivals = [g for g in says if _comparable(value, g) and (g.kind == value.kind or not self._is_row())]
            if rivals and not any(same_value(value, g, self._line()) for g in rivals):
                found.append(Changed(value.start, value.end, self._span(rivals[0].start, rivals[0].end)))
        loose = [t for t in difference.mine if t.digits and not _touched(self.values, [t])]
        rest = [t for t in difference.theirs if t.digits]
        if rest:
            found += [Changed(t.start, t.end, self._span(rest[0].start, rest[0].end)) for t in loose]
        return found + self._renamed(difference)

    def _renamed(self, difference: Difference) -> list[Changed]:
        """Words of a name, or a name of letters and digits (X2 for X1), where the unit has another."""
        other = renamed(difference, _touched(self.values, difference.mine), _touched(self.theirs, difference.theirs))
        if other:
            name, start, end = other
            return [Changed(name.start, name.end, self._span(start, end), name=name)]
        if len(difference.mine) != len(difference.theirs):
            return []
        return [
            Changed(a.start, a.end, self._span(b.start, b.end))
            for a, b in zip(difference.mine, difference.theirs, strict=True)
            if _other_name(a, b) and any(v.kind == "entity" for v in _touched(self.values, [a]))
        ]

    def _moved(self, difference: Difference) -> list[Changed]:
        """A value that the unit lacks, while one of its values of the same kind is missing from the sentence."""
        unit = self.alignment.segment
        last = unit.tokens[-1].end if len(unit.tokens) == LONGEST else unit.end
        inside = _within(self.theirs, unit.start, last)
        found = []
        for value in _touched(self.values, [t for t in difference.mine if t.digits]):
            if value.kind == "entity" or any(same_value(value, g, self._line()) for g in inside):
                continue
            missing = [
                g
                for g in inside
                if g.kind == value.kind and not any(same_value(v, g, self._line()) for v in self.values)
            ]
            if missing:
                found.append(Changed(value.start, value.end, self._span(missing[0].start, missing[0].end)))
        return found

    def ranges(self) -> list[Changed]:
        """The ranges that the unit does not have, where the sentence leaves out one that the unit has (5 to 8)."""
        unit = self.alignment.segment
        mine = _ranges(self.answer, self.start, self.end)
        theirs = _ranges(unit.source.text, unit.start, unit.end)
        kept = {key for key, _, _ in mine}
        missing = [(a, b) for key, a, b in theirs if key not in kept]
        if not missing:
            return []
        known = {key for key, _, _ in theirs}
        return [Changed(a, b, self._span(*missing[0])) for key, a, b in mine if key not in known]

    def _turned(self, difference: Difference) -> Changed | None:
        """A negation on one side only, with nothing beside it but a verb that carries it."""
        mine, theirs = _negations(difference.mine), _negations(difference.theirs)
        rest = [t for t in (*difference.mine, *difference.theirs) if t.key not in _CARRIERS and not _negations([t])]
        if len(mine) % 2 == len(theirs) % 2 or rest or self._moved_negation():
            return None
        unit = self.alignment.segment
        if not comparable(sense(plain_words(self.answer[self.start : self.end])), sense(plain_words(unit.text))):
            return None
        return Changed(self.start, self.end, self._span(unit.start, unit.end), negation=True)

    def _moved_negation(self) -> bool:
        """True if a negation only stands elsewhere, "no pets are allowed" for "pets are not allowed": as many on both sides, one of them not an adverb."""
        mine = Counter(t.text.lower() for t in _negations(self.alignment.tokens))
        theirs = Counter(t.text.lower() for t in _negations(self.alignment.segment.tokens))
        more, less = mine - theirs, theirs - mine
        return more.total() % 2 == less.total() % 2 and not _DETERMINERS.isdisjoint({*more, *less})

    def allowed(self, change: Changed, texts: tuple[Source, ...]) -> bool:
        """True if the answer may say it so: what is changed stands as a whole in the quoted unit, or another unit of the sources holds it."""
        if change.name:
            return self._whole_part(change) or is_told(change.name, self.alignment, texts)
        return self._whole_part(change) or self._told_elsewhere(change, texts)

    def _whole_part(self, change: Changed) -> bool:
        sentence = self.answer[self.start : self.end]
        if change.negation:
            return False
        for a, b in parts(sentence):
            if self.start + a <= change.start < self.start + b:
                keys = part_keys(sentence, a, b)
                theirs = clauses(self.alignment.segment.text)
                worded = any(not any(c.isdigit() for c in k) and len(k) > 1 for k in keys)
                return worded and 0 < clauses(sentence)[keys] <= theirs[keys]
        return False

    def _told_elsewhere(self, change: Changed, texts: tuple[Source, ...]) -> bool:
        """True if another unit holds the changed value and every word that the quoted unit lacks, if there is such a word."""
        quoted = {t.key for t in self.alignment.segment.tokens}
        lacking = {t.key for t in self.alignment.tokens if t.key not in quoted and t.text.lower() not in STOP_WORDS}
        within = {t.key for t in self.alignment.tokens if t.start < change.end and change.start < t.end}
        subject = {k for k in lacking - within if len(k) > 1}
        if change.negation or not subject or not any(k.isalpha() or _mixed(k) for k in subject):
            return False
        needed = lacking | within
        return any(needed <= keys for source in texts for _, keys in segments(source))

    def _is_row(self) -> bool:
        """A row has its values in cells: a time is not what stands in the place of a price."""
        return "|" in self.alignment.segment.text

    def _line(self) -> str:
        unit = self.alignment.segment
        return f"{unit.source.title}\n{unit.text}"

    def _span(self, start: int, end: int) -> EvidenceSpan:
        source = self.alignment.segment.source
        return EvidenceSpan(source.id, "text", start, end, source.text[start:end])


def _ranges(text: str, start: int, end: int) -> list[tuple[tuple[str, str], int, int]]:
    """Pairs of whole or decimal numbers with "to" or a dash between them, with where they stand."""
    return [((m[1], m[2]), *m.span()) for m in _RANGE.finditer(text, start, end)]


def _touched(values: Sequence[Found], tokens: Sequence[Token]) -> list[Found]:
    """Those of `values`, ascending and apart, that `tokens`, ascending, stand in."""
    if not tokens:
        return []
    first = max(0, bisect_left(values, tokens[0].start, key=_start) - 1)
    last = bisect_left(values, tokens[-1].end, key=_start)
    return [v for v in values[first:last] if any(t.start < v.end and v.start < t.end for t in tokens)]


def _start(value: Found) -> int:
    return value.start


def _within(values: Sequence[Found], start: int, end: int) -> Sequence[Found]:
    """Those of `values`, ascending, that begin in `[start, end)`."""
    return values[bisect_left(values, start, key=_start) : bisect_left(values, end, key=_start)]


def _comparable(mine: Found, other: Found) -> bool:
    """True if one value may stand in place of the other. A name is not a number; all else that stands in one place can be compared, a version with a number too."""
    return is_name(mine) == is_name(other)


def _name_like(token: Token) -> bool:
    return token.text[0].isupper()


def _other_name(mine: Token, theirs: Token) -> bool:
    """True of two names that are not two spellings of one: a letter more or less in a long word may be either side's slip."""
    if mine.digits or theirs.digits:
        return mine.digits and theirs.digits
    if not (_name_like(mine) and _name_like(theirs)):
        return False
    if SPELT_OUT.get(mine.text.lower().rstrip(".")) == theirs.text.lower().rstrip("."):
        return False
    shorter = min(len(mine.text), len(theirs.text))
    return shorter < LONG_NAME or edit_distance(mine.text.lower(), theirs.text.lower(), 1) > 1


def _mixed(text: str) -> bool:
    return any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


def _negations(tokens: Sequence[Token]) -> list[Token]:
    return [t for t in tokens if t.text.lower() in _NEGATIONS]
