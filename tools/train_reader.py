"""Teach the reader on questions of invented companies: low-rank changes to the upper layers of multilingual-e5-small.

usage: python -m tools.train_reader MODEL.onnx CACHE TARGET.npz [--epochs N] [--rank R] [--seed S] [--without AUTHORS] [--start READER.npz]

MODEL.onnx: the embedding model, beside which the reader lies that chooses what each question is held against: the lines that answer it, and the blocks
that score best without doing so. Needs PyTorch, which nothing else here does: `pip install torch`. On two cores a quarter of a minute for a company, then a quarter of an hour for each
epoch of 72. CACHE keeps the indexes and what was read of them. Of the authors that are left out is printed before the first epoch and after each how well they are read.

Each step takes half the questions of one company and the blocks of all of them: what answers one is wrong for the others. The loss is that of a choice among
the blocks (softmax), by the whole, piece by piece and by both together, as `grounding.embedded.reader` reads them; by both among the blocks of the question's evidence,
where what the words tell is known; and by both beside "nothing of this", which is right for a question that nothing answers.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from grounding.embedded.reader import PASSAGE, QUERY
from grounding.embedded.recipes.build_reader import (
    LAYERS,
    PARTS,
    STATES,
    WEIGHTS,
    is_read,
    pinned,
    reader_weights,
    tokenizer_of,
    weights_root,
)
from grounding.embedded.recipes.encoder_graph import HEADS, WIDTH
from tools.fit_quoting import Example
from tools.fitting.lessons import LESSONS, companies
from tools.fitting.reading import HeldAgainst, blocks_of, held_against, read_companies, steps, typed

FROZEN = 8
"""Lower layers that stay as they are: they read words, and what is read of a block by them is read once."""
PREFIX = 3
"""Pieces before those of the text, as in the reader."""
MAX_PIECES = 128
PEAK, DECAY, WARM, LAST = 7e-4, 0.01, 15, 0.05
"""The rate of learning at its highest, what weights lose, steps until the rate is reached, and the share of it that is left at the end."""
SHARP, SHARP_BOTH, SHARP_MIXED = 3.0, 2.5, 2.0
"""Sharpness of the choices, as logarithms of what nearness is multiplied by: of wholes or pieces alone, of each where both count together, and of each beside the words."""
NEAR = 0.45, 0.55
"""How near the nearest block of a question is as a whole and piece by piece, about: what "nothing of this" begins with."""
SHOWN = 8
"""Steps of which it is told how they went."""
FASTER = 30.0
"""How much faster the scalars are taught than the layers."""


class Changed(nn.Module):  # type: ignore[misc]
    """A multiplication with its low-rank change."""

    def __init__(self, weight: Tensor, bias: Tensor, rank: int) -> None:
        super().__init__()
        rows, columns = weight.shape
        self.weight, self.bias = weight, bias
        self.down = nn.Parameter(torch.randn(columns, rank) * columns**-0.5)
        self.up = nn.Parameter(torch.zeros(rank, rows))

    def forward(self, x: Tensor) -> Tensor:
        """(…, in) to (…, out)."""
        return functional.linear(x, self.weight, self.bias) + (x @ self.down) @ self.up


class Layer(nn.Module):  # type: ignore[misc]
    """One layer of the encoder, as `grounding.embedded.recipes.encoder_graph` has it."""

    def __init__(self, w: dict[str, Tensor], number: int, rank: int) -> None:
        super().__init__()
        name = f"encoder.layer.{number}"
        self.parts = nn.ModuleDict(
            {p: Changed(w[f"{name}.{path}.weight"], w[f"{name}.{path}.bias"], rank) for p, (path,) in PARTS.items()}
        )
        self.norms = [
            (w[f"{name}.{path}.LayerNorm.weight"], w[f"{name}.{path}.LayerNorm.bias"])
            for path in ("attention.output", "output")
        ]

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(texts, pieces, 384) to the same; `mask` (texts, 1, 1, pieces)."""
        n, t, _ = x.shape
        q, k, v = (
            self.parts[p](x).view(n, t, HEADS, WIDTH // HEADS).transpose(1, 2) for p in ("query", "key", "value")
        )
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self._norm(x + self.parts["mix"](mixed.transpose(1, 2).reshape(n, t, WIDTH)), 0)
        return self._norm(x + self.parts["outer"](functional.gelu(self.parts["inner"](x))), 1)

    def _norm(self, x: Tensor, which: int) -> Tensor:
        return functional.layer_norm(x, (WIDTH,), *self.norms[which], 1e-12)


class Lower:
    """The frozen layers: the states of a text behind them, read once."""

    def __init__(self, w: dict[str, Tensor], tokenizer: Any) -> None:
        self._w, self._tokenizer = w, tokenizer
        self._layers = [Layer(w, number, 0) for number in range(FROZEN)]
        self._held: dict[str, Tensor] = {}

    def ids(self, text: str) -> list[int]:
        """The numbers of a text's pieces."""
        return list(self._tokenizer.encode(text).ids)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def read(self, texts: Sequence[str]) -> list[Tensor]:
        """The states of each text, (pieces, 384) in half precision."""
        missing = sorted(
            ((self.ids(t), t) for t in dict.fromkeys(texts) if t not in self._held), key=lambda x: len(x[0])
        )
        for begin in range(0, len(missing), 64):
            group = missing[begin : begin + 64]
            ids, mask = _packed([torch.tensor(i) for i, _ in group])
            place = self._w["embeddings.position_embeddings.weight"][: ids.shape[1]]
            x = self._w["embeddings.word_embeddings.weight"][ids] + place
            x = x + self._w["embeddings.token_type_embeddings.weight"][0]
            norm = self._w["embeddings.LayerNorm.weight"], self._w["embeddings.LayerNorm.bias"]
            x = functional.layer_norm(x, (WIDTH,), *norm, 1e-12)
            for layer in self._layers:
                x = layer(x, mask[:, None, None, :])
            for row, (numbers, text) in enumerate(group):
                self._held[text] = x[row, : len(numbers)].half()
        return [self._held[t] for t in texts]


class Upper(nn.Module):  # type: ignore[misc]
    """The layers that are taught."""

    def __init__(self, w: dict[str, Tensor], rank: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(w, number, rank) for number in range(FROZEN, LAYERS))

    def forward(self, states: Sequence[Tensor], size: int = 48) -> list[tuple[Tensor, Tensor]]:
        """Of each text the vector and the states of its pieces, of length one; texts of like length are read together."""
        out: list[tuple[Tensor, Tensor]] = [(torch.empty(0), torch.empty(0))] * len(states)
        order = sorted(range(len(states)), key=lambda i: len(states[i]))
        for begin in range(0, len(order), size):
            group = order[begin : begin + size]
            x, mask = _packed([states[i].float() for i in group])
            pieces = x
            for number, layer in enumerate(self.layers, start=FROZEN + 1):
                x = layer(x, mask[:, None, None, :])
                pieces = x if number == STATES else pieces
            mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            whole, pieces = functional.normalize(mean, dim=1), functional.normalize(pieces, dim=2)
            for row, i in enumerate(group):
                out[i] = whole[row], pieces[row, PREFIX : len(states[i]) - 1]
        return out


def _packed(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Rows of different length in one tensor, and where they are."""
    packed = nn.utils.rnn.pad_sequence(list(rows), batch_first=True)
    mask = torch.arange(packed.shape[1])[None, :] < torch.tensor([len(r) for r in rows])[:, None]
    return packed, mask


def nearness(asked: Sequence[Any], found: Sequence[Any], weights: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """As wholes and piece by piece, (questions, blocks) each. `weights`: of the pieces of each question."""
    whole = torch.stack([q[0] for q in asked]) @ torch.stack([b[0] for b in found]).T
    blocks, mask = _packed([b[1] for b in found])
    rows = []
    for (_, pieces), weight in zip(asked, weights, strict=True):
        near = torch.einsum("qd,bmd->bqm", pieces, blocks) - 10.0 * ~mask[:, None, :]
        rows.append((near.max(2).values * weight).sum(1) / weight.sum().clamp(min=1e-6))
    return whole, torch.stack(rows)


class Choices(nn.Module):  # type: ignore[misc]
    """How sharp the choices are, what the words count beside nearness, and how likely it is that nothing answers."""

    def __init__(self) -> None:
        super().__init__()
        self.sharp = nn.Parameter(torch.tensor([SHARP, SHARP, SHARP_BOTH, SHARP_BOTH]))
        self.mixed = nn.Parameter(torch.tensor([0.0, SHARP_MIXED, SHARP_MIXED]))
        self.nothing = nn.Parameter(torch.tensor(sum(NEAR) * math.exp(SHARP_BOTH)))

    def forward(self, whole: Tensor, pieces: Tensor, held: HeldAgainst) -> tuple[Tensor, StepFigures]:
        """The loss, and how it is told."""
        a, b, c, d = self.sharp.exp()
        w, e, f = self.mixed.exp()
        right, own, words = (torch.from_numpy(array).float() for array in (held.right, held.own, held.words))
        both, answered = whole * c + pieces * d, right.bool().any(1)
        mixed = (words * w + whole * e + pieces * f).masked_fill(~own.bool(), -1e9)
        each, answers = (whole * a, pieces * b, both, mixed), right.bool()[answered]
        loss = sum(_choice(told[answered], answers) for told in each)
        beside = torch.cat([both, self.nothing.expand(len(both), 1)], 1)
        loss = loss + _choice(beside, torch.cat([right.bool(), ~answered[:, None]], 1))
        rows = torch.arange(len(answers))
        first = [float(answers[rows, told[answered].argmax(1)].float().mean()) for told in (both, mixed)]
        nearest = both.max(1).values
        apart = (nearest[answered][:, None] > nearest[~answered][None]).float().mean()
        return loss, StepFigures(float(loss.detach()), first[0], first[1], float(apart))


@dataclass(frozen=True, slots=True)
class StepFigures:
    """Of a step: the loss; of how many questions the first block by both answers, among those of the step, and with the words among those of the evidence; and how often a
    question that can be answered is nearer to its nearest block than one that cannot (not a number where there is none).
    """

    loss: float
    first: float
    mixed: float
    apart: float

    def __str__(self) -> str:
        return f"loss {self.loss:.2f}, first {self.first:.3f}, with words {self.mixed:.3f}, told from unanswered {self.apart:.3f}"


def mean_of(told: Sequence[StepFigures]) -> StepFigures:
    """Of several steps."""
    values = np.array([(t.loss, t.first, t.mixed, t.apart) for t in told])
    return StepFigures(*(float(v) for v in np.nanmean(values, axis=0)))


class Teacher:
    """The model that is taught, and one step of teaching. `start`: changes that it begins with."""

    def __init__(self, rank: int, seed: int, start: Path | None = None) -> None:
        torch.manual_seed(seed)
        self._rng = random.Random(seed)
        packed = pinned(weights_root() / WEIGHTS)
        kept = [i for i, piece in enumerate(packed.pieces) if is_read(piece)]
        w = {name: torch.from_numpy(array.copy()) for name, array in reader_weights(packed, kept).items()}
        tokenizer = tokenizer_of(packed, kept)
        tokenizer.enable_truncation(MAX_PIECES)
        self._lower, self.upper, self.choices = Lower(w, tokenizer), Upper(w, rank), Choices()
        if start is not None:
            self._begin_with(start)
        self._optimizer = torch.optim.AdamW(
            [
                {"params": self.upper.parameters(), "weight_decay": DECAY, "faster": 1.0},
                {"params": self.choices.parameters(), "weight_decay": 0.0, "faster": FASTER},
            ],
            lr=PEAK,
        )

    def step(self, examples: Sequence[Example], share: float, done: int) -> StepFigures:
        """Teach these examples of one company. `share` of all steps are `done`."""
        for group in self._optimizer.param_groups:
            group["lr"] = group["faster"] * PEAK * min(1.0, (done + 1) / WARM) * max(LAST, 1 - share)
        loss, told = self._read(examples, [typed(e.asked, self._rng) for e in examples], self._rng)
        self._optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.upper.parameters(), 1.0)
        self._optimizer.step()
        return told

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def tried(self, sets: Sequence[Sequence[Example]]) -> StepFigures:
        """How companies are read that are not taught, their questions as they stand."""
        groups = list(steps(sets, 1, random.Random(0)))
        return mean_of([self._read(g, [e.asked for e in g], random.Random(0))[1] for g in groups])

    def save(self, target: Path) -> None:
        """Write the changes, in half precision."""
        arrays = {
            name: parameter.detach().numpy().astype(np.float16)
            for name, changed in self._changed()
            for name, parameter in ((f"{name}.down", changed.down), (f"{name}.up", changed.up))
        }
        np.savez_compressed(target, allow_pickle=False, **arrays)

    def _begin_with(self, start: Path) -> None:
        with np.load(start) as arrays, torch.no_grad():
            for name, changed in self._changed():
                changed.down.copy_(torch.from_numpy(arrays[f"{name}.down"].astype(np.float32)))
                changed.up.copy_(torch.from_numpy(arrays[f"{name}.up"].astype(np.float32)))

    def _changed(self) -> Iterator[tuple[str, Changed]]:
        for number, layer in enumerate(self.upper.layers, start=FROZEN):
            for part, changed in layer.parts.items():
                yield f"{number}.{part}", changed

    def _read(
        self, examples: Sequence[Example], asked: Sequence[str], rng: random.Random
    ) -> tuple[Tensor, StepFigures]:
        used = blocks_of(examples, rng)
        questions, found = [QUERY + text for text in asked], [PASSAGE + b for b in used]
        held = Counter(piece for text in found for piece in set(self._lower.ids(text)[PREFIX:-1]))
        weights = [
            torch.tensor([math.log((len(found) + 1) / (held[p] + 1)) for p in self._lower.ids(text)[PREFIX:-1]])
            for text in questions
        ]
        read = [self.upper(self._lower.read(texts)) for texts in (questions, found)]
        whole, pieces = nearness(read[0], read[1], weights)
        loss, told = self.choices(whole, pieces, held_against(examples, used))
        return loss, told


def _choice(told: Tensor, right: Tensor) -> Tensor:
    """Minus the log of the chance of any right block, by softmax."""
    return -(torch.logsumexp(told.masked_fill(~right, -1e9), 1) - torch.logsumexp(told, 1)).mean()


def main() -> None:
    """Command line of this module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("cache", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without", nargs="*", default=[], help="letters of authors whose lessons are kept aside")
    parser.add_argument("--start", type=Path, help="changes to begin with: what was taught before")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)

    folders = companies()
    is_aside = [f.relative_to(LESSONS).parts[0] in options.without for f in folders]
    every = list(zip(read_companies(options.model, options.cache, folders), is_aside, strict=True))
    sets, aside = [found for found, out in every if not out], [found for found, out in every if out]
    teach(Teacher(options.rank, options.seed, options.start), sets, aside, options)


def teach(
    teacher: Teacher, sets: Sequence[Sequence[Example]], aside: Sequence[Sequence[Example]], options: argparse.Namespace
) -> None:
    """Teach for some epochs; the changes are written after each."""
    planned = list(steps(sets, options.epochs, random.Random(options.seed)))
    told, began, epoch = list[StepFigures](), time.monotonic(), len(planned) // options.epochs
    if aside:
        print(f"aside: {teacher.tried(aside)}", flush=True)
    for done, examples in enumerate(planned, start=1):
        told.append(teacher.step(examples, (done - 1) / len(planned), done - 1))
        if done % SHOWN == 0 or done == len(planned):
            print(f"{done} of {len(planned)}: {mean_of(told[-SHOWN:])}, {time.monotonic() - began:.0f} s", flush=True)
        if done % epoch == 0:
            teacher.save(options.target)
            if aside:
                print(f"aside: {teacher.tried(aside)}", flush=True)


if __name__ == "__main__":
    main()
