"""What an answer worked out: bound operands give it, and chance does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai.check.match import check_claims
from rai.records import Claim, Source

FEES = "The fee is $12 for each full month left. The gateway costs $140, a TV box $65. Returns take 21 days. Business 500 is EUR 79,90 plus 19 % VAT."
CABLING = "Cabling up to 20 m costs EUR 1.234,50, each further metre EUR 18,00."


def claim(answer: str, text: str, *sources: str, question: str | None = None) -> Claim:
    claims = check_claims(answer, [Source(f"s{n}", s) for n, s in enumerate(sources)], question)
    return next(c for c in claims if c.text == text and c.kind != "statement")


@pytest.mark.parametrize(
    ("answer", "text", "formula"),
    [
        ("With 9 full months left that makes $108.", "$108", "9 full months × $12 = $108"),
        ("The gateway ($140) and a box ($65) come to $205 in total.", "$205", "$140 + $65 = $205"),
        ("A box is $75 cheaper than the gateway at $140: it costs $65.", "$75", "$140 - $65 = $75"),
    ],
)
def test_a_value_that_follows_is_derived_and_shows_how(answer: str, text: str, formula: str) -> None:
    found = claim(answer, text, FEES)
    assert (found.status, found.rule, found.formula) == ("derived", "worked-out", formula)
    assert found.evidence


def test_what_goes_beyond_a_part_has_a_price_of_its_own() -> None:
    answer = "For 25 m you pay EUR 1.234,50 for the first 20 m and EUR 18,00 for each of the other 5, so EUR 1.324,50."
    assert claim(answer, "EUR 1.324,50", CABLING, question="What do 25 m cost?").status == "derived"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("With 9 full months left that makes $118.", "$118"),
        ("The gateway ($140) and a box ($65) come to $215 in total.", "$215"),
        ("The gateway costs $1,400.", "$1,400"),
    ],
)
def test_a_wrong_result_is_absent(answer: str, text: str) -> None:
    assert claim(answer, text, FEES).status == "absent"


@pytest.mark.parametrize(
    ("written", "status"), [("33,00 + 50,00 = EUR 83,00", "derived"), ("33,00 + 50,00 = EUR 93,00", "absent")]
)
def test_a_calculation_that_is_written_out_must_come_to_what_it_says(written: str, status: str) -> None:
    found = claim(f"That is {written}.", written.rpartition("= ")[2], "A day is EUR 33,00 or EUR 50,00.")
    assert (found.status, found.rule) == (status, "written-formula")


@pytest.mark.parametrize(
    ("answer", "text", "status"),
    [
        ("Your bill of November 14, 2025 is due on December 5, 2025.", "December 5, 2025", "derived"),
        ("Your bill of November 14, 2025 is due on December 6, 2025.", "December 6, 2025", "absent"),
    ],
)
def test_a_day_is_counted_from_a_day_that_is_named(answer: str, text: str, status: str) -> None:
    asked = "My bill is of November 14, 2025. When is it due?"
    assert claim(answer, text, "Payment is due 21 days after the bill is issued.", question=asked).status == status


def test_a_weekday_beside_a_date_must_be_that_dates() -> None:
    found = claim("It came out on Monday, 3 March 2026.", "Monday", "It came out on 3 March 2026.")
    assert (found.status, found.rule) == ("absent", "weekday")


@given(st.integers(2, 40), st.integers(3, 97), st.integers(0, 500))
def test_so_many_at_a_price_are_so_much_and_nothing_else(count: int, price: int, off: int) -> None:
    said = count * price + off
    source, question = f"It costs ${price} a month.", f"And for {count} months?"
    found = claim(f"So {count} months come to ${said}.", f"${said}", source, question=question)
    assert (found.status == "derived") == (off == 0)


def test_a_long_chain_of_steps_is_followed_to_its_end() -> None:
    answer = "15 % of the $90: $13.50. On the full $100: $2.90 plus 30 cents, so $3.20. Listing: 20 cents. That is $16.90 altogether and leaves you $83.10."
    source = "Commission on clothing 15 %. Payment: 2.9 % of everything, plus $0.30. Listing $0.20."
    assert claim(answer, "$83.10", source, question="A jacket for $90 plus $10 shipping?").status == "derived"


def test_a_day_with_its_weekday_tells_the_year() -> None:
    found = claim(
        "It is kept until Friday, 13 March.",
        "Friday, 13 March",
        "Parcels are kept for 9 days.",
        question="It came on Wednesday, 4 March.",
    )
    assert (found.status, found.rule) == ("derived", "worked-out")


def test_what_is_said_of_one_price_is_said_of_its_neighbour() -> None:
    source = "The crown costs €540.00, the ceramic crown €690.00. A deposit of 30 % is due."
    answer = "The deposit is 30 % (€162 for the first, €207 for the ceramic one)."
    assert claim(answer, "€207", source).status == "derived"


def test_a_value_explains_no_value_of_its_own() -> None:
    source = "Plus costs $24 per month until 31 March. From 1 April Plus costs $27 and Pro $48 per month."
    assert (
        claim("From April you pay $24 for Plus, $24 less than Pro at $48.", "$24", source).formula != "$48 - $24 = $24"
    )


TARIFF = "| Service | Mainland | Islands |\n|---|---|---|\n| Express | €8.75 | €21.60 |\n| Eco, up to 5 kg | €5.45 | €12.35 |\n| Each further kg | €0.65 | €1.80 |"


def test_a_tariff_is_followed_in_its_column() -> None:
    question = "What does Eco cost for 8 kg to the islands?"
    found = claim("Eco comes to €17.75 for the 8 kg.", "€17.75", TARIFF, question=question)
    assert found.formula == "€12.35 + (8 kg - 5 kg) × €1.80 = €17.75"
    other = claim("Eco comes to €14.30 for the 8 kg.", "€14.30", TARIFF, question=question)
    assert other.formula is None or "€1.80" not in other.formula or "€12.35" in other.formula


def test_what_stands_for_another_by_name_is_no_operand() -> None:
    source = "Initial term: 12 months from signature\nNotice, Komfort: must be received no later than one month before the last day of the initial term\nNotice, Monatsabo: 14 days to the end of a month"
    answer = "Your Komfort contract ends on 14.04.2026, so notice has to be here by 31.03.2026."
    question = "I signed Komfort on 15.04.2025. When do I give notice?"
    assert claim(answer, "31.03.2026", source, question=question).status == "absent"


def test_a_measure_counts_only_what_is_per_it() -> None:
    source = "The walk is 1.5 km. Boards are 60 cm wide. Give 0.4 ml per kg once a day."
    assert claim("It makes 90 cm.", "90 cm", source).status == "absent"
    assert (
        claim("For a dog of 18 kg that makes 7.2 ml.", "7.2 ml", source, question="My dog has 18 kg").status
        == "derived"
    )


def test_an_amount_without_its_currency_in_the_question_is_reckoned_with() -> None:
    source = "Cancelled 14 to 7 days before: 50 %. Fee: 5 €."
    found = claim("Half of it, 37,45 €, is due.", "37,45 €", source, question="Ticket 74,90, cancelled 10 days before")
    assert found.status == "derived"


SUPPORT = "Included are travel and the first 20 minutes of fault-finding. Each half hour after that is £22. The deposit of $350 is credited."


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Travel and the first 50 minutes of fault-finding are included, so is the half hour after.", "50 minutes"),
        ("Ten days before you sign the contract and pay the deposit of $3,500, which is credited.", "$3,500"),
    ],
)
def test_what_takes_the_place_of_a_value_of_the_source_is_no_sum(answer: str, text: str) -> None:
    assert claim(answer, text, SUPPORT).status == "absent"


def test_two_values_of_one_line_that_nothing_names_are_a_doubt() -> None:
    pets = (
        "Small cats and dogs may weigh no more than 18 lb. One carrier per passenger; each carrier holds one animal.\n"
        "In the cabin: $115 per carrier each way. In the hold: $190 per kennel each way. Service dogs travel free of charge."
    )
    found = claim("With the dog on board and the other one below that's $305.", "$305", pets)
    assert (found.status, found.rule) == ("unchecked", "may-follow")
    assert [e.text for e in found.evidence] == ["$190", "$115"]
    assert claim("With the dog on board and the other one below that's $315.", "$315", pets).status == "absent"


def test_how_long_before_is_no_time_of_day() -> None:
    source = "Bag drop opens: 2 h 30 before departure."
    question = "I fly at 07:35."
    assert claim("It opens at 05:05, that is 2 h 30 before.", "05:05", source, question=question).status == "derived"
