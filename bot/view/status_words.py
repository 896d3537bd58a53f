"""The words in which a report is told to a person."""

from __future__ import annotations

from collections.abc import Mapping

from rai.records import Report, Status, Verdict

SIGNS: Mapping[Status, str] = {
    "exact": "✓",
    "normalised": "✓",
    "rounded": "≈",
    "derived": "=",
    "given": "✓",
    "entailed": "✓",
    "conflict": "⇄",
    "unchecked": "?",
    "wrong_role": "✗",
    "lookalike": "✗",
    "contradicted": "✗",
    "absent": "✗",
}
"""What stands beside a claim, so that its status is told without colour."""
WORDS: Mapping[Status, str] = {
    "exact": "The same characters stand in a source",
    "normalised": "The same value stands in a source, written another way",
    "rounded": "Rounded from the source's value",
    "derived": "Worked out from values of the sources",
    "given": "Said by the person or the context, not by a source",
    "entailed": "A source says it",
    "conflict": "The sources disagree",
    "unchecked": "Could not be decided",
    "wrong_role": "Stands in a source, but for something else",
    "lookalike": "Resembles an address of a source, but is another",
    "contradicted": "A source says otherwise",
    "absent": "No source holds it",
}
VERDICTS: Mapping[Verdict, str] = {
    "supported": "Supported",
    "unsupported": "Unsupported",
    "irrelevant": "Off the question",
    "unchecked": "Undecided",
}
LAYERS = {
    "values": "Values and contacts",
    "entities": "Names and codes",
    "statements": "Statements",
    "judge": "Judge (a model)",
    "relevance": "Relevance to the question",
}


def said(status: Status) -> str:
    """A status as it is written for a person."""
    return status.replace("_", " ")


def verdict_line(report: Report) -> str:
    """What the verdict means for this answer, in a sentence."""
    bad = sum(claim.unsupported for claim in report.claims)
    if report.verdict == "unsupported" and not bad:
        return "No single claim is wrong, but too little of the answer stands in the sources."
    if report.verdict == "unsupported":
        return "1 claim must not be sent as it stands." if bad == 1 else f"{bad} claims must not be sent as they stand."
    return {
        "supported": "What can be checked is traced to a source.",
        "irrelevant": "Its claims hold, but it does not answer what was asked.",
    }.get(report.verdict, "Nothing was found wrong, but not everything could be decided.")
