"""How a turn ended, in words: one beside the answer, and a sentence where there is room for it."""

from __future__ import annotations

from bot.wording.evidence import EvidenceWords
from bot.wording.refusals import FALLBACK
from rai.records import Outcome


def outcome_word(outcome: str, language: str = FALLBACK) -> str:
    """The word; what is no outcome, in an entry that somebody else wrote, stays as it is."""
    return EvidenceWords(language)(f"ended_{outcome}") if outcome in set(Outcome) else outcome


def outcome_sentence(outcome: str, language: str = FALLBACK) -> str:
    """What that means for the answer; empty for what is no outcome."""
    return EvidenceWords(language)(f"meaning_{outcome}") if outcome in set(Outcome) else ""
