"""Patterns as automata: they find what `re` finds, whatever stands around, and no text makes them try everything."""

from __future__ import annotations

import re
import threading

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rai.screening.automata import Linear, as_ascii

LIKE_RE = (
    r"\b(?:send|copy)(?: (?:me|us)){0,2} (?:data|file)s?\b",
    r"(?<!not )(?<!never )\b(?:ignore|forget)\b",
    r"\bprompts?(?! (?:payment|delivery))\b",
    r"\b(?:weed(?! (?:killer|out))|crack(?! (?:in (?:my|the)))(?: open)?)\b",
    r"(?<=your )(?:rules|orders)\b(?! (?:for (?!me\b)|about))",
    r"a[^\w.!?]{1,6}(?:b|[])(]+)c",
    r"^\w+|\d{2,3}$",
    r"[\w'-]{1,5} x",
)
WORDS = (
    "send copy me us data files ignore forget not never prompt prompts payment delivery weed killer out crack in my the open your rules orders for about "
    "a b c ( ] 12 345 x é ß 漢 \u0663 don't -- . ! \n"
).split(" ")


@pytest.mark.parametrize("pattern", LIKE_RE)
@given(words=st.lists(st.sampled_from(WORDS), max_size=12))
@example(words=["prompts", "payment"])
@example(words=["never", "ignore", "forget"])
@example(words=["your", "rules", "for", "me"])
@example(words=["your", "rules", "for", "us"])
@settings(max_examples=60, deadline=None)
def test_it_finds_what_re_finds(pattern: str, words: list[str]) -> None:
    text = " ".join(words)
    expected = [m.span() for m in re.finditer(pattern, text)]
    assert [(h.start, h.end) for h in Linear(pattern).hits(as_ascii(text))] == expected


def test_a_hit_begins_at_its_mark() -> None:
    hit = Linear(r"(?:^|[.!?]()) ?(?:write|draft)\b").search("hello. write it")
    assert hit is not None
    assert "hello. write it"[hit.start : hit.end] == " write"


def test_what_re2_cannot_read_is_said_at_once() -> None:
    with pytest.raises(ValueError, match="RE2 cannot read"):
        Linear(r"(a)\1")


@given(st.text())
def test_a_text_keeps_its_length_and_its_words(text: str) -> None:
    data = as_ascii(text).decode("ascii")
    assert len(data) == len(text)
    assert [bool(re.match(r"\w", c)) for c in data] == [bool(re.match(r"\w", c)) for c in text]


EXPONENTIAL = r"(?:\w+[ -]?)+(?:\w+[ -]?)+!"
"""Fewer than forty letters keep `re` busy for longer than anyone waits."""


@pytest.mark.parametrize("piece", ["a", "a-", "ab ", "-"])
def test_no_text_makes_it_try_everything(piece: str) -> None:
    assert Linear(EXPONENTIAL).search(piece * 20_000) is None


def test_refusals_are_no_way_around_it() -> None:
    pattern = Linear(r"\bprompts?(?! (?:payment|delivery))\b")
    assert pattern.search("prompt payment " * 1_500) is None
    assert pattern.search("prompt payment " * 1_500 + "prompt") is not None


def test_others_go_on_while_it_searches() -> None:
    """The interpreter is free meanwhile: another thread counts on between one search and its end."""
    pattern, text = Linear(r"(?:[ab]{0,50}c?){20}d"), "ab" * 2_000_000
    begun, done, counted = threading.Event(), threading.Event(), 0

    def search() -> None:
        data = as_ascii(text)
        begun.set()
        assert next(pattern.hits(data), None) is None
        done.set()

    thread = threading.Thread(target=search)
    thread.start()
    begun.wait()
    while not done.wait(0.001):
        counted += 1
    thread.join()
    assert counted > 3
