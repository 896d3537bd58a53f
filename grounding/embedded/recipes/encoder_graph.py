"""A BERT encoder (Devlin et al. 2019) as an ONNX graph with 8-bit weights, written by hand: hidden size 384 in 12 heads, mean pooling over the mask and L2 norm,
as in sentence-transformers. Any number of layers.

Position and token-type embeddings are added once here, query, key and value are one multiplication, so that less is left to do at run time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from grounding.embedded.recipes.quantise import quantise

HEADS, WIDTH = 12, 384
OPSET = 20
Weights = Mapping[str, NDArray[np.float32]]
"""Arrays by their names in sentence-transformers, matrices as (out, in)."""


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


def encoder(
    name: str,
    w: Weights,
    layers: int,
    *,
    head: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None,
    states: int | None = None,
) -> onnx.ModelProto:
    """The graph called `name`: inputs `input_ids` and `attention_mask` (batch, tokens), output `sentence_embedding` (batch, 384) of length one.

    `head`: a matrix (384, outputs) and an offset; the output is then `logits` (batch, outputs). `states`: the number of layers whose states
    (batch, tokens, 384) are a second output, `states`.
    """
    g = _Graph()
    x = _embeddings(g, w)
    bias = _attention_bias(g)
    kept = ""
    for layer in range(layers):
        x = _layer(g, w, f"encoder.layer.{layer}", x, bias)
        if layer + 1 == states:
            kept = g.op("Identity", "states", x)
    pooled = _pool(g, x)
    if head is None:
        output, width = g.op("LpNormalization", "sentence_embedding", pooled, axis=-1, p=2), WIDTH
    else:
        weights, offset = g.const("head.w", head[0]), g.const("head.b", head[1])
        output, width = g.op("Gemm", "logits", pooled, weights, offset), head[0].shape[1]
    ids = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "tokens"])
        for n in ("input_ids", "attention_mask")
    ]
    out = [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", width])]
    if kept:
        out.append(helper.make_tensor_value_info(kept, TensorProto.FLOAT, ["batch", "tokens", WIDTH]))
    graph = helper.make_graph(g.nodes, name, ids, out, g.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    return model


def _embeddings(g: _Graph, w: Weights) -> str:
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


def _layer(g: _Graph, w: Weights, name: str, x: str, bias: str) -> str:
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


def write(model: onnx.ModelProto, target: Path) -> None:
    """Write the graph to `target` with 8-bit weights, whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        full, small = Path(scratch) / "full.onnx", Path(scratch) / "int8.onnx"
        onnx.save(model, full)
        quantise(full, small)
        small.replace(target)
