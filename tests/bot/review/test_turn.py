"""The map of a turn: the right characters, or none."""

from __future__ import annotations

from typing import Any

import pytest

from bot.review.turn import claim_map, tidy, tone

SOURCE = {
    "n": 1,
    "chunk_id": "c",
    "title": "T",
    "text": "Costs €4.90 now",
    "origin": "kb",
    "score": 0.8,
    "locator": None,
}


def claim(kind: str, text: str, start: int, status: str, *spans: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": kind, "entity": None, "text": text, "start": start, "end": start + len(text), "value": None,
        "status": status, "evidence": list(spans), "why": "",
    }  # fmt: skip


def span(start: int, text: str, source: str = "c", field: str = "text") -> dict[str, Any]:
    return {"source": source, "field": field, "start": start, "end": start + len(text), "text": text}


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        ("money", "exact", "ok"),
        ("number", "derived", "ok"),
        ("statement", "entailed", "ok"),
        ("number", "conflict", "doubt"),
        ("entity", "unchecked", "doubt"),
        ("money", "conflict", "bad"),
        ("phone", "unchecked", "bad"),
        ("number", "absent", "bad"),
        ("statement", "contradicted", "bad"),
    ],
)
def test_the_tone_is_the_rule_of_delivery(kind: str, status: str, expected: str) -> None:
    assert tone({"kind": kind, "status": status}) == expected


def test_both_sides_are_marked_with_the_claims_key() -> None:
    view = claim_map("It is €4.90.", [claim("money", "€4.90", 6, "exact", span(6, "€4.90"))], [SOURCE], "a")
    assert [(p.text, p.keys) for p in view.pieces] == [("It is ", ()), ("€4.90", ("a0",)), (".", ())]
    assert [(p.text, p.keys) for p in view.passages[0].pieces] == [("Costs ", ()), ("€4.90", ("a0",)), (" now", ())]


@pytest.mark.parametrize(
    "wrong", [span(5, "€4.90"), span(6, "€4.90", source="d"), span(6, "€4.90", field="title"), span(90, "x")]
)
def test_a_span_that_does_not_hold_highlights_nothing(wrong: dict[str, Any]) -> None:
    view = claim_map("It is €4.90.", [claim("money", "€4.90", 6, "exact", wrong)], [SOURCE], "a")
    assert all(not p.keys for p in view.passages[0].pieces)


def test_a_reason_names_its_source_by_number() -> None:
    value = claim("money", "€4.90", 6, "exact") | {"why": "Stands in the same characters in 7f3ac2."}
    view = claim_map("It is €4.90.", [value], [SOURCE | {"chunk_id": "7f3ac2"}], "a")
    assert view.claims[0].why == "Stands in the same characters in [1]."


def test_a_value_sets_the_tone_over_the_sentence_around_it() -> None:
    claims = [claim("statement", "It is €4.90.", 0, "absent"), claim("money", "€4.90", 6, "exact")]
    view = claim_map("It is €4.90.", claims, [], "a")
    assert view.tone(("a0", "a1")) == "ok"
    assert view.tone(("a0",)) == "bad"
    assert view.value(("a0", "a1"))
    assert not view.value(("a0",))


def test_bodies_of_any_shape_become_lines() -> None:
    body: dict[str, Any] = {
        "a": {"b": {"c": 1}}, "d": [], "e": "x", "f": None, "g": {}, "h": True, "i": ["p", 2], "j": [{"k": 0.5}, {"k": "l"}],
    }  # fmt: skip
    assert tidy(body) == [
        ("a.b.c", "1"), ("d", "none"), ("e", "x"), ("f", "none"), ("g", "none"), ("h", "yes"), ("i", "p, 2"),
        ("j.1.k", "0.5"), ("j.2.k", "l"),
    ]  # fmt: skip
