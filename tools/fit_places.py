"""Fits the softmax over a source's values that says which of them an answer asks for, on honest answers: the value that stands there is right, the others of its kind are not.

usage: python -m tools.fit_places ANSWERS.jsonl...

ANSWERS are rows as `attest eval answers` reads them: question, sources, answer, honest. Only honest ones are used, and of their values those that a
document has rivals for (`rai.check.rules.nearer.contested`). Written to rai/check/places/places.json. Each file is predicted by a model that was fitted
on the others; by these predictions the margins are set, so that `DOUBT` of the honest values are doubtful; only a contact is called another's. Beside it is told how often an exchanged value is found: each rival in turn in the place of the right one, a value of many rivals counted once.
Repeated runs give the same.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.evaluate.rows import json_lines
from rai.check.answer import Answer
from rai.check.comparison.lookup_keys import measure_of
from rai.check.context import CheckContext, standing
from rai.check.match import context_of
from rai.check.places.place_features import FEATURES
from rai.check.places.rank import MODEL, rows
from rai.check.reading.sources import Place
from rai.check.rules.nearer import contested
from rai.claims.contacts.phones import REGIONS
from rai.claims.contacts.regions import regions_of
from rai.claims.find import find_values
from rai.claims.found import Found
from rai.records import CONTACT_KINDS, Source

Matrix = NDArray[np.float64]
Counts = NDArray[np.int64]
DOUBT, CONTACT, ANOTHER = 0.04, 0.01, 0.04
"""Shares of honest values: those that are doubtful, of contacts, whose doubt is struck, and those of amounts at whose margin a contact is called another's."""
PENALTY, STEPS, RATE = 8.0, 400, 0.05


@dataclass(frozen=True, slots=True)
class Contest:
    """One value among its rivals: the features of the places of each value, the right one first. `of`: the file; `contact`: whether it is one."""

    of: str
    contact: bool
    values: tuple[Matrix, ...]


@dataclass(frozen=True, slots=True)
class Stacked:
    """Contests as one matrix of places: where each value's rows begin, and at which value each contest does."""

    places: Matrix
    values: Counts
    contests: Counts

    @classmethod
    def of(cls, contests: Sequence[Contest], scale: Matrix) -> Stacked:
        every = [value for contest in contests for value in contest.values]
        sizes = np.cumsum([0, *(len(v) for v in every)])[:-1]
        many = np.cumsum([0, *(len(c.values) for c in contests)])[:-1]
        return cls(np.concatenate(every) / scale, sizes, many)

    def scores(self, weights: Matrix) -> tuple[Matrix, Matrix]:
        """Of places, and of values: the mean of what their places have."""
        single = np.clip(self.places @ weights, -30, 30)
        counted = np.diff([*self.values, len(single)])
        return single, np.logaddexp.reduceat(single, self.values) - np.log(counted)


def contests_of(path: Path) -> Iterator[Contest]:
    """The values of honest answers that have rivals."""
    for row in json_lines(path):
        if row.get("honest", True):
            answer = read(row)
            for n, value in enumerate(answer.values):
                contest = contested(n, *candidates(value, answer.context), answer)
                if contest is not None:
                    yield Contest(path.stem, value.kind in CONTACT_KINDS, tuple(_by_value(n, *contest, answer)))


def read(row: dict[str, Any]) -> Answer:
    """The answer of a row with its values, beside its sources."""
    sources = [Source(s["id"], s["text"], s.get("title", "")) for s in row["sources"]]
    regions = regions_of([*(f"{s.title}\n{s.text}" for s in sources), row["question"]], REGIONS)
    every = tuple(dict.fromkeys((*regions, *REGIONS)))
    context = context_of(sources, row["question"], (), every, None)
    return Answer.read(
        row["answer"], sorted(find_values(row["answer"], every), key=lambda f: (f.start, f.end)), context
    )


