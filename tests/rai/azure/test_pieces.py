"""Long texts in pieces: nothing is lost, nothing is too long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rai.azure.pieces import pieces, sendable, size

TEXTS = st.text(alphabet=st.sampled_from("ab \n😀é"), max_size=400)


@given(TEXTS, st.integers(16, 60), st.integers(0, 7))
def test_pieces_cover_the_text_and_keep_the_limit(text: str, most: int, overlap: int) -> None:
    """Every stretch of about half the overlap stands whole in one of them, wherever the cuts fall."""
    found = pieces(text, most, overlap)
    assert all(size(piece) <= most for piece in found)
    if text.strip():
        width = max(overlap // 2, 1)
        assert all(any(text[at : at + width] in p for p in found) for at in range(len(text)))
    else:
        assert found == []


@given(st.text(alphabet=st.characters(), max_size=50))
def test_what_is_sent_is_utf8_and_what_was_fit_stays(text: str) -> None:
    sent = sendable(text)
    assert sent.encode("utf-8").decode() == sent
    if not any("\ud800" <= c <= "\udfff" for c in text):
        assert sent == text


def test_a_lone_surrogate_is_replaced() -> None:
    assert sendable("a\ud800b") == "a\ufffdb"
