"""Chunks: exact offsets, limits that hold for any text, divisions where a reader would divide."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grounding.ingest.chunk_paragraphs import split
from grounding.records import Chunk, Document, Locator, chunk_id
from grounding.tokens import count_tokens

_WORDS = st.sampled_from(
    [
        "plan",
        "price",
        "$9.00",
        "Refunds",
        "are",
        "paid",
        "in",
        "14",
        "days.",
        "Call",
        "+1-206-555-0171",
        "字字字字",
        "é",
        "x" * 60,
        "=" * 90,
        "…",
        "e.g.",
    ]
)
_GAPS = st.sampled_from([" ", " ", " ", " ", "\n", "\n\n", "\n\n# Heading\n\n", "\n- ", "\t", "\n \n", "\u00a0"])
_TEXTS = st.lists(st.tuples(_WORDS, _GAPS), max_size=220).map(lambda parts: "".join(a + b for a, b in parts))


def _document(text: str, *locators: tuple[int, str]) -> Document:
    return Document("d", "T", text, locators=tuple(Locator(at, label) for at, label in locators))


def _check(document: Document, chunks: tuple[Chunk, ...], minimum: int, maximum: int) -> None:
    text = document.text
    at = 0
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.text == chunk.text.strip()
        assert chunk.text
        assert not text[at : chunk.start].strip(), "text between chunks is white space"
        assert chunk.tokens == count_tokens(chunk.text) <= maximum
        assert chunk.chunk_id == chunk_id("d", chunk.start, chunk.end, chunk.text)
        at = chunk.end
    assert not text[at:].strip()
    if len(chunks) > 1:
        assert min(chunk.tokens for chunk in chunks) >= minimum


@pytest.mark.row("4-08")
@settings(max_examples=120, deadline=None)
@given(_TEXTS, st.sampled_from([(24, 200), (10, 40), (5, 20), (30, 60)]))
@example("word " * 205 + "\n\nend", (24, 200))
@example("a\n\n" * 100, (24, 200))
@example(
    "plan plan plan plan\nplan\nplan\nplan\n$9.00 $9.00\n\n# Heading\n\ndays. +1-206-555-0171 +1-206-555-0171 "
    + "x" * 60
    + " $9.00\n\n# Heading\n\nplan ",
    (30, 60),
)
def test_limits_offsets_and_cover_hold(text: str, limits: tuple[int, int]) -> None:
    document = _document(text)
    minimum, maximum = limits
    _check(document, split(document, minimum=minimum, maximum=maximum), minimum, maximum)


@pytest.mark.row("4-08")
@settings(max_examples=60, deadline=None)
@given(_TEXTS, st.lists(st.integers(0, 2000), max_size=8))
def test_limits_hold_whatever_the_locators(text: str, places: list[int]) -> None:
    labels = [
        (at, f"page {i}" if i % 2 else f"Heading {i}")
        for i, at in enumerate(sorted(p for p in places if p < len(text)))
    ]
    document = _document(text, *labels)
    _check(document, split(document), 24, 200)


def _paragraph(words: int, word: str = "plans") -> str:
    return " ".join([word] * words) + "."


def test_a_paragraph_that_is_large_enough_is_a_chunk() -> None:
    text = "\n\n".join(_paragraph(110, word) for word in ("plans", "prices", "phones"))
    assert [c.text for c in split(_document(text))] == text.split("\n\n")


def test_small_paragraphs_of_a_section_are_gathered() -> None:
    text = "\n\n".join(_paragraph(40, word) for word in ("plans", "prices", "phones", "parcels"))
    assert [c.text.count("\n\n") for c in split(_document(text))] == [3]


def test_a_heading_goes_with_what_follows() -> None:
    text = f"{_paragraph(40)}\n\n## Opening hours\n\n{_paragraph(40, 'hours')}"
    assert [c.text.split("\n")[0][:8] for c in split(_document(text))] == ["plans pl", "## Openi"]


def test_headings_in_a_row_stay_together() -> None:
    text = f"# Help\n\n## Billing\n\n### Refunds\n\n{_paragraph(110)}\n\n{_paragraph(110)}"
    chunks = split(_document(text))
    assert chunks[0].text.startswith("# Help")
    assert len(chunks) == 2


def test_a_small_paragraph_stays_under_its_heading() -> None:
    text = f"# A\n\n{_paragraph(40, 'first')}\n\nShort end of A.\n\n# B\n\n{_paragraph(26, 'second')}"
    chunks = split(_document(text))
    assert chunks[0].text.endswith("Short end of A.")
    assert chunks[1].text.startswith("# B")


def test_chunks_do_not_cross_pages_when_avoidable() -> None:
    one, two = f"{_paragraph(30, 'first')}\n\nTail of page one.", _paragraph(26, "second")
    document = _document(f"{one}\n\n{two}", (0, "page 1"), (len(one) + 2, "page 2"))
    assert [c.text for c in split(document)] == [one, two]


def test_a_page_that_is_too_small_joins_another() -> None:
    one, two = _paragraph(30, "first"), "Only a line."
    document = _document(f"{one}\n\n{two}", (0, "page 1"), (len(one) + 2, "page 2"))
    assert [c.locator for c in split(document)] == ["page 1"]


def test_two_neighbours_are_divided_anew_when_joining_would_be_too_much() -> None:
    text = f"{'Plans renew each month. ' * 40}".strip() + "\n\nShort one."
    chunks = split(_document(text))
    _check(_document(text), chunks, 24, 200)
    assert chunks[-1].text.endswith("Short one.")
    assert len(chunks) == 2


def test_rows_are_packed_whole() -> None:
    rows = [f"Plan: Plan {i} | Price: ${i}.00 | Data: {i} GB" for i in range(60)]
    for chunk in split(_document("\n".join(rows))):
        assert set(chunk.text.split("\n")) <= set(rows)
        assert chunk.tokens > 100


def test_a_long_paragraph_is_cut_at_sentences() -> None:
    text = " ".join(f"Sentence number {i} tells about plans and prices." for i in range(80))
    assert all(c.text.endswith(".") for c in split(_document(text)))


def test_locator_names_page_and_heading() -> None:
    parts = [_paragraph(40, w) for w in ("a1", "b2", "c3", "d4")]
    text = "\n\n".join(parts)
    at = [text.index(p) for p in parts]
    document = _document(text, (at[0], "page 1"), (at[1], "Opening hours"), (at[2], "page 2"), (at[3], "Opening hours"))
    assert [c.locator for c in split(document)] == [
        "page 1",
        "page 1 · Opening hours",
        "page 2",
        "page 2 · Opening hours",
    ]


def test_no_locators_give_none() -> None:
    assert split(_document("Hello."))[0].locator is None


@pytest.mark.parametrize("text", ["", "   ", "\n\n\t\n"])
def test_no_text_gives_no_chunks(text: str) -> None:
    assert split(_document(text)) == ()


@pytest.mark.parametrize("limits", [(0, 200), (101, 200), (-1, 10)])
def test_impossible_limits_are_refused(limits: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="minimum"):
        split(_document("text"), minimum=limits[0], maximum=limits[1])


@pytest.mark.parametrize("bit", ["a", "字", "ab1", "=", "\u00a0x", "x\n", "x\n\n", "😀"])
def test_monotonous_text_ends(bit: str) -> None:
    document = _document(bit * 3000)
    _check(document, split(document), 24, 200)


def test_a_long_text_without_a_break_is_cut() -> None:
    """200 KB of one word; the whole of it must never be counted, which takes the square of its length."""
    document = _document("ab" * 100_000)
    _check(document, split(document), 24, 200)


def test_equal_text_in_two_documents_has_two_ids() -> None:
    first, second = (split(Document(i, "T", "Same text."))[0].chunk_id for i in ("a", "b"))
    assert first != second


def test_a_line_that_leads_in_a_list_goes_where_the_list_goes() -> None:
    before = _paragraph(150, "before")
    steps = "\n".join(f"{n}. {_paragraph(12, 'step')}" for n in range(1, 8))
    chunks = split(_document(f"{before}\n\nHow to cancel\n\n{steps}"))
    assert [c.text.startswith("How to cancel\n\n1. ") for c in chunks] == [False, True]
