"""What a reader of blocks is taught in one step: questions of one company, the blocks that they are held against, and which of those answer.

The examples are those of `tools.fit_quoting`; nothing here needs PyTorch.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from grounding.embedded.reader import E5Reader
from grounding.embedded.vectors.embedder import MiniLM
from grounding.quoting.features import COEFFICIENTS, MEANING, NAMES, PIECES
from rai.model_files import READER, READER_TOKENIZER
from tools.fit_quoting import Example, Models, lessons
from tools.fitting.logistic import Matrix

QUESTIONS, NEAR_MISSES, BLOCKS, WRONG = 60, 4, 120, 30
"""Questions of a step; near misses of each that are taken along; blocks of a step, and how many of them at least answer none of its questions."""
ALL = np.array([COEFFICIENTS[n] for n in NAMES])
"""What tells how likely a block is."""
WORDS = np.array([0.0 if i in (MEANING, PIECES) else COEFFICIENTS[n] for i, n in enumerate(NAMES)])
"""The same by words alone."""


@dataclass(frozen=True, slots=True)
class HeldAgainst:
    """Of the questions of a step and its blocks, (questions, blocks) each: which answer, which are of the question's evidence, and what the words tell of those."""

    right: Matrix
    own: Matrix
    words: Matrix


def typed(text: str, rng: random.Random) -> str:
    """A question as another hand might have typed it."""
    roll = rng.random()
    if roll < 0.12:
        return text.lower().rstrip("?.!")
    if roll < 0.2 and len(text) > 14:
        at = rng.randrange(1, len(text) - 2)
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text


def blocks_of(examples: Sequence[Example], rng: random.Random) -> list[str]:
    """The blocks of a step: what answers one of its questions, and near misses."""
    scores = [e.features @ ALL for e in examples]
    right = dict.fromkeys(e.blocks[i] for e in examples for i in np.flatnonzero(e.right))
    near = dict.fromkeys(
        e.blocks[i] for e, told in zip(examples, scores, strict=True) for i in np.argsort(-told)[:NEAR_MISSES]
    )
    wrong = [block for block in near if block not in right]
    rng.shuffle(wrong)
    return [*right, *wrong[: max(WRONG, BLOCKS - len(right))]]


def held_against(examples: Sequence[Example], used: Sequence[str]) -> HeldAgainst:
    """The questions held against the blocks of their step."""
    place = {block: i for i, block in enumerate(used)}
    shape = len(examples), len(used)
    right, own, words = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for row, example in enumerate(examples):
        told = example.features @ WORDS
        for i, block in enumerate(example.blocks):
            if (column := place.get(block)) is not None:
                own[row, column], words[row, column] = 1.0, told[i]
                right[row, column] = max(right[row, column], example.right[i])
    return HeldAgainst(right, own, words)


def steps(sets: Sequence[Sequence[Example]], epochs: int, rng: random.Random) -> Iterator[list[Example]]:
    """The examples of each step: of each company all in each epoch, in a new order."""
    for _ in range(epochs):
        epoch = []
        for company in sets:
            mixed = rng.sample(list(company), len(company))
            count = math.ceil(len(mixed) / QUESTIONS)
            epoch += [mixed[i::count] for i in range(count)]
        rng.shuffle(epoch)
        yield from epoch


def read_companies(model: Path, cache: Path, folders: Sequence[Path]) -> Iterator[list[Example]]:
    """What each company asks, read by two processes at a time."""
    with ProcessPoolExecutor(2) as pool:
        for folder, found in zip(folders, pool.map(partial(read_company, model, cache), folders), strict=True):
            print(f"{folder.name}: {len(found)} questions", flush=True)
            yield found


def read_company(model: Path, cache: Path, folder: Path) -> list[Example]:
    """Examples of a company, kept in `cache` by what it says, by the models that read it and by the features that are told of it."""
    said = [p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()]
    read_by = " ".join((model.resolve().parent.name, *NAMES)).encode()
    key = hashlib.sha256(b"".join((read_by, *said))).hexdigest()[:16]
    kept = cache / f"{folder.parent.name}-{folder.name}-{key}.json"
    if not kept.is_file():
        reader = E5Reader(model.with_name(READER), model.with_name(READER_TOKENIZER))
        found = asyncio.run(lessons(Models(MiniLM(model), reader), cache, folder))
        rows = [(e.features.round(4).tolist(), e.right.tolist(), e.asked, e.blocks) for e in found]
        begun = kept.with_suffix(".begun")
        begun.write_text(json.dumps(rows), "utf-8")
        begun.replace(kept)  # a run that is killed leaves no half of it
    return [
        Example(np.array(x), np.array(y), asked, tuple(b)) for x, y, asked, b in json.loads(kept.read_text("utf-8"))
    ]
