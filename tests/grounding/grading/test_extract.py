"""Extracts in their passage: to the character, in another spelling, or not there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.grading.extract import locate
from grounding.text import caseless
from tests.tables import Tables

TABLES = Tables(__file__)

TEXT = 'The  Pro plan – from\n"2025" – costs $12.50 a month; 5 GB are included, 15 GB cost €3. Form 354-02.'


@pytest.mark.row("1-04")
@TABLES.each("extracts")
def test_an_extract_is_located_or_not(extract: str, said: str | None) -> None:
    """A number is never found inside another number, nor a word inside a word."""
    span = locate(extract, TEXT)
    assert (span and span.text) == said
    assert span is None or TEXT[span.start : span.end] == span.text


def test_brackets_come_back_as_the_prompt_writes_them() -> None:
    span = locate("press ‹‹‹OK›››", "Please press <<<OK>>> now.")
    assert span is not None
    assert span.text == "press <<<OK>>>"


_WORDS = st.lists(st.text(alphabet="abéÉßıİ19-–.,'’\"“ \n\u00a0", min_size=1, max_size=6), min_size=1, max_size=12).map(
    " ".join
)


def _squeezed(text: str) -> str:
    return " ".join(caseless(text).split())


@given(_WORDS, st.data())
def test_every_span_is_what_stands_there(text: str, data: st.DataObject) -> None:
    """Whatever is found says the same in normal form, at exact offsets; verbatim words are always found."""
    start = data.draw(st.integers(0, len(text)))
    extract = text[start : data.draw(st.integers(start, len(text)))]
    extract = data.draw(
        st.sampled_from(
            [extract, extract.upper(), extract.lower(), extract.replace(" ", "\n "), extract.replace("-", "–")]
        )
    )
    span = locate(extract, text)
    if span is not None:
        assert 0 <= span.start < span.end <= len(text)
        assert span.text == text[span.start : span.end]
        assert _squeezed(span.text) in (_squeezed(extract), _squeezed(extract.strip(" \t\r\n\"'“”‘’„«».…")))


@given(st.lists(st.text(alphabet="abcé", min_size=1, max_size=5), min_size=1, max_size=12), st.data())
def test_whole_words_are_found_whatever_their_case_and_space(words: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(words) - 1))
    chosen = words[first : data.draw(st.integers(first + 1, len(words)))]
    span = locate(data.draw(st.sampled_from([" ", "\n", " \u00a0 "])).join(chosen).upper(), "  ".join(words))
    assert span is not None
    assert span.text.split() == chosen
