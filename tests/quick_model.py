"""The embedding model with one of its six layers: the same file, tokenizer and code at a sixth of the work, for tests of what happens around a turn.

What hangs on meaning (golden questions, figures of search and screen) is tried with the whole model.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import onnx

from grounding.embedded.recipes.build_model import LAYERS


def first_layer(model: Path, folder: Path) -> Path:
    """The models of `model`'s folder in `folder`, the embedding one cut after its first layer, without the reader: quotes are chosen by words."""
    shutil.copytree(model.parent, folder, ignore=shutil.ignore_patterns("reader-*"))
    whole = onnx.load(model)
    graph = whole.graph
    for node in graph.node:
        for i, name in enumerate(node.input):
            if name == f"encoder.layer.{LAYERS - 1}.norm2":
                node.input[i] = "encoder.layer.0.norm2"
    needed, kept = {out.name for out in graph.output}, []
    for node in reversed(graph.node):  # in the order of the forward pass, as ONNX asks
        if needed & set(node.output):
            kept.append(node)
            needed.update(node.input)
    weights = [tensor for tensor in graph.initializer if tensor.name in needed]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(reversed(kept))
    graph.initializer.extend(weights)
    target = folder / model.name
    onnx.save(whole, target)
    return target
