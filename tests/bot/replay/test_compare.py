"""Two bodies side by side."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from bot.replay.compare import answers, claims, compared
from tests.fakes.recorded_turn import MARKER, recorded_turn


def stages(then: dict[str, Any], now: dict[str, Any]) -> dict[str, list[tuple[str, str, str]]]:
    """By stage the rows that differ."""
    found = [*compared(then, now), answers(then, now, "")]
    return {s.name: [(r.what, r.then, r.now) for r in s.rows if r.differs] for s in found if s.differs}


def test_the_same_is_the_same_whatever_its_marker_is() -> None:
    now = deepcopy(recorded_turn())
    for part in now["prompt"]["parts"]:
        part["text"] = part["text"].replace(MARKER, "f" * 16)
    now["prompt"] |= {"marker": "f" * 16, "sha256": "other"}
    assert stages(recorded_turn(), now) == {}


def test_each_difference_stands_in_its_stage() -> None:
    now = deepcopy(recorded_turn())
    now["versions"]["kb"] = "kb-2"
    now["policy"]["correct_at"] = 0.9
    now["searched"] = "opening hours"
    now["reply"]["grades"][0]["score"] = 0.5
    now["reply"]["decision"] |= {"action": "ambiguous"}
    now["evidence"] = now["evidence"][:1]
    now["prompt"]["parts"][0]["text"] += "\nBe brief."
    now["reply"]["answer"] = "From 9."
    found = stages(recorded_turn(), now)
    assert found["versions"] == [("knowledge base", "kb-1-g2", "kb-2"), ("policy: correct_at", "0.8", "0.9")]
    assert found["query"] == [("searched for", "–", "opening hours")]
    assert [row[1:] for row in found["passages"]] == [
        ("rank 1 · 0.80 Good · evidence [1]", "rank 1 · 0.50 Good · evidence [1]"),
        ("rank 2 · 0.40 Good · evidence [2]", "rank 2 · 0.40 Good"),
    ]
    assert found["decision"][0][2].startswith("ambiguous by max")
    assert [row[0] for row in found["prompt"]] == ["system"]
    assert [row[0] for row in found["reply"]] == ["answer"]


def test_a_passage_of_one_side_alone_is_not_found_on_the_other() -> None:
    now = deepcopy(recorded_turn())
    now["passages"] = now["evidence"] = []
    rows = stages(recorded_turn(), now)["passages"]
    assert [row[2] for row in rows] == ["not found"] * 3


def test_texts_that_differ_show_their_lines() -> None:
    now = deepcopy(recorded_turn())
    now["reply"]["answer"] = "From 11 to 4 on Saturdays [1]."
    (row,) = (r for r in answers(recorded_turn(), now, "").rows if r.differs)
    assert row.lines == ("-From 10 to 4 on Saturdays [1].", "+From 11 to 4 on Saturdays [1].")
    assert row.as_json()["lines"] == list(row.lines)


def test_claims_are_the_same_where_place_and_kind_are() -> None:
    then = [{"kind": "time", "start": 5, "end": 12, "text": "10 to 4", "status": "exact", "rule": "verbatim"}]
    now = [{**then[0], "status": "absent", "rule": None}, {**then[0], "kind": "statement", "start": 0}]
    rows = claims(then, now, "").rows
    assert [(r.what, r.then, r.now) for r in rows] == [
        ("statement “10 to 4”", "not found", "exact (verbatim)"),
        ("time “10 to 4”", "exact (verbatim)", "absent"),
    ]


@pytest.mark.parametrize("body", [{}, {"reply": [], "query": 3, "prompt": "x", "passages": {}, "evidence": [1]}])
def test_a_body_of_another_shape_is_compared_as_far_as_it_goes(body: dict[str, Any]) -> None:
    assert "reply" in stages(recorded_turn(), body)
    assert stages(body, body) == {}
