"""Whether a question is about the picture beside it."""

from __future__ import annotations

import pytest

from bot.wording.pictures import is_about_picture


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
        ("what does error E17 mean?", False, False),
    ],
)
def test_words_that_point_at_it_and_name_nothing_else(question: str, *, named: bool, about: bool) -> None:
    assert is_about_picture(question, named=named) is about
