"""Cutting text at spans: nothing is lost, nothing moves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.view.markup import Mark, segments

MARKS = st.lists(st.builds(Mark, st.integers(-3, 40), st.integers(-3, 40), st.sampled_from("abc")), max_size=8)


@given(st.text(max_size=30), MARKS)
def test_the_pieces_are_the_text_and_carry_exactly_the_marks_over_them(text: str, marks: list[Mark]) -> None:
    pieces = segments(text, marks)
    assert "".join(p.text for p in pieces) == text
    at = 0
    for piece in pieces:
        for i in range(at, at + len(piece.text)):
            over = {m.key for m in marks if 0 <= m.start <= i < m.end <= len(text)}
            assert set(piece.keys) == over
        at += len(piece.text)


def test_overlapping_marks_are_cut_without_nesting() -> None:
    pieces = segments("abcdef", [Mark(0, 4, "x"), Mark(2, 6, "y")])
    assert [(p.text, p.keys) for p in pieces] == [("ab", ("x",)), ("cd", ("x", "y")), ("ef", ("y",))]


def test_a_mark_beyond_the_text_is_left_out() -> None:
    assert [p.keys for p in segments("abc", [Mark(1, 9, "x")])] == [()]
