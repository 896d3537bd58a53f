"""Rounded values: admitted by a hedge or by the digits written, and by nothing else."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import assume, given
from hypothesis import strategies as st

from rai.check.rules.rounding import may_be_rounded, rounded
from rai.records import Source
from tests.rai.check.judged import judged, well_founded
from tests.tables import Tables

TABLES = Tables(__file__)


@TABLES.each("rounded")
def test_rounding(answer: str, source: str, evidence: str | None) -> None:
    sources = [Source("s1", source)]
    (finding,) = [f for c, f in judged(rounded, answer, sources) if c.kind != "entity"]
    if evidence is None:
        assert finding is None
    else:
        assert finding is not None
        assert (finding.status, [e.text for e in finding.evidence]) == ("rounded", [evidence])
        assert well_founded(finding, sources)
        assert evidence in finding.why


def test_another_rows_value_is_not_rounded() -> None:
    """About $30 is Pro's price, rounded; said of Basic it is not."""
    table = [Source("s1", "Plan: Basic | Price: $19.49\nPlan: Pro | Price: $29.49", "Plans")]
    ((_, pro),) = judged(rounded, "The Pro plan costs about $29.", table)
    ((_, basic),) = judged(rounded, "The Basic plan costs about $29.", table)
    assert pro is not None
    assert basic is None


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_a_bare_integer_is_never_rounded(mine: int, theirs: int) -> None:
    """No hedge, no scale word, no decimals: nothing but the source's value itself is supported."""
    ((_, finding),) = judged(
        rounded, f"The archive holds {mine:,} letters.", [Source("s", f"The archive holds {theirs:,} letters.")]
    )
    assert finding is None


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_a_hedged_price_is_near(mine: int, theirs: int) -> None:
    answer, source = f"It costs about ${mine / 100:,.2f} now.", f"It costs ${theirs / 100:,.2f} now."
    findings = [f for _, f in judged(rounded, answer, [Source("s", source)]) if f]
    assert all(abs(mine - theirs) <= 0.05 * max(mine, theirs) for _ in findings)


@given(st.integers(10, 10**9))
def test_rounding_to_one_digit_less_is_seen(number: int) -> None:
    """What drops the last digit correctly is a rounding, unless it is further off than one in twenty."""
    coarse = (number + 5) // 10 * 10
    assume(coarse != number and abs(coarse - number) * 20 <= max(coarse, number))
    assume(number % 10)
    assert may_be_rounded(Decimal(coarse), Decimal(number))
    assert not may_be_rounded(Decimal(number), Decimal(coarse)) or number % 10 == 5
