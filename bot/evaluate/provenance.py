"""Does the check find what is unsupported, and leave alone what is supported?"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.evaluate import errors, metrics
from bot.evaluate.bench import Bench, Row, SetResult, SuiteResult, label
from bot.evaluate.errors import Case, Mistake
from bot.evaluate.introduced import CheckedAnswer, introduced
from bot.evaluate.layers import flagged_by
from bot.evaluate.mutations import mutations
from bot.evaluate.relevance import relevance
from bot.rows import fields
from bot.rows.forms import check_request
from bot.system import CheckRequest
from grounding.errors import InputError
from rai.records import Report

FEW_SUPPORTED = 0.1
"""Supported rows for each unsupported one below which a tag is taken to name a kind of edit, which supported rows lack."""


@dataclass(frozen=True, slots=True)
class _Judged:
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
        return bool(self.document) and zlib.crc32(self.document.encode()) % 3 == 0


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
        await asyncio.to_thread(errors.write, bench.errors, mistakes)
    return SuiteResult("provenance", tuple(sets))


async def _judge(bench: Bench, path: Path, row: Row) -> _Judged:
    unsupported = label(path, row, ("supported", "unsupported")) == "unsupported"
    try:
        request, tags = check_request(row), fields.texts(row, "tags")
    except InputError as error:
        raise InputError(f"{path}, row {row['id']}: {error}", code=error.code) from None
    return _Judged(str(row["id"]), unsupported, tags, request, await bench.system.check(request))


def _sets(stem: str, judged: list[_Judged]) -> Iterator[SetResult]:
    yield from _parts(stem, judged)
    for tag in sorted({tag for row in judged for tag in row.tags} - {stem}):
        yield from _parts(f"{stem}:{tag}", _of_tag(tag, judged))
    yield from _layers(stem, judged)
    numbers = introduced(
        f"{stem}:introduced numbers",
        [
            CheckedAnswer(row.request.answer, row.document, row.unsupported, row.report.claims)
            for row in judged
            if row.document
        ],
    )
    if numbers.n:
        yield numbers


def _of_tag(tag: str, judged: Sequence[_Judged]) -> list[_Judged]:
    """Rows of a tag; of a kind of edit, with the supported rows of the same documents instead of its own few."""
    mine = [row for row in judged if tag in row.tags]
    bad = [row for row in mine if row.unsupported]
    if len(mine) - len(bad) >= FEW_SUPPORTED * len(bad):
        return mine
    documents = {row.document for row in bad}
    return bad + [row for row in judged if not row.unsupported and row.document in documents]


def _parts(name: str, judged: list[_Judged]) -> Iterator[SetResult]:
    yield _measure(name, judged)
    aside = [row for row in judged if row.kept_aside]
    if aside:
        yield _measure(f"{name}:kept_aside", aside)


def _measure(name: str, judged: list[_Judged]) -> SetResult:
    bad, good = [row for row in judged if row.unsupported], [row for row in judged if not row.unsupported]
    recall = metrics.share([row.flagged for row in bad])
    false_flags = metrics.share([row.flagged for row in good])
    measured = metrics.defined(
        auroc=metrics.auroc([row.report.score for row in bad], [row.report.score for row in good]),
        recall=recall,
        false_flags=false_flags,
        balanced_accuracy=metrics.balanced_accuracy(recall, false_flags),
    )
    return SetResult(name, len(judged), measured)


def _layers(stem: str, judged: Sequence[_Judged]) -> Iterator[SetResult]:
    """Each layer alone and their union; nothing where no layer flagged anything."""
    flags: list[tuple[bool, Mapping[str, bool]]] = [(row.unsupported, flagged_by(row.report)) for row in judged]
    names = list(dict.fromkeys(name for _, told in flags for name in told))
    for name in names:
        recall = metrics.share([told.get(name, False) for bad, told in flags if bad])
        false_flags = metrics.share([told.get(name, False) for bad, told in flags if not bad])
        accuracy = metrics.balanced_accuracy(recall, false_flags)
        measured = metrics.defined(recall=recall, false_flags=false_flags, balanced_accuracy=accuracy)
        yield SetResult(f"{stem}:layer {name}", len(flags), measured)


def _mistakes(stem: str, row: _Judged) -> list[Mistake]:
    request = row.request
    case = Case(stem, row.id, request.answer, request.question, request.sources, ", ".join(row.tags))
    if row.unsupported and not row.flagged:
        return [errors.missed(case)]
    return errors.false_flags(case, row.report.claims) if row.flagged and not row.unsupported else []
