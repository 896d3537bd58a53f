"""Countries as people write them."""

from __future__ import annotations

import pytest

from grounding.quoting.countries import as_said, countries_in, english_name


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
        ("", []),
    ],
)
def test_the_countries_that_a_text_names(text: str, found: list[tuple[str, str]]) -> None:
    assert list(countries_in(text)) == found


def test_what_documents_call_them() -> None:
    assert english_name("GB") == "United Kingdom"
    assert as_said("GB", "and in the uk?") == "uk"
