"""What is left of an answer when unsupported sentences and items are taken out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.records import Claim
from rai.repair.drop import drop_unsupported


def _bad(answer: str, *texts: str) -> list[Claim]:
    return [Claim("number", t, answer.index(t), answer.index(t) + len(t), status="absent") for t in texts]


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
]


@pytest.mark.parametrize(("answer", "left"), CASES)
def test_repairs(answer: str, left: str) -> None:
    """Sentences, items, lead-ins and headings go together; numbering runs on; nothing of substance is None."""
    assert str(drop_unsupported(answer, _bad(answer, "BAD"))) == left


def test_nothing_unsupported_is_no_repair() -> None:
    """An answer without an unsupported claim has nothing to take out."""
    assert drop_unsupported("The lid is red.", []) is None


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["The lid is red.", "The case is blue.", "It costs BAD now.", "\n", "1. Open the lid.", "2. BAD item."]
        ),
        max_size=9,
    )
)
def test_repair_keeps_no_bad_sentence_and_invents_none(parts: list[str]) -> None:
    """What is left holds no unsupported claim, and every word of it stood in the answer."""
    answer = " ".join(parts)
    at = [i for i in range(len(answer)) if answer.startswith("BAD", i)]
    left = drop_unsupported(answer, [Claim("number", "BAD", i, i + 3, status="absent") for i in at])
    if left is not None:
        assert "BAD" not in left
        assert {w for w in left.split() if not w[0].isdigit()} <= set(answer.split())
