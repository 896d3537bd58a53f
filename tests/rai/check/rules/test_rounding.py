"""Rounded values: admitted by a hedge or by the digits written, and by nothing else."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rai.check.rules.rounding import may_be_rounded, rounded
from rai.records import Source
from tests.rai.check.judged import judged, well_founded

ROWS = [
    # answer, source, the evidence or None, each with its near miss
    ("The deal cost over $181 million.", "The deal cost $181,674,817.", "$181,674,817"),
    ("The deal cost over $182 million.", "The deal cost $181,674,817.", None),
    ("The deal cost over $180 million.", "The deal cost $181,674,817.", "$181,674,817"),
    ("The deal cost nearly $182 million.", "The deal cost $181,674,817.", "$181,674,817"),
    ("The deal cost nearly $181 million.", "The deal cost $181,674,817.", None),
    ("The hall holds nearly 200 guests.", "The hall holds 197 guests.", "197"),
    ("The hall holds nearly 200 guests.", "The hall holds 203 guests.", None),
    ("The hall holds almost 200 guests.", "The hall holds 150 guests.", None),
    ("The hall holds just over 200 guests.", "The hall holds 203 guests.", "203"),
    ("The hall holds just over 200 guests.", "The hall holds 250 guests.", None),
    ("The hall holds more than 200 guests.", "The hall holds 215 guests.", "215"),
    ("The hall holds more than 200 guests.", "The hall holds 197 guests.", None),
    ("The hall holds more than 100 guests.", "The hall holds 199 guests.", None),
    ("The hall holds 200+ guests.", "The hall holds 215 guests.", "215"),
    ("The hall holds about 200 guests.", "The hall holds 203 guests.", "203"),
    ("The hall holds about 200 guests.", "The hall has 203 windows.", None),
    ("The hall holds about 200 guests.", "The hall holds 220 guests.", None),
    ("The hall holds 200 guests.", "The hall holds 203 guests.", None),
    ("Charging takes about 3 hours 10 minutes.", "Charging takes about 3 hours 15 minutes.", None),
    ("Charging takes about 3 hours 10 minutes.", "Charging takes 3 hours 12 minutes.", "3 hours 12 minutes"),
    ("Charging takes about 3 hours 10 minutes.", "Charging takes 3 hours 15 minutes.", None),
    ("Rund 1.500 Haushalte sind betroffen.", "1.487 Haushalte sind betroffen.", "1.487"),
    ("1.500 Haushalte sind betroffen.", "1.487 Haushalte sind betroffen.", None),
    ("Environ 250 guichets sont ouverts.", "248 guichets sont ouverts.", "248"),
    ("Plus de 200 guichets sont ouverts.", "198 guichets sont ouverts.", None),
    ("Casi 200 oficinas están abiertas.", "197 oficinas están abiertas.", "197"),
    ("Casi 200 oficinas están abiertas.", "203 oficinas están abiertas.", None),
    ("Circa 200 uffici sono aperti.", "203 uffici sono aperti.", "203"),
    ("The trip takes just under 3 hours.", "The trip takes 2 hours 55 minutes.", "2 hours 55 minutes"),
    ("The trip takes just under 3 hours.", "The trip takes 3 hours 5 minutes.", None),
    ("The trip takes 3 hours.", "The trip takes 2 hours 55 minutes.", None),
    ("The hall holds ~200 guests.", "The hall holds 203 guests.", "203"),
    ("The hall holds 200 guests or so.", "The hall holds 203 guests.", "203"),
    ("The hall holds 200 guests or more.", "The hall holds 210 guests.", None),
    ("The hall holds up to 200 guests.", "The hall holds 197 guests.", "197"),
    ("The hall holds up to 200 guests.", "The hall holds 203 guests.", None),
    ("The hall holds up to 200 guests.", "The hall holds 180 guests.", None),
    ("The fee is less than 5%.", "The fee is 4.2%.", "4.2%"),
    ("The fee is less than 5%.", "The fee is 5.2%.", None),
    ("The fee is less than 5%.", "The fee is 3.2%.", None),
    ("The fee is 4.5 %.", "The fee is 4.53 %.", "4.53 %"),
    ("The fee is 4.6 %.", "The fee is 4.53 %.", None),
    ("The fee is 5 %.", "The fee is 4.53 %.", None),
    ("The fee is 4.55 %.", "The fee is 4.5 %.", None),
    ("The fund holds $1.2 billion.", "The fund holds $1,234,567,890.", "$1,234,567,890"),
    ("The fund holds $1.3 billion.", "The fund holds $1,234,567,890.", None),
    ("The fund holds $1 billion.", "The fund holds $1,234,567,890.", None),
    ("The fund holds €1.2 billion.", "The fund holds $1,234,567,890.", None),
    ("The plan costs about $20.", "The plan costs $19.99.", "$19.99"),
    ("The plan costs $20.", "The plan costs $19.99.", None),
    ("The plan costs about $20.", "The plan costs $18.50.", None),
    ("The plan costs about $45.", "The plan costs $44.", None),
    ("The plan costs over $20.", "The plan costs $24.", None),
    ("The walk takes about 45 minutes.", "The walk takes 44 minutes.", "44 minutes"),
    ("The walk takes about 45 minutes.", "The walk takes 44 hours.", None),
    ("The walk takes about 44 minutes.", "The walk takes 45 minutes.", None),
    ("The walk takes about 5.0 hours.", "The walk takes 4.9 hours.", None),
    ("You have at least 30 days.", "You have 31 days.", None),
    ("You have at most 30 days.", "You have 29 days.", None),
    ("You have about 30 days.", "You have 31 days.", "31 days"),
    ("You have some 30 days.", "You have 36 days.", None),
    ("Returns take about 30 days.", "A visa takes 31 days.", None),
    ("The town has roughly two million people.", "The town has 1,976,000 people.", "1,976,000"),
    ("The town has roughly two million people.", "The town has 1,776,000 people.", None),
    ("Call us by 5 May.", "Call us by 6 May.", None),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "source", "evidence"), ROWS)
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
