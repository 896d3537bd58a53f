"""Extractive composer: an answer made of quoted blocks of the evidence, which says that it is. It cannot invent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from grounding.embedded.grader import told_anew
from grounding.evidence.choose import retired, superseded
from grounding.grading.features import LABELS, YES_AT
from grounding.ports import Embedder
from grounding.prompting.prompt import insufficient_sentence
from grounding.quoting.blocks import BAR
from grounding.quoting.choose import choose, shown
from grounding.quoting.features import COSINE, BlockCandidate, candidates, feature_rows, score
from grounding.quoting.question_parts import Reading, read
from grounding.quoting.siblings import fitted_tables, fitting, together
from grounding.quoting.unknown import unknown_name
from grounding.records import Draft, Evidence, Passage, Prompt
from grounding.text import body_start

LEAD_IN = "Quoted from the sources:"
LOOKED_AT = 32
"""Blocks whose meaning is looked at: those that score best by words. The rest take their passage's."""
NEEDED: tuple[tuple[float, float], ...] = ((YES_AT, 0.3), (LABELS[2][0], 0.4), (0.0, 0.55))
"""(grade, score): the score that the best block needs where the best passage has at least that grade: the less the grader thinks of all passages, the
surer the block must be. Lower ones give a few more right answers and as many more beside the point (docs/decisions/0014-quoting.md)."""
OLDER = 0.7
"""What a block keeps of its score beside a newer document about the same thing."""


class ExtractiveComposer:
    """Composer (prompt to draft) that quotes the blocks of the evidence with the highest scores; with an embedder by words and meaning,
    without one by words alone.
    """

    name = "extractive"

    def __init__(self, embedder: Embedder | None, *, own: bool = True) -> None:
        """`own`: the passages' cosines are this embedder's; see `grounding.embedded.grader`."""
        self._embedder = embedder
        self._own = own

    async def compose(self, prompt: Prompt) -> Draft:
        """A draft that quotes the blocks which answer each part of the question, each with its [n]; the insufficient sentence where none
        scores high enough.
        """
        question = prompt.query or prompt.question
        passages = [e.passage for e in prompt.evidence]
        if not self._own:
            passages = await told_anew(self._embedder, question, passages)
        reading = await asyncio.to_thread(read, question, prompt.question)
        found = await asyncio.to_thread(candidates, passages)
        if not found:
            return Draft(insufficient_sentence(), self.name)
        fitted = await asyncio.to_thread(fitted_tables, reading, found, passages)
        told = together(fitting(await self.scores(reading, found, passages), fitted), reading, found, fitted)
        scores = without_retired(told, found, passages, _needed(prompt.evidence))
        asked = " ".join(part.text for part in reading.parts)
        best = max(range(len(found)), key=lambda i: max(part[i] for part in scores))
        unknown = unknown_name(asked, found, passages, best) or ""
        if unknown or max(max(part) for part in scores) < _needed(prompt.evidence):
            return Draft(insufficient_sentence(), self.name, unknown=unknown)
        chosen = choose(reading, found, passages, scores, fitted)
        lines = [quoted(found[i], reading, prompt.evidence[found[i].passage]) for i in chosen]
        return Draft(f"{LEAD_IN}\n" + "\n".join(dict.fromkeys(lines)), self.name)

    async def scores(
        self, reading: Reading, found: Sequence[BlockCandidate], passages: Sequence[Passage]
    ) -> list[list[float]]:
        """For each part of the question, one probability for each candidate that it answers that part."""
        rows = await self.features(reading, found, passages)
        old = superseded(passages)
        kept = [OLDER if passages[c.passage].chunk_id in old else 1.0 for c in found]
        return [[score(row) * share for row, share in zip(part, kept, strict=True)] for part in rows]

    async def features(
        self, reading: Reading, found: Sequence[BlockCandidate], passages: Sequence[Passage]
    ) -> list[list[list[float]]]:
        """For each part of the question the features of each candidate, columns as in `NAMES`."""
        unread: list[float | None] = [None] * len(found)
        rows = [await asyncio.to_thread(feature_rows, reading, part, found, passages, unread) for part in reading.parts]
        if self._embedder is not None:
            await self._with_meaning(reading, found, rows)
        return rows

    async def _with_meaning(
        self, reading: Reading, found: Sequence[BlockCandidate], rows: Sequence[list[list[float]]]
    ) -> None:
        """Replace the cosine of a block's passage by that of question and block, for the blocks that words make likely."""
        assert self._embedder is not None
        by_words = [max(score(part[i]) for part in rows) for i in range(len(found))]
        near = sorted(range(len(found)), key=lambda i: (-by_words[i], i))[:LOOKED_AT]
        texts = [reading.text, *(part.text for part in reading.parts), *(found[i].embedded_as for i in near)]
        vectors = await self._embedder.embed(texts)
        parts = len(reading.parts)
        whole, blocks = vectors[0], vectors[1 + parts :]
        for k, part in enumerate(rows):
            asked = whole if parts == 1 else np.mean([whole, vectors[1 + k]], axis=0)
            for i, cosine in zip(near, blocks @ asked, strict=True):
                part[i][COSINE] = max(0.0, float(cosine))


def without_retired(
    scores: list[list[float]], found: Sequence[BlockCandidate], passages: Sequence[Passage], needed: float
) -> list[list[float]]:
    """`scores` with 0 for blocks of an edition that another has replaced, unless no other block reaches `needed`."""
    gone = retired(passages)
    left = [
        [0.0 if passages[c.passage].chunk_id in gone else s for c, s in zip(found, part, strict=True)]
        for part in scores
    ]
    return left if max(max(part) for part in left) >= needed else scores


def _needed(evidence: Sequence[Evidence]) -> float:
    """The score that the best block needs, by the grade of the best passage."""
    best = max(e.score for e in evidence)
    return next(needed for grade, needed in NEEDED if best >= grade)


def quoted(candidate: BlockCandidate, reading: Reading, evidence: Evidence) -> str:
    """The block as a list item with its marker before the full stop, so that it belongs to its sentence."""
    text = shown(candidate, reading)
    body = text[body_start(text) :].strip() or text.strip()
    if BAR in body:
        return f"- {body} [{evidence.n}]"
    core = body.rstrip(".!?…")
    return f"- {core} [{evidence.n}]{body[len(core) :]}"
