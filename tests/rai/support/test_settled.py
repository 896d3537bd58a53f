"""Values of one sentence that speak for and against each other."""

from __future__ import annotations

from rai.match import check_claims
from rai.records import Source

BIRD_FLU = Source(
    "s", "In total, 870 people worldwide have been infected, and 457 deaths have been reported in 21 countries."
)
PLANS = Source("p", "Plan: Basic | Price: $5\nPlan: Pro | Price: $50")


def _flagged(answer: str, source: Source) -> list[str]:
    return [c.text for c in check_claims(answer, [source]) if c.unsupported and c.kind != "statement"]


def test_a_value_used_in_its_own_role_is_no_rival() -> None:
    assert _flagged("Around 870 cases have been reported globally, with 457 deaths in 21 countries.", BIRD_FLU) == []


def test_values_that_changed_places_stay_wrong() -> None:
    assert _flagged("Basic costs $50 and Pro costs $5.", PLANS) == ["$50", "$5"]


def test_one_price_for_two_plans_is_wrong_once() -> None:
    assert _flagged("Basic costs $50 and Pro costs $50.", PLANS) == ["$50"]
