"""Whether the words around a value are those of another value of its kind: "drones have 14 days", where the source says 14 of phones and 15 of drones.

A place has words: those of its clause, row and column, of its line, of its heading. What the answer says around the value is held against the place
of the value and against each rival of the same document. Only words that one of the two has and the other has not tell anything, rare ones more
than common ones. A place that has hardly any of them, where a rival has several, is doubtful, by another rule if the other values of the
sentence stand beside the rival or the value's own clause names it. Free wording shares words with neither, and then nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import log

from grounding.text import stem
from rai.check.answer import Answer, without_others
from rai.check.lexicon.load import rows
from rai.check.reading.keys import heading_above, line_at
from rai.check.statements.terms import language
from rai.claims import weekdays
from rai.claims.found import Found
from rai.claims.rates import same_per
from rai.records import CONTACT_KINDS
from rai.support.frames import Frame
from rai.support.same import same_value
from rai.support.setting import Finding, Setting, name_of, standing
from rai.support.sources import Place
from rai.support.words import role_terms

Words = frozenset[str]
MOST_RIVALS = 60
MOST_PLACES = 12
MOST_BESIDE = 12
"""Values of one sentence that are looked at beside a value."""
_CLEAR = 3.0
"""How many times more the rival's words must weigh than those of the place."""
_BESIDE, _ALONE, _DOUBT = 2.0, 3.0, 1.5
"""What the rival's words must weigh: with other values of the sentence beside it, without, and for a doubt."""
_NAMED = 0.3
"""The share of the rival's own words that must be said where nothing else tells for it."""
_HALF, _SHORT = 0.5, 6
"""Of two values of one sentence the share of the rival's clause that must be said, and how many words a clause may have to name its value."""
_LINE = 240
"""Characters of a line that is read as one, whatever marks stand in it."""
_BEFORE, _AFTER = 90, 50
_STOP = re.compile(r"[;:]\s|[.!?]\s")
_CUT = re.compile(
    r"[;:,.!?]\s|[(–—]|\s(?:and|but|while|und|aber|et|mais|y|pero|e|ma|mas|en|maar|i|ale|a)\s", re.IGNORECASE
)
_RANGE = re.compile(
    r"\s?(?:[-–—/]|to|until|through|bis|au|à|al?|hasta|fino al?|até|tot|do|and|und|et|y|e|i|en)\s?(?:the )?",
    re.IGNORECASE,
)
_PART = 6
"""Letters of a word that is looked for within compounds."""
_COMPOUNDING = ("de", "nl")
_CLAUSE, _SENTENCE, _AROUND = 1.0, 0.7, 0.3
_NEAR, _FAR = 1.0, 0.5
_LEAST = 0.3
_FEWEST = 20
"""Sentences and rows that a word is counted among at least: in a short document every word is common."""
_SKIPPED = ("entity", "number")
"""Kinds of which a document has too many that are no rivals."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """What the answer says around a value: a weight by word, the words of its clause, and the units that the other values of its sentence stand in."""

    weights: Mapping[str, float]
    clause: Words
    beside: Sequence[frozenset[int]]
    compounds: bool = False


@dataclass(frozen=True, slots=True)
class _Told:
    """The words of a place: of its clause or cell, of its line, of what stands above it."""

    near: Words
    line: Words
    above: Words

    def every(self) -> Words:
        return self.near | self.line | self.above


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A rival against a place: what the words of each weigh that the other has not."""

    place: Place
    rival: Place
    theirs: float
    mine: float
    named: bool
    share: float
    beside: int

    def is_wrong(self) -> bool:
        if not self.named:
            return False
        return (self.beside > 0 and self.theirs >= _BESIDE) or (
            self.beside == 0 and self.share >= _NAMED and self.theirs >= _ALONE
        )


