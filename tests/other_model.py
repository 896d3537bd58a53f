"""Models that score a little otherwise, to find tests that hang on a score's last digits: `python -m tests.other_model KIND FOLDER`.

KIND: `noise` moves every matrix's scales by up to a thousandth, so that activations round otherwise, as they do on another processor; `float` leaves
the matrices unrounded; `strict` and `lax` move the classifier's log odds of harm by MARGIN. Then `TEST_MODEL_FILE=FOLDER/minilm-int8.onnx python -m pytest …`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from grounding.embedded.recipes import encoder_graph
from grounding.embedded.recipes.build_model import build, build_changed
from grounding.embedded.recipes.build_reader import build_reader
from rai.embedded.classifier import CHANGES, FILE
from rai.model_files import FILES, READER, READER_TOKENIZER

MARGIN = 0.8
"""Of log odds: a text whose verdict turns within it is a borderline case. Two kinds of processor differed by 0.76 at most over 156 texts (docs/decisions/0011)."""
_NOISE = 1e-3


def shifted(model: Path, folder: Path, by: float) -> Path:
    """The models of `model`'s folder in `folder`, the classifier's log odds of harm, and of an order, greater by `by`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(model.with_name(name), folder / name)
    changed = onnx.load(folder / FILE)
    (offset,) = [t for t in changed.graph.initializer if t.name == "head.b"]
    values = numpy_helper.to_array(offset).copy()
    values[0] -= by  # honest; the harms stay, so that their odds against it rise
    values[-1] += by
    offset.CopyFrom(numpy_helper.from_array(values, offset.name))
    onnx.save(changed, folder / FILE)
    return folder / model.name


def noisy(model: Path, folder: Path) -> Path:
    """The models of `model`'s folder in `folder`, with scales that are off by up to a thousandth, the same ones each time."""
    shifted(model, folder, 0.0)
    chance = np.random.default_rng(1)
    for name in (model.name, FILE, READER):
        changed = onnx.load(folder / name)
        for tensor in changed.graph.initializer:
            if tensor.name.endswith(".w_scale"):
                value = numpy_helper.to_array(tensor)
                off = (1 + _NOISE * chance.uniform(-1, 1, value.shape)).astype(np.float32)
                tensor.CopyFrom(numpy_helper.from_array(value * off, tensor.name))
        onnx.save(changed, folder / name)
    return folder / model.name


def built(folder: Path) -> Path:
    """The models as set-up builds them."""
    folder.mkdir(parents=True, exist_ok=True)
    target = build(folder / "minilm-int8.onnx")
    build_changed(target.with_name(FILE), CHANGES)
    build_reader(target.with_name(READER), target.with_name(READER_TOKENIZER))
    return target


def unrounded(folder: Path) -> Path:
    """The models with their matrices in 32-bit floats."""
    kept = vars(encoder_graph)["quantise"]
    vars(encoder_graph)["quantise"] = shutil.copyfile
    try:
        return built(folder)
    finally:
        vars(encoder_graph)["quantise"] = kept


def main() -> int:
    """Write the models and say where."""
    if len(sys.argv) != 3 or sys.argv[1] not in ("noise", "float", "strict", "lax"):
        raise SystemExit(__doc__)
    kind, folder = sys.argv[1], Path(sys.argv[2])
    if kind == "float":
        made = unrounded(folder)
    elif kind == "noise":
        made = noisy(built(folder / "as-built"), folder)
    else:
        made = shifted(built(folder / "as-built"), folder, MARGIN if kind == "strict" else -MARGIN)
    print(made)  # noqa: T201
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
