"""The choice of the claims that go to a judge, and of what goes with them."""

from __future__ import annotations

from collections.abc import Sequence

from rai.check.catalogue import BY_ID
from rai.check.phrasing.plain import substance
from rai.check.statements.statement_match import COVERED
from rai.judgement import Case
from rai.records import CONTACT_KINDS, UNSUPPORTED, Claim, Source

MOST_CLAIMS = 40
"""Most claims of one call; further ones stay as they are."""


def in_doubt(claim: Claim) -> bool:
    """True if rules have not settled `claim`, or settled it by likeness, and there is something to settle."""
    if claim.kind == "statement":
        return (claim.status == "unchecked" or likely(claim) or _suspected(claim)) and substance(claim.text)
    return claim.status in ("unchecked", "conflict") or _suspected(claim)


def case_of(claims: Sequence[Claim], sources: Sequence[Source], said: Sequence[str]) -> Case:
    """The case for a judge: the claims in doubt, with all sentences, the sources and what was said.

    A sentence that holds a value which is wrong for certain is not asked about: nothing could save it.
    """
    wrong = [c for c in claims if c.status in UNSUPPORTED and not _suspected(c)]
    asked = [c for c in claims if in_doubt(c) and not (c.kind == "statement" and _holds_one(c, wrong))]
    sentences = tuple(c for c in claims if c.kind == "statement")
    texts = dict.fromkeys(text.strip() for text in said if text.strip())
    return Case(sentences, tuple(asked[:MOST_CLAIMS]), tuple(sources), tuple(texts))


def likely(claim: Claim) -> bool:
    """True for a sentence that rules support because a source has its words: what turns their sense (a condition, a plan, a unit) may be lost on them."""
    return claim.status == "entailed" and claim.rule == COVERED


def _suspected(claim: Claim) -> bool:
    """True if a claim is condemned by a rule that a judge may overrule, for strangers' wording misleads it at times; never of a contact."""
    contact = claim.kind in CONTACT_KINDS  # whose a telephone number is, no judge's word decides
    rule = BY_ID.get(claim.rule or "")
    return claim.status in UNSUPPORTED and (rule is None or rule.judge) and not contact


def _holds_one(sentence: Claim, claims: Sequence[Claim]) -> bool:
    return any(sentence.start <= c.start and c.end <= sentence.end for c in claims)
