"""Placeholders go out and what they stand for comes back, to the character, whatever the text holds and the model does to them."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.personal.known import Kind, Personal
from rai.personal.pseudonyms import PlaceholderKey, Pseudonyms
from rai.personal.redact import Redactor, merged
from tests.tables import Tables

TABLES = Tables(__file__)

PIECES = TABLES.texts("pieces")
KINDS: list[Kind] = ["PERSON", "PHONE", "NUMBER"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9), st.sampled_from(KINDS)), max_size=5)


def personal(text: str, *values: tuple[Kind, str]) -> list[Personal]:
    return merged(
        text,
        [Personal(at, at + len(v), kind, v) for kind, v in values for at in range(len(text)) if text.startswith(v, at)],
    )


def _same(found: list[Personal], _text: str) -> list[Personal]:
    return found


def key_of(*values: tuple[Kind, str], around: str = "") -> PlaceholderKey:
    text = " ".join([around, *(v for _, v in values)])
    return Pseudonyms().replace((text,), lambda t: personal(t, *values))[1]


@settings(max_examples=400)
@given(st.lists(st.tuples(TEXTS, SPANS), min_size=1, max_size=3))
def test_what_is_replaced_comes_back(prompts: list[tuple[str, list[tuple[int, int, Kind]]]]) -> None:
    """Over several prompts of one turn, with arbitrary spans cut anywhere and texts made of things like placeholders."""
    pseudonyms = Pseudonyms()
    for text, spans in prompts:
        found = merged(
            text, [Personal(a, min(a + n, len(text)), k, text[a : a + n]) for a, n, k in spans if a < len(text)]
        )
        (sent,), key = pseudonyms.replace((text,), partial(_same, found))
        assert key.restore(sent).text == text
        assert key.restore(sent).unknown == 0


@given(st.text(max_size=200))
def test_the_finder_and_the_placeholders_together(text: str) -> None:
    (sent,), key = Pseudonyms().replace((text,), Redactor().find)
    assert key.restore(sent).text == text


def test_the_same_value_has_the_same_placeholder_in_every_prompt_of_a_turn() -> None:
    pseudonyms = Pseudonyms()
    values: tuple[tuple[Kind, str], ...] = (("PERSON", "Anna"), ("PHONE", "415-555-2671"))
    one, _ = pseudonyms.replace(("Anna 415-555-2671", "Anna"), lambda t: personal(t, *values))
    two, _ = pseudonyms.replace(("415-555-2671 Anna",), lambda t: personal(t, *values))
    assert one == ["[PERSON_1] [PHONE_2]", "[PERSON_1]"]
    assert two == ["[PHONE_2] [PERSON_1]"]


def test_a_placeholder_that_a_text_holds_already_is_not_given_out() -> None:
    pseudonyms = Pseudonyms()
    pseudonyms.replace(("Anna",), lambda t: personal(t, ("PERSON", "Anna")))
    (sent,), key = pseudonyms.replace(("Anna writes [person_1].",), lambda t: personal(t, ("PERSON", "Anna")))
    assert sent == "[PERSON_2] writes [person_1]."
    assert key.restore("[PERSON_2], not [PERSON_1].").text == "Anna, not [PERSON_1]."


@TABLES.each("mangled", "form")
def test_a_mangled_placeholder_is_understood(form: str) -> None:
    restored = key_of(("PERSON", "Anna Berg"), ("PHONE", "415-555-2671")).restore(f"Dear {form}, thanks.")
    assert restored.text == "Dear Anna Berg, thanks."
    assert restored.unknown == 0


@pytest.mark.parametrize("form", ["[PERSON_7]", "[PHONE_1]", "[EMAIL]"])
def test_a_placeholder_that_stands_for_nothing_is_taken_out_and_counted(form: str) -> None:
    restored = key_of(("PERSON", "Anna Berg"), ("PHONE", "415-555-2671")).restore(f"Dear {form}, thanks.")
    assert restored.text == "Dear , thanks."
    assert restored.unknown == 1


@pytest.mark.parametrize(
    "text", ["Dial (number 5) first.", "Person 1 of 3", "[1] and [2]", "card_holder", "[phone]", "(Phone-2-go)"]
)
def test_ordinary_words_stay(text: str) -> None:
    assert key_of(("PERSON", "Anna Berg")).restore(text).text == text


def test_what_comes_back_is_not_read_again() -> None:
    """A name that looks like a placeholder of somebody else stays that name."""
    text = "A: PERSON_2 B: Berg"
    (sent,), key = Pseudonyms().replace((text,), lambda t: personal(t, ("PERSON", "PERSON_2"), ("PERSON", "Berg")))
    assert key.restore(sent.lower()).text.lower() == text.lower()
