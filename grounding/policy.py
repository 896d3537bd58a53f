"""The policy: thresholds and bounds of a turn. Frozen, named, stored with every ledger entry.

A policy says how strict the turn is; settings say which services it runs on.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from grounding.errors import InputError


@dataclass(frozen=True, slots=True)
class Policy:
    """One named policy. Scores and thresholds are in [0, 1]; budgets count GPT-4o byte-pair tokens.

    `correct_at`, `keep_at`: the maximum grade at or above which the evidence is *correct*, and the grade at or
    above which a passage is kept otherwise; 0.8 and 0.4 in hybrid CRAG (requirements 0-14 to 0-16).
    `relevance_at`: an answer less relevant to the question than this is not delivered.
    `unsupported_at`: a report with a score above this is `unsupported`.
    """

    name: str = "hybrid-crag"
    retrieve_k: int = 50
    grade_k: int = 20
    evidence_k: int = 5
    correct_at: float = 0.8
    keep_at: float = 0.4
    web_k: int = 5
    relevance_at: float = 0.3
    unsupported_at: float = 0.5
    prompt_tokens: int = 6000
    evidence_tokens: int = 1500
    history_tokens: int = 800
    context_tokens: int = 400
    answer_sentences: int = 3

    def as_json(self) -> dict[str, Any]:
        """Every field by name: what the ledger keeps."""
        return asdict(self)


POLICIES: dict[str, Policy] = {"hybrid-crag": Policy()}
DEFAULT_POLICY = "hybrid-crag"


def policy_named(name: str) -> Policy:
    """The policy of that name. Raises InputError that lists the names there are."""
    try:
        return POLICIES[name]
    except KeyError:
        raise InputError(f"policy {name!r} is not known; allowed: {', '.join(sorted(POLICIES))}") from None
