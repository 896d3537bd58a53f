"""No product of the 8-bit models leaves 16 bits, whatever is read: that is what makes their scores equal on every processor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

from grounding.embedded.recipes.quantise import columns, multiplied
from rai.embedded.classifier import FILE

HIGHEST, LOWEST = 32_767, -32_768
LARGEST_ACTIVATION = 255
MATRICES = {"minilm-int8.onnx": 24, FILE: 25}
"""Four in each of six layers, and the classifier's head."""


def worst(weights: NDArray[np.int64]) -> tuple[int, int]:
    """Highest and lowest sum of two neighbouring rows' products with unsigned bytes: 255 where the weight has the sign, 0 where not."""
    pairs = weights.reshape(-1, 2, weights.shape[1])
    return (
        int((np.maximum(pairs, 0) * LARGEST_ACTIVATION).sum(1).max()),
        int((np.minimum(pairs, 0) * LARGEST_ACTIVATION).sum(1).min()),
    )


def matrices(path: Path) -> Iterator[tuple[str, NDArray[np.int64]]]:
    model = onnx.load(path)
    held = {t.name: t for t in model.graph.initializer}
    for name in multiplied(model):
        assert held[name].data_type == TensorProto.INT8
        yield name, numpy_helper.to_array(held[name]).astype(np.int64)


@pytest.mark.parametrize("name", MATRICES)
def test_no_pair_of_products_leaves_16_bits(model_file: Path, name: str) -> None:
    """Over every matrix of the files that set-up builds: rows 0 and 1, 2 and 3 and so on are added in 16 bits by AVX2."""
    found = {matrix: worst(weights) for matrix, weights in matrices(model_file.with_name(name))}
    assert len(found) == MATRICES[name]
    assert {m: sums for m, sums in found.items() if sums[0] > HIGHEST or sums[1] < LOWEST} == {}


@pytest.mark.parametrize("name", MATRICES)
def test_every_integer_product_is_of_signed_weights_and_unsigned_activations(model_file: Path, name: str) -> None:
    """The bound is reckoned for these; nothing else in the file multiplies integers."""
    model = onnx.load(model_file.with_name(name))
    made = {out: node.op_type for node in model.graph.node for out in node.output}
    integer = [n for n in model.graph.node if "Integer" in n.op_type or n.op_type.startswith("QLinear")]
    assert {n.op_type for n in integer} == {"MatMulInteger"}
    assert {made[n.input[0]] for n in integer} == {"DynamicQuantizeLinear"}  # unsigned bytes, by its definition
    zeros = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer if t.name.endswith("_zero_point")}
    assert not any(zeros[n.input[3]].any() for n in integer)


def _matrix(rows: int, seed: int, spread: float) -> NDArray[np.float32]:
    """Neighbours alike and some far out: what leaves 16 bits first."""
    noise = np.random.default_rng(seed)
    base = np.repeat(noise.standard_normal(((rows + 1) // 2, 7)), 2, axis=0)[:rows]
    made: NDArray[np.float32] = (base * np.exp(spread * noise.standard_normal(base.shape))).astype(np.float32)
    return made


@given(rows=st.integers(1, 40), seed=st.integers(0, 2**32 - 1), spread=st.floats(0, 3))
def test_whatever_the_weights_the_bound_holds(rows: int, seed: int, spread: float) -> None:
    """Of an odd number of rows the last one stands alone."""
    scale, whole = columns(_matrix(rows, seed, spread))
    assert whole.dtype == np.int8
    assert scale.dtype == np.float32
    high, low = worst(np.concatenate([whole, np.zeros((rows % 2, 7), np.int8)]).astype(np.int64))
    assert LOWEST <= low <= high <= HIGHEST


@given(rows=st.integers(1, 40), seed=st.integers(0, 2**32 - 1), spread=st.floats(0, 3))
def test_every_weight_is_within_half_a_step_of_itself(rows: int, seed: int, spread: float) -> None:
    """And no step is coarser than seven bits would make it, by more than the last rounding."""
    weight = _matrix(rows, seed, spread)
    scale, whole = columns(weight)
    assert (np.abs(whole * scale.astype(np.float64) - weight) <= scale * 0.5001).all()
    assert (scale <= np.abs(weight).max(0) / 64 * 1.02).all()


def test_a_column_of_zeros_stays_zero() -> None:
    scale, whole = columns(np.zeros((4, 2), np.float32))
    assert (whole == 0).all()
    assert (scale == 1).all()
