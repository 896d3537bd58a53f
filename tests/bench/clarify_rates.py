"""How often a request that leaves open what it is about is answered by a question, and how often one that does not is.

usage: python -m tests.bench.clarify_rates DATA [--model FILE]

DATA holds retrieval/mtrag_un of MTRAG-UN, whose requests are labelled by people: answerable, partly, not, or underspecified. Half of
them, by the hash of their id, were looked at while the rules were written; the other half was kept aside.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

from bot.evaluate.rows import json_lines
from bot.settings.load import load_settings
from grounding.corrective.decide import decide
from grounding.embedded.grader import EmbeddedGrader
from grounding.embedded.vectors.embedder import MiniLM
from grounding.policy import Policy
from grounding.query.clarify import clarifying, competing
from grounding.records import Access, Action, Turn
from tools.fitting.library import library

FOUND = ("requests", "correct", "asked", "asked, not correct", "competing", "competing, correct")


async def results(data: Path, model: Path, folder: Path) -> AsyncIterator[tuple[str, str, list[bool]]]:
    """Each request: part ("looked at" or "kept aside"), label, and whether each of `FOUND` holds of it."""
    policy = Policy()
    embedder = MiniLM(model)
    kb, grader = await library(embedder, folder, data / "corpus.jsonl"), EmbeddedGrader(embedder)
    for row in json_lines(data / "queries.jsonl"):
        turns = [Turn(t["role"], t["text"]) for t in row["history"]]
        query = await kb.builder.build(turns, Access())
        passages = (await kb.retriever.retrieve(query, Access(), policy.retrieve_k)).passages[: policy.grade_k]
        grading = await grader.grade(query.text, passages)
        correct = decide(grading, policy).action is Action.CORRECT
        asked = clarifying(turns, query, passages, grading.grades) is not None
        rivals = competing(query, passages, grading.grades) is not None
        part = "kept aside" if int(hashlib.sha256(row["id"].encode()).hexdigest(), 16) % 2 else "looked at"
        yield part, row["answerability"][0], [True, correct, asked, asked and not correct, rivals, rivals and correct]
    kb.index.close()


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
        told = (f"{part:11} {label:15}", *(f"{name} {tally[name]}" for name in FOUND))
        sys.stdout.write("  ".join(told) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
