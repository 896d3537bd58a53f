"""Countries as people write them."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from grounding.quoting.countries import (
    as_said,
    countries_in,
    country_codes,
    english_name,
    foreign_money,
    language_of_countries,
    people_in,
    spoken_countries,
    without_country,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("And in the UK?", [("UK", "GB")]),
        ("et pour la Belgique", [("Belgique", "BE")]),
        ("in germany please", [("germany", "DE")]),
        ("de España a Francia", [("España", "ES"), ("Francia", "FR")]),
        ("Versand in die Vereinigten Staaten? Vereinigte Staaten!", [("Vereinigte Staaten", "US")]),
        ("a turkey for us, tell us the price in it", []),
        ("shipping to Turkey and the U.S.", [("Turkey", "TR"), ("U.S.", "US")]),
        ("no answer so far, oman", []),
        ("nein, ich meinte Großbritannien", [("Großbritannien", "GB")]),
        ("en Grande-Bretagne ou en Hollande", [("Grande-Bretagne", "GB"), ("Hollande", "NL")]),
        ("", []),
    ],
)
def test_the_countries_that_a_text_names(text: str, found: list[tuple[str, str]]) -> None:
    assert list(countries_in(text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a danish customer wants it", [("danish", "DK")]),
        ("french lady lost her key", [("french", "FR")]),
        ("a german private customer", [("german", "DE")]),
        ("mail address for the Canadians", [("Canadians", "CA")]),
        ("and for the dutch?", [("dutch", "NL")]),
        ("un client anglais, une cliente espagnole", [("anglais", "GB"), ("espagnole", "ES")]),
        ("ein dänischer Kunde", [("dänischer", "DK")]),
        ("technician visit, norwegian, what does it cost", [("norwegian", "NO")]),
        ("can a brit spread it over two years", [("brit", "GB")]),
        ("what do US-American clients pay", [("US-American", "US")]),
        ("for non-danish customers", [("danish", "DK")]),
        ("a finnish-uk customer", []),
        ("tell him in english, please", []),
        ("do you take American Express", []),
        ("is there an english manual, she speaks polish", []),
        ("polish the frame for the customer", []),
    ],
)
def test_the_people_that_a_text_speaks_of(text: str, found: list[tuple[str, str]]) -> None:
    assert list(people_in(text)) == found
    assert spoken_countries(text) == found
    assert list(countries_in(text)) == []


def test_every_noun_for_people_has_a_country() -> None:
    held = json.loads(files("grounding.quoting").joinpath("demonyms.json").read_text("utf-8"))
    assert [noun for noun in held["nouns"].split() if not list(people_in(f"what do {noun} pay"))] == []


def test_countries_and_their_people_are_told_in_their_order() -> None:
    assert spoken_countries("a dutch customer moves from Germany to the UK") == [
        ("dutch", "NL"),
        ("Germany", "DE"),
        ("UK", "GB"),
    ]


def test_what_documents_call_them() -> None:
    assert english_name("GB") == "United Kingdom"
    assert as_said("GB", "and in the uk?") == "uk"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("what does watch plus cost in Germany", "what does watch plus cost"),
        ("delivery to the United Kingdom, how long", "delivery , how long"),
        ("was kostet das in der Schweiz und in Österreich?", "was kostet das und ?"),
        ("how long is the warranty", "how long is the warranty"),
        ("Germany", ""),
        ("a danish customer wants the pavo", "a customer wants the pavo"),
    ],
)
def test_a_text_without_its_countries(text: str, left: str) -> None:
    assert without_country(text) == left


@pytest.mark.parametrize(
    ("text", "codes", "foreign"),
    [
        ("It costs $8.99 a month.", {"NL"}, True),
        ("It costs $8.99 a month.", {"CA"}, False),
        ("It costs CA$8.99 a month.", {"US"}, True),
        ("It costs CA$8.99 or $7.99.", {"US"}, False),
        ("Es kostet 9,49 € im Monat.", {"NL"}, False),
        ("Kosztuje 49 zł.", {"PL"}, False),
        ("Kosztuje 49 zł.", {"DE"}, True),
        ("It is kept for 30 days.", {"NL"}, False),
        ("It costs £5.", {"NL", "GB"}, False),
    ],
)
def test_money_that_is_none_of_a_country(text: str, codes: set[str], *, foreign: bool) -> None:
    assert foreign_money(text, frozenset(codes)) is foreign


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("und in Frankreich?", "de"),
        ("et en allemagne ?", "fr"),
        ("y en Alemania", "es"),
        ("en in Duitsland", "nl"),
        ("and in Canada?", ""),
        ("and what does it cost", ""),
    ],
)
def test_a_country_tells_the_language_that_alone_calls_it_so(text: str, language: str) -> None:
    assert language_of_countries(text) == language


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("item: ear mould | IE EUR: 80.00 | AT EUR: 82.00", {"IE", "AT"}),
        ("code: LEJ | country: DE | station: Leipzig", {"DE"}),
        ("Land: FR\nLand: NL", {"FR", "NL"}),
        ("IE_eur_per_visit: 74.00 | NL_eur_per_visit: 70.50", {"IE", "NL"}),
        ("at_eur_incl_vat: 1190 | be_eur_incl_vat: 1165", {"AT", "BE"}),
        ("IT USD: 80.00 | MY EUR: 4 | de eur: 3 | is_the: 4", set()),
        ("size: DE | fits: AT", set()),
    ],
)
def test_a_table_names_countries_by_their_codes_where_money_or_a_header_says_so(text: str, codes: set[str]) -> None:
    assert country_codes(text) == codes
