"""The words around a value that are those of another value: what fires the rule and what it spares."""

from __future__ import annotations

import pytest

from rai.check.match import check_claims
from rai.records import Claim, Source

COURIER = (
    "# Parcels\n\nA missed parcel is kept at the depot for 7 days. Letters that need a signature are kept at the post office for 14 days. "
    "A redirect to a neighbour costs $3.40, a redirect to a locker costs $1.90."
)
GYM = "Day pass ........ $12 ... one visit\nSwim pass ........ $18 ... pool alone\nSpa evening ........ $31 ... with towel"


def judged(answer: str, source: str, text: str) -> Claim:
    claims = check_claims(answer, [Source("s1", source)])
    return next(c for c in claims if c.text == text and c.kind != "statement")


@pytest.mark.parametrize(
    ("answer", "source", "text"),
    [
        ("Letters you have to sign for stay at the post office for 7 days.", COURIER, "7 days"),
        ("An evening in the spa comes to $18, towel included.", GYM, "$18"),
    ],
)
def test_the_value_of_another_is_doubted_by_the_words_around_it(answer: str, source: str, text: str) -> None:
    claim = judged(answer, source, text)
    assert (claim.status, claim.rule) == ("unchecked", "words-nearer")
    assert len(claim.evidence) == 2


@pytest.mark.parametrize(
    ("answer", "source", "text"),
    [
        ("Letters you have to sign for stay at the post office for 14 days.", COURIER, "14 days"),
        ("We hold on to it for 7 days.", COURIER, "7 days"),
        ("An evening in the spa comes to $31, towel included.", GYM, "$31"),
        ("That is $12, and $31 for the spa evening.", GYM, "$12"),
        ("The pool is $18.", GYM, "$18"),
    ],
)
def test_free_wording_and_the_right_value_are_spared(answer: str, source: str, text: str) -> None:
    assert judged(answer, source, text).status in ("exact", "normalised")


def test_a_value_of_another_unit_is_no_rival() -> None:
    source = "An engineer comes within 5 hours of the fault report. Visits are booked in slots of 30 minutes."
    assert (
        judged("After your fault report an engineer comes, in slots of 30 minutes.", source, "30 minutes").status
        == "exact"
    )


def test_beside_a_number_that_no_source_has_its_neighbour_is_not_taken_for_another() -> None:
    """A sentence that is told whole, with one of its two numbers wrong: the words of the wrong one are not there for the right one."""
    line = "The alarm line is open day and night: +1 206-555-{} in North America and 020 7946 0900 in Europe."
    told = check_claims(line.format("0710"), [Source("s", line.format("0110"))], None)
    assert {c.text: c.status for c in told if c.kind == "phone"} == {
        "+1 206-555-0710": "absent",
        "020 7946 0900": "exact",
    }
