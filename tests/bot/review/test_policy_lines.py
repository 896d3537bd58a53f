"""A stored policy, read again: what it says, and what it kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.review.policy_lines import in_order, policy_lines, stands, stored_policy
from grounding.policies.files import built_in

OLD = {"name": "attest", "correct_at": 0.8, "keep_at": 0.4}


@pytest.mark.parametrize("name", built_in())
def test_every_policy_of_the_product_is_read_back_as_it_was(name: str) -> None:
    policy = built_in()[name]
    stored = json.loads(json.dumps(policy.as_json()))
    assert stored_policy(stored) == policy
    assert dict(policy_lines(stored))["enough when"]


def test_fields_stand_in_the_order_of_the_record_and_none_is_lost() -> None:
    policy = built_in()["attest"].as_json()
    stored = {"gone": 1, **dict(sorted(policy.items()))}
    assert list(in_order(stored)) == [*policy, "gone"]


@pytest.mark.parametrize(
    ("grade", "data", "kept", "web", "expected"),
    [
        ({"id": "a", "score": 0.5}, built_in()["attest"].as_json(), {"a"}, False, "kept"),
        ({"id": "b", "score": 0.5}, built_in()["attest"].as_json(), {"a"}, False, "dropped"),
        ({"id": "w", "score": 0.5}, built_in()["attest"].as_json(), {"a"}, True, "kept"),
        ({"id": "w", "score": 0.3}, built_in()["attest"].as_json(), {"a"}, True, "dropped"),
        ({"id": "a", "score": 0.1, "label": "Good"}, built_in()["agentic-crag"].as_json(), None, False, "kept"),
        ({"id": "a", "score": 0.9, "label": "Poor"}, built_in()["agentic-crag"].as_json(), None, False, "dropped"),
        ({"id": "a", "score": 0.9, "binary": "no"}, built_in()["graph-crag"].as_json(), None, False, "dropped"),
        ({"id": "a", "score": 0.9}, OLD, None, False, "kept, at or above correct"),
        ({"id": "a", "score": 0.4}, OLD, None, False, "kept"),
        ({"id": "a", "score": 0.3}, OLD, None, False, "dropped"),
        ({"id": "a", "score": 0.3}, {}, None, False, ""),
    ],
)
def test_what_became_of_a_passage(
    grade: dict[str, Any], data: dict[str, Any], kept: set[str] | None, web: bool, expected: str
) -> None:
    assert stands(grade, data, kept, web=web) == expected
