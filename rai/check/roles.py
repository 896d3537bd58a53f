"""The role of a value: whether it stands in a source for what the answer says it is.

1. It counts only in a sentence or row that shares a content word with the claim's, or whose title, heading or sentence
   before does. A sentence without content words of its own takes those of the question.
2. It does not count where its frame speaks of something else: the maximum for the minimum, closing time for opening time,
   Sunday's hours for Saturday's, last year's figure for this year's.
3. It does not count where another value of the same kind and measure stands for what the claim names (the other plan, the
   other row, the other line of the same sentence) and nothing that the claim names speaks for this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from grounding.text import stem
from rai.check.reading.frames import Frame
from rai.check.reading.opposites import opposed
from rai.check.reading.parallel import siblings
from rai.check.reading.role_words import class_of, numbers_of_names, role_terms
from rai.check.reading.sources import Place

Words = frozenset[str]
LEAST_QUOTED = 40
"""Fewest characters of a part of a sentence that says the same wherever it stands."""
_NONE: Words = frozenset()
_REACHED = frozenset({"~phone", "~email", "~website", "visit", "us", "pleas", "help"})
_ROOT = 6
"""Words of one root share so many letters at the beginning."""
_OPPOSITE_BOUNDS = {("least", "most"), ("most", "least"), ("start", "end"), ("end", "start")}


@dataclass(frozen=True, slots=True)
class SaidAround:
    """What the answer says of a value: its frame, the words of its sentence, and as `context` those of the question and of what leads up to it."""

    frame: Frame
    sentence: Words
    context: Words


def in_role(places: Sequence[Place], words: Words, question: Words) -> list[Place]:
    """The `places` whose sentence, title, heading or sentence before shares a content word with the claim's sentence.

    `words`: content words of that sentence; `question`: those of the question and of what leads up to the sentence. All places count where
    the claim has too few words to share.
    """
    if words <= _REACHED and all(p.found.kind in ("phone", "url", "email") for p in places):
        return list(places)  # "Write to …" says nothing of whose it is
    asked = words or question
    if not asked or (len(words) <= 2 and not question):
        return list(places)
    direct = [p for p in places if p.frame.key or p.unit.heading or asked & (p.unit.terms | p.unit.context)]
    if direct:
        return direct
    # "It is $19." has hardly any word to share: the question says what "it" is; to cancel is a cancellation
    asked = question if len(words) <= 2 else _NONE
    return [p for p in places if asked & (p.unit.terms | p.unit.context) or _kin(words, p.unit.terms)]


def _kin(mine: Words, theirs: Words) -> bool:
    begins = {w[:_ROOT] for w in theirs if len(w) >= _ROOT}
    return any(w[:_ROOT] in begins for w in mine if len(w) >= _ROOT)


def quotes(sentence: str, unit: str) -> bool:
    """True if `unit`, a sentence or row of a source, is `sentence` or holds it word for word. Both as `plain_words` writes them."""
    return sentence == unit or (len(sentence) >= LEAST_QUOTED and f" {sentence} " in f" {unit} ")


def clash(said: SaidAround, place: Place) -> str | None:
    """What the source says of a value that the answer contradicts, as words for a reader ("per month", "on other days"); None if nothing."""
    mine, theirs = said.frame, place.frame
    if (mine.bound, theirs.bound) in _OPPOSITE_BOUNDS:
        return _BOUNDS[theirs.bound]
    if mine.rate and theirs.rate and mine.rate != theirs.rate:
        return f"per {theirs.rate}"
    dated = place.found.kind == "date"
    if mine.days and theirs.days and not mine.days & theirs.days and not dated:
        return "on other days"
    if mine.years and theirs.years and not mine.years & theirs.years and not dated:
        return f"for {min(theirs.years)}"
    if theirs.past == "surely" and not mine.past:
        return "for an earlier time"
    # to be open until six is to close at six
    until = mine.bound in ("start", "end") and (theirs.bound or mine.bound) == mine.bound and place.found.kind == "time"
    pair = opposed(mine.words - _HOURS, theirs.words - _HOURS) if until else opposed(mine.words, theirs.words)
    return f"for {pair}" if pair else None


_HOURS = frozenset(stem(w) for w in ("open", "opens", "opening", "close", "closes", "closed", "closing"))
_BOUNDS = {"least": "as the least", "most": "as the most", "start": "as the beginning", "end": "as the end"}


def rival(said: SaidAround, place: Place, others: Sequence[Place]) -> Place | None:
    """The value of `others` that stands for what the claim names while `place` does not; None if there is none.

    `others`: other values of the same kind and measure, of any source. Ties go to the first by source and offset.
    """
    if place.unit.field == "title" or place.frame.key:
        return None  # it says what the others are said of
    told = [o for o in others if _is_open(o) == _is_open(place)]
    beats = [(strength, o) for o in told if (strength := _strength(said, place, o)) > 0 and clash(said, o) is None]
    return max(beats, key=lambda b: (b[0], b[1].source.id, -b[1].found.start))[1] if beats else None


def _is_open(place: Place) -> bool:
    """True of a relative date: a year ago and January are no two answers to one question."""
    return place.found.value.startswith("relative:")


def _strength(said: SaidAround, place: Place, other: Place) -> float:
    """How much more of what the claim names stands by `other` than by `place`; 0 if anything speaks for `place`.

    The claim's own clause decides; where it names neither, its sentence; where that names neither, the question and what
    leads up to the sentence.
    """
    if other.unit.field == "title":
        return 0.0
    one = place.source is other.source or place.source == other.source
    same = one and place.unit.start == other.unit.start
    if same and _headed(said.frame, place.frame, other.frame):
        return 4.0
    if _is_row_named(said, place.frame.row_key, other.frame.row_key):
        return 3.5
    here, there = _named(place, same=same), _named(other, same=same)
    clause = said.frame.local | said.frame.words
    if there.isdisjoint(clause) and (same or (there.isdisjoint(said.sentence) and there.isdisjoint(said.context))):
        return 0.0  # nothing that the claim says stands by it: so it is with most
    near = one and abs(place.unit.number - other.unit.number) <= 1
    alike = _alike(place, other, said)
    if not same and not near and not alike:
        return 0.0
    # a heading of both speaks for neither: what the other sentence says itself counts, though both stand below it
    shared = place.unit.subject & other.unit.subject
    mine, theirs = here - shared | _own(place, same=same), there - shared | _own(other, same=same)
    # the subject of a sentence stands in one of its clauses and is that of all: only a clause tells clauses apart
    layers = (clause,) if same or not alike else (clause, said.sentence, said.context)
    for weight, words in enumerate(layers):
        for_here, for_there = (words & mine) - there, (words & theirs) - mine
        if not place.unit.row:  # "open from" and "hours from" say one thing; two columns of these names do not
            for_there = frozenset(w for w in for_there if class_of(w) not in here)
        # of "Adults pay €12, students €8" the verb is said of both
        telling = {w for w in for_here if not w.startswith("~") and class_of(w) is None}
        if telling or (for_here and not for_there) or (for_there and _kin(words - there, here - there)):
            return 0.0
        if for_there:
            return 3.0 - weight + len(for_there) / 100
    return 0.0


def _is_row_named(said: SaidAround, mine: Words, theirs: Words) -> bool:
    """True if the claim names the whole key of the other row, and not that of this one: Glow 2 is not Glow 2 Pro."""
    if not mine or not theirs or mine == theirs:
        return False
    clause = said.frame.words
    if not all(w in clause or w in said.sentence or w in said.context for w in theirs):
        return False  # so it is of nearly every pair
    numbers = {w for w in said.sentence | said.context if w.startswith("=")}
    keys = mine | theirs
    told = clause if clause & keys else said.sentence if said.sentence & keys else said.context
    named = {w for w in told if not w.startswith("=")} | numbers
    return theirs <= named and not mine <= named


def _headed(mine: Frame, here: Frame, there: Frame) -> bool:
    """True if a number has the head of another number of the source: "457 countries" of "457 deaths in 21 countries"."""
    return bool(mine.head & there.head) and bool(here.head) and not mine.head & here.head


@lru_cache(maxsize=16384)
def _named(place: Place, *, same: bool) -> Words:
    """What a place is said of: within one sentence its clause, else its sentence, title and heading too."""
    return _own(place, same=same) if same else _own(place, same=same) | place.unit.subject


@lru_cache(maxsize=16384)
def _own(place: Place, *, same: bool) -> Words:
    own = place.frame.local | place.frame.words
    return own if same else own | _unvalued(place) | numbers_of_names(_rest(place))


@lru_cache(maxsize=16384)
def _unvalued(place: Place) -> Words:
    """The words of a sentence but those of the address or name in question: streets and towns are not what it says of them."""
    return role_terms(_rest(place)) if place.found.kind == "entity" else place.unit.terms


def _rest(place: Place) -> str:
    text, unit, found = place.text(), place.unit, place.found
    return f"{text[unit.start : found.start]} {text[found.end : unit.end]}"


def _alike(place: Place, other: Place, said: SaidAround) -> bool:
    """True of two rows of a table, and of two sentences that say the same thing of two subjects, or that what the claim asks for."""
    if place.unit.row and other.unit.row:
        return True
    mine, theirs = _unvalued(place), _unvalued(other)
    shared, least = mine & theirs, min(len(mine), len(theirs))
    if (least > 0 and len(shared) * 2 >= least) or siblings(place, (other,)):
        return True
    return place.source == other.source and bool(shared & (said.sentence | said.context) - place.unit.subject)
