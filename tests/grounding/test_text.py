"""Sentences, words and folds: their offsets, and the traps of full stops."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.text import body_start, caseless, fold, sentences, stem, terms, words

PROSE = st.text(st.sampled_from("abc AZ.?!…\n\t-–’“”ß€é漢 1234[]()") | st.characters(), max_size=300)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Call us. We help.", ["Call us.", "We help."]),
        ("Call Dr. Smith. He helps.", ["Call Dr. Smith.", "He helps."]),
        ("Open until 5 p.m. on Fridays.", ["Open until 5 p.m. on Fridays."]),
        ("Open until 5 p.m. Closed on Sunday.", ["Open until 5 p.m.", "Closed on Sunday."]),
        ("It costs $3.50 a month. Fine.", ["It costs $3.50 a month.", "Fine."]),
        ("Version 4.2.1 is out! Get it.", ["Version 4.2.1 is out!", "Get it."]),
        ("1. Unplug it.\n2. Wait.", ["1. Unplug it.", "2. Wait."]),
        ("- one\n- two", ["- one", "- two"]),
        ("He said “stop.” Then he left.", ["He said “stop.”", "Then he left."]),
        ("J. Doe signed.", ["J. Doe signed."]),
        ("See www.a.example for more", ["See www.a.example for more"]),
        ("", []),
        ("   \n ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [s.text for s in sentences(text)] == expected


@given(PROSE)
def test_spans_are_exact_and_ascend(text: str) -> None:
    """Every span repeats its characters; spans ascend without overlap; nothing but space is left outside a sentence."""
    for spans in (sentences(text), words(text)):
        last = 0
        for span in spans:
            assert last <= span.start < span.end <= len(text)
            assert text[span.start : span.end] == span.text
            last = span.end
    covered = "".join(s.text for s in sentences(text))
    assert "".join(text.split()) == "".join(covered.split())


@given(PROSE)
def test_folds_keep_offsets(text: str) -> None:
    """A fold has the length of its text, so a span of one is a span of the other, and folding twice changes nothing."""
    assert len(fold(text)) == len(caseless(text)) == len(text)
    assert fold(fold(text)) == fold(text)
    assert caseless(caseless(text)) == caseless(text)


@pytest.mark.row("4-27")
def test_dashes_and_quotes_fold() -> None:
    assert fold("–force-deletion ’tis “x”") == '-force-deletion \'tis "x"'


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("prices", "price"),
        ("batteries", "battery"),
        ("shipping", "ship"),
        ("charged", "charge"),
        ("plans", "plan"),
        ("returned", "returns"),
    ],
)
def test_inflections_meet(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(("one", "other"), [("bus", "bu"), ("status", "statu"), ("glass", "gla"), ("x1", "x2")])
def test_other_words_stay_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_the_plus_behind_a_name_is_a_word_of_it() -> None:
    assert terms("the Mini+, not the Mini") == terms("the mini plus, not the mini")
    assert terms("C++ or +49 30") == ["c", "49", "30"]


def test_terms_leave_chat_out() -> None:
    assert terms("Hi, could you please tell me what the Pro plan costs?") == ["pro", "plan", "cost"]


def test_body_starts_after_the_marker() -> None:
    assert [body_start(t) for t in ("- item", "12. step", "## Title", "plain", "3.5 mm")] == [2, 4, 3, 0, 0]


@given(st.text(), st.text())
def test_a_character_is_made_caseless_whatever_stands_beside_it(one: str, other: str) -> None:
    assert caseless(one + other) == caseless(one) + caseless(other)


def test_terms_that_are_kept_are_not_what_a_caller_holds() -> None:
    terms("two return labels").append("changed")
    assert terms("two return labels") == ["two", "return", "label"]
