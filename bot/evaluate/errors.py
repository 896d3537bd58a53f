"""What the check got wrong, as lines to learn from: the missed and the falsely flagged, worst first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from grounding.errors import InputError
from rai.records import CONTACT_KINDS, Claim, EvidenceSpan, Source

_AROUND = 120


@dataclass(frozen=True, slots=True)
class Evidence:
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
    evidence: tuple[Evidence, ...]
    was: str = ""
    now: str = ""
    form: str = ""


def missed(
    set_name: str,
    row_id: str,
    answer: str,
    question: str | None,
    sources: Sequence[Source],
    covering: Sequence[Claim],
    *,
    was: str = "",
    now: str = "",
    form: str = "",
) -> Mistake:
    """A wrong answer that passed; `covering`: the claims that should have been unsupported, the most telling first."""
    claim = covering[0] if covering else None
    kind, status = (claim.kind, claim.status) if claim else ("", "none")
    sure = {"exact": 0.9, "normalised": 0.9, "rounded": 0.8, "derived": 0.8, "entailed": 0.7}.get(status, 0.5)
    severity = sure + (0.1 if claim and claim.kind in CONTACT_KINDS else 0.0)
    return _mistake(
        "missed", set_name, row_id, round(severity, 2), answer, question, sources, claim, kind, status, was, now, form
    )


def false_flags(
    set_name: str,
    row_id: str,
    answer: str,
    question: str | None,
    sources: Sequence[Source],
    claims: Iterable[Claim],
    *,
    form: str = "",
) -> list[Mistake]:
    """Claims of a supported answer that were held back."""
    out = []
    for claim in claims:
        if claim.unsupported:
            severity = 0.95 if claim.kind in CONTACT_KINDS else 0.6 if claim.kind == "statement" else 0.85
            out.append(
                _mistake(
                    "false_flag",
                    set_name,
                    row_id,
                    severity,
                    answer,
                    question,
                    sources,
                    claim,
                    claim.kind,
                    claim.status,
                    "",
                    "",
                    form,
                )
            )
    return out


def write(path: Path, mistakes: Iterable[Mistake]) -> int:
    """Write them as JSON lines, worst first; how many. Raises InputError."""
    ranked = sorted(mistakes, key=lambda m: (-m.severity, m.set, m.id))
    try:
        with path.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(asdict(m), ensure_ascii=False) + "\n" for m in ranked)
    except OSError as error:
        raise InputError(
            f"--errors {path}: {(error.strerror or 'cannot be written').lower()}", code="no_file"
        ) from None
    return len(ranked)


def _mistake(
    error: str,
    set_name: str,
    row_id: str,
    severity: float,
    answer: str,
    question: str | None,
    sources: Sequence[Source],
    claim: Claim | None,
    kind: str,
    status: str,
    was: str,
    now: str,
    form: str,
) -> Mistake:
    evidence = tuple(_evidence(e, sources) for e in claim.evidence[:3]) if claim else ()
    text, why = (claim.text, claim.why) if claim else ("", "")
    return Mistake(
        error, set_name, row_id, severity, answer, question, text, kind, status, why, evidence, was, now, form
    )


def _evidence(span: EvidenceSpan, sources: Sequence[Source]) -> Evidence:
    source = next((s for s in sources if s.id == span.source), Source(span.source, ""))
    text = source.text if span.field == "text" else source.title
    around = text[max(0, span.start - _AROUND) : span.end + _AROUND]
    return Evidence(span.source, source.title, span.start, span.end, span.text, around)