def nearer(n: int, places: Sequence[Place], others: Iterable[Place], answer: Answer) -> Finding | None:
    """`unchecked` for the n-th value if the words around it are those of one of `others`. `places`: where it stands."""
    value = answer.values[n]
    here = [p for p in places if p.found.kind == value.kind]
    if value.kind in _SKIPPED or not here or len(here) > MOST_PLACES or any(p.frame.key or _is_above(p) for p in here):
        return None
    documents = {p.source for p in here}
    rivals = [o for o in others if o.source in documents and not set(o.found.forms) & set(value.forms)][:MOST_RIVALS]
    frame = answer.around[value].frame
    rivals = [r for r in rivals if _is_comparable(value, frame, r) and not _is_said(n, r, answer)]
    rivals = [r for r in rivals if not any(_is_range(p, r) for p in here)]
    heard = _heard(n, answer) if rivals else None
    if heard is None or any(_names_itself(answer.written(n), p) for p in here):
        return None
    weighed = [min((_weigh(p, r, heard, answer.setting) for p in here), key=_margin) for r in rivals]
    best = max(weighed, key=_margin)
    if best.theirs < _CLEAR * best.mine:
        return None
    if best.is_wrong():
        spans = best.place.span(), best.rival.span()
        why = f"{name_of(best.place)} has {spans[0].text} for something else; of what the sentence names it says {spans[1].text}."
        # doubt and no verdict: of eleven that it met on answers of models, ten domains, five were right
        return Finding("unchecked", spans, why, rule="words-of-another")
    if best.theirs < _DOUBT or not best.named:
        return None
    why = f"The words of the sentence stand rather by {best.rival.span().text} in {name_of(best.rival)}."
    return Finding("unchecked", (best.place.span(), best.rival.span()), why, rule="words-nearer")


def _names_itself(written: str, place: Place) -> bool:
    """True if the characters of a contact say whose it is: claims@…"""
    return place.found.kind in CONTACT_KINDS and bool(
        role_terms(re.sub(r"[@./-]", " ", written)) & (_told(place).near | _told(place).line)
    )


def _margin(weighed: _Weighed) -> float:
    return weighed.theirs - weighed.mine


def _is_above(place: Place) -> bool:
    """True of a value in a title or heading, which is said of all that stands below."""
    return (
        place.unit.field == "title"
        or place.unit.heading
        or line_at(place.source.text, place.found.start).kind == "heading"
    )


def _is_comparable(value: Found, frame: Frame, rival: Place) -> bool:
    """True if the rival could be said in the value's place: in the same unit, per the same, a day for a day, a start for a start."""
    theirs = rival.found
    if _is_above(rival) or theirs.kind != value.kind or rival.frame.key or _shape(theirs) != _shape(value):
        return False
    if not same_per(value.per, theirs.per):
        return False
    if value.kind == "time" and frame.days and rival.frame.days and not frame.days & rival.frame.days:
        return False
    return not (frame.bound and rival.frame.bound and frame.bound != rival.frame.bound)


def _is_range(place: Place, other: Place) -> bool:
    """True of the two ends of one range."""
    first, second = sorted((place, other), key=lambda p: p.found.start)
    return place.unit is other.unit and _RANGE.fullmatch(place.text(), first.found.end, second.found.start) is not None


def _shape(found: Found) -> str:
    """The unit or currency of an amount; how a date is written: a weekday, a day, a month, a year."""
    if found.kind == "date":
        return re.sub(r"\d+", "0", found.value).replace("0-", "--", 1) if not found.value.startswith("-W-") else "-W-"
    return found.value.partition(" ")[2] if found.kind in ("money", "quantity") else ""


def _is_said(n: int, rival: Place, answer: Answer) -> bool:
    """True if the answer says the rival's value itself close by: its words are there for that one."""
    near = islice((m for m in answer.near(n, 1) if m != n), 2 * MOST_BESIDE)
    return any(same_value(answer.values[m], rival.found, rival.line()) for m in near)


def _heard(n: int, answer: Answer) -> _Heard | None:
    at, value = answer.at[n], answer.values[n]
    if at < 0:
        return None
    around = answer.around[value]
    said = role_terms(without_others(around.sentence.replace(answer.written(n), " ", 1)))
    clause = role_terms(_clause(n, answer)) & said
    before = role_terms(answer.sentences[at - 1].text) if at > 0 else frozenset[str]()
    weights = dict.fromkeys(before | answer.setting.question_terms, _AROUND)
    weights |= dict.fromkeys(said | around.leading, _SENTENCE) | dict.fromkeys(clause, _CLAUSE)
    code = language(answer.text)
    telling = {w: x for w, x in weights.items() if w[0] != "=" and w not in _function_words(code) and not _is_day(w)}
    beside = islice((m for m in answer.near(n, 0) if m != n), MOST_BESIDE)
    return _Heard(telling, clause, [_units_of(m, answer) for m in beside], code in _COMPOUNDING)


