"""One provenance report, shaped for reading: the verdict, what it rests on, the panes, and what a repair changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.http.changes import Change, changes
from bot.http.panes import TONES, Panes, ShownSource, Tone, panes, tone
from bot.http.words import LAYERS, SIGNS, VERDICTS, said, verdict_line
from rai.records import Claim, Report, Source


@dataclass(frozen=True, slots=True)
class ReportView:
    """The panes with what stands above them. `counts` has a sign, words, a tone and a number for each status that occurs."""

    identifier: str
    question: str | None
    report: Report
    verdict: str
    line: str
    counts: tuple[tuple[str, str, Tone, int], ...]
    layers: tuple[tuple[str, str, str, float], ...]
    notes: tuple[str, ...]
    repaired: tuple[Change, ...]
    panes: Panes


def report_view(
    identifier: str,
    answer: str,
    report: Report,
    sources: Sequence[Source],
    *,
    question: str | None = None,
    prefix: str = "",
) -> ReportView:
    """The view of one check. The sources are numbered in the order given."""
    shown = [ShownSource(source, str(n), name=source.id) for n, source in enumerate(sources, 1)]
    return ReportView(
        identifier=identifier,
        question=question,
        report=report,
        verdict=VERDICTS[report.verdict],
        line=verdict_line(report),
        counts=_counts(report.claims),
        layers=tuple((LAYERS[x.name], x.verdict, VERDICTS[x.verdict], x.score) for x in report.layers),
        notes=report.notes,
        repaired=tuple(changes(answer, report.repaired)) if report.repaired is not None else (),
        panes=panes(answer, report.claims, shown, prefix),
    )


def _counts(claims: Iterable[Claim]) -> tuple[tuple[str, str, Tone, int], ...]:
    found = Counter((tone(claim), claim.status, claim.kind == "statement") for claim in claims)
    ordered = sorted(found.items(), key=lambda item: (item[0][2], TONES.index(item[0][0]), -item[1]))
    return tuple(
        (
            SIGNS[status],
            f"{'sentence' if count == 1 else 'sentences'} {said(status)}" if whole else said(status),
            mood,
            count,
        )
        for (mood, status, whole), count in ordered
    )
