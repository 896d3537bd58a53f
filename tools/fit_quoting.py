"""Fits the score by which it is chosen what is quoted, and tries it on companies that it was not fitted on.

usage: python -m tools.fit_quoting MODEL.onnx CACHE COMPANY…   (the reader lies beside MODEL.onnx)

Each COMPANY is a folder as `attest eval turns` takes it (`kb/`, `turns.jsonl` with the facts of a right answer), or one of `tools/reading_lessons`. Blocks of the
evidence that hold a fact of the part asked, in a document that holds the answer, or that are a quoted line, are right, all others wrong; each question is one choice among its blocks. The sample's
golden questions of split "dev" are one more company. Reported: for each company the share of parts whose best block, and one of whose best
three, holds a fact, by coefficients fitted on the others; then the coefficients over all. CACHE keeps the indexes between runs.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bot.evaluate.rows import json_lines
from bot.settings.load import SAMPLE  # first of all: it tells onnxruntime to send nothing
from grounding.corrective.find import in_agreed_order
from grounding.embedded.composer import ExtractiveComposer
from grounding.embedded.grader import EmbeddedGrader
from grounding.embedded.reader import E5Reader
from grounding.embedded.vectors.embedder import MiniLM
from grounding.evidence.choose import choose as within
from grounding.policies.files import built_in
from grounding.quoting.features import NAMES, candidates
from grounding.quoting.question_parts import read
from grounding.records import Access, Passage, Query
from rai.model_files import READER, READER_TOKENIZER
from tools.fitting.choice import choice
from tools.fitting.lessons import ASKS, Ask, asks
from tools.fitting.library import Library, Row, golden_rows, library
from tools.fitting.logistic import Matrix, logistic

RIDGE = 0.05
EVERYTHING = 200
"""Passages among which a page is looked for that search lost: companies of lessons have fewer."""
WRONG = 3.0
"""Weight of all wrong blocks of a question beside that of all right ones."""


@dataclass(frozen=True, slots=True)
class Example:
    """The blocks of one part of a question: features (n, len(NAMES)) and whether each holds a fact (n,); the question and the blocks as they are read."""

    features: Matrix
    right: Matrix
    asked: str
    blocks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """What a company's questions are asked of."""

    kb: Library
    grader: EmbeddedGrader
    composer: ExtractiveComposer


@dataclass(frozen=True, slots=True)
class Models:
    """What embeds, and what reads the blocks; None: they are known by words alone."""

    embedder: MiniLM
    reader: E5Reader | None

    @property
    def composer(self) -> ExtractiveComposer:
        """What scores the blocks."""
        return ExtractiveComposer(self.reader)


def plain(text: str) -> str:
    """As facts are compared: white space single, dashes and apostrophes plain, lower case."""
    return re.sub(
        r"\s+", " ", text.replace("–", "-").replace("’", "'").replace("\u00a0", " ").replace("**", "")
    ).lower()


async def examples(asking: Asking, row: Row, access: Access) -> list[Example]:
    """One for each part of the row's question that the evidence can answer."""
    query = await asking.kb.query(row, access)
    evidence = await _evidence(asking, query, access)
    reading, found = read(query.text, row["history"][-1]["text"]), candidates(evidence)
    out = []
    rows, _ = await asking.composer.features(reading, found, evidence)
    for told, held in zip(rows, _facts(row, len(reading.parts)), strict=True):
        features = np.array(told)
        allowed = [not row["doc"] or evidence[c.passage].doc_id in row["doc"] for c in found]
        says = [any(f in plain(c.block.text) for f in held) for c in found]
        right = np.array([a and s for a, s in zip(allowed, says, strict=True)], float)
        if right.any():
            out.append(Example(features, right, reading.text, tuple(c.embedded_as for c in found)))
    return out


async def taught(asking: Asking, ask: Ask) -> Example | None:
    """The question of a lesson over its evidence, to which the page that answers is added where search lost it. No block is right of a question that nothing answers;
    None where a line answers and is no block.
    """
    row: Row = {"history": [{"role": "user", "text": ask.question}]}
    query = await asking.kb.query(row, Access())
    evidence = await _evidence(asking, query, Access())
    if not any(ask.answered_by(evidence[c.passage].doc_id, c.block.text) for c in candidates(evidence)):
        held = {p.chunk_id for p in evidence}
        found = (await asking.kb.retriever.retrieve(query, Access(), EVERYTHING)).passages
        evidence += [p for p in found if p.chunk_id not in held and ask.page and p.doc_id.endswith(ask.page)]
    blocks = candidates(evidence)
    right = np.array([ask.answered_by(evidence[c.passage].doc_id, c.block.text) for c in blocks], float)
    if not blocks or (ask.page and not right.any()):
        return None
    reading = read(query.text, ask.question)
    parts, _ = await asking.composer.features(reading, blocks, evidence)
    return Example(np.array(parts).max(axis=0), right, reading.text, tuple(c.embedded_as for c in blocks))


