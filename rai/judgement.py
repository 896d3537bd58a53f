"""Records of a judge's work: what it is asked and what it may propose. Frozen, plain data: another process can be sent it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rai.records import Claim, Source

Opinion = Literal["supported", "wrong", "unsure"]
"""What a judge may think of a claim."""


@dataclass(frozen=True, slots=True)
class Case:
    """An answer as a judge is given it.

    `sentences`: every sentence of the answer, in order. `claims`: those in doubt, in order, statements and values alike.
    `said`: the question and what else is known of the person's matter, most telling first; it may be used and is no source.
    """

    sentences: tuple[Claim, ...]
    claims: tuple[Claim, ...]
    sources: tuple[Source, ...]
    said: tuple[str, ...] = ()

    def sentence_of(self, claim: Claim) -> Claim:
        """The sentence that holds `claim`; the claim itself where none does."""
        return next((s for s in self.sentences if s.start <= claim.start and claim.end <= s.end), claim)


@dataclass(frozen=True, slots=True)
class Quote:
    """Words that a judge says it copied: from the source of this id, or, where `source` is None, from what was said."""

    source: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A judge's proposal on one claim. Nothing in it is believed before `rai.check.judging.verify` has looked it up.

    `formula`: a calculation with its result ("9 * 12.00 = 108.00") whose operands stand in `quotes`. `unsaid`: words of a
    sentence that no source says.
    """

    opinion: Opinion
    quotes: tuple[Quote, ...] = ()
    formula: str | None = None
    unsaid: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A call of a model as judge, as the record keeps it: what it was asked, and its reply before anything in it was verified."""

    model: str
    prompt: str
    reply: str


UNSURE = Proposal("unsure")
"""The proposal on a claim that a judge leaves out."""
