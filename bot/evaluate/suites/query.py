"""The suite `query`: ROUGE-1 F of the query made of a conversation against the question as a person rewrote it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.evaluate.bench import Bench
from bot.evaluate.compare import LAST_TURN, over_plain
from bot.evaluate.questions import Question, average
from bot.evaluate.results import SetResult, SuiteResult
from bot.evaluate.rows import Row, RowErrors, tags_of
from bot.evaluate.statistics import metrics
from bot.rows import fields
from bot.rows.forms import history
from bot.system import System
from grounding.records import Access


async def query(bench: Bench) -> SuiteResult:
    """ROUGE-1 F of each file, mean over its conversations, and what it gains over the last turn as it was said. Raises InputError."""
    sets: list[SetResult] = []
    for path in bench.files("query"):
        asked = tuple([await _overlap(bench.system, path, row) for row in bench.track(path.stem, bench.rows(path))])
        measured = metrics.defined(rouge_1_f=average(asked, "rouge_1_f"))
        gained = await asyncio.to_thread(over_plain, asked, LAST_TURN)
        sets.append(SetResult(path.stem, len(asked), measured, asked, gained))
    return SuiteResult("query", tuple(sets))


async def _overlap(system: System, path: Path, row: Row) -> Question:
    with RowErrors(path, row):
        turns, rewrite = history(row), fields.text(row, "rewrite")
        made = await system.queries.build(turns, Access())
        tags = tags_of(row)
    overlap, plain = (metrics.rouge_1(text, rewrite) for text in (made.text, turns[-1].text))
    return Question(str(row["id"]), turns, made, {"rouge_1_f": overlap}, {"rouge_1_f": plain}, tags, wanted=rewrite)
