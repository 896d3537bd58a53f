"""The suite `provenance`: AUROC, recall and false positives of the check over answers labelled supported or unsupported, over changed answers, and over answers to another question."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from bot.evaluate.bench import Bench
from bot.evaluate.results import SetResult, SuiteResult
from bot.evaluate.rows import Row, RowErrors, kept_aside, label
from bot.evaluate.statistics import metrics
from bot.evaluate.suites.provenance.layers import flagged_by
from bot.evaluate.suites.provenance.mistakes import Case, Mistake, falsely_flagged, missed, write_mistakes
from bot.evaluate.suites.provenance.mutate.membership import ONES, TENS, numbers
from bot.evaluate.suites.provenance.mutate.surfaces import NUMBER
from bot.evaluate.suites.provenance.mutations import mutations
from bot.evaluate.suites.provenance.relevance import relevance
from bot.rows import fields
from bot.rows.forms import check_request
from bot.system import CheckRequest
from rai.records import Report

FEW_SUPPORTED = 0.1
"""Supported rows for each unsupported one below which a tag is taken to name a kind of edit, which supported rows lack."""

_SPOKEN = "|".join([*ONES[2:], *TENS])
_NUMBER = re.compile(rf"(?<![\w.]){NUMBER}(?!\w)|\b(?:{_SPOKEN})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _JudgedRow:
    id: str
    unsupported: bool
    tags: tuple[str, ...]
    request: CheckRequest
    report: Report

    @property
    def flagged(self) -> bool:
        return self.report.verdict == "unsupported"

    @property
    def document(self) -> str:
        return self.request.sources[0].text if self.request.sources else ""

    @property
    def kept_aside(self) -> bool:
        """True for a third of the documents, by CRC-32 of the first source: no mistake of theirs is written down."""
        return bool(self.document) and kept_aside(self.document)


async def provenance(bench: Bench) -> SuiteResult:
    """AUROC of the score, recall and false flags of the verdict; per file, per tag of it, per layer, and of mutations; and whether
    the answer to a question is told from the answer to another, where the folder has questions.

    Every set is given over all rows, and once more over a third of the documents that is kept aside from development.
    """
    sets: list[SetResult] = []
    mistakes: list[Mistake] = []
    for path in bench.files("provenance"):
        judged = [await _judge(bench, path, row) for row in bench.track(path.stem, bench.rows(path))]
        sets += _sets(path.stem, judged)
        mistakes += (mistake for row in judged if not row.kept_aside for mistake in _mistakes(path.stem, row))
    wanted = bench.mutations if bench.limit is None else min(bench.mutations, bench.limit)
    if wanted:
        made, wrong = await asyncio.to_thread(mutations, bench, wanted)
        sets += made
        mistakes += wrong
    sets += await relevance(bench)
    if bench.errors is not None:
        await asyncio.to_thread(write_mistakes, bench.errors, mistakes)
    return SuiteResult("provenance", tuple(sets))


async def _judge(bench: Bench, path: Path, row: Row) -> _JudgedRow:
    unsupported = label(path, row, ("supported", "unsupported")) == "unsupported"
    with RowErrors(path, row):
        request, tags = check_request(row), fields.texts(row, "tags")
    return _JudgedRow(str(row["id"]), unsupported, tags, request, await bench.system.check(request))


def _sets(stem: str, judged: list[_JudgedRow]) -> Iterator[SetResult]:
    yield from _parts(stem, judged)
    for tag in sorted({tag for row in judged for tag in row.tags} - {stem}):
        yield from _parts(f"{stem}:{tag}", _of_tag(tag, judged))
    yield from _layers(stem, judged)
    if numbered := _introduced_numbers(f"{stem}:introduced numbers", [row for row in judged if row.document]):
        yield numbered


def _of_tag(tag: str, judged: Sequence[_JudgedRow]) -> list[_JudgedRow]:
    """Rows of a tag; of a kind of edit, with the supported rows of the same documents instead of its own few."""
    mine = [row for row in judged if tag in row.tags]
    bad = [row for row in mine if row.unsupported]
    if len(mine) - len(bad) >= FEW_SUPPORTED * len(bad):
        return mine
    documents = {row.document for row in bad}
    return bad + [row for row in judged if not row.unsupported and row.document in documents]


def _parts(name: str, judged: list[_JudgedRow]) -> Iterator[SetResult]:
    yield _measure(name, judged)
    aside = [row for row in judged if row.kept_aside]
    if aside:
        yield _measure(f"{name}:kept_aside", aside)


def _measure(name: str, judged: list[_JudgedRow]) -> SetResult:
    bad, good = [row for row in judged if row.unsupported], [row for row in judged if not row.unsupported]
    measured = metrics.defined(
        auroc=metrics.auroc([row.report.score for row in bad], [row.report.score for row in good])
    ) | _detection([row.flagged for row in bad], [row.flagged for row in good])
    return SetResult(name, len(judged), measured)


def _detection(bad: Sequence[bool], good: Sequence[bool]) -> dict[str, float]:
    """Recall over the flags of unsupported rows, false flags over those of supported ones, and balanced accuracy."""
    recall, false_flags = metrics.share(bad), metrics.share(good)
    return metrics.defined(
        recall=recall, false_flags=false_flags, balanced_accuracy=metrics.balanced_accuracy(recall, false_flags)
    )


def _layers(stem: str, judged: Sequence[_JudgedRow]) -> Iterator[SetResult]:
    """Each layer alone and their union; nothing where no layer flagged anything."""
    flags: list[tuple[bool, Mapping[str, bool]]] = [(row.unsupported, flagged_by(row.report)) for row in judged]
    names = list(dict.fromkeys(name for _, told in flags for name in told))
    for name in names:
        bad, good = ([told.get(name, False) for is_bad, told in flags if is_bad is kind] for kind in (True, False))
        measured = _detection(bad, good)
        yield SetResult(f"{stem}:layer {name}", len(flags), measured)


def _introduced_numbers(name: str, rows: Sequence[_JudgedRow]) -> SetResult | None:
    """Numbers of unsupported answers that no supported answer to the same source has: what an edit brought in. None without any.

    n counts them; `flagged` is the share that an unsupported value covers; `elsewhere_n` and `elsewhere_flagged` are the
    same of those that the source holds in another place. Sources without a supported answer are left out.
    """
    known: dict[str, set[Decimal]] = {}
    for row in rows:
        if not row.unsupported:
            known.setdefault(row.document, set()).update(numbers(row.request.answer))
    found = [
        hit for row in rows if row.unsupported and row.document in known for hit in _hits(row, known[row.document])
    ]
    if not found:
        return None
    elsewhere = [flagged for flagged, held in found if held]
    measured = metrics.defined(
        flagged=metrics.share([flagged for flagged, _ in found]), elsewhere_flagged=metrics.share(elsewhere)
    )
    return SetResult(name, len(found), {**measured, "elsewhere_n": float(len(elsewhere))})


def _hits(row: _JudgedRow, known: set[Decimal]) -> Iterable[tuple[bool, bool]]:
    """Of each introduced number: whether it is flagged, and whether the source holds it."""
    for match in _NUMBER.finditer(row.request.answer):
        values = numbers(match.group())
        if values and not values & known:
            covered = [
                c
                for c in row.report.claims
                if c.kind != "statement" and c.start < match.end() and match.start() < c.end
            ]
            yield any(c.unsupported for c in covered), bool(values & numbers(row.document))


def _mistakes(stem: str, row: _JudgedRow) -> list[Mistake]:
    request = row.request
    case = Case(stem, row.id, request.answer, request.question, request.sources, ", ".join(row.tags))
    if row.unsupported and not row.flagged:
        return [missed(case)]
    return falsely_flagged(case, row.report.claims) if row.flagged and not row.unsupported else []
