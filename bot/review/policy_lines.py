"""The policy of a turn, as its entry stores it, for people: what it says in short, and every field."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bot.wording.reviewing.policies import SIDE_BY_SIDE
from grounding.policy import Policy

_TYPED = TypeAdapter(Policy)
_THRESHOLDS = {
    "correct_at": "correct at",
    "keep_at": "kept at",
    "relevance_at": "relevance at",
    "unsupported_at": "unsupported at",
}


def stored_policy(data: Mapping[str, Any]) -> Policy | None:
    """The policy as a record; None for an entry that is older than its rules, or that holds what is no longer allowed."""
    if "rule" not in data:
        return None
    try:
        return _TYPED.validate_python(dict(data))
    except ValidationError:
        return None


def policy_lines(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the policy says, as `attest policies` does, and its thresholds; of an old entry those alone."""
    policy = stored_policy(data)
    said = [(title, words(policy)) for title, words in SIDE_BY_SIDE.items()] if policy is not None else []
    return [*said, *_thresholds(data)]


def in_order(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields in the order of the record, for the ledger keeps them by name; those that it no longer has come last."""
    known = [f.name for f in fields(Policy) if f.name in data]
    return {name: data[name] for name in (*known, *(n for n in data if n not in known))}


def _thresholds(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    by_score = (
        data.get("rule", "max_score") == "max_score"
    )  # other rules count or average; the two mean nothing by themselves
    names = [name for name in _THRESHOLDS if name in data and (by_score or name not in ("correct_at", "keep_at"))]
    line = ", ".join(f"{_THRESHOLDS[name]} {data[name]}" for name in names)
    return [("thresholds", line)] if line else []


def stands(grade: Mapping[str, Any], data: Mapping[str, Any], kept: Collection[str] | None, *, web: bool) -> str:
    """What became of a graded passage: `kept` or `dropped`, "" where that cannot be told.

    `kept`: ids that the decision keeps, None of an entry that does not tell. Pages of the web are kept by their grade.
    """
    if kept is not None and not web:
        return "kept" if grade.get("id") in kept else "dropped"
    policy = stored_policy(data)
    if policy is not None:
        return "kept" if _value(grade, policy) >= policy.keep_at else "dropped"
    if "correct_at" not in data or "keep_at" not in data:
        return ""
    score = float(grade.get("score") or 0.0)
    return (
        "kept, at or above correct"
        if score >= data["correct_at"]
        else "kept"
        if score >= data["keep_at"]
        else "dropped"
    )


def _value(grade: Mapping[str, Any], policy: Policy) -> float:
    """As `grounding.corrective.decide.value_of`, of a grade as the ledger has it."""
    if policy.style == "label":
        return {str(label): number for label, number in policy.labels.items()}.get(str(grade.get("label")), 0.0)
    if policy.style == "binary":
        return float(grade.get("binary") == "yes")
    return float(grade.get("score") or 0.0)
