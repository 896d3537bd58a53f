"""Passages that share text: no sentence twice in the evidence, starts exact, what shares nothing untouched."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grounding.evidence.choose import choose
from grounding.evidence.overlap import apart
from grounding.ingest.chunk import cut
from grounding.ingest.chunk_settings import Chunking
from grounding.policies.files import built_in
from grounding.records import Document, Passage
from grounding.text import sentences

_TEXT = "".join(f"Plan {n} costs ${n}.00 a month. " for n in range(60))


def _passages(text: str, way: Chunking) -> list[Passage]:
    return [Passage(c.chunk_id, "d", "T", c.text, c.start) for c in cut(Document("d", "T", text), way)]


@pytest.mark.row("2-02")
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_sentence_stands_in_two_pieces_of_evidence(data: st.DataObject) -> None:
    """Whichever chunks were kept, in whatever order: together they hold every sentence that they held, and each once."""
    found = _passages(_TEXT, Chunking("characters", 300, 100))
    kept = data.draw(st.lists(st.sampled_from(found), unique=True, max_size=6))
    left = apart(kept)
    said = [s.text.strip() for p in left for s in sentences(p.text)]
    assert len(said) == len(set(said))
    assert set(said) == {s.text.strip() for p in kept for s in sentences(p.text)}
    assert all(_TEXT[p.start : p.start + len(p.text)] == p.text for p in left)


@pytest.mark.row("2-02")
def test_evidence_is_chosen_without_what_overlaps() -> None:
    first, second = _passages(_TEXT, Chunking("characters", 300, 100))[:2]
    assert first.start + len(first.text) > second.start
    one, two = choose([first, second], {}, built_in()["attest"])
    assert one.passage == first
    assert two.passage.chunk_id == second.chunk_id
    assert two.passage.start >= first.start + len(first.text)


def test_of_a_sentence_that_was_cut_short_the_whole_one_stays() -> None:
    text = "Refunds are paid in 14 days. The Pro plan costs $90 a month."
    torn = Passage("a", "d", "T", text[:50], 0)
    whole = Passage("b", "d", "T", text[29:], 29)
    assert [p.text for p in apart([torn, whole])] == ["Refunds are paid in 14 days.", whole.text]


def test_a_passage_within_another_is_left_out() -> None:
    text = "Refunds are paid in 14 days. The Pro plan costs $90 a month."
    whole, part = Passage("a", "d", "T", text, 0), Passage("b", "d", "T", text[29:], 29)
    assert apart([whole, part]) == [whole]


def test_what_only_looks_alike_is_untouched() -> None:
    """The same characters in another document, in another version, on the web; other characters at the same place."""
    text = "Refunds are paid in 14 days."
    one = Passage("a", "d", "T", text, 0, version="v1")
    others = [
        replace(one, chunk_id="b", doc_id="e"),
        replace(one, chunk_id="c", version="v2"),
        replace(one, chunk_id="f", origin="web"),
        replace(one, chunk_id="g", text="Refunds take a month or so.."),
        replace(one, chunk_id="h", start=len(text)),
    ]
    assert apart([one, *others]) == [one, *others]
