"""How a turn ended, in words: one beside the answer, and a sentence where there is room for it."""

from __future__ import annotations

from collections.abc import Mapping

from rai.records import Outcome

OUTCOME_WORDS: Mapping[str, str] = {
    Outcome.ANSWERED: "Answered",
    Outcome.REPAIRED: "Repaired",
    Outcome.INSUFFICIENT: "Not enough information",
    Outcome.BLOCKED: "Blocked",
    Outcome.WITHHELD: "Withheld",
    Outcome.FAILED: "Failed",
}
OUTCOME_SENTENCES: Mapping[str, str] = {
    Outcome.ANSWERED: "checked, and nothing in it is unsupported",
    Outcome.REPAIRED: "what no source supports was taken out of the draft",
    Outcome.INSUFFICIENT: "what you may read does not hold the answer",
    Outcome.WITHHELD: "a draft was made, but nothing certain was left of it",
    Outcome.BLOCKED: "the question did not pass the safety screen",
    Outcome.FAILED: "no answer was made",
}
