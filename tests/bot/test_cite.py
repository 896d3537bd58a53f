"""Where citations are put."""

from bot.cite import with_markers
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
