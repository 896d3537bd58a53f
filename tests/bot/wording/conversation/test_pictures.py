"""Whether a question is about the picture beside it."""

from __future__ import annotations

import pytest

from bot.wording.conversation.pictures import asks_about_unsaid, is_about_picture, what_it_says


@pytest.mark.parametrize(
    ("question", "named", "about"),
    [
        ("what does this error mean?", False, True),
        ("this error on the Wren X1", True, True),
        ("was bedeutet diese Meldung", False, True),
        ("qué significa este código", False, True),
        ("wat betekent dit lampje?", False, True),
        ("see attached", False, True),
        ("is this covered by Halden Care?", True, False),
        ("how long do refunds take?", False, False),
        ("is that covered?", False, False),
        ("what does error E17 mean?", False, False),
    ],
)
def test_words_that_point_at_it_and_name_nothing_else(question: str, *, named: bool, about: bool) -> None:
    assert is_about_picture(question, named=named) is about


@pytest.mark.parametrize(
    ("question", "unsaid"),
    [
        ("What does this error mean?", True),
        ("What does the error mean?", True),
        ("what does the error code mean", True),
        ("What does the warning say about batteries?", False),
        ("what does this error message say", True),
        ("And what does that error mean?", True),
        ("wat betekent die melding?", True),
        ("was bedeutet diese Fehlermeldung?", True),
        ("que signifie ce message ?", True),
        ("¿qué significa este código?", True),
        ("wat betekent deze foutmelding?", True),
        ("What does the error C-412 mean?", False),
        ("What does this error mean: card cannot be written", False),
        ("this error on the Wren X1", False),
        ("Is this message from you?", False),
        ("What does error mean?", False),
        ("Can I use this code twice?", False),
    ],
)
def test_a_message_that_nobody_typed_is_asked_for(question: str, *, unsaid: bool) -> None:
    assert asks_about_unsaid(question) is unsaid


def test_it_is_asked_for_in_the_language_of_the_question() -> None:
    assert what_it_says("de").startswith("Welche")
    assert what_it_says("pl") == what_it_says("en")
