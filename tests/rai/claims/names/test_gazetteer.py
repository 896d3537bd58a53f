"""What a knowledge base teaches about names, each with the text that looks alike and teaches nothing."""

from __future__ import annotations

import pytest

from rai.claims.names.gazetteer import learn


@pytest.mark.parametrize(
    ("title", "text", "name", "kind"),
    [
        ("", "Take the Wren X2 home.", "wren x2", "product"),
        ("", "Leave 10 minutes.", "leave 10", None),
        ("", "It is in the Watch Plus plan now.", "watch plus plan", "product"),
        ("", "Cancel plan when you like.", "cancel plan", None),
        ("", "Product: Roost H1 | Price: $9", "roost h1", "product"),
        ("", "Until: Perch House | Price: $9", "perch house", None),
        ("", "Name: Odile Marchetti | Role: billing", "odile marchetti", "person"),
        ("", "Please ask Dr. Anselm Okafor about it.", "anselm okafor", "person"),
        ("", "Odile Marchetti, our head of billing, knows.", "odile marchetti", "person"),
        ("", "Odile Marchetti, a hat and a scarf.", "odile marchetti", None),
        ("", "Sold by Kestrelby Home Ltd.", "kestrelby home ltd", "organisation"),
        ("", "Visit 12 Mill Lane, Brindle Falls.", "brindle falls", "address"),
        ("", "Visit 12 Mill Lane, Suite 4.", "suite", None),
        ("Opening Hours", "our opening hours are these", "opening hours", None),
        ("Sparrow Guard: manual", "how it works", "sparrow guard", "product"),
        ("Returns", "Exchanges and Returns are free.", "exchanges", None),
    ],
)
def test_learnt(title: str, text: str, name: str, kind: str | None) -> None:
    assert learn([(title, text)]).get(name) == kind


def test_a_word_that_is_also_written_small_is_no_name() -> None:
    """The lower case of another document counts; one document in many does not outweigh the name."""
    assert learn([("", "The Swift E1 flies.")])["swift"] == "product"
    assert "swift" not in learn([("", "The Swift E1 flies."), ("", "a swift reply")])
    many = [("", f"The Swift E{n} flies.") for n in range(1, 8)]
    assert "swift" in learn([*many, ("", "a swift reply")])


def test_order_changes_nothing() -> None:
    documents = [("Wren Guard", "Ask Ms Lopez."), ("", "The Wren X2 by Kestrelby Home Ltd."), ("", "a wren sings")]
    assert learn(documents) == learn(documents[::-1])


@pytest.mark.parametrize("unit", ["A", "A ", "Wren X2 ", "| ", "# ", "1 Main ", "a, ", "A.B.", "\t", "-"])
def test_a_long_document_is_read(unit: str) -> None:
    assert isinstance(learn([(unit * 1000, unit * (200_000 // len(unit)))]), dict)
