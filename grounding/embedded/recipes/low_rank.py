"""Low-rank changes (LoRA, Hu et al. 2021) added to a model's weights when its file is built: what is taught is stored as the difference alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[np.float32]]


def read_changes(path: Path) -> Arrays:
    """The arrays of a file of changes, in single precision: `LAYER.PART.down` (in, rank), `LAYER.PART.up` (rank, out), and what else has a point in its name."""
    with np.load(path) as held:
        return {k: np.asarray(held[k], np.float32) for k in held.files if "." in k}


def changed(
    w: Arrays, change: Mapping[str, NDArray[np.float32]], layers: int, parts: Mapping[str, Sequence[str]]
) -> Arrays:
    """The weights with the changes added; weights are stored (out, in), changes act on (in, out). `parts`: for the name of each part the matrices that it
    changes, in the order in which its outputs stand.
    """
    out = dict(w)
    for layer in range(layers):
        for part, paths in parts.items():
            if f"{layer}.{part}.down" not in change:
                continue
            whole = _product(change[f"{layer}.{part}.down"], change[f"{layer}.{part}.up"]).T
            for path, rows in zip(paths, np.split(whole, len(paths)), strict=True):
                name = f"encoder.layer.{layer}.{path}.weight"
                out[name] = out[name] + rows
    return out


def _product(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """`left @ right`, added in one order: a library's product differs in its last bit by processor, and rounding makes more of that."""
    total = np.zeros((left.shape[0], right.shape[1]), np.float64)
    for column, row in zip(left.T.astype(np.float64), right.astype(np.float64), strict=True):
        total += column[:, None] * row
    return total.astype(np.float32)
