"""Which values of a text a person is told, and what they are called."""

from __future__ import annotations

import pytest

from bot.view.told import told_values, value_title
from rai.check.match import check_claims
from rai.records import Source, Status

NAMED = "Wren X2 has Wi-Fi 7 and 2 ports. Wi-Fi 7 is fast."
GERMAN = "Der Preis beträgt 9,49 € im Monat, und Watch Plus kostet das Monatsende nicht mehr."


def told(text: str, source: str) -> list[tuple[str, Status]]:
    """The values of a text that is checked against a source."""
    claims = check_claims(text, [Source("s", source)])
    return [(each.title, each.claim.status) for each in told_values(claims, text)]


def test_what_is_said_twice_is_told_once_and_a_number_within_a_name_is_none() -> None:
    texts = [text for text, _ in told(NAMED, NAMED)]
    assert "7" not in texts
    assert "2 ports" in texts
    assert len(texts) == len(set(texts))


def test_a_german_noun_is_no_name() -> None:
    texts = [text for text, _ in told(GERMAN, GERMAN)]
    assert "9,49 €" in texts
    assert not {"Monat", "Preis", "Monatsende"} & set(texts)


def test_what_is_not_supported_is_always_told() -> None:
    """Also where it stands within a name: a Wi-Fi 7 that no source has is what a person must see."""
    assert ("7", "absent") in told("The hub has Wi-Fi 7.", "The hub has Wi-Fi 6.")


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        pytest.param("The Wren X1 takes 20 devices, and the Wren X1 is fast.", ["Wren X1", "20 devices"], id="names whole, once"),
        pytest.param("- Product: Wren X2 | Germany: €235.00 [1]", ["Wren X2", "Germany: €235.00"], id="a value with its column"),
        pytest.param("Refunds take 3 to 5 working days.", ["3 to 5 working days"], id="both ends of a span"),
        pytest.param("Shop: Lyon | Sunday: 11:00-16:00", ["Sunday: 11:00-16:00"], id="hours"),
        pytest.param("A code has 4 to 8 digits.", ["4 to 8 digits"], id="what there is so many of"),
        pytest.param("Warranty | Flock M3: 36 months", ["Flock M3: 36 months"], id="the column of a value is no row of its own"),
    ],
)  # fmt: skip
def test_a_value_is_called_what_it_is_where_it_stands(text: str, titles: list[str]) -> None:
    assert [title for title, _ in told(text, text)] == titles


def test_a_piece_of_a_name_that_no_source_has_is_told_with_the_name() -> None:
    text = "- Product: Wren X9 | Germany: €235.00"
    assert ("Wren X9", "absent") in told(text, "Product: Wren X2 | Germany: €235.00")
    [wrong] = [c for c in check_claims(text, [Source("s", "Product: Wren X2")]) if c.text in ("X9", "Wren X9")]
    assert value_title(wrong, text) == "Wren X9"


def test_of_two_ends_the_wrong_one_decides() -> None:
    found = told("It is open 11:00-17:00.", "It is open 11:00-16:00.")
    assert [title for title, _ in found] == ["11:00-17:00"]
    assert found[0][1] not in ("exact", "normalised")
