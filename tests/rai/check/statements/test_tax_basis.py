"""Sentences whose total was worked out from amounts with the tax, or without it."""

from __future__ import annotations

import pytest

from rai.check.match import check_claims
from rai.check.statements.tax_basis import TAX
from rai.records import Claim, Source

PRICES = Source("s1", "Prices in EUR, all prices include 20 % VAT.\nDress: EUR 219,50\nBox: EUR 64,90")
NET = Source("s1", "Prices in EUR excluding 20 % VAT.\nDress: EUR 219,50\nBox: EUR 64,90")
PARTS = "EUR 219,50 for the dress and EUR 64,90 for the box"


def statements(answer: str, source: Source) -> list[Claim]:
    return [c for c in check_claims(answer, [source], "What do the dress and the box cost?") if c.kind == "statement"]


def test_a_total_has_the_tax_that_its_parts_have() -> None:
    [claim] = statements(f"The total is EUR 284,40 plus 20 % VAT: {PARTS}.", PRICES)
    assert (claim.status, claim.rule) == ("contradicted", TAX)
    assert claim.evidence[0].text == "include 20 % VAT"
    assert claim.why == "s1 has it with the tax: “include 20 % VAT”."


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        (f"The total is EUR 284,40 including VAT: {PARTS}.", PRICES),
        (f"The total is EUR 284,40: {PARTS}.", PRICES),
        (f"The total is EUR 284,40 plus 20 % VAT: {PARTS}.", NET),
        (f"With 20 % VAT the total is EUR 341,28: {PARTS}.", NET),
        (f"Is the total EUR 284,40 plus 20 % VAT: {PARTS}?", PRICES),
    ],
)
def test_a_total_with_the_same_tax_is_left_alone(answer: str, source: Source) -> None:
    assert all(c.status != "contradicted" for c in statements(answer, source))
