"""The extractive composer: the answer is made of sentences of the evidence, quoted, and says so. It cannot invent."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from grounding.embedded.grader import meanings, score, shortlist, told_anew
from grounding.evidence import superseded
from grounding.grade import Asked, Candidate
from grounding.ports import Embedder
from grounding.prompt import insufficient_sentence
from grounding.records import Draft, Evidence, Prompt
from grounding.text import body_start, sentences

LEAD_IN = "Quoted from the sources:"
_NEAR_BEST = 0.5
"""A sentence is quoted only if its score is at least this share of the best one's."""
_ADDS = 0.05
"""A further sentence is quoted only if it holds this share of the question's weight that was not quoted yet."""
OLDER = 0.7
"""What a sentence keeps of its score beside a newer document about the same thing."""
_MAX_QUOTES = 3
_LIST_ITEMS = 8
_STEP = re.compile(r"\s*\d{1,2}[.)]\s")


class ExtractiveComposer:
    """Composer over an embedder; without one, words alone decide."""

    name = "extractive"

    def __init__(self, embedder: Embedder | None, *, own: bool = True) -> None:
        """`own`: the cosines that passages come with are this embedder's; see `grounding.embedded.grader`."""
        self._embedder = embedder
        self._own = own

    async def compose(self, prompt: Prompt) -> Draft:
        """Quotes of the sentences that meet the question best, each with its [n]."""
        question = prompt.query or prompt.question
        passages = [e.passage for e in prompt.evidence]
        if not self._own:
            passages = await told_anew(self._embedder, question, passages)
        asked, found = await asyncio.to_thread(shortlist, question, passages)
        if not found:
            return Draft(insufficient_sentence(), self.name)
        near = await meanings(self._embedder, question, found, passages)
        old = superseded(passages)
        scores = [
            score(c, n, p) * (OLDER if p.chunk_id in old else 1)
            for c, n in zip(found, near, strict=True)
            for p in [passages[c.passage]]
        ]
        lines = [line for c in _choose(asked, found, scores) for line in _quote(c, prompt.evidence[c.passage])]
        return Draft(f"{LEAD_IN}\n" + "\n".join(dict.fromkeys(lines)), self.name)


def _choose(asked: Asked, found: Sequence[Candidate], scores: Sequence[float]) -> list[Candidate]:
    """The best sentence, then those near it that hold what of the question was not quoted yet; in the order of the evidence."""
    ranked = sorted(zip(found, scores, strict=True), key=lambda pair: -pair[1])
    total = sum(asked.weights.values()) or 1.0
    chosen: list[Candidate] = []
    covered: set[str] = set()
    for candidate, value in ranked:
        gain = sum(asked.weights[t] for t in candidate.covers - covered) / total
        if not chosen or (value >= _NEAR_BEST * ranked[0][1] and gain >= _ADDS):
            chosen.append(candidate)
            covered |= candidate.covers
        if len(chosen) == _MAX_QUOTES:
            break
    return sorted(chosen, key=lambda c: (c.passage, c.index))


def _quote(candidate: Candidate, evidence: Evidence) -> list[str]:
    """The sentence as a list item with its marker. A lead-in takes its list along, a step takes all steps."""
    spans = sentences(evidence.passage.text)
    first = last = candidate.index
    if _STEP.match(candidate.text):
        while first > 0 and _STEP.match(spans[first - 1].text):
            first -= 1
        while last + 1 < len(spans) and _STEP.match(spans[last + 1].text):
            last += 1
    elif candidate.text.rstrip().endswith(":"):
        while last + 1 < len(spans) and body_start(spans[last + 1].text):
            last += 1
    return [_item(s.text, evidence.n) for s in spans[first : min(last + 1, first + _LIST_ITEMS)]]


def _item(text: str, n: int) -> str:
    """The marker stands before the full stop, so that it belongs to its sentence."""
    body = text[body_start(text) :].strip() or text.strip()
    core = body.rstrip(".!?…")
    return f"- {core} [{n}]{body[len(core) :]}"
