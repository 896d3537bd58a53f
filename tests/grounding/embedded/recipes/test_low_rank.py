"""Changes to a model's weights: what is added, where, and that a part without a change stays as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from grounding.embedded.recipes.build_reader import CHANGES, LAYERS, PARTS
from grounding.embedded.recipes.low_rank import changed, read_changes


def test_a_change_is_added_to_the_matrices_it_names(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    names = [f"encoder.layer.{n}.{p}.weight" for n in (0, 1) for p in ("a", "b")]
    weights = {name: rng.normal(size=(2, 3)).astype(np.float32) for name in names}
    down, up = rng.normal(size=(3, 2)).astype(np.float32), rng.normal(size=(2, 4)).astype(np.float32)
    np.savez(tmp_path / "c.npz", allow_pickle=False, **{"1.both.down": down, "1.both.up": up})
    out = changed(weights, read_changes(tmp_path / "c.npz"), 2, {"both": ("a", "b")})
    whole = (down @ up).T
    assert np.allclose(out["encoder.layer.1.a.weight"] - weights["encoder.layer.1.a.weight"], whole[:2], atol=1e-6)
    assert np.allclose(out["encoder.layer.1.b.weight"] - weights["encoder.layer.1.b.weight"], whole[2:], atol=1e-6)
    assert np.array_equal(out["encoder.layer.0.a.weight"], weights["encoder.layer.0.a.weight"])


def test_what_the_reader_was_taught_fits_its_layers() -> None:
    """A file for other layers or parts would be left out without a word."""
    names = set(read_changes(CHANGES))
    layers = {int(name.split(".")[0]) for name in names}
    assert layers
    assert max(layers) == LAYERS - 1
    assert names == {f"{n}.{part}.{side}" for n in layers for part in PARTS for side in ("down", "up")}
