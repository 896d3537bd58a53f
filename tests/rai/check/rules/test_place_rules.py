"""A value that stands in a source: right unless the answer's own words say that it is another's."""

from __future__ import annotations

import pytest

from rai.check.match import check_claims
from rai.records import Claim, Source

VISITS = "| | Residential | Small Business |\n|---|---|---|\n| Engineer on site | 3 working days | 1 working day |\n| Credit if we miss the slot | £29.15 | £46.00 |"
ZONES = "ZONE A (EU, Norway)\nFair-use data: 20 GB per month\n\nZONE B (USA, Turkey)\nFair-use data: 6 GB per month"
CARD = "Claims: claims@shop.example, 1-800-555-0161\nNew policies: hello@shop.example, 1-800-555-0160"
PRICES = "Video visits: the price goes from $39 to $45 in July. An idle fee of $0.40 per minute is due."


def claim(answer: str, text: str, source: str, question: str | None = None) -> Claim:
    claims = check_claims(answer, [Source("s", source)], question)
    return next(c for c in claims if c.text == text and c.kind != "statement")


@pytest.mark.parametrize(
    ("answer", "text", "source", "question", "rule"),
    [
        (
            "If we miss it, the credit is £29.15.",
            "£29.15",
            VISITS,
            "Small Business customer: what do we get?",
            "cell-column",
        ),
        ("In Turkey your fair use is 20 GB.", "20 GB", ZONES, None, "section"),
        ("A visit costs $39 in July.", "$39", PRICES, None, "bound"),
        ("You pay $0.40 per hour.", "$0.40 per hour", PRICES, None, "rate"),
    ],
)
def test_what_the_answer_names_otherwise_is_in_the_wrong_role(
    answer: str, text: str, source: str, question: str | None, rule: str
) -> None:
    found = claim(answer, text, source, question)
    assert (found.status, found.rule) == ("wrong_role", rule)


@pytest.mark.parametrize(
    ("answer", "text", "source"),
    [
        ("Should nobody turn up, £46 comes off what you owe us next.", "£46", VISITS),
        ("In Norway you can use 20 gigs before it slows down.", "20 gigs", ZONES),
        ("Outside Turkey, in the EU, it is 20 GB.", "20 GB", ZONES),
        ("Just drop a line to claims@shop.example with your policy number.", "claims@shop.example", CARD),
        ("Each minute of idling adds $0.40.", "$0.40", PRICES),
    ],
)
def test_free_wording_is_no_evidence(answer: str, text: str, source: str) -> None:
    assert claim(answer, text, source).status in ("exact", "normalised")


def test_a_value_that_the_answer_uses_beside_its_rival_is_excused() -> None:
    answer = "Residential customers get £29.15, while a Small Business gets £46.00."
    assert {c.status for c in check_claims(answer, [Source("s", VISITS)]) if c.kind == "money"} == {"exact"}


def test_a_number_to_call_that_goes_on_in_the_source_is_another() -> None:
    assert claim("Call (415) 555-0132.", "(415) 555-0132", "Call (415) 555-0132 ext. 7.").status == "absent"


@pytest.mark.parametrize(
    ("answer", "text", "source", "question", "status"),
    [
        ("With 9 months left you may go.", "9 months", "Contracts may be ended.", "I have 9 months left.", "given"),
        ("Yes, the fee is $12.", "$12", "The fee is $10.", "It's $12, right?", "absent"),
        ("Call 1-800-555-0161.", "1-800-555-0161", "Call us.", "Is it 1-800-555-0161?", "unchecked"),
    ],
)
def test_what_the_person_said_is_theirs_unless_a_source_says_otherwise_and_never_a_contact(
    answer: str, text: str, source: str, question: str, status: str
) -> None:
    assert claim(answer, text, source, question).status == status


def test_a_day_has_the_year_that_its_page_names() -> None:
    source = Source("s1", "Easter 2026\nEaster Sunday 05/04: closed\nEaster Monday 06/04: 11:00–17:00")
    claims = check_claims("On Easter Monday, 6 April 2026, we are open.", [source])
    assert next(c for c in claims if c.kind == "date").status == "normalised"
    claims = check_claims("On Easter Monday, 6 April 2027, we are open.", [source])
    assert next(c for c in claims if c.kind == "date").status == "absent"


def test_a_span_counted_back_is_the_span() -> None:
    source = Source("s1", "Lines that were activated less than 7 days ago cannot be moved.")
    claims = check_claims("You can move it once the line has been active for 7 days.", [source])
    assert next(c for c in claims if c.kind == "quantity").status in ("exact", "normalised")


def test_a_number_to_call_in_brackets_is_found_as_a_whole() -> None:
    source = Source("s1", "Agnieszka Wrzos, pokój 12, tel. 41 555 01 27.")
    claims = check_claims("Zapraszamy do pokoju 12 (tel. 41 555 01 27).", [source])
    assert {c.status for c in claims if c.kind == "number"} == {"exact"}


def test_what_dials_a_number_within_its_country_is_written_otherwise_there() -> None:
    (source,) = [Source("s1", "Kitchen planning: Tobias Rehm, +49 341 5550 0167")]
    claims = check_claims("Ring Tobias Rehm on 0341 5550 0167.", [source])
    digits = [c for c in claims if c.kind in ("number", "phone")]
    assert {(c.status, c.rule) for c in digits} <= {
        ("normalised", "verbatim"),
        ("exact", "verbatim"),
        ("normalised", "held"),
    }
    assert all(c.evidence[0].text == "+49 341 5550 0167" for c in digits)
    assert not any(c.unsupported for c in claims)
    wrong = check_claims("Ring Tobias Rehm on 0341 5550 0176.", [source])
    assert any(c.unsupported for c in wrong)


def test_signs_that_frame_a_pattern_elsewhere_are_characters_like_others() -> None:
    text = "The form is at https://forms.example/{case}/{0}."
    (url,) = [
        c for c in check_claims(text.replace("The form is", "You find it"), [Source("s1", text)]) if c.kind == "url"
    ]
    assert url.status == "exact"
    assert url.rule != "failed"


@pytest.mark.parametrize(
    ("cell", "status"),
    [
        ("30", "normalised"),
        ("30 a month", "normalised"),
        ("45 × 30 × 50", "absent"),
        ("50 × 30", "absent"),
        ("30-pack", "absent"),
    ],
)
def test_the_currency_of_a_table_is_that_of_numbers_that_count_nothing_else(cell: str, status: str) -> None:
    source = Source("s1", f"Fees and sizes (EUR)\n\n| What | Locker |\n|---|---|\n| Small | {cell} |")
    (claim,) = [c for c in check_claims("A small locker is €30.", [source]) if c.kind == "money"]
    assert claim.status == status


@pytest.mark.parametrize("than", ["no more than", "nicht mehr als", "no later than"])
def test_a_bound_is_compared_with_nothing(than: str) -> None:
    """The words around it are asked like those of any other value."""
    source = "An invoice is changed within 60 days. The notice of a plan is 30 days."
    assert claim(f"An invoice is changed within {than} 30 days.", "30 days", source).status != "exact"
    assert claim("An invoice is changed within 60 days rather than 30 days.", "30 days", source).status == "exact"
