"""Where citations are put."""

import pytest

from bot.turn.citations import with_markers
from grounding.records import Evidence, Passage
from rai.records import Claim, EvidenceSpan

TEXT = "- Unlock it at a machine. The code is in the app [1].\n- The letter takes four days."
HELD = "Unlock it at a machine. The code is in the app. The letter takes four days."


def test_one_citation_is_enough_for_an_item() -> None:
    """The sentences of an item that has one get no other; an item without one gets its own."""
    evidence = [Evidence(1, Passage("c", "d", "Help", HELD))]
    claims = []
    for said in ("Unlock it at a machine.", "The letter takes four days."):
        at = TEXT.index(said)
        place = EvidenceSpan("c", "text", 0, len(said), said)
        claims.append(Claim("statement", said, at, at + len(said), status="entailed", evidence=(place,)))
    assert with_markers(TEXT, claims, evidence) == (
        "- Unlock it at a machine. The code is in the app [1].\n- The letter takes four days [1]."
    )


@pytest.mark.parametrize(
    ("sentence", "marked"),
    [
        ("We ship within the U.S.", "We ship within the U.S. [1]"),
        ("We ship within the U.S. only.", "We ship within the U.S. only [1]."),
        ("The desk is open until 5 p.m.", "The desk is open until 5 p.m. [1]"),
        ("Write to P.O. Box 12.", "Write to P.O. Box 12 [1]."),
        ("The sign says “Open daily.”", "The sign says “Open daily.” [1]"),
        ("It weighs 1.5 kg!", "It weighs 1.5 kg [1]!"),
    ],
)
def test_a_citation_stands_behind_what_it_is_of(sentence: str, marked: str) -> None:
    """Never inside an abbreviation, a quotation or a number."""
    evidence = [Evidence(1, Passage("c", "d", "Help", sentence))]
    place = EvidenceSpan("c", "text", 0, len(sentence), sentence)
    claim = Claim("statement", sentence, 0, len(sentence), status="entailed", evidence=(place,))
    assert with_markers(sentence, [claim], evidence) == marked
