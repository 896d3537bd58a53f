"""Train the screen's classifier: low-rank changes to the embedding model's upper layers, and a linear head over them.

usage: python -m tools.train_screen DATA TARGET.npz [--epochs N] [--rank R] [--seed S] [--begin FILE.npz] [--words] [--without AUTHORS]

Teaches twice: first from the grammars in tools/screen_lessons and from the part of the public sets under DATA that is not kept aside, then from
the rows written by hand, with a part of the first lessons among them so that they are not forgotten. Of an attack of several sentences
the one that looks worst is taught, chosen anew before each epoch. Only the difference to the embedding model is stored, some hundred KB;
`grounding.embedded.recipes.build_model` adds it to the weights at set-up.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rai.embedded.words import Table
from tools.screen_lessons import by_hand, expand, rows, words
from tools.screen_lessons.encoder import Array, Encoder, Params, fresh, weights_folder
from tools.screen_lessons.expand import CLASSES, Lesson

WORDS = "words.npz"
"""The file of the weights of words, beside the target."""
PIECES = 64
BATCH = 64
KEEP = 0.9
PEAK, HAND_PEAK = 1e-3, 7e-4
HAND_EPOCHS = 3
REPLAYED = 4000
"""How many of the first lessons are taught again in each epoch over the rows written by hand."""
FIRST_WORDS, ASKED_WEIGHT, READ_WEIGHT = 18000, 0.05, 0.25
"""How many of the first lessons teach the weights of words, and what a question and a sentence of a document weigh beside one written by hand."""
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

    def __init__(self, p: Params, steps: int, peak: float = PEAK) -> None:
        self._steps, self._done, self._peak = steps, 0, peak
        self._mean = {k: np.zeros_like(v) for k, v in p.items()}
        self._square = {k: np.zeros_like(v) for k, v in p.items()}

    def step(self, p: Params, slopes: Params) -> None:
        self._done += 1
        warm = max(1, self._steps // 20)
        rate = self._peak * min(1.0, self._done / warm) * 0.5 * (1 + np.cos(np.pi * min(1.0, self._done / self._steps)))
        length = float(np.sqrt(sum(float((s * s).sum()) for s in slopes.values())))
        for k, slope in slopes.items():
            s = slope * min(1.0, 1.0 / (length + 1e-9))
            self._mean[k] += 0.1 * (s - self._mean[k])
            self._square[k] += 0.001 * (s * s - self._square[k])
            mean, square = self._mean[k] / (1 - 0.9**self._done), self._square[k] / (1 - 0.999**self._done)
            p[k] -= (rate * (mean / (np.sqrt(square) + 1e-8) + DECAY * p[k])).astype(np.float32)


class Teacher:
    """What teaches the parameters `p`: the encoder, its tokenizer, and chance, all from one seed."""

    def __init__(self, p: Params, seed: int) -> None:
        self.p = p
        self.rng = random.Random(seed)
        self._encoder, self._chance = Encoder(), np.random.default_rng(seed)
        self._tokenizer = Tokenizer.from_file(str(weights_folder() / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def teach(self, chosen: Callable[[], Sequence[Lesson]], *, epochs: int, peak: float) -> None:
        """Teaches what `chosen` gives before each epoch; it must be as many lessons each time."""
        adam, done, began, recent = None, 0, time.monotonic(), 1.0
        for epoch in range(epochs):
            lessons = chosen()
            steps = epochs * -(-len(lessons) // BATCH)
            adam = adam or Adam(self.p, steps, peak)
            for batch in batches(lessons, self._tokenizer, self.rng):
                kept = (self._chance.random((len(batch.ids), 384)) < KEEP).astype(np.float32) / np.float32(KEEP)
                logits, held = self._encoder.forward(self.p, batch.ids, batch.mask, kept)
                loss, slope = loss_of(logits, batch)
                adam.step(self.p, self._encoder.backward(self.p, held, slope))
                done, recent = done + 1, 0.98 * recent + 0.02 * loss
                if done % 50 == 0:
                    left = (time.monotonic() - began) / done * (steps - done)
                    print(
                        f"epoch {epoch + 1}, step {done} of {steps}, loss {recent:.4f}, {left:.0f} s left", flush=True
                    )

    def worst(self, mixed: Sequence[by_hand.Mixed]) -> list[Lesson]:
        """Of each attack of several sentences the one that looks least honest."""
        found = []
        for text in mixed:
            group = [(self._tokenizer.encode(s).ids[:PIECES], Lesson(s, text.kinds)) for s in text.sentences]
            batch = pack(group)
            logits, _ = self._encoder.forward(self.p, batch.ids, batch.mask)
            honest = logits[:, 0] - np.log(np.exp(logits[:, 1:-1]).sum(1))
            found.append(Lesson(text.sentences[int(honest.argmin())], text.kinds, weight=2.0))
        return found


def first_lessons(data: Path, rng: random.Random) -> list[Lesson]:
    """The lessons of the grammars and of the public sets."""
    lessons = [*expand.requests(rng), *rows.teaching(data)]
    lessons += expand.joined(lessons, len(lessons) // 10, rng)
    lessons += [*expand.documents(rng), *rows.document_lessons(data)]
    rng.shuffle(lessons)
    return lessons


def words_of(
    hand: Sequence[Lesson], first: Sequence[Lesson], honest: Sequence[Lesson], rng: random.Random
) -> dict[str, Any]:
    """The weights of words for questions and for sentences of documents.

    First lessons are among those written by hand and weigh less; orders made by a grammar are not, they share too many words.
    """
    arrays: dict[str, Any] = {}
    tables: tuple[Table, ...] = ("request", "order")
    for table in tables:
        of_documents = table == "order"
        ours = [x for x in hand if (x.kinds is None) == of_documents and (of_documents or x.weight >= 1)]
        pool = [x for x in first if (x.kinds is None) == of_documents and not x.order]
        pool += honest if of_documents else []
        others = rng.sample(pool, min(FIRST_WORDS, len(pool)))
        lessons = [*ours, *others]
        wanted = [x.order if of_documents else x.kinds != ("honest",) for x in lessons]
        weights = [1.0] * len(ours) + [READ_WEIGHT if of_documents else ASKED_WEIGHT] * len(others)
        arrays |= {f"{table}.{name}": value for name, value in words.taught(table, lessons, wanted, weights).items()}
    return arrays


def stored(p: Params) -> dict[str, Any]:
    """The arrays as they are written: changes in half precision, the head in single."""
    return {k: v if k.startswith("head") else v.astype(np.float16) for k, v in p.items()}


def changes_of(a: argparse.Namespace, first: Sequence[Lesson], authors: Sequence[str]) -> Params:
    """The low-rank changes and the head, taught by the first lessons, unless `a.begin` has what those made, and then by hand."""
    if a.begin:
        with np.load(a.begin) as held:
            p = {k: np.asarray(held[k], np.float32) for k in held.files if "." in k}
    else:
        p = fresh(a.rank, len(CLASSES) + 1, a.seed)
        Teacher(p, a.seed).teach(lambda: first, epochs=a.epochs, peak=PEAK)
        p = {k: np.asarray(v, np.float32) for k, v in stored(p).items()}
    teacher = Teacher(p, a.seed)
    hand, mixed = by_hand.lessons(authors), by_hand.mixed(authors)

    def chosen() -> list[Lesson]:
        again = teacher.rng.sample(first, min(REPLAYED, len(first)))
        return [*hand, *teacher.worst(mixed), *again]

    teacher.teach(chosen, epochs=HAND_EPOCHS, peak=HAND_PEAK)
    return teacher.p


def main() -> None:
    """Command line, see the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=1.0, help="of the lessons, for a quick try")
    parser.add_argument("--begin", type=Path, help="what the first lessons made, instead of teaching them again")
    parser.add_argument("--words", action="store_true", help="teach the weights of words alone, in a minute")
    parser.add_argument("--without", default="", help="authors whose rows are kept aside, such as `ab`")
    a = parser.parse_args()
    authors = [author for author in by_hand.AUTHORS if author not in a.without]
    first = first_lessons(a.data, random.Random(a.seed))
    first = first[: int(len(first) * a.share)]
    hand = by_hand.lessons(authors)
    for name, lessons in (("first", first), ("by hand", hand)):
        print(f"{len(lessons)} lessons {name}, {sum(x.kinds is None for x in lessons)} of documents", flush=True)
    beside = a.target.with_name(WORDS)
    if not a.words:
        np.savez_compressed(a.target, **stored(changes_of(a, first, authors)), classes=np.array([*CLASSES, "order"]))
    honest = list(rows.honest_sentences(a.data))
    np.savez_compressed(beside, **words_of(hand, first, honest, random.Random(a.seed)))
    for path in (beside,) if a.words else (a.target, beside):
        print(f"{path}: {path.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
