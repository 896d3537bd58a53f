"""Relevance of a block of evidence to a part of the question: explained features and a linear score over them.

Pure but for nearness in meaning, which the caller brings. The coefficients are fitted by `tools/fit_quoting.py` on questions of several companies;
figures stand in docs/decisions/0014-quoting.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from grounding.grading.features import READ, identifiers_and_names, idf, place_score, stands_in
from grounding.query.answer_kind import counted, holds
from grounding.query.conversation import content
from grounding.query.typos import FROM, typos_between
from grounding.quoting.blocks import Block, blocks, cells, says_something
from grounding.quoting.question_parts import Part, Reading
from grounding.quoting.ranges import days_of
from grounding.records import Passage
from grounding.text import caseless, stem, terms

OTHERS = 0.35
"""Weight of a term that another part of the question says: it may be what all parts are about."""
UNREAD = 1.0
"""Nearness, as a standard score, where nobody can tell it: what a likely block has. Without a reader words alone decide."""
SLIPPED, WITHIN = 0.7, 0.5
"""What a term counts that a block holds with a slip of the hand, or as part of a longer word ("charge" in "surcharge")."""


@dataclass(frozen=True, slots=True)
class BlockCandidate:
    """A block that may be quoted, of passage number `passage`, with `around`: title, heading and lead-in above it."""

    passage: int
    block: Block
    around: str
    held: frozenset[str]
    above: frozenset[str]

    @property
    def embedded_as(self) -> str:
        """Text that is embedded for this block: with title, heading and lead-in above it, since rows and steps do not say them again."""
        return f"{self.around}: {self.block.text}"


def candidates(passages: Sequence[Passage]) -> list[BlockCandidate]:
    """All blocks of all passages that are worth quoting, in order."""
    return [
        BlockCandidate(number, *read)
        for number, passage in enumerate(passages)
        for read in _read(passage.title, passage.locator or "", passage.text)
    ]


@lru_cache(maxsize=READ)
def _read(title: str, locator: str, text: str) -> tuple[tuple[Block, str, frozenset[str], frozenset[str]], ...]:
    """Of each block of a passage that is worth quoting what a candidate says beside its number."""
    out = []
    for block in blocks(text):
        if says_something(block):
            around = " · ".join(dict.fromkeys(p for p in (title, block.heading or locator, block.lead) if p))
            held = frozenset(terms(block.text)) | _days(block)
            out.append((block, around, held, frozenset(terms(around))))
    return tuple(out)


def _days(block: Block) -> frozenset[str]:
    """Terms of the days that a row speaks of: who asks for Saturday is answered by a column `sat`, for Tuesday by one `mon_fri`."""
    return frozenset(stem(day) for day in days_of(block.text)) if block.kind == "row" else frozenset()


def weights(reading: Reading, part: Part, found: Sequence[BlockCandidate]) -> dict[str, float]:
    """Weights of the question's terms by inverse document frequency over the blocks at hand (smoothed, Robertson & Sparck Jones); those of
    other parts count `OTHERS` of it.
    """
    own = content(part.text)
    asked = own | content(reading.text)
    weighed = idf(asked, [c.held | c.above for c in found])
    return {t: weight * (1.0 if t in own else OTHERS) for t, weight in weighed.items()}


_INFLECTED = re.compile(r"e[nmrs]?|n")
"""What German words end in where they are declined: groß, großen."""


def likeness(term: str, held: frozenset[str]) -> float:
    """How far one of the terms `held` matches `term`, in [0, 1]."""
    return 1.0 if term in held else max(alike(term, held).values(), default=0.0)


def alike(term: str, others: Iterable[str]) -> dict[str, float]:
    """Those of `others` that match `term` without being it, each with how far, in (0, 1)."""
    if len(term) < 4 or not term.isalpha():
        return {}
    return {other: degree for other in others if len(other) >= 4 and other != term and (degree := _degree(term, other))}


@lru_cache(maxsize=65536)
def _degree(term: str, other: str) -> float:
    first = term[0] == other[0]
    if first and (_INFLECTED.fullmatch(term.removeprefix(other)) or _INFLECTED.fullmatch(other.removeprefix(term))):
        return SLIPPED
    if first and len(term) >= FROM and typos_between(term, other) is not None:
        return SLIPPED
    within = term.startswith(other) or other.startswith(term) or term.endswith(other) or other.endswith(term)
    return WITHIN if within else 0.0


NAMES = (
    "share",
    "beside",
    "above",
    "whole",
    "key",
    "typed",
    "untyped",
    "counted",
    "named",
    "bm25",
    "rank",
    "place",
    "words",
    "row",
    "step",
    "item",
    "digit",
    "steps asked",
    "meaning",
    "pieces",
)
MEANING, PIECES = NAMES.index("meaning"), NAMES.index("pieces")
"""Columns that whoever reads the blocks fills in: how near a block is as a whole and piece by piece, as standard scores among the blocks that are looked at."""


def feature_rows(
    reading: Reading,
    part: Part,
    found: Sequence[BlockCandidate],
    passages: Sequence[Passage],
) -> list[list[float]]:
    """Feature rows (columns as in `NAMES`), one for each candidate; values about 0 to 1, and `UNREAD` in the columns of nearness."""
    weighed = weights(reading, part, found)
    own = content(part.text)
    total = sum(w for t, w in weighed.items() if t in own) or 1.0
    everything = sum(weighed.values()) or 1.0
    named = identifiers_and_names(reading.text)
    what = counted(part.text)
    best = max((p.bm25 or 0.0 for p in passages), default=0.0) or 1.0
    every = frozenset[str]().union(*(c.held | c.above for c in found))
    near = {t: alike(t, every) for t in weighed}  # once for all blocks, which share most of their words

    def like(term: str, held: frozenset[str]) -> float:
        return 1.0 if term in held else max((d for other, d in near[term].items() if other in held), default=0.0)

    out = []
    for candidate in found:
        block, passage = candidate.block, passages[candidate.passage]
        has = part.wants is not None and holds(block.text, part.wants)
        said = part.wants.cues if part.wants is not None and has else frozenset()
        inside = {t: 1.0 if t in said else like(t, candidate.held) for t in weighed}
        share = sum(w * inside[t] for t, w in weighed.items() if t in own) / total
        beside = sum(w * inside[t] for t, w in weighed.items() if t not in own) / total
        over = {t: like(t, candidate.above) for t in weighed}
        above = sum(w * over[t] for t, w in weighed.items() if not inside[t]) / total
        whole = sum(w * max(inside[t], over[t]) for t, w in weighed.items()) / everything
        plain = caseless(f"{candidate.around} {block.text}") if named else ""
        values = {
            "share": share,
            "beside": min(1.0, beside),
            "above": min(1.0, above),
            "whole": whole,
            "key": _key(block, weighed) / total,
            "typed": float(has),
            "untyped": float(part.wants is not None and not has),
            "counted": float(what is not None and what in candidate.held | candidate.above),
            "named": sum(stands_in(n, plain) for n in named) / len(named) if named else 0.5,
            "bm25": (passage.bm25 or 0.0) / best,
            "rank": place_score(passage),
            "place": 1 / (1 + candidate.passage),
            "words": min(1.0, math.log1p(block.words) / 4),
            "row": float(block.kind == "row"),
            "step": float(block.kind == "step"),
            "item": float(block.kind == "item"),
            "digit": float(any(c.isdigit() for c in block.text)),
            "steps asked": float(block.kind == "step" and reading.form == "steps"),
            "meaning": UNREAD,
            "pieces": UNREAD,
        }
        out.append([values[name] for name in NAMES])
    return out


KEYS = 3
"""Cells of a row among which stands what it is about."""


def _key(block: Block, weighed: Mapping[str, float]) -> float:
    """Weight of a name in the first cells of a row that the question says whole: the row is about that; 0 for what is no row."""
    if block.kind != "row":
        return 0.0
    asked, best = frozenset(weighed), 0.0
    for cell in cells(block.text)[:KEYS]:
        said = set(terms(cell.span.text.removeprefix(f"{cell.header}: ") if cell.header else cell.span.text))
        if said and any(c.isalpha() for t in said for c in t) and all(likeness(t, asked) >= SLIPPED for t in said):
            best = max(best, sum(weighed.get(t, 0.0) for t in said))
    return min(best, sum(weighed.values()))


INTERCEPT = -4.69
COEFFICIENTS: Mapping[str, float] = {
    "share": 0.10,
    "beside": 1.36,
    "above": 0.67,
    "whole": 1.77,
    "key": 1.62,
    "typed": 0.53,
    "untyped": -0.54,
    "counted": 0.36,
    "named": 0.26,
    "bm25": 0.37,
    "rank": 1.33,
    "place": 0.49,
    "words": 1.00,
    "row": 0.32,
    "step": 0.12,
    "item": 0.17,
    "digit": 0.20,
    "steps asked": 1.53,
    "meaning": 0.72,
    "pieces": 0.34,
}


def score(row: Sequence[float]) -> float:
    """Probability that a block answers its part of the question, by the fitted score."""
    z = INTERCEPT + sum(COEFFICIENTS[name] * x for name, x in zip(NAMES, row, strict=True))
    return 1 / (1 + math.exp(-z))
