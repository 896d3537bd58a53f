"""The suite `retrieval`: nDCG@10, MRR, recall@5 and recall@50 of each set of questions, beside a plain hybrid search."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.evaluate import answerability
from bot.evaluate.bench import Bench
from bot.evaluate.compare import over_plain
from bot.evaluate.hits import SHOWN_TEXT, K, documents, hits_of, sought_of, titles_of
from bot.evaluate.questions import Question, average, metric_names
from bot.evaluate.results import SetResult, SuiteResult
from bot.evaluate.rows import Row, RowErrors, tags_of
from bot.evaluate.statistics import metrics
from bot.evaluate.suites.retrieval import corrective_step
from bot.evaluate.suites.retrieval.corrective_step import JudgedQuestion, kind_of
from bot.evaluate.suites.retrieval.hybrid_baseline import plain_hybrid
from bot.evaluate.suites.retrieval.question_sets import QuestionSet, asked_of, notes_of, question_sets
from bot.rows import fields
from bot.rows.forms import access_of, history
from bot.system import System
from grounding.records import Passage, Query, Turn


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """What was asked and found. `plain`: the documents of the baseline, best first; None without one."""

    row: Row
    turns: tuple[Turn, ...]
    query: Query
    passages: tuple[Passage, ...]
    plain: Sequence[str] | None
    judged: JudgedQuestion | None


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a set is asked of: the system, the title of every document, and beginnings of those to be read."""

    system: System
    titles: Mapping[str, str]
    texts: Mapping[str, str]


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
        _means(judged) | {"without_relevant": float(len(rows) - len(judged))} | answerability.measures(made),
        tuple(made),
        await asyncio.to_thread(over_plain, judged),
        notes_of(questions, made, len(held.titles)),
    )


async def _question(held: Knowledge, path: Path, row: Row, *, grades: bool) -> Question:
    system = held.system
    with RowErrors(path, row):
        turns = (Turn("user", fields.text(row, "query")),) if "query" in row else history(row)
        access = await access_of(system, fields.optional_text(row, "as"), fields.optional_text(row, "product"))
        made = Query(turns[0].text) if "query" in row else await system.queries.build(turns, access)
        retrieval = await system.retriever.retrieve(made, access, K)
        once = corrective_step.Searched(system.retriever, made, access, K, retrieval)
        judged = await corrective_step.judged(system, made, access, once) if grades else None
        plain = await plain_hybrid(system, turns, access) if row.get("relevant") else None
        asked = RankedQuestion(row, turns, made, retrieval.passages, plain, judged)
        return question_of(asked, held.titles, held.texts)


def _relevant(path: Path, row: Row) -> tuple[str, ...]:
    with RowErrors(path, row):
        return fields.texts(row, "relevant")


def _means(questions: Sequence[Question]) -> dict[str, float]:
    return metrics.defined(**{name: average(questions, name) for name in metric_names(questions)})


def question_of(asked: RankedQuestion, titles: Mapping[str, str], texts: Mapping[str, str]) -> Question:
    """The question with its figures. `titles` of all documents, `texts` of those to be read. Raises InputError."""
    row, relevant = asked.row, fields.texts(asked.row, "relevant")
    ranked = documents(asked.passages)
    kind, where = kind_of(row, relevant)
    return Question(
        id=str(row["id"]),
        turns=asked.turns,
        query=asked.query,
        metrics=figures(ranked, relevant) | _after_grading(asked, relevant),
        plain=figures(asked.plain, relevant) if asked.plain is not None else {},
        tags=tags_of(row),
        sought=sought_of(dict.fromkeys(relevant), ranked, titles, baseline=asked.plain or (), texts=texts),
        hits=hits_of(asked.passages, relevant, _grades(asked.judged)),
        kind=kind,
        where=where,
        action=asked.judged.decision.action.value if asked.judged else None,
        answered=asked.judged.answered if asked.judged else None,
        grade=asked.judged.grade if asked.judged else None,
    )


def figures(ranked: Sequence[str], relevant: Collection[str]) -> dict[str, float]:
    """nDCG@10, reciprocal rank, recall@5 and recall@50 of one ranking; empty where nothing is relevant."""
    wanted = set(relevant)
    return metrics.defined(
        ndcg_10=metrics.ndcg(ranked, wanted, 10),
        mrr=metrics.reciprocal_rank(ranked[:K], wanted),
        recall_5=metrics.recall_at(ranked, wanted, 5),
        recall_50=metrics.recall_at(ranked, wanted, K),
    )


def _after_grading(asked: RankedQuestion, relevant: Collection[str]) -> dict[str, float]:
    """Recall@5 of the graded passages in the order of their grades: what the step brings forward or pushes back."""
    if asked.judged is None:
        return {}
    grades = _grades(asked.judged)
    graded = sorted((p for p in asked.passages if p.chunk_id in grades), key=lambda p: -grades[p.chunk_id])
    return metrics.defined(recall_5_graded=metrics.recall_at(documents(graded), relevant, 5))


async def texts_of(system: System, rows: Sequence[Row]) -> dict[str, str]:
    """Beginnings of the documents that the rows hold relevant, for reading."""
    wanted = dict.fromkeys(doc for row in rows for doc in fields.texts(row, "relevant"))
    found = {doc: await system.library.document(doc) for doc in wanted}
    return {doc: document.text[:SHOWN_TEXT] for doc, document in found.items() if document is not None}


def _grades(judged: JudgedQuestion | None) -> dict[str, float]:
    return {grade.chunk_id: grade.score for grade in judged.grading.grades} if judged else {}
