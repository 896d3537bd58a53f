"""One question of a search: the documents that were found beside those that should have been."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bot.evaluate import metrics
from bot.evaluate.bench import Row
from bot.evaluate.insufficiency import JudgedQuestion, kind_of
from bot.evaluate.questions import SHOWN_HITS, SHOWN_TEXT, Hit, Question, Sought
from bot.rows import fields
from bot.system import System
from grounding.errors import InputError
from grounding.records import Passage, Query, Turn

K = 50


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """What was asked and found. `plain`: the documents of the baseline, best first; None without one."""

    row: Row
    turns: tuple[Turn, ...]
    query: Query
    passages: tuple[Passage, ...]
    plain: Sequence[str] | None
    judged: JudgedQuestion | None


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
        sought=tuple(_sought(doc, ranked, asked.plain or (), titles, texts) for doc in dict.fromkeys(relevant)),
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


def hits_of(
    passages: Sequence[Passage],
    relevant: Collection[str],
    grades: Mapping[str, float],
    cited: Collection[str] = (),
    shown: Collection[str] = (),
) -> tuple[Hit, ...]:
    """The best passage of each of the first documents. `grades` by chunk; documents that were `cited`, and `shown` in the prompt."""
    best: dict[str, Passage] = {}
    for passage in passages:
        best.setdefault(passage.doc_id, passage)
    return tuple(
        Hit(
            rank=rank, doc_id=p.doc_id, title=p.title, text=p.text[:SHOWN_TEXT], relevant=p.doc_id in relevant,
            score=p.score, bm25=p.bm25, semantic=p.semantic, grade=grades.get(p.chunk_id),
            cited=p.doc_id in cited, shown=p.doc_id in shown,
        )
        for rank, p in enumerate(list(best.values())[:SHOWN_HITS], start=1)
    )  # fmt: skip


def tags_of(row: Row) -> tuple[str, ...]:
    """The row's `tags` and `collection`: parts of the set that are measured apart. Raises InputError."""
    collection = fields.optional_text(row, "collection")
    return tuple(dict.fromkeys((*fields.texts(row, "tags"), *([collection] if collection else []))))


async def texts_of(system: System, rows: Sequence[Row]) -> dict[str, str]:
    """Beginnings of the documents that the rows hold relevant, for reading."""
    wanted = dict.fromkeys(doc for row in rows for doc in fields.texts(row, "relevant"))
    found = {doc: await system.library.document(doc) for doc in wanted}
    return {doc: document.text[:SHOWN_TEXT] for doc, document in found.items() if document is not None}


def rank_of(doc: str, ranked: Sequence[str]) -> int | None:
    """Rank of a document, from 1; None beyond the first `K`."""
    return ranked.index(doc) + 1 if doc in ranked[:K] else None


def documents(passages: Sequence[Passage]) -> list[str]:
    """Distinct ids of documents, in the order of their best passage."""
    return list(dict.fromkeys(passage.doc_id for passage in passages))


def named(where: str, row: Row, error: InputError) -> InputError:
    """The same error with the file and row it is about."""
    return InputError(f"{where}, row {row['id']}: {error}", code=error.code)


def _sought(
    doc: str, ranked: Sequence[str], plain: Sequence[str], titles: Mapping[str, str], texts: Mapping[str, str]
) -> Sought:
    return Sought(
        doc, titles.get(doc, ""), texts.get(doc, ""), rank_of(doc, ranked), rank_of(doc, plain), doc in titles
    )


def _grades(judged: JudgedQuestion | None) -> dict[str, float]:
    return {grade.chunk_id: grade.score for grade in judged.grading.grades} if judged else {}