async def _evidence(asking: Asking, query: Query, access: Access) -> list[Passage]:
    """What a turn would give to whoever drafts."""
    found = await asking.kb.found(query, access)
    score = {g.chunk_id: g.score for g in (await asking.grader.grade(query.text, found)).grades}
    ordered = in_agreed_order(found, score)
    return [e.passage for e in within(ordered, score, built_in()["attest"])]


def _facts(row: Row, parts: int) -> list[list[str]]:
    """For each part the spellings of its facts; of the whole where the row divides the question otherwise."""
    each = [[plain(s) for fact in part["must"] for s in fact] for part in row["parts"]]
    return each if len(each) == parts else [[s for part in each for s in part]] * parts


def fitted(data: Sequence[Example]) -> Matrix:
    """Intercept and coefficients: the order by conditional logit, its scale by a logistic over the score alone, all blocks of a question being
    worth `WRONG` times those that are right.
    """
    w = choice([e.features for e in data], [e.right for e in data], RIDGE)
    told = np.concatenate([e.features @ w for e in data])
    y = np.concatenate([e.right for e in data])
    weight = np.concatenate(
        [np.where(e.right > 0, 1 / e.right.sum(), WRONG / max(1.0, (1 - e.right).sum())) for e in data]
    )
    mean, spread = told.mean(), told.std()
    at, scale = logistic(((told - mean) / spread)[:, None], y, weight * len(told) / len(data) / (1 + WRONG), ridge=1.0)
    return np.asarray(np.r_[at - scale / spread * mean, scale / spread * w])


def among_first(data: Sequence[Example], w: Matrix, k: int) -> float:
    """Share of the parts one of whose best `k` blocks holds a fact."""
    return float(np.mean([e.right[np.argsort(-(e.features @ w[1:]))[:k]].any() for e in data]))


async def company(models: Models, cache: Path, folder: Path) -> list[Example]:
    """Examples of the turns of a company that can be answered, asked by nobody in particular; of one of the lessons its questions."""
    if (folder / ASKS).is_file():
        return [e for e in await lessons(models, cache, folder) if e.right.any()]
    turns = [r for r in json_lines(folder / "turns.jsonl") if r["expect"] == "answered" and not r.get("as")]
    asked = [
        {**r, "doc": r.get("doc") or [], "history": [*r["history"], {"role": "user", "text": r["question"]}]}
        for r in turns
    ]
    return await _all(
        models,
        await library(models.embedder, cache / folder.name, folder / "kb", models.reader),
        [(r, Access()) for r in asked],
    )


async def lessons(models: Models, cache: Path, folder: Path) -> list[Example]:
    """Examples of a company of `tools/reading_lessons`, also of what nothing there answers."""
    kb = await library(models.embedder, cache / f"{folder.parent.name}-{folder.name}", folder / "kb", models.reader)
    asking = Asking(kb, EmbeddedGrader(models.embedder), models.composer)
    out = [await taught(asking, ask) for ask in asks(folder)]
    kb.index.close()
    return [example for example in out if example is not None]


async def golden(models: Models, cache: Path) -> list[Example]:
    """Examples of the sample's golden questions of split "dev"."""
    asked = [
        ({**r, "doc": r["expect"]["cite"], "parts": [{"must": [[m] for m in r["expect"]["must"]]}]}, access)
        for r, access in golden_rows()
        if r["split"] == "dev" and r["expect"]["must"]
    ]
    return await _all(models, await library(models.embedder, cache / "sample", SAMPLE / "kb", models.reader), asked)


async def _all(models: Models, kb: Library, asked: Sequence[tuple[Row, Access]]) -> list[Example]:
    asking = Asking(kb, EmbeddedGrader(models.embedder), models.composer)
    out = [e for row, access in asked for e in await examples(asking, row, access)]
    kb.index.close()
    return out


async def main(model: Path, cache: Path, folders: Sequence[Path]) -> None:
    """Print what companies not fitted on say, then the coefficients over all."""
    reader = E5Reader(model.with_name(READER), model.with_name(READER_TOKENIZER))
    models = Models(MiniLM(model), reader)
    sets = {"sample": await golden(models, cache)} | {f.name: await company(models, cache, f) for f in folders}
    for name, data in sets.items():
        w = fitted([e for other, more in sets.items() if other != name for e in more])
        print(
            f"{name}: n {len(data)}, first {among_first(data, w, 1):.2f}, first three {among_first(data, w, 3):.2f}, fitted on the others"
        )
    w = fitted([e for data in sets.values() for e in data])
    print(f"INTERCEPT = {w[0]:.2f}")
    for feature, value in zip(NAMES, w[1:], strict=True):
        print(f'    "{feature}": {value:.2f},')


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(p) for p in sys.argv[3:]]))
