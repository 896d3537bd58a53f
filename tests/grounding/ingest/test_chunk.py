"""Chunks of characters and of tokens: exact offsets, sizes and overlaps that hold for any text, nothing left out, pages apart."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grounding.ingest.chunk import cut
from grounding.ingest.chunk_paragraphs import split
from grounding.ingest.chunk_settings import DEFAULT, Chunking, Kind, marked, unmarked
from grounding.records import Chunk, Document, Locator, chunk_id
from grounding.tokens import count_tokens, fits

_TUTORIAL = [Chunking("characters", 1000, 200), Chunking("tokens", 250, 0)]
_PLAIN = ["plan", "price", "$9.00", "Refunds", "are", "in", "14", "days.", "+1-206-555-0171"]
_ODD = ["字字字字", "é", "x" * 60, "=" * 90, "…", "e.g.", "👩‍👩‍👧"]
_WORDS = st.sampled_from([*_PLAIN, *_ODD])
_GAPS = st.sampled_from([" ", " ", " ", "\n", "\n\n", "\n\n# Heading\n\n", "\r\n", "\t", "\u00a0", "\u2028", ""])
_TEXTS = st.tuples(st.lists(st.tuples(_WORDS, _GAPS), max_size=200), st.integers(1, 12)).map(
    lambda drawn: "".join(word + gap for word, gap in drawn[0]) * drawn[1]
)
_KINDS: st.SearchStrategy[Kind] = st.sampled_from(["characters", "tokens"])
_WAYS = st.tuples(_KINDS, st.integers(8, 300), st.sampled_from([0, 5, 2])).map(
    lambda drawn: Chunking(drawn[0], drawn[1], drawn[1] // drawn[2] if drawn[2] else 0)
)


def _document(text: str, *places: tuple[int, str]) -> Document:
    return Document("d", "Title", text, locators=tuple(Locator(at, label) for at, label in places))


def _held(text: str, way: Chunking, most: int) -> bool:
    return len(text) <= most if way.kind == "characters" else fits(text, most)


def _check(document: Document, chunks: tuple[Chunk, ...], way: Chunking) -> None:
    covered = 0
    for before, chunk in zip([None, *chunks], chunks, strict=False):
        assert document.text[chunk.start : chunk.end] == chunk.text == chunk.text.strip() != ""
        assert chunk.chunk_id == chunk_id("d", chunk.start, chunk.end, chunk.text)
        assert chunk.tokens == count_tokens(chunk.text)
        assert _held(chunk.text, way, way.size)
        assert not document.text[covered : chunk.start].strip()
        if before is not None:
            assert before.start < chunk.start
            assert before.end < chunk.end
            assert _held(document.text[chunk.start : before.end], way, way.overlap)
        covered = chunk.end
    assert not document.text[covered:].strip()


@pytest.mark.row("2-02")
@pytest.mark.row("4-08")
@settings(max_examples=80, deadline=None)
@given(_TEXTS, _WAYS)
@example("字" * 4000, Chunking("characters", 1000, 200))
@example("word and text. " * 900, Chunking("tokens", 250, 125))
def test_offsets_sizes_and_overlaps_hold_whatever_the_text(text: str, way: Chunking) -> None:
    document = _document(text)
    _check(document, cut(document, way), way)


@pytest.mark.row("2-02")
@pytest.mark.row("C-08")
@pytest.mark.parametrize("way", _TUTORIAL, ids=str)
def test_the_ways_of_the_tutorial_fill_their_chunks(way: Chunking) -> None:
    """Sentences of 59 characters: chunks are full but for less than a sentence, and the characters share three of them."""
    sentences = [f"Plan number {n:04d} costs $9.00 a month and has no setup fee. " for n in range(400)]
    chunks = cut(_document("".join(sentences)), way)
    _check(_document("".join(sentences)), chunks, way)
    sizes = [len(c.text) if way.kind == "characters" else c.tokens for c in chunks[:-1]]
    assert min(sizes) > way.size - 60
    assert all(c.text.startswith("Plan") and c.text.endswith("fee.") for c in chunks)
    shared = {max(0, a.end - b.start) for a, b in pairwise(chunks)}
    assert shared == ({3 * 59 - 1} if way.overlap else {0})


@pytest.mark.row("2-02")
@pytest.mark.row("C-08")
@pytest.mark.row("4-08")
def test_paragraphs_of_24_to_200_tokens_are_the_default() -> None:
    document = _document("\n\n".join(f"Plan {n} costs ${n}.00 a month. " * 9 for n in range(40)))
    assert str(DEFAULT) == "paragraphs 24-200"
    assert cut(document) == split(document, minimum=24, maximum=200)
    assert all(24 <= c.tokens <= 200 for c in cut(document))


@pytest.mark.parametrize("way", _TUTORIAL, ids=str)
def test_no_chunk_crosses_from_page_to_page(way: Chunking) -> None:
    """A heading is no such border, nor a line of a table."""
    text = "".join(f"Words of part {n}. " * 20 for n in range(4))
    size = len(text) // 4
    document = _document(
        text, (0, "page 1"), (size, "Refunds"), (2 * size, "page 2"), (2 * size + 9, "line 2"), (3 * size, "sheet A")
    )
    chunks = cut(document, way)
    _check(document, chunks, Chunking(way.kind, way.size, way.overlap))
    assert all(len({at // (2 * size) for at in (c.start, c.end - 1)}) == 1 for c in chunks)
    assert {c.locator for c in chunks} >= {"page 1", "page 2"}
    assert any(c.start < size < c.end for c in chunks)
    assert not any(c.start < 3 * size < c.end for c in chunks)


@pytest.mark.parametrize("way", [*_TUTORIAL, Chunking("tokens", 20, 10)], ids=str)
@pytest.mark.parametrize("text", ["", " \n\u00a0\n", "x", "One line only."])
def test_little_text(text: str, way: Chunking) -> None:
    assert [c.text for c in cut(_document(text), way)] == ([text] if text.strip() else [])


@pytest.mark.parametrize(
    "limits",
    [
        ("characters", 1000, 501),
        ("characters", 1000, -1),
        ("tokens", 0, 0),
        ("paragraphs", 40, 0),
        ("paragraphs", 200, 5),
    ],
)
def test_limits_that_cannot_be_are_refused(limits: tuple[Kind, int, int]) -> None:
    with pytest.raises(ValueError, match="at most half"):
        Chunking(*limits)


@pytest.mark.parametrize("way", [DEFAULT, Chunking("paragraphs", 180, minimum=10), *_TUTORIAL], ids=str)
def test_a_stamp_tells_the_way(way: Chunking) -> None:
    assert unmarked(marked("12:ab", way)) == ("12:ab", str(way))
    assert marked("12:ab", DEFAULT) == "12:ab"
