"""The table of phenomena: every row and every near miss comes out as written, with its evidence and exact offsets."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from _pytest.mark import ParameterSet

from rai.check.match import check_claims
from rai.check.provenance import CheckPorts, check
from rai.records import Claim, EvidenceSpan
from tests.rai.phenomena.rows import HERE, SUPPORTED, Case, cases

CASES = cases()
GAPS = frozenset((HERE / "gaps.txt").read_text("utf-8").split())
"""Rows that rules alone do not tell: a value of another subject in wording that is not the source's. Listed, so that what mends one takes it off."""


def _case(case: Case) -> ParameterSet:
    marks = [pytest.mark.xfail(strict=True, reason="rules alone do not tell")] if case.name in GAPS else []
    return pytest.param(case, id=f"{case.file}:{case.name}", marks=marks)


def failure(case: Case) -> str | None:
    """What is wrong with the outcome of `case`, in a line, or None."""
    claims = check_claims(case.answer, case.sources, case.question, given=case.given, tags=case.tags)
    return _offsets(case, claims) or _outcome(case, claims) or _repair(case)


def _offsets(case: Case, claims: tuple[Claim, ...]) -> str | None:
    texts = {(s.id, field): getattr(s, field) for s in case.sources for field in ("text", "title")}
    for claim in claims:
        if case.answer[claim.start : claim.end] != claim.text or not claim.text:
            return f"offsets of the claim {claim.text!r} are wrong"
        for span in claim.evidence:
            place = texts.get((span.source, span.field))
            if place is None:
                if span.source not in ("given", "question"):
                    return f"evidence in {span.source!r}, which is no source"
            elif place[span.start : span.end] != span.text or not span.text:
                return f"offsets of the evidence {span.text!r} are wrong"
    return None


def _outcome(case: Case, claims: tuple[Claim, ...]) -> str | None:
    here = [c for c in claims if c.start < case.end and case.start < c.end]
    if "any" in case.expected:
        return None
    if "silent" in case.expected:
        held = [c for c in here if c.unsupported and (c.kind != "statement" or "statement" in case.kinds)]
        return f"held back: {_told(held)}" if held else None
    right_kind = [c for c in here if c.kind in case.kinds and case.entity in (None, c.entity)]
    if not right_kind:
        return f"no claim of kind {'/'.join(case.kinds)} {case.entity or ''}; there are: {_told(here)}"
    met = [c for c in right_kind if case.met_by(c)]
    if not met or (case.statuses & SUPPORTED and len(met) < len(right_kind)):
        return f"got {_told(right_kind)}"
    return _evidence(case, met)


def _evidence(case: Case, met: list[Claim]) -> str | None:
    spans = [span for claim in met for span in claim.evidence]
    loose = {"statement", "entity"} & set(case.kinds)
    for wanted in case.evidence:
        if not any(span.text == wanted or (loose and wanted in span.text) for span in spans):
            return f"evidence {wanted!r} is not among {[s.text for s in spans]}"
    if case.at is not None and not any(_within(case, case.at, s) for s in spans):
        return f"no evidence in {case.at!r} but in {[(s.source, s.start, s.text) for s in spans]}"
    if case.why is not None and not any(case.why in claim.why for claim in met):
        return f"{case.why!r} is not in the reason: {[c.why for c in met]}"
    return None


def _within(case: Case, snippet: str, span: EvidenceSpan) -> bool:
    text = next((getattr(s, span.field) for s in case.sources if s.id == span.source), "")
    at = text.find(snippet)
    return 0 <= at <= span.start and span.end <= at + len(snippet)


def _repair(case: Case) -> str | None:
    if case.repaired is None:
        return None
    report = asyncio.run(check(case.answer, case.sources, case.question, given=case.given, ports=CheckPorts()))
    wanted = case.repaired
    if isinstance(wanted, dict):
        text = report.repaired or ""
        missing = [w for w in wanted.get("has", []) if w not in text]
        kept = [w for w in wanted.get("lacks", []) if w in text]
        return f"repaired to {report.repaired!r}: lacks {missing}, keeps {kept}" if missing or kept else None
    allowed = wanted if isinstance(wanted, list) else [wanted]
    got = "none" if report.repaired is None else report.repaired
    return None if got in allowed else f"repaired to {got!r}"


def _told(claims: list[Claim]) -> str:
    return (
        "; ".join(f"{c.kind}{f' {c.entity}' if c.entity else ''} {c.text!r} {c.status} ({c.why[:110]})" for c in claims)
        or "none"
    )


@pytest.mark.parametrize("case", [_case(c) for c in CASES])
def test_comes_out_as_written(case: Case) -> None:
    """The claim named by the row has the kind, status and evidence it says; all offsets of the answer are exact."""
    wrong = failure(case)
    assert wrong is None, f"{case.answer!r} against {[s.text for s in case.sources]}: expected {case.expected}, {wrong}"


@pytest.mark.row("4-24")
@pytest.mark.parametrize("kind", ["person", "organisation", "address", "product"])
def test_names_addresses_and_products_are_told_apart(kind: str) -> None:
    """Each kind has cases that are supported and cases that are not, and all come out so."""
    mine = [case for case in CASES if case.file == kind and case.name not in GAPS]
    assert {bool(case.statuses & SUPPORTED) for case in mine} == {True, False}
    assert [failure(case) for case in mine] == [None] * len(mine)


def test_rows_have_names_of_their_own() -> None:
    twice = [name for name, n in Counter(c.name for c in CASES).items() if n > 1]
    assert not twice


def test_every_near_miss_differs_from_its_row() -> None:
    """A near miss that gives the same texts, or expects the same, would test nothing."""
    rows = {c.name: c for c in CASES}
    same = [
        c.name
        for c in CASES
        if c.name.endswith("~near")
        and ((row := rows[c.name.removesuffix("~near")]).expected, row.repaired) == (c.expected, c.repaired)
        and (row.answer, row.sources, row.start) == (c.answer, c.sources, c.start)
    ]
    assert not same


def test_every_gap_is_a_row() -> None:
    assert {case.name for case in CASES} >= GAPS
