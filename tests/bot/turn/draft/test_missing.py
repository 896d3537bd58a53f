"""What of a question is named as missing."""

from __future__ import annotations

import pytest

from bot.turn.draft.missing import what_is_missing
from grounding.quoting.question_parts import read
from grounding.records import Passage

FOUND = (
    Passage("c1", "x2", "Wren X2 router", "The Wren X2 has Wi-Fi 7 and works with Backup Link.", locator="Warranty"),
    Passage("c2", "shops", "Shops", "Shop: Lindhagen | Sunday: closed"),
)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Does the Wren X2 work with Tesla cars?", ["Tesla cars"]),
        ("What does a glass break sensor for the Wren X2 cost?", ["glass break sensor"]),
        ("Hi, I bought a kettle. Does the Wren X2 work with a dish of Starlink?", ["dish of Starlink"]),
        ("How heavy is the Wren X2 and which processor is in it?", ["heavy", "processor"]),
        ("Wie lange dauert die Reparatur der Wren X2 in Österreich?", ["dauert die Reparatur", "Österreich"]),
        ("Does the Wren X2 work with Wi-Fi 7?", []),
        ("Does the X2 work with Wi-Fi 7, and is the shop closed on Sunday?", None),
    ],
)
def test_the_words_that_no_passage_has_are_named(question: str, missing: list[str] | None) -> None:
    told = what_is_missing(read(question), FOUND)
    parts = [part.text for part in read(question).parts] if missing is None else missing
    assert [covered.part for covered in told] == parts
    assert not any(covered.answered for covered in told)


def test_a_name_that_the_documents_do_not_have_is_what_is_missing() -> None:
    [told] = what_is_missing(read("What does the Wren X9 cost?"), FOUND, "Wren X9")
    assert told.part == "Wren X9"


def test_where_nothing_was_found_nothing_can_be_told_apart() -> None:
    assert what_is_missing(read("What does this error mean?"), ()) == ()
