"""An unsupported value gives way to the source's where that is certain, and to nothing where it is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.match import check_claims, match_claims
from rai.check.repair.replace import replace_unsupported
from rai.records import Claim, Source

PLANS = Source(
    "plans",
    "Watch Basic costs $3.99 a month. Watch Plus costs $9.99 a month and keeps clips for 30 days.\n"
    "Watch Basic keeps clips for 1 day. The trial takes 14 days. Support answers within 2 business days.",
    "Plans",
)
TABLE = Source(
    "table", "Plan: Studio | Price: €38 | Storage: 813 GB\nPlan: Solo | Price: €40 | Storage: 491 GB", "Tiers"
)
HELP = Source(
    "help",
    "Call +1 425 555 0123 for orders. Returns are explained at https://help.contoso.com/returns, questions go to help@contoso.com.",
    "Help",
)
TWO = Source("two", "Sales: +1 425 555 0123. Repairs: +1 425 555 0124.", "Numbers")


def repaired(answer: str, *sources: Source) -> str | None:
    def check(text: str, only: tuple[int, int]) -> tuple[Claim, ...]:
        return match_claims(text, sources, only=only).claims

    return replace_unsupported(answer, check_claims(answer, sources), sources, check)


CERTAIN = [
    ("The trial takes 15 days.", "The trial takes 14 days.", PLANS),
    ("Support answers within 3 business days.", "Support answers within 2 business days.", PLANS),
    ("Watch Basic keeps clips for 3 days.", "Watch Basic keeps clips for 1 day.", PLANS),
]
NEVER_SWAPPED = [
    ("Watch Plus costs $3.99 a month.", PLANS),
    ("Watch Plus costs $8.99 a month.", PLANS),
    ("Watch Plus costs €9.99 a month.", PLANS),
    ("Plan: Solo | Price: €38 | Storage: 491 GB", TABLE),
    ("The price of Solo is €38.", TABLE),
    ("Call +1 425 555 0132 for orders.", HELP),
    ("For orders ring +1 425 555 0128.", HELP),
    ("See https://help.c0ntoso.com/returns.", HELP),
    ("Write to help@contoso-support.com.", HELP),
    ("See [help.c0ntoso.com/returns](https://help.c0ntoso.com/returns).", HELP),
]


@pytest.mark.parametrize(("answer", "source"), NEVER_SWAPPED)
def test_a_contact_or_an_amount_is_never_swapped_for_another(answer: str, source: Source) -> None:
    """However sure the source's own seems: it is refused, and what is refused is struck with its sentence."""
    assert any(c.unsupported for c in check_claims(answer, [source]))
    assert repaired(answer, source) is None


@pytest.mark.parametrize(("answer", "left", "source"), CERTAIN)
def test_what_is_certain_is_replaced(answer: str, left: str, source: Source) -> None:
    """The other plan's price, an invented one, a unit, a look-alike host, a digit of the only number there is."""
    assert repaired(answer, source) == left


DOUBTFUL = [
    ("It costs $5.", PLANS),  # of which plan?
    ("Ring +1 425 555 0125.", TWO),  # one slip from both
    ("Call 020 7946 0018 for orders about lids.", HELP),  # no slip: another number altogether
    ("See https://help.c0ntoso.com/refunds.", HELP),  # the source has no such page
    ("Write to billing@contoso-support.com.", HELP),  # nor such a mailbox
    ("Watch Pro costs $12 a month.", PLANS),  # a plan that no source names
    ("The lid is red.", PLANS),
]


@pytest.mark.parametrize(("answer", "source"), DOUBTFUL)
def test_what_is_doubtful_is_left_to_be_dropped(answer: str, source: Source) -> None:
    assert repaired(answer, source) is None


def test_a_conflict_is_never_resolved_by_replacing() -> None:
    """Two sources disagree on the price: neither is written over the other."""
    old = Source("old", "Watch Plus costs $7.99 a month.", "Old plans")
    answer = "Watch Plus costs $7.99 a month."
    assert repaired(answer, PLANS, old) is None


@settings(max_examples=60, deadline=None)
@given(st.integers(15, 99))
def test_a_replaced_answer_is_taken_by_the_check_and_stays_as_it_is(wrong: int) -> None:
    """Whatever length is claimed, what is written instead is the source's, and nothing is left to replace."""
    left = repaired(f"The trial takes {wrong} days.", PLANS)
    assert left == "The trial takes 14 days."
    assert not any(c.unsupported for c in check_claims(left, [PLANS]))
    assert repaired(left, PLANS) is None


def test_the_order_of_sources_changes_nothing() -> None:
    answer = "The trial takes 15 days. Support answers within 3 business days."
    assert repaired(answer, PLANS, TABLE, HELP) == repaired(answer, HELP, TABLE, PLANS)