def _clause(n: int, answer: Answer) -> str:
    """What stands close to the n-th value in its sentence, before it rather than behind."""
    sentence, value = answer.sentences[answer.at[n]], answer.values[n]
    before = answer.text[max(sentence.start, value.start - _BEFORE) : value.start]
    after = answer.text[value.end : min(sentence.end, value.end + _AFTER)]
    return f"{_STOP.split(before)[-1]} {_CUT.split(after, maxsplit=1)[0]}"


@lru_cache(maxsize=16)
def _function_words(code: str) -> Words:
    return frozenset(stem(w) for w in rows("function")["function"][code])


@lru_cache(maxsize=8192)
def _is_day(word: str) -> bool:
    """True of a weekday: days are compared by what they are."""
    return bool(weekdays.find(word))


def _units_of(m: int, answer: Answer) -> frozenset[int]:
    """The sentences and lines that the m-th value stands in."""
    return frozenset(at for p in standing(answer.values[m], answer.setting.sources) for at in _where(p))


def _where(place: Place) -> frozenset[int]:
    """The sentence and the line of a place, by number."""
    line = line_at(place.source.text, place.found.start) if place.unit.field == "text" else None
    return frozenset({id(place.unit)} | ({id(line)} if line else set()))


def _weigh(place: Place, rival: Place, heard: _Heard, setting: Setting) -> _Weighed:
    mine, theirs = _told(place), _told(rival)
    if rival.unit is place.unit:  # of one sentence or row only what stands nearest tells
        mine, theirs = _Told(mine.near, frozenset(), frozenset()), _Told(theirs.near, frozenset(), frozenset())
    units = _where(place), _where(rival)
    beside = sum(bool(units[1] & u) - bool(units[0] & u) for u in heard.beside)
    own = theirs.near - mine.every()
    share = len([w for w in own if w in heard.weights]) / len(own) if own else 0.0
    only = theirs.every() - mine.every()
    named = bool(only & heard.clause & heard.weights.keys())
    if rival.unit is place.unit:
        named = (
            named
            and share >= _HALF
            and 0 < len(mine.near) <= _SHORT
            and len(own) <= _SHORT
            and not mine.near & heard.weights.keys()
        )
    return _Weighed(
        place,
        rival,
        _weight(theirs, mine.every(), heard, setting),
        _weight(mine, theirs.every(), heard, setting),
        named,
        share,
        beside,
    )


def _weight(told: _Told, without: Words, heard: _Heard, setting: Setting) -> float:
    near = _shared(told.near - without, heard)
    far = _shared((told.line | told.above) - told.near - without, heard) - near
    return sum(
        factor * heard.weights[w] * _rarity(w, setting) for words, factor in ((near, _NEAR), (far, _FAR)) for w in words
    )


def _shared(words: Words, heard: _Heard) -> Words:
    """Words of the answer that a place has too, in the languages that write compounds as a part of one: "Zuschlag" of "Samstagszuschlag"."""
    same = words & heard.weights.keys()
    if not heard.compounds:
        return same
    longer = [w for w in words - same if len(w) > _PART + 2]
    return same | {w for w in heard.weights if len(w) >= _PART and any(w in other for other in longer)}


def _rarity(word: str, setting: Setting) -> float:
    every = max(_FEWEST, sum(len(s.units) for s in setting.sources))
    having = sum(s.frequency.get(word, 0) for s in setting.sources)
    return max(_LEAST, log((every + 1) / (having + 0.5)))


@lru_cache(maxsize=16384)
def _told(place: Place) -> _Told:
    near = frozenset(w for w in place.frame.local | place.frame.words if w[0] != "=")
    if place.unit.field == "title":
        return _Told(near, place.unit.terms, frozenset())
    text = place.source.text
    line = line_at(text, place.found.start)
    label = role_terms(line.label) if line.body <= place.found.start else frozenset[str]()
    whole = (
        role_terms(text[line.start : line.end])
        if line.kind == "label" and line.end - line.start <= _LINE
        else frozenset[str]()
    )
    above = place.unit.subject | role_terms(heading_above(text, place.found.start))
    return _Told(near | label, place.unit.terms | whole, above)
