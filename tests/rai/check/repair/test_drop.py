"""What is left of an answer when unsupported sentences and items are taken out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.repair.drop import drop_unsupported
from rai.records import Claim
from tests.tables import Tables

TABLES = Tables(__file__)

CASES = [
    ("It is blue. It costs BAD. We ship it.", "It is blue. We ship it."),
    ("BAD one here. It is blue.", "None"),
    ("BAD one here. The case is blue.", "The case is blue."),
    ("The case is blue. However, BAD applies. Also, the lid is red.", "The case is blue. The lid is red."),
    ("The case is blue. BAD applies. This costs extra.", "The case is blue."),
    ("1. Open it.\n2. BAD step.\n3. Close it.", "1. Open it.\n2. Close it."),
    ("1. BAD step.\n2. Open it.\n3. Close it.", "1. Open it.\n2. Close it."),
    ("- Open the lid\n- BAD item\n- Close the lid", "- Open the lid\n- Close the lid"),
    ("The lid is red [2]. The price is BAD [1].", "The lid is red [2]."),
    ("Prices:\n- BAD item\n\nThe lid is red.", "The lid is red."),
    ("# Prices\nThe price is BAD.\n# Colours\nThe lid is red.", "# Colours\nThe lid is red."),
    ("Hello! The price is BAD. Is there anything else?", "None"),
    ("The guide says: BAD is it.", "None"),
    ("The guide says:\nThe price is BAD.", "None"),
    (
        "Hi there.\nThe lid is red.\n\nThe price is BAD.\n\nThe case is blue.",
        "Hi there.\nThe lid is red.\n\nThe case is blue.",
    ),
    ("Steps:\n1. Open it.\n2. BAD step. More of it here.\n3. Close it.", "Steps:\n1. Open it.\n2. Close it."),
    # tables: a row goes, the head stays as long as there is a row; without its head a table says nothing
    (
        "Prices:\n\n| Plan | Price |\n|---|---|\n| Basic | BAD |\n| Plus | $8. |\n\nThe lid is red.",
        "Prices:\n\n| Plan | Price |\n|---|---|\n| Plus | $8. |\n\nThe lid is red.",
    ),
    ("Prices:\n\n| Plan | Price |\n|---|---|\n| Basic | BAD |\n\nThe lid is red.", "The lid is red."),
    ("The lid is red.\n\n| Plan BAD | Price |\n|:--|--:|\n| Basic | 5 |", "The lid is red."),
    ("| Plan | Price |\n|---|---|\n| Basic | BAD |", "None"),
    ("Plan: Basic | Price: BAD\nPlan: Plus | Price: $8", "Plan: Plus | Price: $8"),
    # lists in lists: an item goes with what is set in below it, not with what stands beside or above it
    ("- Basic: BAD\n  - 5 users\n- Plus has 3 users", "- Plus has 3 users"),
    ("- Plus:\n  - BAD\n- Pro has 3 users", "- Pro has 3 users"),
    ("- Pro:\n  - 3 users\n  - BAD", "- Pro:\n  - 3 users"),
    (
        "1. Open the lid:\n   1. BAD\n   2. Lift it.\n2. Close it.\n3. BAD\n4. Lock it.",
        "1. Open the lid:\n   1. Lift it.\n2. Close it.\n3. Lock it.",
    ),
    ("1. Open the lid.\n   Take care, BAD.\n2. Close it.", "1. Close it."),
    # letters
    ("a) Open the lid.\nb) BAD\nc) Close it.", "a) Open the lid.\nb) Close it."),
    ("A. Open the lid.\nB. BAD\nC. Close it.", "A. Open the lid.\nB. Close it."),
    ("B. Smith is the manager.\nBAD\nC. Jones owns it.", "B. Smith is the manager.\nC. Jones owns it."),
    # numbers of steps
    ("1. Open the lid.\n2. BAD\n3. Close it.\n4. Repeat step 3.", "1. Open the lid.\n2. Close it.\n3. Repeat step 2."),
    ("1. Open the lid.\n2. BAD\n3. Repeat step 2.\n4. Close it.", "1. Open the lid.\n2. Close it."),
    ("4. Open the lid.\n5. BAD\n6. Close it.", "4. Open the lid.\n5. Close it."),
    # counts and what dangles
    ("There are three ways to pay:\n- By card\n- BAD\n- In cash", "There are these ways to pay:\n- By card\n- In cash"),
    ("You have two options:\n- Pay by card; or\n- BAD.", "You have this option:\n- Pay by card."),
    ("You need:\n- a red lid,\n- a case, and\n- BAD.", "You need:\n- a red lid,\n- a case."),
    ("Both plans include:\n- BAD\n- 3 users", "This plan includes:\n- 3 users"),
    ("It takes three days:\n- BAD\n- Packing takes one.", "It takes three days:\n- Packing takes one."),
    ("First, open the lid. Second, BAD. Third, close it.", "First, open the lid. Close it."),
    ("The lid is red. Call BAD. Both are free.", "The lid is red."),
    ("# A\n## B\nBAD\n# C\nThe lid is red.", "# C\nThe lid is red."),
]


@pytest.mark.parametrize(("answer", "left"), CASES)
def test_repairs(answer: str, left: str) -> None:
    """Sentences, items, lead-ins and headings go together; numbering runs on; nothing of substance is None."""
    assert str(drop_unsupported(answer, _each(answer))) == left


def test_nothing_unsupported_is_no_repair() -> None:
    """An answer without an unsupported claim has nothing to take out."""
    assert drop_unsupported("The lid is red.", []) is None


PARTS = TABLES.texts("parts")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=12))
def test_repair_keeps_no_bad_sentence_and_invents_none(parts: list[str]) -> None:
    """What is left holds no unsupported claim, is never empty, and every word of it stood in the answer or rewords a count."""
    answer = "".join(parts)
    left = drop_unsupported(answer, _each(answer))
    if left is not None:
        assert "BAD" not in left
        assert left.strip()
        known = {w.strip(".:").lower() for w in answer.split()} | {"these", "this", "is", "way"}
        assert {w.strip(".:").lower() for w in left.split() if not w[0].isdigit() and w[-1] != ")"} <= known


@settings(max_examples=100, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=9), st.sampled_from(["1. ", "1) ", "a) ", "   1. "]))
def test_numbering_stays_consecutive(good: list[bool], first: str) -> None:
    """Whatever goes, the list runs on from where it began."""
    start = first.strip()[0]
    marks = [first.replace(start, chr(ord(start) + n)) for n in range(len(good))]
    answer = "Hello lids.\n" + "\n".join(
        f"{m}{'Lift' if ok else 'BAD'} it up." for m, ok in zip(marks, good, strict=True)
    )
    left = drop_unsupported(answer, _each(answer))
    if left is not None and not all(good):
        assert [line[: len(first)] for line in left.split("\n")[1:]] == marks[: sum(good)]


def _each(answer: str) -> list[Claim]:
    at = [i for i in range(len(answer)) if answer.startswith("BAD", i)]
    return [Claim("number", "BAD", i, i + 3, status="absent") for i in at]
