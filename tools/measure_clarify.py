"""How often a request that leaves open what it is about is answered by a question, and how often one that does not is.

    python tools/measure_clarify.py DATA [--model FILE]

DATA holds retrieval/mtrag_un of MTRAG-UN, whose requests are labelled by people: answerable, partly, not, or underspecified. Half of
them, by the hash of their id, were looked at while the rules were written; the other half was kept aside.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

from bot.settings.load import load_settings
from grounding.corrective.decide import decide
from grounding.embedded.embedder import MiniLM
from grounding.embedded.grader import EmbeddedGrader
from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.retriever import EmbeddedRetriever
from grounding.embedded.store_names import StoreNames
from grounding.embedded.summarizer import CentralitySummarizer
from grounding.embedded.vector_index import VectorIndex
from grounding.ingest.ingest import ingest
from grounding.policy import Policy
from grounding.query.clarify import clarifying, competing
from grounding.query.linking import QueryBuilder
from grounding.records import Access, Action, Turn

FOUND = ("requests", "correct", "asked", "asked, not correct", "competing", "competing, correct")


async def results(data: Path, model: Path, folder: Path) -> AsyncIterator[tuple[str, str, list[bool]]]:
    """Part, label and what stands in `FOUND`, of each request."""
    embedder, policy = MiniLM(model), Policy()
    index = EmbeddedIndex(folder, embedder)
    await ingest(index, [data / "corpus.jsonl"])
    linker = StoreNames(index.store, index.words)
    vectors = VectorIndex(index.store, embedder.fingerprint, embedder.width)
    retriever = EmbeddedRetriever(index.store, index.words, vectors, embedder, linker)
    builder, grader = QueryBuilder(CentralitySummarizer(embedder), linker), EmbeddedGrader(embedder)
    for line in (data / "queries.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        turns = [Turn(t["role"], t["text"]) for t in row["history"]]
        query = await builder.build(turns, Access())
        passages = (await retriever.retrieve(query, Access(), policy.retrieve_k)).passages[: policy.grade_k]
        grading = await grader.grade(query.text, passages)
        correct = decide(grading, policy).action is Action.CORRECT
        asked = clarifying(turns, query, passages, grading.grades) is not None
        rivals = competing(query, passages, grading.grades) is not None
        part = "kept aside" if int(hashlib.sha256(row["id"].encode()).hexdigest(), 16) % 2 else "looked at"
        yield part, row["answerability"][0], [True, correct, asked, asked and not correct, rivals, rivals and correct]
    index.close()


async def main() -> int:
    """Print a line for each part and label."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--model", type=Path, default=load_settings().files.model_path)
    given = parser.parse_args()
    counts: dict[tuple[str, str], Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        async for part, label, found in results(given.data / "retrieval" / "mtrag_un", given.model, Path(folder)):
            tally = counts.setdefault((part, label), Counter())
            tally.update(name for name, yes in zip(FOUND, found, strict=True) if yes)
    for (part, label), tally in sorted(counts.items()):
        print(f"{part:11} {label:15}", *(f"{name} {tally[name]}" for name in FOUND), sep="  ")
    return 0


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
