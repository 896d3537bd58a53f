"""Judges for tests: ordinary implementations of the seam."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grounding.text import sentences
from rai.judgement import UNSURE, Case, Proposal, Quote
from rai.records import Source


class WordJudge:
    """Calls a claim supported by the sentence of a source that has all words of it, wrong where no source has one. `asked` is the log."""

    name = "words"

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    async def judge(self, case: Case) -> tuple[Proposal, ...]:
        if case.claims:
            self.asked.append(tuple(c.text for c in case.claims))
        return tuple(proposal(c.text, case.sources) for c in case.claims)


class ScriptedJudge:
    """Gives the same proposals each time, in order; what is beyond them is unsure. `cases` is the log."""

    name = "scripted"

    def __init__(self, *proposals: Proposal) -> None:
        self._proposals = proposals
        self.cases: list[Case] = []

    async def judge(self, case: Case) -> tuple[Proposal, ...]:
        self.cases.append(case)
        return (*self._proposals, *[UNSURE] * len(case.claims))[: len(case.claims)]


class FailingJudge:
    """Raises what it was given."""

    name = "failing"

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def judge(self, case: Case) -> tuple[Proposal, ...]:
        raise self._error


def proposal(text: str, sources: Sequence[Source]) -> Proposal:
    """What somebody proposes who compares words."""
    words = set(_words(text))
    if not words:
        return UNSURE
    for source in sources:
        for sentence in sentences(source.text):
            if words <= set(_words(sentence.text)):
                return Proposal("supported", (Quote(source.id, sentence.text),))
    anywhere = {w for s in sources for w in _words(f"{s.title} {s.text}")}
    return UNSURE if words & anywhere else Proposal("wrong", unsaid=text)


def _words(text: str) -> Iterator[str]:
    return (match[0] for match in re.finditer(r"\w+", text.lower()))
