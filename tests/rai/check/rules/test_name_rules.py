"""Names: a sibling, another number or spelling is wrong; one word with a capital is doubt."""

from __future__ import annotations

import pytest

from rai.check.match import check_claims
from rai.records import Source

TEXT = "The SlimFix 70 bracket is put up by Jonas Reitinger of Aldenby Labs. Home 300 costs $50."


@pytest.mark.parametrize(
    ("answer", "text", "status", "rule"),
    [
        ("Take the SlimFix 65 bracket.", "65", "absent", "name-number quoted-otherwise"),
        ("Ask for Jonas Reisinger.", "Jonas Reisinger", "absent", "name-sibling no-name"),
        ("Take it to Kirkwall Labs.", "Kirkwall Labs", "absent", "name-sibling no-name"),
        ("It is closed on Christmas Eve.", "Christmas Eve", "unchecked", "holiday how-many"),
        ("It is put up near Bradford.", "Bradford", "unchecked", "name-alone"),
        ("Adding Home 300 makes it dearer.", "Adding Home 300", "normalised", "name"),
        ("Jonas Reitinger puts it up.", "Jonas Reitinger", "exact", "name"),
    ],
)
def test_a_name_and_what_decides_it(answer: str, text: str, status: str, rule: str) -> None:
    found = next(c for c in check_claims(answer, [Source("s", TEXT)]) if c.text == text and c.kind != "statement")
    assert found.status == status
    assert found.rule in rule.split()


def test_a_name_may_have_another_ending() -> None:
    claims = check_claims("Proszę do pani Agnieszki Wrzos.", [Source("s", "Czytniki: Agnieszka Wrzos, pokój 12")])
    assert [c.status for c in claims if c.kind == "entity" and "Wrzos" in c.text] == ["normalised"]
