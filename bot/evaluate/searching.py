"""Does a conversation become the right query (`query`), and does it find the right passages (`retrieval`)?"""

from __future__ import annotations

from pathlib import Path

from bot.commands import fields
from bot.commands.forms import access_of, history
from bot.evaluate import metrics
from bot.evaluate.bench import Bench, Row, SetResult, SuiteResult
from bot.system import System
from grounding.errors import InputError

K = 50


async def query(bench: Bench) -> SuiteResult:
    """ROUGE-1 F of the query against the human rewrite."""
    sets: list[SetResult] = []
    for path in bench.files("query"):
        scores = [await _overlap(bench.system, path, row) for row in bench.track(path.stem, bench.rows(path))]
        sets.append(SetResult(path.stem, len(scores), metrics.defined(rouge_1_f=metrics.mean(scores))))
    return SuiteResult("query", tuple(sets))


async def retrieval(bench: Bench) -> SuiteResult:
    """nDCG@10, MRR, recall@5 and recall@50 over each NAME/{corpus,queries}.jsonl, in a temporary knowledge base.

    Queries without relevant documents are left out of the means and counted as `without_relevant`.
    """
    sets: list[SetResult] = []
    for folder in retrieval_folders(bench.data):
        rows = bench.rows(folder / "queries.jsonl")
        asked = [row for row in rows if _relevant(folder, row)]
        async with bench.fresh(folder / "corpus.jsonl") as system:
            ranked = [(await _ranked(system, folder, row), row) for row in bench.track(folder.name, asked)]
        sets.append(_measure(folder, ranked, len(rows) - len(asked)))
    return SuiteResult("retrieval", tuple(sets))


def retrieval_folders(data: Path) -> list[Path]:
    """Folders with both a corpus and queries."""
    found = sorted(path.parent for path in (data / "retrieval").glob("*/queries.jsonl"))
    for folder in found:
        if not (folder / "corpus.jsonl").is_file():
            raise InputError(f"{folder}: has queries.jsonl but no corpus.jsonl", code="no_file")
    return found


async def _overlap(system: System, path: Path, row: Row) -> float:
    try:
        turns, rewrite = history(row), fields.text(row, "rewrite")
    except InputError as error:
        raise InputError(f"{path}, row {row['id']}: {error}", code=error.code) from None
    return metrics.rouge_1((await system.summarizer.summarize(turns)).text, rewrite)


async def _ranked(system: System, folder: Path, row: Row) -> list[str]:
    """Distinct ids of the documents found, in the order of their best passage."""
    try:
        text = fields.text(row, "query") if "query" in row else (await system.summarizer.summarize(history(row))).text
        access = await access_of(system, fields.optional_text(row, "as"), fields.optional_text(row, "product"))
    except InputError as error:
        raise InputError(f"{folder / 'queries.jsonl'}, row {row['id']}: {error}", code=error.code) from None
    found = await system.retriever.retrieve(text, access, K)
    return list(dict.fromkeys(passage.doc_id for passage in found.passages))


def _relevant(folder: Path, row: Row) -> tuple[str, ...]:
    try:
        return fields.texts(row, "relevant")
    except InputError as error:
        raise InputError(f"{folder / 'queries.jsonl'}, row {row['id']}: {error}", code=error.code) from None


def _measure(folder: Path, ranked: list[tuple[list[str], Row]], left_out: int) -> SetResult:
    pairs = [(found, set(_relevant(folder, row))) for found, row in ranked]

    def average(values: list[float | None]) -> float | None:
        return metrics.mean([value for value in values if value is not None])

    measured = metrics.defined(
        ndcg_10=average([metrics.ndcg(found, relevant, 10) for found, relevant in pairs]),
        mrr=average([metrics.reciprocal_rank(found, relevant) for found, relevant in pairs]),
        recall_5=average([metrics.recall_at(found, relevant, 5) for found, relevant in pairs]),
        recall_50=average([metrics.recall_at(found, relevant, K) for found, relevant in pairs]),
        without_relevant=float(left_out),
    )
    return SetResult(folder.name, len(pairs), measured)
