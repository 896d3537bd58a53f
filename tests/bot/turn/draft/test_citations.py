"""Where citations are put."""

import pytest

from bot.turn.draft.citations import citations, internal_notes, with_markers, without_markers
from grounding.records import Evidence, Grade, Passage, Span
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


ROW = "Old device: Wren X1 | Credit: $42.00 | Towards: Wren X2"


@pytest.mark.parametrize(
    ("places", "marked"),
    [
        pytest.param([["x1", "row"], ["x2", "row"]], "[3]", id="one place that holds all is enough"),
        pytest.param([["x1"], ["x2"]], "[1] [2]", id="each has a place of its own"),
        pytest.param([["x1"], ["x2"], ["row"], ["more"]], "[1] [2] [3]", id="three at most"),
        pytest.param([["x1", "x2"], ["x1", "x2"]], "[1]", id="of two that hold as much the one named first"),
        pytest.param([], "", id="nothing holds it"),
    ],
)
def test_the_fewest_places_that_hold_a_sentence_are_cited(places: list[list[str]], marked: str) -> None:
    """A row's values stand in other passages too: the passage that has the row is cited, not these."""
    evidence = [Evidence(n, Passage(name, name, name, ROW)) for n, name in enumerate(["x1", "x2", "row", "more"], 1)]
    claims = [
        Claim(
            "entity",
            f"value {i}",
            i,
            i + 1,
            status="exact",
            evidence=tuple(EvidenceSpan(p, "text", 0, 1, "x") for p in held),
        )
        for i, held in enumerate(places)
    ]
    assert with_markers(ROW, claims, evidence) == (f"{ROW} {marked}" if marked else ROW)


def test_what_was_worked_out_cites_each_operand_and_a_sentence_its_own_place_first() -> None:
    """The operands of a sum stand in two passages; the passage that says the sentence is preferred where others hold as much."""
    evidence = [Evidence(n, Passage(name, name, name, ROW)) for n, name in enumerate(["a", "b"], 1)]
    at = {name: EvidenceSpan(name, "text", 0, 1, "x") for name in ("a", "b")}
    total = Claim("money", "$42.00", 31, 37, status="derived", evidence=(at["b"], at["a"]))
    assert with_markers(ROW, [total], evidence) == f"{ROW} [2] [1]"
    value = Claim("money", "$42.00", 31, 37, status="exact", evidence=(at["a"], at["b"]))
    whole = Claim("statement", ROW, 0, len(ROW), status="entailed", evidence=(at["b"], at["a"]))
    assert with_markers(ROW, [value, whole], evidence) == f"{ROW} [2]"


KNOWN = "Firmware 4.8.3 lowers the power. It is planned for 8 December. Do not promise this date: it has moved twice."
MAY_DO = "## What you may do\n\n- Check the serial number.\n- Offer an exchange.\n\nThat is all."


@pytest.mark.parametrize(
    ("text", "extract", "quote"),
    [
        (f"About.\n\n{KNOWN}\n\nEnd.", "Do not promise this date: it has moved twice.", KNOWN),
        (MAY_DO, "- Offer an exchange.", "Offer an exchange."),
        (f"{'Long. ' * 100}Be kind.", "Be kind.", "Be kind."),
    ],
)
def test_an_internal_note_is_the_paragraph_to_the_point_or_the_item(text: str, extract: str, quote: str) -> None:
    passage = Passage("c", "d", "Restarts", text, locator="What is planned", internal=True)
    at = text.index(extract)
    grade = Grade("c", 0.9, "Good", "yes", Span(at, at + len(extract), extract), "")
    [note] = internal_notes([passage], [grade])
    assert (note.title, note.quote) == ("Restarts · What is planned", quote)
    assert note.quote in text


def test_marks_of_citations_are_taken_out() -> None:
    assert without_markers("From 10 to 4 [1][2]. Call [12].") == "From 10 to 4. Call."


PRICES = "Product: Wren X2 | USA: $219.00 | Germany: €235.00\nProduct: Wren X1 | USA: $129.00 | Germany: €139.00"


@pytest.mark.parametrize(
    "quoted", ["Product: Wren X1 | Germany: €139.00", "Product: Wren X1 | Germany: €139.00 (Prices per piece)"]
)
def test_what_a_citation_shows_is_the_row_that_is_quoted(quoted: str) -> None:
    """Who points at [1] beside the price of the X1 is not shown that of the X2."""
    evidence = [Evidence(1, Passage("c", "d", "Prices", PRICES), 0.9)]
    [citation] = citations(f"Quoted:\n- {quoted} [1]", (), evidence, ())
    assert citation.quote == PRICES.splitlines()[1]
