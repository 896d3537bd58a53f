"""What each figure of a suite is called, what it means, and whether more of it is better: for the page, the terminal and documents.

They lie in `glossary.json`, a metric a row: `better` is "less" or "neither" where more is not better, `count` is true of what is no share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grounding.tables import table

_METRICS: Mapping[str, Mapping[str, Any]] = table(__file__)
NAMES: Mapping[str, str] = {metric: row["name"] for metric, row in _METRICS.items() if "name" in row}
MEANINGS: Mapping[str, str] = {metric: row["meaning"] for metric, row in _METRICS.items() if "meaning" in row}
LESS = frozenset(metric for metric, row in _METRICS.items() if row.get("better") == "less")
"""Figures of which less is better."""
NEITHER = frozenset(metric for metric, row in _METRICS.items() if row.get("better") == "neither")
"""Figures that say what was done, not how well."""
WHOLE = frozenset(metric for metric, row in _METRICS.items() if row.get("count"))
"""Figures that are counts, no shares."""
MAIN: Mapping[str, str] = {"retrieval": "ndcg_10", "query": "rouge_1_f", "golden": "right", "turns": "right"}
"""The figure that ranks questions from worst to best, by suite."""


def name_of(metric: str) -> str:
    """The figure's name for a person."""
    return NAMES.get(metric, metric.replace("_", " "))
