"""Words of the card below an answer: all of them in every language, filled alike, and one word for every status."""

from __future__ import annotations

from typing import get_args

import pytest

from bot.wording import notices
from bot.wording.conversation.card import CardWords
from rai.records import Status


def test_each_word_is_there_in_all_seven_languages() -> None:
    assert tuple(CardWords.texts()) == tuple(notices.texts())
    assert all(word.strip() for row in CardWords.texts().values() for word in row.values())


@pytest.mark.parametrize("name", list(CardWords.texts()["en"]))
def test_what_is_filled_in_is_the_same_in_each_language(name: str) -> None:
    fields = {tuple(part.split("}")[0] for part in row[name].split("{")[1:]) for row in CardWords.texts().values()}
    assert len(fields) == 1


@pytest.mark.parametrize("status", get_args(Status))
def test_each_status_of_the_check_has_words(status: Status) -> None:
    assert len({CardWords(code).status(status) for code in CardWords.texts()}) > 1


def test_one_and_many_are_told_apart_and_an_unknown_language_is_english() -> None:
    words = CardWords("ja")
    assert (words.count("checked", 1), words.count("checked", 0)) == ("1 value checked", "0 values checked")
    assert words("missing", part="a {b}") == "No source answers this: a {b}"
