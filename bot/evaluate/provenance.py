"""Does the check find what is unsupported, and leave alone what is supported?"""

from __future__ import annotations

from pathlib import Path

from bot.commands import fields
from bot.commands.forms import check_request
from bot.evaluate import metrics
from bot.evaluate.bench import Bench, Row, SetResult, SuiteResult, label
from grounding.errors import InputError

_Judged = tuple[bool, bool, float, tuple[str, ...]]
"""Whether the row is unsupported, whether it was flagged, the score, and its tags."""


async def provenance(bench: Bench) -> SuiteResult:
    """AUROC of the score, recall and false flags of the verdict; per file, and per tag of it."""
    sets: list[SetResult] = []
    for path in bench.files("provenance"):
        judged = [await _judge(bench, path, row) for row in bench.track(path.stem, bench.rows(path))]
        sets.append(_measure(path.stem, judged))
        tags = sorted({tag for row in judged for tag in row[3]} - {path.stem})
        sets += [_measure(f"{path.stem}:{tag}", [row for row in judged if tag in row[3]]) for tag in tags]
    return SuiteResult("provenance", tuple(sets))


async def _judge(bench: Bench, path: Path, row: Row) -> _Judged:
    unsupported = label(path, row, ("supported", "unsupported")) == "unsupported"
    try:
        request, tags = check_request(row), fields.texts(row, "tags")
    except InputError as error:
        raise InputError(f"{path}, row {row['id']}: {error}", code=error.code) from None
    report = await bench.system.check(request)
    return unsupported, report.verdict == "unsupported", report.score, tags


def _measure(name: str, judged: list[_Judged]) -> SetResult:
    bad, good = [row for row in judged if row[0]], [row for row in judged if not row[0]]
    recall = metrics.share([flagged for _, flagged, *_ in bad])
    false_flags = metrics.share([flagged for _, flagged, *_ in good])
    measured = metrics.defined(
        auroc=metrics.auroc([row[2] for row in bad], [row[2] for row in good]),
        recall=recall,
        false_flags=false_flags,
        balanced_accuracy=metrics.balanced_accuracy(recall, false_flags),
    )
    return SetResult(name, len(judged), measured)
