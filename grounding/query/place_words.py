"""Words that point at a place which was spoken of: "and what is it there?" behind a question about France asks about France."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from grounding.tables import yaml_table


@cache
def _forms() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Patterns of the words that point at a place, each with what stands before the place instead; empty where that stands there already."""
    table: Mapping[str, Mapping[str, str]] = yaml_table(__file__, "place_words.yaml")
    forms: list[tuple[re.Pattern[str], str]] = []
    for row in table.values():
        behind = rf"(?<!\w)(?P<lead>(?:{row['from']}) )(?:{row['words']})(?!\w)"
        forms += [(re.compile(behind, re.IGNORECASE), "")]
        forms += [(re.compile(rf"(?<!\w)(?P<lead>)(?:{row['words']})(?!\w)", re.IGNORECASE), f"{row['in']} ")]
        if "to" in row:
            forms += [(re.compile(rf"(?<!\w)(?P<lead>)(?:{row['to']})(?!\w)", re.IGNORECASE), f"{row['towards']} ")]
    return tuple(forms)


def in_the_place(text: str, place: str) -> str:
    """`text` with the name of `place` for the words that point at it, "there", "dort", "là-bas"; as it is where none does."""
    for form, before in _forms():
        text = form.sub(lambda m, before=before: f"{m['lead']}{before}{place}", text)  # type: ignore[misc]
    return text
