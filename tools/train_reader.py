"""Teach the reader on questions of invented companies: low-rank changes to the upper layers of multilingual-e5-small.

usage: python -m tools.train_reader MODEL.onnx CACHE TARGET.npz [--epochs N] [--rank R] [--seed S] [--without AUTHORS]

MODEL.onnx: the embedding model, beside which the reader lies that chooses what each question is held against: the lines that answer it, and the blocks
that score best without doing so. Needs PyTorch, which nothing else here does: `pip install torch`. Half an hour on two cores. CACHE keeps the indexes between runs.

Each step takes half the questions of one company and the blocks of all of them: what answers one is wrong for the others. The loss is that of a choice among
the blocks (softmax), by the whole, piece by piece and by both together, as `grounding.embedded.reader` reads them.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from grounding.embedded.composer import ExtractiveComposer
from grounding.embedded.embedder import MiniLM
from grounding.embedded.reader import PASSAGE, QUERY, E5Reader
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
from grounding.quoting.features import COEFFICIENTS, NAMES
from rai.model_files import READER, READER_TOKENIZER
from tools.fit_quoting import Example, Models, lessons
from tools.fitting.lessons import LESSONS, companies

FROZEN = 8
"""Lower layers that stay as they are: they read words, and what is read of a block by them is read once."""
PREFIX = 3
"""Pieces before those of the text, as in the reader."""
MAX_PIECES = 128
QUESTIONS, NEAR_MISSES, BLOCKS = 51, 4, 120
"""Questions of a step; near misses of each that are taken along; blocks of a step, of which at least thirty are near misses."""
PEAK, DECAY, WARM, LAST = 7e-4, 0.01, 15, 0.05
"""The rate of learning at its highest, what weights lose, steps until the rate is reached, and the share of it that is left at the end."""
SHARP, SHARP_BOTH = 3.0, 2.5
"""Sharpness of the choices, as logarithms of what nearness is multiplied by: of wholes or pieces alone, and of each where both count together."""


class Changed(nn.Module):  # type: ignore[misc]
    """A multiplication with its low-rank change."""

    def __init__(self, weight: Tensor, bias: Tensor, rank: int) -> None:
        super().__init__()
        rows, columns = weight.shape
        self.weight, self.bias = weight, bias
        self.down = nn.Parameter(torch.randn(columns, rank) * columns**-0.5) if rank else None
        self.up = nn.Parameter(torch.zeros(rank, rows)) if rank else None

    def forward(self, x: Tensor) -> Tensor:
        """(…, in) to (…, out)."""
        y = functional.linear(x, self.weight, self.bias)
        return y if self.down is None else y + (x @ self.down) @ self.up


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
    """The layers that are taught, and how sharp the choices are."""

    def __init__(self, w: dict[str, Tensor], rank: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(w, number, rank) for number in range(FROZEN, LAYERS))
        self.sharp = nn.Parameter(torch.tensor([SHARP, SHARP, SHARP_BOTH, SHARP_BOTH]))

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
    scores = [e.features @ np.array([COEFFICIENTS[n] for n in NAMES]) for e in examples]
    right = dict.fromkeys(e.blocks[i] for e in examples for i in np.flatnonzero(e.right))
    near = dict.fromkeys(
        e.blocks[i] for e, told in zip(examples, scores, strict=True) for i in np.argsort(-told)[:NEAR_MISSES]
    )
    wrong = [block for block in near if block not in right]
    rng.shuffle(wrong)
    return [*right, *wrong[: max(30, BLOCKS - len(right))]]


class Teacher:
    """The model that is taught, and one step of teaching."""

    def __init__(self, rank: int, seed: int) -> None:
        torch.manual_seed(seed)
        self._rng = random.Random(seed)
        packed = pinned(weights_root() / WEIGHTS)
        kept = [i for i, piece in enumerate(packed.pieces) if is_read(piece)]
        w = {name: torch.from_numpy(array.copy()) for name, array in reader_weights(packed, kept).items()}
        tokenizer = tokenizer_of(packed, kept)
        tokenizer.enable_truncation(MAX_PIECES)
        self._lower, self.upper = Lower(w, tokenizer), Upper(w, rank)
        self._optimizer = torch.optim.AdamW(self.upper.parameters(), lr=PEAK, weight_decay=DECAY)

    def step(self, examples: Sequence[Example], share: float, done: int) -> tuple[float, float]:
        """Teach these examples of one company; returns the loss, and how many had the right block first. `share` of all steps are `done`."""
        for group in self._optimizer.param_groups:
            group["lr"] = PEAK * min(1.0, (done + 1) / WARM) * max(LAST, 1 - share)
        used = blocks_of(examples, self._rng)
        asked, found = [QUERY + typed(e.asked, self._rng) for e in examples], [PASSAGE + b for b in used]
        held = Counter(piece for text in found for piece in set(self._lower.ids(text)[PREFIX:-1]))
        weights = [
            torch.tensor([math.log((len(found) + 1) / (held[p] + 1)) for p in self._lower.ids(text)[PREFIX:-1]])
            for text in asked
        ]
        whole, pieces = nearness(self.upper(self._lower.read(asked)), self.upper(self._lower.read(found)), weights)
        place = {block: i for i, block in enumerate(used)}
        right = torch.zeros(len(asked), len(used), dtype=torch.bool)
        for row, example in enumerate(examples):
            right[row, [place[example.blocks[i]] for i in np.flatnonzero(example.right)]] = True
        a, b, c, d = self.upper.sharp.exp()
        both = whole * c + pieces * d
        loss = sum(_choice(told, right) for told in (whole * a, pieces * b, both))
        self._optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.upper.parameters(), 1.0)
        self._optimizer.step()
        return float(loss.detach()), float(right[torch.arange(len(asked)), both.argmax(1)].float().mean())

    def save(self, target: Path) -> None:
        """Write the changes, in half precision."""
        arrays = {}
        for number, layer in enumerate(self.upper.layers, start=FROZEN):
            for part, changed in layer.parts.items():
                arrays[f"{number}.{part}.down"] = changed.down.detach().numpy().astype(np.float16)
                arrays[f"{number}.{part}.up"] = changed.up.detach().numpy().astype(np.float16)
        np.savez_compressed(target, allow_pickle=False, **arrays)


def _choice(told: Tensor, right: Tensor) -> Tensor:
    """Minus the log of the chance of any right block, by softmax."""
    return -(torch.logsumexp(told.masked_fill(~right, -1e9), 1) - torch.logsumexp(told, 1)).mean()


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


async def read_lessons(
    model: Path, cache: Path, without: Sequence[str], told: Callable[[str], None]
) -> list[list[Example]]:
    """The companies of all authors but those left out."""
    reader = E5Reader(model.with_name(READER), model.with_name(READER_TOKENIZER))
    models = Models(MiniLM(model), ExtractiveComposer(reader))
    out = []
    for folder in companies():
        if folder.relative_to(LESSONS).parts[0] not in without:
            out.append(await lessons(models, cache, folder))
            told(f"{folder.name}: {len(out[-1])} questions")
    return out


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
    options = parser.parse_args()

    def told(text: str) -> None:
        print(text, flush=True)

    sets = asyncio.run(read_lessons(options.model, options.cache, options.without, told))
    teacher, began = Teacher(options.rank, options.seed), time.monotonic()
    planned = list(steps(sets, options.epochs, random.Random(options.seed)))
    for done, examples in enumerate(planned):
        loss, first = teacher.step(examples, done / len(planned), done)
        told(f"{done + 1} of {len(planned)}: loss {loss:.2f}, first {first:.2f}, {time.monotonic() - began:.0f} s")
    teacher.save(options.target)


if __name__ == "__main__":
    main()
