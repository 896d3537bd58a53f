"""Does a conversation become the right query (`query`), and does it find the right passages (`retrieval`)?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from bot.evaluate import insufficiency, metrics
from bot.evaluate.bench import Bench, Row, SetResult, SuiteResult
from bot.evaluate.compare import LAST_TURN, over_plain
from bot.evaluate.plain import plain_hybrid
from bot.evaluate.questions import Question, average, metric_names
from bot.evaluate.ranked import K, RankedQuestion, named, question_of, tags_of, texts_of
from bot.evaluate.sets import Knowledge, QuestionSet, asked_of, notes_of, question_sets, titles_of
from bot.rows import fields
from bot.rows.forms import access_of, history
from bot.system import System
from grounding.errors import InputError
from grounding.records import Access, Query, Turn


async def query(bench: Bench) -> SuiteResult:
    """ROUGE-1 F of the query against the human rewrite; and what it gains over the last turn as it was said."""
    sets: list[SetResult] = []
    for path in bench.files("query"):
        asked = tuple([await _overlap(bench.system, path, row) for row in bench.track(path.stem, bench.rows(path))])
        measured = metrics.defined(rouge_1_f=average(asked, "rouge_1_f"))
        gained = await asyncio.to_thread(over_plain, asked, LAST_TURN)
        sets.append(SetResult(path.stem, len(asked), measured, asked, gained))
    return SuiteResult("query", tuple(sets))


async def retrieval(bench: Bench) -> SuiteResult:
    """nDCG@10, MRR, recall@5 and recall@50 over each set of questions, and what they gain over the plain hybrid.

    Sets with a corpus are asked of a temporary knowledge base, others of the one that is there. Queries without relevant
    documents are left out of the means and counted as `without_relevant`; with `grades` they are asked nevertheless, for
    what the corrective step would have decided.
    """
    sets = [await _measured_set(bench, questions) for questions in question_sets(bench.data)]
    return SuiteResult("retrieval", tuple(sets))


async def _measured_set(bench: Bench, questions: QuestionSet) -> SetResult:
    rows = bench.rows(questions.path)
    asked = [row for row in rows if bench.grades or _relevant(questions.path, row)]
    async with asked_of(bench, questions) as system:
        texts = await texts_of(system, asked) if bench.details else {}
        held = Knowledge(system, await titles_of(system), texts)
        made = [
            await _question(held, questions.path, row, grades=bench.grades)
            for row in bench.track(questions.name, asked)
        ]
    judged = [question for question in made if question.metrics]
    return SetResult(
        questions.name,
        len(judged),
        _means(judged) | {"without_relevant": float(len(rows) - len(judged))} | insufficiency.measures(made),
        tuple(made),
        await asyncio.to_thread(over_plain, judged),
        notes_of(questions, made, len(held.titles)),
    )


async def _question(held: Knowledge, path: Path, row: Row, *, grades: bool) -> Question:
    system = held.system
    try:
        turns = (Turn("user", fields.text(row, "query")),) if "query" in row else history(row)
        access = await access_of(system, fields.optional_text(row, "as"), fields.optional_text(row, "product"))
        made = Query(turns[0].text) if "query" in row else await system.queries.build(turns, access)
        retrieval = await system.retriever.retrieve(made, access, K)
        once = insufficiency.Searched(system.retriever, made, access, K, retrieval)
        judged = await insufficiency.judged(system, made, access, once) if grades else None
        plain = await plain_hybrid(system, turns, access) if row.get("relevant") else None
        return question_of(RankedQuestion(row, turns, made, retrieval.passages, plain, judged), held.titles, held.texts)
    except InputError as error:
        raise named(str(path), row, error) from None


async def _overlap(system: System, path: Path, row: Row) -> Question:
    try:
        turns, rewrite = history(row), fields.text(row, "rewrite")
        made = await system.queries.build(turns, Access())
        tags = tags_of(row)
    except InputError as error:
        raise named(str(path), row, error) from None
    overlap, plain = (metrics.rouge_1(text, rewrite) for text in (made.text, turns[-1].text))
    return Question(
        str(row["id"]), turns, made, {"rouge_1_f": overlap}, {"rouge_1_f": plain}, tags, wanted=rewrite
    )  # fmt: skip


def _relevant(path: Path, row: Row) -> tuple[str, ...]:
    try:
        return fields.texts(row, "relevant")
    except InputError as error:
        raise named(str(path), row, error) from None


def _means(questions: Sequence[Question]) -> dict[str, float]:
    return metrics.defined(**{name: average(questions, name) for name in metric_names(questions)})
