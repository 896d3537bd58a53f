"""Features of a place as the one that an answer means by a value: words that both have, rare ones counting more, and other values taken from there.

All features are sums or shares over words and values, linear in the length of the texts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import log, sqrt

from rai.check.answer import Answer, without_others
from rai.check.places.labels import Words, labels_of
from rai.check.reading.cards import card_at
from rai.check.reading.keys import line_at, spoken
from rai.check.reading.sources import Place
from rai.records import Source

LAYERS = ("clause", "sentence", "before", "question")
"""Parts of an answer around a value, the nearest first."""
GROUPS = ("label", "column", "near", "line", "above")
"""Groups of words around a place (`labels.PlaceLabels.groups`)."""
FEATURES = (
    *(f"{layer}_{group}" for layer in LAYERS for group in GROUPS),
    *(f"unsaid_{group}" for group in GROUPS[:3]),
    "keyed",
    *("telling", "telling_near", "unit", "line", "card", "distance", "itself_near", "itself"),
)
"""`clause_label` …: what the words weigh that a layer of the answer and a group of the place share. `unsaid_label` …: the share of a group that the answer
does not say. `keyed`: 1 in a table or a line with a label. `telling`: the root of what the
sentence shares with the place, of each word at most 2; `telling_near`: the clause with what names it. `unit`, `line`, `card`: how many other values of the answer stand there too; `distance`: how
near they do, 0 or less. `itself`: words of the answer that an address is made of.
"""
MOST_BESIDE = 12
"""Most values of the answer beside one that are looked for near its places."""
_FAR, _STEP = 0.5, 40
"""Weight of a value of the sentence before, and characters of one step of `distance`."""
_MOST = 2.0
"""The most that one word counts in `telling`."""


@dataclass(frozen=True, slots=True)
class _Anchor:
    """Another value of the answer: where it stands in one source, by unit, line, card and offset.

    `weight`: 1, less in the sentence before; `share`: 1 over the root of how many places it has.
    """

    weight: float
    units: frozenset[int]
    lines: frozenset[int]
    cards: frozenset[int | None]
    starts: tuple[int, ...]
    share: float


@dataclass(frozen=True, slots=True)
class WeighedWords:
    """What an answer says around a value, weighed for telling candidates apart.

    `layers`: the words of its clause, of the rest of its sentence, of the sentence before and what leads up to it, of the question, as far as
    they tell candidates apart; `near`, `said`: all words of the sentence, of all layers; `weights`: how rare each word of the candidates is
    among them, 0 where all have it; `anchors`: by source, other values of the answer.
    """

    layers: tuple[Words, ...]
    weights: Mapping[str, float]
    anchors: Mapping[Source, Sequence[_Anchor]]
    near: Words
    said: Words


def weighed_words(n: int, answer: Answer, candidates: Sequence[Place]) -> WeighedWords:
    """What `answer` says around its n-th value, weighed for telling `candidates` apart."""
    at, value = answer.at[n], answer.values[n]
    span = answer.sentences[at]
    sentence = spoken(
        without_others(f"{answer.text[span.start : value.start]} {answer.text[value.end : span.end]}")
    ).words
    clause = spoken(clause_of(n, answer)).words & sentence
    before = (spoken(answer.sentences[at - 1].text).words if at else frozenset()) | answer.around[value].leading
    layers = (clause, sentence - clause, before - sentence, answer.asked.words - sentence)
    counted = Counter(word for place in candidates for word in labels_of(place).every)
    many = len(candidates)
    weights = {word: log((many + 1) / (count + 0.5)) if count < many else 0.0 for word, count in counted.items()}
    near = list(islice((m for m in answer.near(n, 1) if m != n and answer.at[m] <= at), MOST_BESIDE))
    anchors: dict[Source, list[_Anchor]] = {}
    for m in near:
        weight = _FAR if answer.at[m] != at else 1.0
        by_source: dict[Source, list[Place]] = {}
        for place in answer.standing(m):
            if place.unit.field == "text":
                by_source.setdefault(place.source, []).append(place)
        for source, places in by_source.items():
            anchors.setdefault(source, []).append(_anchor(weight, source.text, places))
    telling = frozenset(word for word, weight in weights.items() if weight > 0)
    told = tuple(layer & telling for layer in layers)
    return WeighedWords(told, weights, anchors, sentence, frozenset[str]().union(*layers))


def clause_of(n: int, answer: Answer) -> str:
    """The words close to the n-th value in its sentence, more of them before it than behind; without the value."""
    sentence, value = answer.sentences[answer.at[n]], answer.values[n]
    before = answer.text[max(sentence.start, value.start - _BEFORE) : value.start]
    after = answer.text[value.end : min(sentence.end, value.end + _AFTER)]
    return f"{_STOP.split(before)[-1]} {_CUT.split(after, maxsplit=1)[0]}"


_BEFORE, _AFTER = 90, 50
_STOP = re.compile(r"[;:]\s|[.!?]\s")
_CUT = re.compile(
    r"[;:,.!?]\s|[(–—]|\s(?:and|but|while|und|aber|et|mais|y|pero|e|ma|mas|en|maar|i|ale|a)\s", re.IGNORECASE
)


def _anchor(weight: float, text: str, places: Sequence[Place]) -> _Anchor:
    return _Anchor(
        weight,
        frozenset(id(p.unit) for p in places),
        frozenset(line_at(text, p.found.start).start for p in places),
        frozenset(card_at(text, p.found.start) for p in places) - {None},
        tuple(sorted(p.found.start for p in places)),
        1 / sqrt(len(places)),
    )


def features(place: Place, told: WeighedWords) -> list[float]:
    """The features of a place, in the order of `FEATURES`."""
    names, weights = labels_of(place), told.weights
    clause, near, said = told.layers[0], told.near, told.said
    values = [_weight(layer & group, weights) for layer in told.layers for group in names.groups]
    values += [_unsaid(group, said, weights) for group in names.groups[:3]]
    values.append(1.0 if names.label or names.column else 0.0)
    values.append(_telling(names.label | names.column | names.near | names.line, near, weights))
    values.append(_telling(names.label | names.column | names.near, clause, weights))
    values += _anchored(place, told)
    values.append(float(len(names.itself & near)))
    values.append(float(len(names.itself & (said - near))))
    return values


def _weight(words: Words, weights: Mapping[str, float]) -> float:
    return sum(weights.get(word, 0.0) for word in words) if words else 0.0


def _unsaid(group: Words, said: Words, weights: Mapping[str, float]) -> float:
    whole = _weight(group, weights)
    return _weight(group - said, weights) / whole if whole else 0.0


def _telling(words: Words, said: Words, weights: Mapping[str, float]) -> float:
    return sqrt(sum(min(weights.get(word, 0.0), _MOST) for word in words & said))


def _anchored(place: Place, told: WeighedWords) -> list[float]:
    """How many other values stand in the unit, line and card of `place`, and how near: 0 and the less the farther."""
    anchors = told.anchors.get(place.source, ()) if place.unit.field == "text" else ()
    if not anchors:
        return [0.0, 0.0, 0.0, 0.0]
    text, start = place.text(), place.found.start
    line, card = line_at(text, start).start, card_at(text, start)
    unit = sum(a.weight * a.share for a in anchors if id(place.unit) in a.units)
    same = sum(a.weight * a.share for a in anchors if line in a.lines)
    on_card = sum(a.weight * a.share for a in anchors if card in a.cards)
    whole = sum(a.weight for a in anchors)
    away = sum(a.weight * log(1 + _nearest(a.starts, start) / _STEP) for a in anchors)
    return [unit, same, on_card, -away / whole]


def _nearest(starts: Sequence[int], start: int) -> int:
    at = bisect_right(starts, start)
    return min(abs(start - s) for s in starts[max(0, at - 1) : at + 1])
