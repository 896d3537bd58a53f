"""Folding of a body's rest: what is known is left out, rows become columns, and all of it comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai.ledger.folding import COLUMNS, FoldingError, Known, cut, fold, unfold

PASSAGE = {
    "chunk_id": "c1",
    "title": "Hours",
    "text": "Open from 9 to 5, also on Saturdays and on the eve of holidays.",
}
KNOWN = Known(("c1", "c2"), (PASSAGE,), ("You are a customer service agent.",), "We open at 9 to 5.")
CLAIM = {
    "text": "9 to 5",
    "start": 11,
    "end": 17,
    "status": "exact",
    "evidence": [{"source": "c1", "field": "text", "start": 10, "end": 16, "text": "9 to 5"}],
}
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b", "text", "|"]), inner, max_size=3)
    ),
    max_leaves=20,
)


def again(rest: dict[str, Any], known: Known = KNOWN) -> dict[str, Any]:
    """Folded, written, read and unfolded."""
    return unfold(json.loads(json.dumps(fold(rest, known))), known)


def test_what_a_claim_says_again_is_left_out() -> None:
    folded = fold({"reply": {"claims": [CLAIM]}}, KNOWN)
    assert folded["reply"]["claims"] == [
        {
            "start": 11,
            "end": 17,
            "status": "exact",
            "evidence": [{"source": 0, "field": "text", "start": 10, "end": 16}],
        }
    ]
    assert again({"reply": {"claims": [CLAIM]}}) == {"reply": {"claims": [CLAIM]}}


@pytest.mark.parametrize(
    "claim",
    [
        {**CLAIM, "text": "██████"},
        {**CLAIM, "start": 0},
        {**CLAIM, "evidence": []},
        {**CLAIM, "evidence": [{"source": "c9", "field": "text", "start": 0, "end": 2, "text": "No"}]},
        {**CLAIM, "evidence": [{"source": "c1", "field": "locator", "start": 0, "end": 2, "text": "No"}]},
        {**CLAIM, "instead": {"source": "c1", "field": "title", "start": 0, "end": 5, "text": "Hours"}},
    ],
)
def test_what_is_said_otherwise_stays(claim: dict[str, Any]) -> None:
    assert again({"reply": {"claims": [claim]}}) == {"reply": {"claims": [claim]}}


def test_the_claims_of_a_draft_are_read_beside_the_draft() -> None:
    draft = {"text": "It is 9 to 5.", "claims": [{**CLAIM, "start": 6, "end": 12}]}
    folded = fold({"reply": {"draft": draft}}, KNOWN)
    assert "text" not in folded["reply"]["draft"]["claims"][0]
    assert again({"reply": {"draft": draft}}) == {"reply": {"draft": draft}}


def test_grades_name_a_passage_by_its_place_and_leave_out_what_stands_in_it() -> None:
    grades = [
        {"id": "c1", "score": 0.9, "extract": {"start": 0, "end": 4, "text": "Open"}},
        {"id": "c2", "score": 0.1, "extract": {"start": 0, "end": 2, "text": "No"}},
        {"id": "w1", "score": 0.1, "extract": None},
    ]
    folded = fold({"reply": {"grades": grades}}, KNOWN)
    assert folded["reply"]["grades"][COLUMNS]["id"] == [0, 1, "w1"]
    assert folded["reply"]["grades"][COLUMNS]["extract"][0] == {"start": 0, "end": 4}
    assert again({"reply": {"grades": grades}}) == {"reply": {"grades": grades}}


def test_a_prompt_is_told_by_the_texts_that_are_known() -> None:
    text = f"{KNOWN.texts[0]}\n<<<m\n{PASSAGE['text']}\nm>>>"
    for holder in ({"prompt": {"parts": [{"name": "system", "text": text}]}},):
        rest = {**holder, "regeneration": {**holder, "text": None}}
        folded = fold(rest, KNOWN)
        assert folded["prompt"]["parts"][0]["text"] == [0, "\n<<<m\n", 1, "\nm>>>"]
        assert folded["regeneration"]["prompt"]["parts"][0]["text"] == [0, "\n<<<m\n", 1, "\nm>>>"]
        assert again(rest) == rest


def test_of_texts_that_begin_alike_the_longer_one_is_taken() -> None:
    known = Known((), (), ("one", "one two"))
    rest = {"prompt": {"parts": [{"name": "system", "text": "one two one"}, {"name": "history", "text": ""}]}}
    assert fold(rest, known)["prompt"]["parts"][COLUMNS]["text"] == [[1, " ", 0], []]
    assert again(rest, known) == rest


@given(VALUES)
def test_whatever_is_folded_comes_back_or_is_refused(value: Any) -> None:
    """Of the parts whose shape is not read. An object that looks like columns is refused, as it could be read in two ways."""
    try:
        assert again({"calls": value}) == {"calls": value}
    except FoldingError:
        assert COLUMNS in json.dumps(value)


@pytest.mark.parametrize(
    "folded",
    [
        {"reply": {"claims": [{}]}},
        {"reply": {"claims": 5}},
        {"reply": {"grades": [{"id": 7}]}},
        {"prompt": {"parts": [{"text": [99]}]}},
        {"calls": {COLUMNS: {"a": [1], "b": []}}},
        {"calls": {COLUMNS: 5}},
    ],
)
def test_what_no_folding_gave_is_refused(folded: dict[str, Any]) -> None:
    with pytest.raises((FoldingError, ValueError)):
        unfold(folded, KNOWN)


@pytest.mark.parametrize(
    ("text", "start", "end", "found"),
    [
        ("abc", 1, 3, "bc"),
        ("abc", 3, 3, ""),
        ("abc", 1, 9, None),
        ("abc", -1, 2, None),
        ("abc", True, 2, None),
        ("abc", 2, 1, None),
        (None, 0, 0, None),
    ],
)
def test_only_what_stands_in_a_text_is_cut_from_it(text: object, start: object, end: object, found: str | None) -> None:
    assert cut(text, start, end) == found