def candidates(value: Found, context: CheckContext) -> tuple[list[Place], list[Place]]:
    """The places of a value, and those of others of its measure."""
    own = standing(value, context.sources)
    measures = dict.fromkeys((measure_of(value), *(measure_of(p.found) for p in own)))
    alike = [p for s in context.sources for m in measures for p in s.alike.get(m, ())]
    known, same = {id(p) for p in own}, {p.found.value for p in own}
    return own, [p for p in alike if id(p) not in known and p.found.value not in same]


def _by_value(n: int, own: Sequence[Place], rivals: Sequence[Place], answer: Answer) -> Iterator[Matrix]:
    scored = rows(n, own, rivals, answer)
    yield np.array([row for _, row in scored[: len(own)]])
    found: dict[str, list[list[float]]] = {}
    for place, row in scored[len(own) :]:
        found.setdefault(place.found.value, []).append(row)
    yield from (np.array(each) for each in found.values())


def fitted(contests: Sequence[Contest]) -> Matrix:
    """The weights of the features as they are, by gradient descent (Adam) on the penalised likelihood of the right values."""
    scale: Matrix = np.concatenate([v for c in contests for v in c.values]).std(axis=0) + 1e-6
    data = Stacked.of(contests, scale)
    sizes, many = np.diff([*data.values, len(data.places)]), np.diff([*data.contests, len(data.values)])
    right = np.zeros(len(data.values))
    right[data.contests] = 1.0
    weights, first, second = (np.zeros(len(FEATURES)) for _ in range(3))
    for step in range(1, STEPS + 1):
        single, scores = data.scores(weights)
        whole = np.logaddexp.reduceat(scores, data.contests)
        missed = np.exp(scores - np.repeat(whole, many)) - right
        within = np.exp(single - np.repeat(scores + np.log(sizes), sizes))
        slope = data.places.T @ (within * np.repeat(missed, sizes)) + 2 * PENALTY * weights
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        weights = weights - RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-9)
    return weights / scale


def margins(contests: Sequence[Contest], weights: Matrix) -> list[Matrix]:
    """For each contest, by how much the best other value beats each in turn, the right one first."""
    data = Stacked.of(contests, np.ones(len(FEATURES)))
    _, scores = data.scores(weights)
    parts = np.split(scores, data.contests[1:])
    return [np.array([np.delete(part, n).max() - part[n] for n in range(len(part))]) for part in parts]


def main(paths: Sequence[str]) -> None:
    contests = [contest for path in paths for contest in contests_of(Path(path))]
    told: list[tuple[Contest, Matrix]] = []
    for name in dict.fromkeys(c.of for c in contests):
        aside = [c for c in contests if c.of == name]
        weights = fitted([c for c in contests if c.of != name])
        told += zip(aside, margins(aside, weights), strict=True)
    values = [(c, m) for c, m in told if not c.contact]
    contacts = [(c, m) for c, m in told if c.contact]
    bounds = {
        "doubt_from": _bound(values, DOUBT),
        "contact_from": max(_bound(values, ANOTHER), _bound(contacts, CONTACT)),
        "contact_doubt_from": _bound(contacts, CONTACT),
    }
    for name, group in (("values", values), ("contacts", contacts)):
        print(f"{name}: {len(group)}, the right one first {np.mean([m[0] < 0 for _, m in group]):.3f}")
        for share in (0.003, 0.01, 0.02, 0.04, 0.08):
            print(
                f"  honest {share}: margin {_bound(group, share)}, exchanged found {_found(group, _bound(group, share)):.3f}"
            )
    weights = fitted(contests)
    stored = {"weights": {n: round(float(w), 4) for n, w in zip(FEATURES, weights, strict=True)}, **bounds}
    MODEL.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
    print(bounds)


def _bound(told: Sequence[tuple[Contest, Matrix]], share: float) -> float:
    """The margin that `share` of the right values reach."""
    return round(float(np.quantile([m[0] for _, m in told], 1 - share)), 2)


def _found(told: Sequence[tuple[Contest, Matrix]], bound: float) -> float:
    return float(np.mean([np.mean(m[1:] >= bound) for _, m in told]))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit((__doc__ or "").split("\n\n")[1])
    main(sys.argv[1:])
