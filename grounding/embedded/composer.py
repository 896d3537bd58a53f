"""The extractive composer: the answer is made of sentences of the evidence, quoted, and says so. It cannot invent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from grounding.grade import weights
from grounding.ports import Embedder
from grounding.prompt import insufficient_sentence
from grounding.records import Draft, Evidence, Prompt
from grounding.text import body_start, sentences, terms

LEAD_IN = "Quoted from the sources:"
_CANDIDATES = 14
_MEANING, _WORDS = 0.6, 0.4
_KEEP = 0.72
"""A further sentence is quoted if it scores at least this share of the best one."""
_MAX_QUOTES = 3
_LIST_ITEMS = 8


@dataclass(frozen=True, slots=True)
class _Candidate:
    evidence: Evidence
    index: int
    text: str
    words: float


class ExtractiveComposer:
    """Composer over an embedder; without one, words alone decide."""

    name = "extractive"

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder

    async def compose(self, prompt: Prompt) -> Draft:
        """Quotes of the sentences that meet the question best, each with its [n]."""
        candidates = await asyncio.to_thread(_candidates, prompt.question, prompt.evidence)
        if not candidates:
            return Draft(insufficient_sentence(), self.name)
        scores = await self._scores(prompt.question, candidates)
        ranked = sorted(zip(candidates, scores, strict=True), key=lambda pair: -pair[1])
        best = ranked[0][1]
        chosen = [c for c, s in ranked[:_MAX_QUOTES] if s >= _KEEP * best]
        chosen.sort(key=lambda c: (c.evidence.n, c.index))
        lines = [line for c in chosen for line in _quote(c)]
        return Draft(f"{LEAD_IN}\n" + "\n".join(dict.fromkeys(lines)), self.name)

    async def _scores(self, question: str, candidates: Sequence[_Candidate]) -> list[float]:
        if self._embedder is None:
            return [c.words for c in candidates]
        texts = [f"{c.evidence.passage.title}: {c.text}" for c in candidates]
        vectors = await self._embedder.embed([question, *texts])
        near = vectors[1:] @ vectors[0]
        return [_MEANING * max(0.0, float(n)) + _WORDS * c.words for c, n in zip(candidates, near, strict=True)]


def _candidates(question: str, evidence: Sequence[Evidence]) -> list[_Candidate]:
    asked = terms(question)
    texts = [frozenset(terms(e.passage.text)) | frozenset(terms(e.passage.title)) for e in evidence]
    idf = weights(asked, texts) if asked else {}
    total = sum(idf.values()) or 1.0
    found = []
    for item in evidence:
        title = frozenset(terms(item.passage.title))
        for index, span in enumerate(sentences(item.passage.text)):
            held = frozenset(terms(span.text))
            if not held or _is_heading(span.text, item.passage.title):
                continue
            share = sum(w * (1.0 if t in held else 0.4 if t in title else 0.0) for t, w in idf.items()) / total
            found.append(_Candidate(item, index, span.text, share))
    found.sort(key=lambda c: (-c.words, c.evidence.n, c.index))
    return found[:_CANDIDATES]


def _is_heading(text: str, title: str) -> bool:
    """A heading says what follows, not what is so."""
    return text.startswith("#") or text == title or (len(terms(text)) < 2 and not any(c.isdigit() for c in text))


def _quote(candidate: _Candidate) -> list[str]:
    """The sentence as a list item with its marker; a lead-in takes its list along."""
    spans = sentences(candidate.evidence.passage.text)
    n = candidate.evidence.n
    lines = [_item(candidate.text, n)]
    if candidate.text.rstrip().endswith(":"):
        for span in spans[candidate.index + 1 : candidate.index + 1 + _LIST_ITEMS]:
            if body_start(span.text) == 0:
                break
            lines.append(_item(span.text, n))
    return lines


def _item(text: str, n: int) -> str:
    body = text[body_start(text) :].strip() or text.strip()
    return f"- {body} [{n}]"
