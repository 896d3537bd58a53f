"""Blocks that hold in another country, for another period, or without the contact that is asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grounding.quoting.conditions import (
    ASIDE,
    LACKS,
    in_english,
    is_beside_the_point,
    less_for_the_country,
    less_for_the_name_alone,
    less_for_what_is_carried,
    of_the_country,
    with_the_value,
    without_countries,
)
from grounding.quoting.features import candidates
from grounding.quoting.question_parts import read
from grounding.quoting.siblings import fitted_tables
from grounding.quoting.weighed import Weighed
from grounding.records import Passage

MONTHLY = "Plan: Plus | USA: $8.99 | Germany: €9.49\nPlan: Pro | USA: $14.99 | Germany: €15.99"
BARE = "Plus costs $8.99 a month."


def weighed(question: str, scores: list[float], *passages: Passage) -> Weighed:
    reading, found = read(question), candidates(passages)
    assert len(found) == len(scores), [c.block.text for c in found]
    told = [list(scores) for _ in reading.parts]
    return Weighed(reading, found, passages, fitted_tables(reading, found, passages), told, told)


def passage(text: str, title: str = "Prices", locator: str | None = None) -> Passage:
    return Passage(title, title, title, text, locator=locator)


def test_where_a_country_is_priced_what_names_none_gives_way() -> None:
    told = weighed("what does plus cost in Germany", [0.9, 0.2, 0.8], passage(MONTHLY), passage(BARE, "Plans"))
    assert of_the_country(told) == [[0.9, 0.2, 0.0]]


def test_a_price_in_money_of_other_countries_answers_nothing() -> None:
    told = weighed("what does plus cost in the Netherlands", [0.9], passage(BARE))
    assert of_the_country(told) == [[0.0]]
    assert of_the_country(replace(told, reading=read("what does plus cost in Canada"))) == [[0.9]]
    assert of_the_country(replace(told, reading=read("what does plus cost"))) == [[0.9]]
    euros = weighed("what does plus cost in the Netherlands", [0.9], passage("Plus costs 9 € a month."))
    assert of_the_country(euros) == [[0.9]]


def test_where_the_nearest_is_of_other_countries_alone_nothing_is_left() -> None:
    rows = passage("To: Germany | Time: 2 days\nTo: France | Time: 3 days", "Delivery")
    other = passage("Parcels are packed by hand.", "Parcels")
    told = weighed("how long does delivery take to Spain", [0.9, 0.8, 0.3], rows, other)
    assert of_the_country(told) == [[0.0, 0.0, 0.0]]
    near = weighed("how are parcels packed for Spain", [0.3, 0.2, 0.9], rows, other)
    assert of_the_country(near) == [[0.0, 0.0, 0.9]]


@pytest.mark.parametrize(
    ("question", "chosen", "grade", "beside"),
    [
        ("is the Lamp A1 waterproof", (0, 1), 0.2, True),
        ("is the Lamp A1 waterproof", (0, 1), 0.3, False),
        ("is the lamp a1 waterproof", (0, 2), 0.2, False),
        ("does the Lamp A1 have a siren", (0, 3), 0.2, True),
        ("does the Lamp A1 have a siren", (0, 3), 0.9, True),
        ("does the Lamp A2 have a siren", (1, 3), 0.2, False),
        ("does the Lamp A1 or the Lamp A2 have a siren", (0, 3), 0.2, False),
        ("is the lamp waterproof", (0, 1), 0.2, False),
        ("how much is the Lamp A1", (0, 1), 0.2, False),
        ("how heavy is the Lamp A1 and is it waterproof", (0, 1), 0.2, False),
    ],
    ids=[
        "name-alone",
        "graded-high",
        "says-it",
        "of-a-sibling",
        "of-a-sibling-graded-high",
        "its-own",
        "of-both",
        "no-model",
        "a-value",
        "a-value-beside",
    ],
)
def test_what_has_no_word_of_what_is_asked_of_a_model_or_a_sibling_s_alone_is_beside_the_point(
    question: str, chosen: tuple[int, ...], grade: float, beside: bool
) -> None:
    lines = [
        "The Lamp A1 is red.",
        "The Lamp A1 has 2 legs.",
        "Keep the Lamp A1 from water.",
        "The siren of the Lamp A2 is loud.",
    ]
    told = weighed(question, [0.9, 0.8, 0.7, 0.6], *(passage(line, "Lamps") for line in lines))
    assert is_beside_the_point(told, chosen, grade) is beside


def test_an_amount_of_another_period_is_set_aside() -> None:
    year = passage("Price per year | Plus: $89.90", "Plans")
    month = passage(MONTHLY, locator="Plans per month")
    told = weighed("what does plus cost a year", [0.9, 0.9, 0.2], year, month)
    assert with_the_value([[0.9, 0.9, 0.2]], told.reading, told.found) == [[0.9, 0.9 * ASIDE, 0.2 * ASIDE]]
    plain = read("what does plus cost")
    assert with_the_value([[0.9, 0.9, 0.2]], plain, told.found) == [[0.9, 0.9, 0.2]]


def test_what_a_country_pays_a_month_is_no_answer_for_the_year_there_nor_is_the_price_elsewhere() -> None:
    year = passage("Price per year | Plus: $89.90", "Plans")
    month = passage("Plan: Plus | Canada: CA$11.99\nPlan: Pro | Canada: CA$19.99", locator="Plans per month")
    told = weighed("what does plus cost a year in Canada", [0.9, 0.4, 0.1], year, month)
    assert of_the_country(told) == [[0.0, 0.0, 0.0]]


def test_a_cell_without_a_value_tells_nothing_of_its_country_or_period() -> None:
    row = passage("Fee: Theft | Germany: €150 | France: €175 | Canada: –", "Fees")
    told = weighed("theft fee for a canadian rider", [0.9], row)
    assert of_the_country(told) == [[0.0]]
    hire = passage(
        "Country: Germany | Per day: €26 | Per week: –\nCountry: France | Per day: €28 | Per week: €120", "Hire"
    )
    asked = weighed("hire in germany per week", [0.9, 0.2], hire)
    assert of_the_country(asked) == [[0.0, 0.0]]
    assert of_the_country(replace(asked, reading=read("hire in germany per day"))) == [[0.9, 0.0]]


def test_a_row_without_the_number_that_is_named_counts_little_beside_rows_that_have_it() -> None:
    rows = passage(
        "country: UK | customer line: +44 117 496 0410 | breakdown line: +44 117 496 0499\ncountry: Denmark | customer line: +45 55 50 41 20",
        "Phones",
    )
    told = weighed("breakdown line denmark", [0.2, 0.9], rows)
    assert with_the_value([[0.2, 0.9]], told.reading, told.found, told.fitted) == [[0.2, 0.9 * LACKS]]
    office = read("customer line denmark")
    assert with_the_value([[0.2, 0.9]], office, told.found, told.fitted) == [[0.2, 0.9]]


def test_a_row_without_the_fee_that_is_named_whole_counts_little() -> None:
    rows = passage(
        "country: Chile | delivery_fee: CLP 320 | removal_fee: CLP 140\ncountry: Norway | delivery_fee: NOK 90", "Fees"
    )
    told = weighed("removal fee norway", [0.2, 0.9], rows)
    assert with_the_value([[0.2, 0.9]], told.reading, told.found, told.fitted) == [[0.2, 0.9 * LACKS]]
    part = read("what is the fee in norway")
    assert with_the_value([[0.2, 0.9]], part, told.found, told.fitted) == [[0.2, 0.9]]


def test_who_asks_for_a_number_is_given_one() -> None:
    found = candidates([passage("The office is open daily."), passage("Telephone: 020 7946 0955")])
    asked = read("what is the phone number of the office")
    assert with_the_value([[0.9, 0.8]], asked, found) == [[0.9 * LACKS, 0.8]]
    assert with_the_value([[0.9]], asked, found[:1]) == [[0.9]], "there is none anywhere"
    assert with_the_value([[0.9, 0.8]], read("how do I answer the office phone"), found) == [[0.9, 0.8]]


def test_a_row_that_has_only_the_country_in_common_counts_less() -> None:
    found = candidates([passage("Data: Invoices | Where: Germany\nData: Calls | Where: Germany", "Storage")])
    asked = read("how long is the warranty in Germany")
    bare = without_countries(asked)
    assert bare.text == "how long is the warranty"
    assert less_for_the_country([[0.9, 0.9]], [[0.4, 0.95]], bare, found) == [[0.4 * ASIDE, 0.9 * ASIDE]]
    named = candidates([passage("Warranty: 24 months | Where: Germany", "Warranty")])
    assert less_for_the_country([[0.9]], [[0.1]], bare, named) == [[0.9]]


def test_a_question_that_says_nothing_but_a_country_stays_whole() -> None:
    asked = read("and in Germany?")
    assert without_countries(asked) is asked
    assert without_countries(read("opening hours")) == read("opening hours")


CARRIED = "Wren X2 sold until: on sale.\n\nSupport: 030 23125 410.\n\nThe Wren X2 works from -20 to 45 °C."


def test_what_is_only_carried_along_counts_less_where_something_says_what_is_asked() -> None:
    last = "support phone number"
    reading, found = read(f"Wren X2 {last}", last), candidates([passage(CARRIED)])
    assert less_for_what_is_carried([[0.9, 0.5, 0.9]], reading, last, found) == [[0.45, 0.5, 0.45]]


@pytest.mark.parametrize(
    "last", ["will it work at that support temperature", "does the thing float", "Wren X2 support phone number"]
)
def test_what_is_carried_along_counts_where_the_question_points_at_it_or_nothing_says_what_is_asked(last: str) -> None:
    reading, found = read(f"Wren X2 {last}", last), candidates([passage(CARRIED)])
    assert less_for_what_is_carried([[0.9, 0.5, 0.9]], reading, last, found) == [[0.9, 0.5, 0.9]]


def test_a_question_of_another_language_is_read_in_english_too() -> None:
    """With the words that the glossary gave, and what of its own some block says."""
    last = "wie lange garantie auf wren x1"
    reading, found = (
        read(f"{last} how long warranty", last),
        candidates([passage("Product: Wren X1 | Warranty: 36 months")]),
    )
    english = in_english(reading, last, found)
    assert english is not None
    assert english.text == "wren x1 how long warranty"
    assert english.parts[0].wants is reading.parts[0].wants
    assert in_english(read("how long is the warranty"), "how long is the warranty", found) is None
    assert in_english(reading, "", found) is None  # "Germany" alone, without its country


SIDE_BY_SIDE = "Property: Price per month | Care: $4.25 | Home: $11.75\nProperty: Your share | Care: $20.00 | Home: $12.00\nProperty: Deposit | Care: $30.00 | Home: $40.00"


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("how much is home", [1.0, ASIDE, ASIDE]),
        ("how much is the deposit of home", [1.0, ASIDE, 1.0]),
        ("which share has home", [1.0, 1.0, 1.0]),
    ],
)
def test_who_asks_how_much_something_is_asks_for_its_price(question: str, kept: list[float]) -> None:
    found, reading = candidates(pages := [passage(SIDE_BY_SIDE)]), read(question)
    assert with_the_value([[1.0] * 3], reading, found, fitted_tables(reading, found, pages)) == [kept]


def test_of_something_else_the_same_is_asked() -> None:
    """After the value in trade of one device "and for the Flock M1" asks for that of another, and not for when it was sold."""
    pages = [
        passage("Device: Flock M1 | Sold: 2023", "Sales"),
        passage("Device: Flock M1 | Credit: $16.00", "Trade-in"),
    ]
    last = "and for the Flock M1"
    reading = read(f"trade-in of the Wren S {last}", last)
    assert less_for_what_is_carried([[0.9, 0.5]], reading, last, candidates(pages)) == [[0.45, 0.5]]


def test_what_is_said_of_a_sibling_counts_less() -> None:
    text = "The Wren X2 has two keyhole slots.\n\nThe Wren X1 stands on its foot.\n\nMount it with the ports down."
    found = candidates([passage(text)])
    assert with_the_value([[0.8, 0.8, 0.8]], read("can i wall mount the wren x1"), found) == [[0.8 * ASIDE, 0.8, 0.8]]
    assert with_the_value([[0.8, 0.8, 0.8]], read("can i wall mount it"), found) == [[0.8, 0.8, 0.8]]
    assert with_the_value([[0.8, 0.8, 0.8]], read("x1 against x2"), found) == [[0.8, 0.8, 0.8]]


DOORBELL = passage("1. Look for the old bell.", "Lamp X2")
RETURNS = passage("1. Print the label.", "Return an order")
SHELF = passage("1. Find a free shelf.", "Store")


@pytest.mark.parametrize(
    ("question", "grades", "kept"),
    [
        ("how do I return a Lamp X2", (0.2, 0.4, 0.3), [0.9 * LACKS, 0.6, 0.5 * LACKS]),
        ("how do I return a Lamp X2", (0.5, 0.4, 0.3), [0.9, 0.6, 0.5 * LACKS]),
        ("how do I mount a Lamp X2", (0.2, 0.4, 0.3), [0.9, 0.6, 0.5]),
        ("how do I use a Lamp X2", (0.2, 0.4, 0.3), [0.9, 0.6, 0.5]),
        ("how do I return an order", (0.2, 0.4, 0.3), [0.9, 0.6, 0.5]),
        ("what does it cost to return a Lamp X2", (0.2, 0.4, 0.3), [0.9, 0.6, 0.5]),
    ],
)
def test_a_page_of_a_thing_is_no_answer_on_what_to_do_with_it(
    question: str, grades: tuple[float, ...], kept: list[float]
) -> None:
    """Where another, which says what is to be done, is graded higher."""
    told = candidates((DOORBELL, RETURNS, SHELF))
    assert less_for_the_name_alone([[0.9, 0.6, 0.5]], read(question), told, grades) == [kept]
