"""The verdict of an answer in words: which of its values a person is told."""

from __future__ import annotations

from bot.view.verdict import told_values
from rai.check.match import check_claims
from rai.records import Source, Status

NAMED = "Wren X2 has Wi-Fi 7 and 2 ports. Wi-Fi 7 is fast."
GERMAN = "Der Preis beträgt 9,49 € im Monat, und Watch Plus kostet das Monatsende nicht mehr."


def told(text: str, source: str) -> list[tuple[str, Status]]:
    """The values of a text that is checked against a source."""
    claims = check_claims(text, [Source("s", source)])
    return [(c.text, c.status) for c in told_values(claims, text)]


def test_what_is_said_twice_is_told_once_and_a_number_within_a_name_is_none() -> None:
    texts = [text for text, _ in told(NAMED, NAMED)]
    assert "7" not in texts
    assert "2" in texts
    assert len(texts) == len(set(texts))


def test_a_german_noun_is_no_name() -> None:
    texts = [text for text, _ in told(GERMAN, GERMAN)]
    assert "9,49 €" in texts
    assert not {"Monat", "Preis", "Monatsende"} & set(texts)


def test_what_is_not_supported_is_always_told() -> None:
    """Also where it stands within a name: a Wi-Fi 7 that no source has is what a person must see."""
    assert ("7", "absent") in told("The hub has Wi-Fi 7.", "The hub has Wi-Fi 6.")
