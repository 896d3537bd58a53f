"""The features of a block: what they say, and that the fit has a coefficient for each."""

import pytest

from grounding.quoting.features import COEFFICIENTS, NAMES, SLIPPED, WITHIN, candidates, feature_rows, likeness, score
from grounding.quoting.question_parts import read
from grounding.records import Passage
from grounding.text import stem


def features(question: str, text: str, **fields: float) -> list[dict[str, float]]:
    found = [Passage("c", "d", "Help", text, **fields)]  # type: ignore[arg-type]  # scores by name
    blocks, reading = candidates(found), read(question)
    rows = feature_rows(reading, reading.parts[0], blocks, found)
    return [dict(zip(NAMES, row, strict=True)) for row in rows]


def test_every_feature_has_a_coefficient() -> None:
    assert tuple(COEFFICIENTS) == NAMES


@pytest.mark.parametrize(
    ("term", "held", "value"),
    [
        ("refund", "refund", 1.0),
        ("shiping", "shipping", SLIPPED),
        ("charg", "surcharg", WITHIN),
        ("x2", "x20", 0.0),
        ("2024", "2025", 0.0),
        ("north", "worth", 0.0),
    ],
)
def test_likeness_knows_slips_and_parts_of_words_but_no_other_numbers(term: str, held: str, value: float) -> None:
    assert likeness(term, frozenset([held, "other"])) == value


def test_the_block_that_says_more_of_the_question_has_the_larger_share() -> None:
    first, second = features("refund of a gift card", "A gift card has no refund.\n\nThe office is open.")
    assert first["share"] > second["share"]
    assert first["share"] <= 1


def test_a_row_about_what_is_asked_has_it_as_its_key() -> None:
    mine, other = features("price of cell 4", "Product: Cell 4 | Price: 129\nProduct: Cell 6 | Price: 179")
    assert mine["key"] > 0 == other["key"]


def test_a_value_of_the_wanted_kind_is_seen_also_behind_the_name_of_its_column() -> None:
    priced, other = features("what does it cost", "Article: 1 | GBP: 129.00\nArticle: 2 | Colour: red")
    assert (priced["typed"], priced["untyped"]) == (1.0, 0.0)
    assert (other["typed"], other["untyped"]) == (0.0, 1.0)


def test_a_passage_that_no_search_returned_has_a_place_all_the_same() -> None:
    assert features("cost", "It costs $5.")[0]["rank"] == 0.75
    assert features("cost", "It costs $5.", score=0.2)[0]["rank"] == 0.2


def test_a_score_is_a_probability_that_rises_with_the_share() -> None:
    row = [0.5] * len(NAMES)
    more = [1.0 if name == "share" else 0.5 for name in NAMES]
    assert 0 < score(row) < score(more) < 1


@pytest.mark.parametrize(
    ("row", "day", "holds"),
    [
        ("branch: Cork | mon_fri: 9:00-17:00 | sat: 10:00-13:00", "saturday", True),
        ("branch: Cork | mon_fri: 9:00-17:00 | sat: 10:00-13:00", "tuesday", True),
        ("branch: Cork | mon_fri: 9:00-17:00 | sat: 10:00-13:00", "sunday", False),
        ("The cat sat on the mat.", "saturday", False),  # no row
    ],
)
def test_a_row_holds_the_days_that_its_columns_stand_for(row: str, day: str, holds: bool) -> None:
    (found,) = candidates([Passage("c", "d", "Help", row)])
    assert (stem(day) in found.held) is holds


def test_a_number_to_call_needs_no_word_for_what_it_is() -> None:
    number, link = features("phone number of the shop", "Shop: 020 7946 0955\n\nShop: at the station.")
    assert number["share"] == 1.0
    assert link["share"] < 1.0
