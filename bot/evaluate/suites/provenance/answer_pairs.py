"""Question-answer pairs, right, random and hard negatives, made of the public sets that a folder holds.

A right pair is a question with its own answer. A wrong one has the answer of another question: at random, of anything in the
set, or `hard`, of the same hotel, shop or conversation. Two questions that share most of their words are never
crossed, because the answer to one may answer the other.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from bot.evaluate.rows import Row, json_lines, kept_aside, load, spread
from grounding.text import terms
from rai.check.phrasing.antonyms import generic
from rai.check.phrasing.plain import substance

Truth = Literal["right", "random", "hard"]
MOST = 600
"""Right pairs taken of each set, evenly spread; each gives a random and a hard wrong pair."""
ANSWERS = 3
"""Different answers taken to one question."""
ALIKE: dict[Truth, float] = {"random": 0.01, "hard": 0.34}
"""Shared part of their telling words (Jaccard) from which two questions are not crossed."""
_DIALOGUE = ("customer", "user")


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, an answer, whether they belong together, and the set that they come from."""

    name: str
    question: str
    answer: str
    truth: Truth
    aside: bool


@dataclass(frozen=True, slots=True)
class _Own:
    """A question with its own answer. `about`: the hotel, shop or conversation; `document`: what is kept aside whole."""

    question: str
    answer: str
    about: str
    document: str

    @property
    def aside(self) -> bool:
        return kept_aside(self.document)


def answer_pairs(data: Path) -> Iterator[Pair]:
    """Every pair that `data` has the files for, in the same order in every run."""
    for name, found in _sets(data):
        for aside in (False, True):
            yield from _crossed(name, [own for own in found if own.aside == aside], aside=aside)


def _sets(data: Path) -> Iterator[tuple[str, list[_Own]]]:
    for path, makers in _MAKERS.items():
        if (data / path).is_file():
            rows = list(json_lines(data / path)) if path.endswith("corpus.jsonl") else load(data / path)
            for name, maker in makers.items():
                found = [own for own in maker(rows, data / path) if terms(own.question) and own.answer.strip()]
                yield name, spread(list(dict.fromkeys(found)), MOST)


def _crossed(name: str, found: Sequence[_Own], *, aside: bool) -> Iterator[Pair]:
    draw = random.Random(f"{name} {aside}")  # noqa: S311 - a repeatable draw, nothing secret
    near: dict[str, list[_Own]] = defaultdict(list)
    for own in found:
        near[own.about].append(own)
    for own in found:
        yield Pair(name, own.question, own.answer, "right", aside)
        pools: tuple[tuple[Truth, Sequence[_Own]], ...] = (("random", found), ("hard", near[own.about]))
        for truth, pool in pools:
            other = _other(own, pool, draw, ALIKE[truth])
            if other is not None:
                yield Pair(name, own.question, other.answer, truth, aside)


def _other(own: _Own, pool: Sequence[_Own], draw: random.Random, alike: float) -> _Own | None:
    for other in draw.sample(pool, min(len(pool), 12)):
        if other.answer != own.answer and _shared(own, other) < alike:
            return other
    return None


def _shared(one: _Own, other: _Own) -> float:
    about = set(terms(one.about))
    a, b = ({t for t in terms(own.question) if t not in about and not generic(t)} for own in (one, other))
    return len(a & b) / len(a | b) if a | b else 1.0


def _dstc9(rows: Sequence[Row], _: Path) -> Iterator[_Own]:
    """Answers of a system to the question that titles their source."""
    taken: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        about, question = _titled(row["sources"][0].get("title", ""))
        if row["label"] != "supported" or not question.endswith("?") or len(taken[question + about]) >= ANSWERS:
            continue
        taken[question + about].add(row["answer"])
        yield _Own(question, row["answer"], about, row["sources"][0]["text"])


def _faq(rows: Sequence[Row], _: Path) -> Iterator[_Own]:
    """Frequently asked questions, each the title of its answer."""
    for row in rows:
        about, question = _titled(row["title"])
        if question.endswith("?"):
            yield _Own(question, row["text"], about, row["text"])


def _dialogue(rows: Sequence[Row], path: Path) -> Iterator[_Own]:
    """What a customer asks at the end of a conversation, with what the corpus says to it."""
    corpus = {row["doc_id"]: row for row in json_lines(path.with_name("corpus.jsonl"))}
    for row in rows:
        said = [corpus[doc] for doc in row["relevant"] if doc in corpus][:ANSWERS]
        if said:
            about = _titled(said[0]["title"])[0] or said[0]["title"]
            yield _Own(row["history"][-1]["text"], " ".join(s["text"] for s in said), about, about)


def _turns(rows: Sequence[Row], _: Path) -> Iterator[_Own]:
    """Each question of a conversation with the turn that answers it; thanks and admissions of not knowing are left out."""
    for row in rows:
        history = row["history"]
        for asked, told in pairwise(history):
            own = _Own(asked["text"], told["text"], history[0]["text"], history[0]["text"])
            if asked["role"] in _DIALOGUE and "?" in own.question and tells(own.answer):
                yield own


def tells(answer: str) -> bool:
    """True if an answer tells something and does not begin by saying that it cannot."""
    start = answer.lower()[:60]
    return substance(answer) and not any(
        w in start for w in ("do not have", "don't have", "not sure", "no information")
    )


def _titled(title: str) -> tuple[str, str]:
    """(entity, question) of a title such as "Grand Hotel: Is there parking?"."""
    about, colon, question = title.partition(": ")
    return (about, question) if colon else ("", title)


_MAKERS: dict[str, dict[str, Callable[[Sequence[Row], Path], Iterator[_Own]]]] = {
    "provenance/dstc9.jsonl": {"dstc9": _dstc9},
    "retrieval/dstc11/corpus.jsonl": {"faq": _faq},
    "retrieval/dstc11/queries.jsonl": {"dialogue": _dialogue},
    "retrieval/mtrag_un/queries.jsonl": {"turns": _turns},
}
