"""Layers of the check (values, entities, statements): which of them flags an answer, and their union."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rai.records import Claim, Report

LAYERS = ("values", "entities", "statements")


def layer_of(claim: Claim) -> str:
    """The layer that a claim belongs to."""
    return {"entity": "entities", "statement": "statements"}.get(claim.kind, "values")


def by_claims(claims: Sequence[Claim]) -> dict[str, bool]:
    """For each layer whether one of its claims is unsupported."""
    return {name: any(c.unsupported for c in claims if layer_of(c) == name) for name in LAYERS}


def flagged_by(report: Report) -> Mapping[str, bool]:
    """For each layer whether it flags the answer: as the report says, else by its claims; `union` is the verdict."""
    told: dict[str, bool] = {layer.name: layer.verdict == "unsupported" for layer in report.layers}
    return {**by_claims(report.claims), **told, "union": report.verdict == "unsupported"}
