"""One provenance report, shaped for reading: the verdict, what it rests on, the claims over the answer, and what a repair changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from bot.view.claim_map import TONES, ClaimMap, ShownSource, Tone, claim_map, tone
from bot.view.status_words import LAYERS, SIGNS, VERDICTS, said, verdict_line
from rai.records import Claim, Report, Source

_TOKEN = re.compile(r"\s+|\w+(?:[.,:@/-]\w+)*|[^\w\s]")
_TOO_MANY = 4000
"""Tokens beyond which the middle is shown as one change: comparing takes quadratic time at worst."""


@dataclass(frozen=True, slots=True)
class Change:
    """A stretch that stayed, was taken out, or was put in."""

    kind: Literal["same", "out", "in"]
    text: str


@dataclass(frozen=True, slots=True)
class ReportView:
    """The claim map with what stands above it. `counts` has a sign, words, a tone and a number for each status that occurs."""

    identifier: str
    question: str | None
    report: Report
    verdict: str
    line: str
    counts: tuple[tuple[str, str, Tone, int], ...]
    layers: tuple[tuple[str, str, str, float], ...]
    notes: tuple[str, ...]
    repaired: tuple[Change, ...]
    answer: ClaimMap


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
        answer=claim_map(answer, report.claims, shown, prefix),
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


def changes(before: str, after: str) -> list[Change]:
    """`same` and `out` joined are `before`, `same` and `in` joined are `after`."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    begin = _common(old, new)
    end = _common(old[begin:][::-1], new[begin:][::-1])
    middle = (old[begin : len(old) - end], new[begin : len(new) - end])
    made = [Change("same", "".join(old[:begin])), *_between(*middle), Change("same", "".join(old[len(old) - end :]))]
    return [change for change in made if change.text]


def _common(a: list[str], b: list[str]) -> int:
    """How many tokens both begin with."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _between(old: list[str], new: list[str]) -> Iterator[Change]:
    if len(old) + len(new) > _TOO_MANY:
        yield from (Change("out", "".join(old)), Change("in", "".join(new)))
        return
    for name, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if name == "equal":
            yield Change("same", "".join(old[i:j]))
        else:
            yield from (Change("out", "".join(old[i:j])), Change("in", "".join(new[k:m])))
