"""What kind of value a question wants, and which sentences hold one."""

from __future__ import annotations

import pytest

from grounding.query.answer_kind import answer_kind, holds


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How long do refunds take?", "duration"),
        ("how quickly does the refund arrive", "duration"),
        ("wie lange ist die Garantie", "duration"),
        ("cuánto tiempo tarda", "duration"),
        ("How often is the fee due?", "frequency"),
        ("wie oft wird abgerechnet", "frequency"),
        ("What does it cost?", "money"),
        ("new zip on a jacket, how much?", "money"),
        ("how much for a new zip", "money"),
        ("what do we bill for the wasted trip", "money"),
        ("what's that gonna set me back", "money"),
        ("what would he have to pay", "money"),
        ("wie teuer ist das", "money"),
        ("Wie viele Tage hat er, um ohne Kosten zurückzutreten?", "duration"),
        ("combien de jours", "duration"),
        ("Bis wie viel Uhr kann man es abgeben?", "time"),
        ("à quelle heure", "time"),
        ("how much data is in it", "count"),
        ("who do I call in Germany", "phone"),
        ("who should the customer ring about a bill", "phone"),
        ("what is the phone of the office", "phone"),
        ("send me the link", "url"),
        ("payment link pls", "url"),
        ("link to the form", "url"),
    ],
)
def test_what_a_question_wants(question: str, kind: str) -> None:
    found = answer_kind(question)
    assert found is not None
    assert found.name == kind


@pytest.mark.parametrize("question", ["can x1 do backup link", "does Backup Link work in Norway"])
def test_a_product_called_link_is_no_address(question: str) -> None:
    found = answer_kind(question)
    assert found is None or found.name != "url"


@pytest.mark.parametrize(
    ("sentence", "held"),
    [
        ("We pay within 3 working days.", True),
        ("It takes another 3 to 5 business days.", True),
        ("Das dauert 3 bis 5 Werktage.", True),
        ("Garantie: 24 Monate", True),
        ("Cela prend 5 jours ouvrés.", True),
        ("Tarda 2 semanas.", True),
        ("Refunds are instantly credited.", True),
        ("Plan: Watch, yearly | Ends: with a refund of the full months left", False),
        ("The label costs $6.95.", False),
    ],
)
def test_a_sentence_that_holds_a_duration(sentence: str, *, held: bool) -> None:
    assert holds(sentence, answer_kind("How long does it take?")) is held


@pytest.mark.parametrize("question", ["how do I end it on the phone", "phone fell in the harbour", "her phone is new"])
def test_a_phone_that_is_only_spoken_of_wants_no_number(question: str) -> None:
    found = answer_kind(question)
    assert found is None or found.name != "phone"


def test_how_often_something_happens_is_no_length_of_time() -> None:
    yearly = "The plan is paid yearly."
    assert holds(yearly, answer_kind("how often do they pay"))
    assert not holds(yearly, answer_kind("how long do they pay"))
