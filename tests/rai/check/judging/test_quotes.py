"""A quotation stands in the named place to the character, or nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai.check.judging.quotes import LONGEST, looked_up
from rai.judgement import Quote
from rai.records import Source

TEXT = "Team  costs $9.50\na month — “unlimited” boards.\n\n| Plan | Price |\n| Team | $1,249 |\nCall 555-0142 ext. 7."
SOURCES = (Source("a", TEXT, "Plans of Trellis"), Source("b", "Business costs $19 a month."))


@pytest.mark.parametrize(
    "quoted",
    [
        "Team  costs $9.50\na month",
        "Team costs $9.50 a month",
        'a month - "unlimited" boards.',
        "“Team costs $9.50 a month”",
        "| Team | $1,249 |",
        "Plans of Trellis",
    ],
)
def test_white_space_and_typography_are_folded_and_offsets_are_exact(quoted: str) -> None:
    known = looked_up(Quote("a", quoted), SOURCES, ())
    assert known is not None
    for span in known.spans:
        field = SOURCES[0].text if span.field == "text" else SOURCES[0].title
        assert field[span.start : span.end] == span.text
        assert span.source == "a"


@pytest.mark.parametrize(
    "quoted",
    [
        "Team costs $9.05 a month",  # altered
        "Team costs $9",  # of $9.50
        "$1,24",
        "249 |",
        "Tea",
        "eam costs",
        "Business costs $19 a month.",  # of another source
        "team costs $9.50 a month",
        "",
        "Team … nothing of the kind",
        "boards. … Team costs",  # the parts the other way round
        "Team costs $9.50 " * 60,
    ],
)
def test_what_is_not_there_is_not_found(quoted: str) -> None:
    assert looked_up(Quote("a", quoted), SOURCES, ()) is None


def test_parts_with_an_ellipsis_between_follow_each_other() -> None:
    known = looked_up(Quote("a", "Team costs $9.50 … boards."), SOURCES, ())
    assert known is not None
    assert [span.text for span in known.spans] == ["Team  costs $9.50", "boards."]


def test_what_was_said_is_no_source() -> None:
    said = ("I have 9 months left.",)
    known = looked_up(Quote(None, "9 months left"), SOURCES, said)
    assert known is not None
    assert known.source is None
    assert looked_up(Quote("a", "9 months left"), SOURCES, said) is None
    assert looked_up(Quote(None, "Team costs"), SOURCES, said) is None


def test_an_unknown_source_holds_nothing() -> None:
    assert looked_up(Quote("z", "Team costs $9.50 a month"), SOURCES, ()) is None


@given(st.text(max_size=120), st.integers(0, 100), st.integers(1, LONGEST))
def test_any_text_is_found_in_itself_or_not_at_all(text: str, start: int, length: int) -> None:
    """Whatever is quoted, spans lie in the source and hold what they say."""
    source = Source("a", text)
    known = looked_up(Quote("a", text[start : start + length]), [source], ())
    for span in known.spans if known else ():
        assert 0 <= span.start < span.end <= len(text)
        assert text[span.start : span.end] == span.text
