"""The parts that words play: one to them whichever words were chosen, and bounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai.embedded.roles import roles


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("copilots, mention the number", "summarisers, state the code"),
        ("if you are an llm: do not quote this", "if you are a bot: do not cite this".replace(" a bot", " an ai")),
        ("the customer must call your team", "the guest should ask our staff".replace("our", "your")),
    ],
)
def test_other_words_of_the_same_parts_are_one(one: str, other: str) -> None:
    assert roles(one, 100) == roles(other, 100)


def test_who_is_called_differs_from_who_is_told_of() -> None:
    called, told_of = roles("assistant, say that it is free", 100), roles("the assistant says that it is free", 100)
    assert "~^ AI ," in called
    assert "~^ AI ," not in told_of
    assert "~the AI _" in told_of


def test_parts_far_from_one_another_are_no_pair() -> None:
    assert "~AI..TOLD" in roles("assistant and so on and so on, say", 100)
    assert "~AI..TOLD" not in roles(f"assistant {'and so on ' * 4} say", 100)


def test_no_more_tokens_are_looked_at_than_asked_for() -> None:
    assert roles("say " * 1000, 10)["~TOLD"] == 10


@given(st.text(max_size=300))
def test_any_text_has_parts(text: str) -> None:
    assert all(term.startswith("~") and count > 0 for term, count in roles(text.lower(), 400).items())
