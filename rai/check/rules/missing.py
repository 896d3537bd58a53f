"""Values that no source holds, nobody said and nothing gives: absent, or why the check cannot tell."""

from __future__ import annotations

import re
from dataclasses import replace

from rai.check.answer import Answer
from rai.claims import weekdays
from rai.records import Claim
from rai.support import missing as former
from rai.support.setting import Finding

MOST_COUNTED = 12
"""The largest number in words that may count what the answer tells of."""
_OFTEN = re.compile(r"(?:once|twice|thrice|daily|weekly|monthly|yearly|annually|hourly|nightly)", re.IGNORECASE)


def missing(n: int, claim: Claim, answer: Answer) -> Finding:
    """The finding of a value that is left over."""
    if why := _untold(n, claim, answer):
        return Finding("unchecked", (), why, rule="how-many")
    value = answer.values[n]
    finding = former.missing(claim, value, answer.around[value], answer.setting)
    return finding if finding.rule else replace(finding, rule="no-source")


def _untold(n: int, claim: Claim, answer: Answer) -> str:
    """Why a small number in words, or how often something is, is not held against the answer: these say in a word what sources write out."""
    value = answer.values[n]
    if claim.kind == "number" and claim.text[:1].isalpha() and _small(value.value):
        return f"{claim.text} may count what the answer tells of."
    if claim.kind in ("quantity", "time") and not any(c.isdigit() for c in claim.text):
        return f"No source says {claim.text}; in words this may say in short what one writes out."
    if claim.kind == "date" and len(weekdays.days_of(value.value)) > 1:
        return f"Which days {claim.text} are, no source says in these words."
    if claim.kind in ("quantity", "date") and _OFTEN.fullmatch(claim.text):
        return f"How often {claim.text} is, no source says in these words."
    return ""


def _small(value: str) -> bool:
    return value.startswith("0.") or (value.isdigit() and int(value) <= MOST_COUNTED)
