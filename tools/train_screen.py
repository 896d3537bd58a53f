"""Train the screen's classifier: low-rank changes to the embedding model's upper layers, and a linear head over them.

usage: python -m tools.train_screen DATA TARGET.npz [--epochs N] [--rank R] [--seed S]

Teaches from the lessons in tools/screen_lessons and from the part of the public sets under DATA that is not kept aside. Only the
difference to the embedding model is stored, some hundred KB; `grounding.embedded.build_model` adds it to the weights at set-up.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tools.screen_lessons import expand, rows
from tools.screen_lessons.encoder import Array, Encoder, Params, fresh, weights_folder
from tools.screen_lessons.expand import CLASSES, Lesson

PIECES = 64
BATCH = 64
KEEP = 0.9
PEAK = 1e-3
DECAY = 0.01


@dataclass(frozen=True, slots=True)
class Batch:
    """Arrays over `n` texts: `ids`, `mask` (n, t); `kinds` (n, classes): which a request may be; the rest (n)."""

    ids: NDArray[np.int32]
    mask: Array
    kinds: Array
    order: Array
    is_document: Array
    weight: Array


def loss_of(logits: Array, batch: Batch) -> tuple[float, Array]:
    """Minus the log of the chance of any class that a request may be, of a document's text of its being an order or not; its slope."""
    requests, order = logits[:, :-1], logits[:, -1]
    chances = np.exp(requests - requests.max(1, keepdims=True))
    chances /= chances.sum(1, keepdims=True)
    allowed = (chances * batch.kinds).sum(1, keepdims=True) + 1e-9
    yes = 1.0 / (1.0 + np.exp(-order))
    share = batch.weight / batch.weight.sum()
    slope = np.zeros_like(logits)
    slope[:, :-1] = (chances - chances * batch.kinds / allowed) * ((1 - batch.is_document) * share)[:, None]
    slope[:, -1] = (yes - batch.order) * batch.is_document * share
    truth = np.where(batch.order > 0, yes, 1 - yes)
    each = np.where(batch.is_document > 0, -np.log(truth + 1e-9), -np.log(allowed[:, 0]))
    return float((each * share).sum()), slope


def vary(text: str, rng: random.Random) -> str:
    """The text as another hand might have typed it."""
    roll = rng.random()
    if roll < 0.12:
        return text.lower().rstrip("?.!")
    if roll < 0.16:
        return (
            rng.choice(("Hi, ", "Hello. ", "Please. ", "Quick question: ", "ok so ", "Hey, ", "One more thing: "))
            + text
        )
    if roll < 0.19:
        return text + rng.choice(
            (" Thanks.", " Thank you!", " Please.", " I need this today.", " Be brief.", " Kind regards, Tom")
        )
    if roll < 0.22 and len(text) > 20:
        at = rng.randrange(1, len(text) - 2)
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text.replace("?", "").replace("'", "") if roll < 0.25 else text


def batches(lessons: Sequence[Lesson], tokenizer: Tokenizer, rng: random.Random) -> Iterator[Batch]:
    """One epoch: texts of like length together, in a random order of batches."""
    coded = [(tokenizer.encode(vary(x.text, rng)).ids[:PIECES], x) for x in lessons]
    coded.sort(key=lambda c: len(c[0]) + rng.random() * 4)
    groups = [coded[i : i + BATCH] for i in range(0, len(coded), BATCH)]
    rng.shuffle(groups)
    yield from map(pack, groups)


