"""Weights as 8-bit integers whose products no processor has to cut off, so that a text gets the same scores everywhere.

Activations are unsigned bytes, 0 to 255. Processors with AVX2 but without VNNI multiply them with the weights of two neighbouring rows and add
both products in 16 bits (`vpmaddubsw`, in the kernels of onnxruntime's MLAS); what does not fit is cut off at 32,767 or -32,768. Others add in
32 bits. So each column's scale is the smallest at which no two neighbours can leave 16 bits, whatever the text. Only pairs bind, not single
weights, so most of the eight bits are kept: a scale grows by a quarter, where seven bits for each weight would double it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

LARGEST_WEIGHT = 127
LARGEST_PAIR = 128
"""Of two neighbouring weights of one sign, the sum: 128 times 255 is 32,640, which 16 bits hold, and 129 times 255 they do not."""


def quantise(full: Path, small: Path) -> None:
    """Write the float model `full` to `small` with 8-bit matrices, one scale a column, and an 8-bit table of words."""
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415 - reads the environment at import

    quantize_dynamic(full, small, per_channel=True, weight_type=QuantType.QInt8)
    floats = {t.name: t for t in onnx.load(full).graph.initializer}
    model = onnx.load(small)
    held = {t.name: t for t in model.graph.initializer}
    for name in multiplied(model):
        origin = name.removesuffix("_quantized")
        scale, weights = columns(numpy_helper.to_array(floats[origin]))
        _replace(held[name], weights)
        _replace(held[f"{origin}_scale"], scale)
    onnx.save(model, small)


def multiplied(model: onnx.ModelProto) -> list[str]:
    """Names of the matrices that are multiplied in integers."""
    return [node.input[1] for node in model.graph.node if node.op_type == "MatMulInteger"]


def columns(weight: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """A scale for each column of a matrix (in, out), and the matrix in these scales: weight ≈ scale · integers.

    Of a scale's rounding only more room comes: a pair that rounds up past the bound makes its column's scale a little larger.
    """
    wide = weight.astype(np.float64)
    scale = np.maximum(np.abs(wide).max(0) / LARGEST_WEIGHT, reach(wide) / LARGEST_PAIR).astype(np.float32)
    scale[scale == 0] = 1  # a column of zeros
    while True:
        whole = np.clip(np.rint(wide / scale), -LARGEST_WEIGHT, LARGEST_WEIGHT)
        over = reach(whole) > LARGEST_PAIR
        if not over.any():
            return scale, whole.astype(np.int8)
        scale[over] *= np.float32(1.002)


def reach(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each column, the farthest from zero that two neighbouring rows (0 and 1, 2 and 3, …) together can come, counting one sign alone.

    A row without a neighbour stands alone: its partner is zero.
    """
    rows = np.concatenate([weight, np.zeros((len(weight) % 2, weight.shape[1]))])
    up, down = (np.maximum(rows * sign, 0).reshape(-1, 2, weight.shape[1]).sum(1) for sign in (1, -1))
    farthest: NDArray[np.float64] = np.maximum(up, down).max(0)
    return farthest


def _replace(tensor: onnx.TensorProto, value: NDArray[np.generic]) -> None:
    shape = tuple(tensor.dims)
    tensor.CopyFrom(numpy_helper.from_array(value.reshape(shape), tensor.name))
