"""Error records of the check, false negatives and false positives, written as JSON lines, worst first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from grounding.errors import InputError
from rai.records import CONTACT_KINDS, Claim, EvidenceSpan, Source

_AROUND = 120


@dataclass(frozen=True, slots=True)
class ErrorEvidence:
    """A piece of a source with what stands around it."""

    source: str
    title: str
    start: int
    end: int
    text: str
    around: str


@dataclass(frozen=True, slots=True)
class Mistake:
    """A row judged wrong. `error`: missed or false_flag. `severity` in [0, 1].

    `claim`, `kind`, `status`, `why`: the claim that let it pass or that flagged it; of a missed value that no claim
    covers the status is "none". `was` and `now`: the change, for a mutation. `form`: how the answer was made.
    """

    error: str
    set: str
    id: str
    severity: float
    answer: str
    question: str | None
    claim: str
    kind: str
    status: str
    why: str
    evidence: tuple[ErrorEvidence, ...]
    was: str = ""
    now: str = ""
    form: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """An answer that was judged wrong: of which set, with its sources, and how it was made."""

    set: str
    id: str
    answer: str
    question: str | None
    sources: Sequence[Source]
    form: str = ""


def missed(case: Case, covering: Sequence[Claim] = (), *, was: str = "", now: str = "") -> Mistake:
    """A wrong answer that passed; `covering`: the claims that should have been unsupported, the most telling first."""
    claim = covering[0] if covering else None
    status = claim.status if claim else "none"
    sure = {"exact": 0.9, "normalised": 0.9, "rounded": 0.8, "derived": 0.8, "entailed": 0.7}.get(status, 0.5)
    severity = sure + (0.1 if claim and claim.kind in CONTACT_KINDS else 0.0)
    return replace(_mistake("missed", case, claim, round(severity, 2)), was=was, now=now)


def falsely_flagged(case: Case, claims: Iterable[Claim]) -> list[Mistake]:
    """Claims of a supported answer that were held back; one line without a claim where the score alone did it."""
    held: list[Claim | None] = [claim for claim in claims if claim.unsupported]
    return [_mistake("false_flag", case, claim, _loudness(claim)) for claim in held or [None]]


def _loudness(claim: Claim | None) -> float:
    if claim is None:
        return 0.5
    if claim.kind in CONTACT_KINDS:
        return 0.95
    return 0.6 if claim.kind == "statement" else 0.85


def write_mistakes(path: Path, mistakes: Iterable[Mistake]) -> int:
    """Writes them as JSON lines, worst first, and says how many. Raises InputError if the file cannot be written."""
    ranked = sorted(mistakes, key=lambda m: (-m.severity, m.set, m.id))
    try:
        with path.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(asdict(m), ensure_ascii=False) + "\n" for m in ranked)
    except OSError as error:
        raise InputError(
            f"--errors {path}: {(error.strerror or 'cannot be written').lower()}", code="no_file"
        ) from None
    return len(ranked)


def _mistake(error: str, case: Case, claim: Claim | None, severity: float) -> Mistake:
    evidence = tuple(_evidence(e, case.sources) for e in claim.evidence[:3]) if claim else ()
    text, kind, status, why = (claim.text, claim.kind, claim.status, claim.why) if claim else ("", "", "none", "")
    return Mistake(
        error,
        case.set,
        case.id,
        severity,
        case.answer,
        case.question,
        text,
        kind,
        status,
        why,
        evidence,
        form=case.form,
    )


def _evidence(span: EvidenceSpan, sources: Sequence[Source]) -> ErrorEvidence:
    source = next((s for s in sources if s.id == span.source), Source(span.source, ""))
    text = source.text if span.field == "text" else source.title
    around = text[max(0, span.start - _AROUND) : span.end + _AROUND]
    return ErrorEvidence(span.source, source.title, span.start, span.end, span.text, around)