def pack(group: Sequence[tuple[list[int], Lesson]]) -> Batch:
    """The arrays of a batch."""
    longest = max(len(ids) for ids, _ in group)
    ids = np.zeros((len(group), longest), np.int32)
    mask = np.zeros((len(group), longest), np.float32)
    kinds = np.zeros((len(group), len(CLASSES)), np.float32)
    for i, (pieces, lesson) in enumerate(group):
        ids[i, : len(pieces)], mask[i, : len(pieces)] = pieces, 1.0
        kinds[i, [CLASSES.index(k) for k in lesson.kinds or CLASSES]] = 1.0
    lessons = [lesson for _, lesson in group]
    return Batch(
        ids,
        mask,
        kinds,
        order=np.array([x.order for x in lessons], np.float32),
        is_document=np.array([x.kinds is None for x in lessons], np.float32),
        weight=np.array([x.weight for x in lessons], np.float32),
    )


class Adam:
    """AdamW (Loshchilov & Hutter 2019) with a warm-up, a cosine down to zero, and slopes cut to length one."""

    def __init__(self, p: Params, steps: int) -> None:
        self._steps, self._done = steps, 0
        self._mean = {k: np.zeros_like(v) for k, v in p.items()}
        self._square = {k: np.zeros_like(v) for k, v in p.items()}

    def step(self, p: Params, slopes: Params) -> None:
        self._done += 1
        warm = max(1, self._steps // 20)
        rate = PEAK * min(1.0, self._done / warm) * 0.5 * (1 + np.cos(np.pi * min(1.0, self._done / self._steps)))
        length = float(np.sqrt(sum(float((s * s).sum()) for s in slopes.values())))
        for k, slope in slopes.items():
            s = slope * min(1.0, 1.0 / (length + 1e-9))
            self._mean[k] += 0.1 * (s - self._mean[k])
            self._square[k] += 0.001 * (s * s - self._square[k])
            mean, square = self._mean[k] / (1 - 0.9**self._done), self._square[k] / (1 - 0.999**self._done)
            p[k] -= (rate * (mean / (np.sqrt(square) + 1e-8) + DECAY * p[k])).astype(np.float32)


def train(lessons: Sequence[Lesson], *, epochs: int, rank: int, seed: int) -> Params:
    """The changes and the head, after `epochs` over the lessons."""
    encoder, p = Encoder(), fresh(rank, len(CLASSES) + 1, seed)
    tokenizer = Tokenizer.from_file(str(weights_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    steps = epochs * -(-len(lessons) // BATCH)
    adam, rng, chance = Adam(p, steps), random.Random(seed), np.random.default_rng(seed)
    done, began, recent = 0, time.monotonic(), 1.0
    for epoch in range(epochs):
        for batch in batches(lessons, tokenizer, rng):
            kept = (chance.random((len(batch.ids), 384)) < KEEP).astype(np.float32) / np.float32(KEEP)
            logits, held = encoder.forward(p, batch.ids, batch.mask, kept)
            loss, slope = loss_of(logits, batch)
            adam.step(p, encoder.backward(p, held, slope))
            done, recent = done + 1, 0.98 * recent + 0.02 * loss
            if done % 50 == 0:
                left = (time.monotonic() - began) / done * (steps - done)
                print(f"epoch {epoch + 1}, step {done} of {steps}, loss {recent:.4f}, {left:.0f} s left", flush=True)
    return p


def main() -> None:
    """Command line, see the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=1.0, help="of the lessons, for a quick try")
    a = parser.parse_args()
    rng = random.Random(a.seed)
    lessons = [*expand.requests(rng), *rows.teaching(a.data)]
    lessons += expand.joined(lessons, len(lessons) // 10, rng)
    lessons += [*expand.documents(rng), *rows.document_lessons(a.data)]
    rng.shuffle(lessons)
    lessons = lessons[: int(len(lessons) * a.share)]
    print(f"{len(lessons)} lessons, {sum(x.kinds is None for x in lessons)} of documents", flush=True)
    p = train(lessons, epochs=a.epochs, rank=a.rank, seed=a.seed)
    half: dict[str, Any] = {k: v if k.startswith("head") else v.astype(np.float16) for k, v in p.items()}
    np.savez_compressed(a.target, **half, classes=np.array([*CLASSES, "order"]))
    print(f"{a.target}: {a.target.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
