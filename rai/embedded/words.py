"""How much the words of a text speak for an order or an attack: a weight for each word and pair of words, beside the classifier.

The classifier reads meaning and is easily moved by one strong word; this reads all words, in any order, and is steadier where texts are of a kind that
taught neither. Other languages come to both as English words. The weights (words.npz beside this module) are made by tools/train_screen.py.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

from rai.embedded.roles import roles

FILE = Path(__file__).with_name("words.npz")
Table = Literal["request", "order"]
"""Of what the weights speak: that a question is an attack or asks for harm, that a sentence of a document is an order to the model."""
_LINK = re.compile(
    r"https?://\S+|www\.\S+|\S+@\S+|\b[\w-]+(?:\.[\w-]+)*\.(?:example|com|net|org|io|eu|uk|info|biz|app|shop|de|fr|es|it|pt|nl|pl)\b\S*"
)
_DOTTED = re.compile(r"\.\w|@|://")
"""What every link has, and few sentences: looking for it first spares most of them the longer pattern."""
_TELEPHONE = re.compile(r"\d[\d ./-]{5,}\d")
_NUMBER = re.compile(r"\d+")
_SIGNS = {
    '"': " quoted ",
    "“": " quoted ",
    "”": " quoted ",
    "«": " quoted ",
    "»": " quoted ",
    "„": " quoted ",
    ":": " colon ",
}
_TOLD = str.maketrans(_SIGNS)
_WORD = re.compile(r"\w+")
SHORTEST = 15.0
"""The least length of a text's terms, about that of six words."""
_SUREST = 3.0
"""The most that words say, either way: beyond it they are a kind of text that taught nothing."""
_MOST = 400
"""Most words of a text that are weighed."""


def terms(text: str, table: Table) -> Counter[str]:
    """The words of a text and the pairs that stand side by side, with how often; links, telephone numbers and quotation marks each as one word.

    For orders also the parts that the words play: `rai.embedded.roles`. Of questions they say nothing that the words do not (docs/screening.md).
    """
    plain = text.lower()
    plain = _LINK.sub(" linked ", plain) if _DOTTED.search(plain) else plain
    plain = _NUMBER.sub(" numbered ", _TELEPHONE.sub(" telephoned ", plain))
    words = ["begin", *_WORD.findall(plain.translate(_TOLD))[:_MOST]]
    found = Counter(words)
    found.update(f"{a} {b}" for a, b in pairwise(words))
    if table == "order":
        found.update(roles(plain, _MOST))
    return found


def weighed(text: str, table: Table) -> float:
    """What the words of `text` say, from -3 to 3: above zero for an order or an attack."""
    known, bias = _weights(table)
    return max(-_SUREST, min(_SUREST, leaning(terms(text, table), known) + bias))


def leaning(counts: Mapping[str, int], known: Mapping[str, tuple[float, float]]) -> float:
    """The sum of the weights of the terms that are known, each by its rarity and the logarithm of its count, over the length of them all."""
    found = [((1.0 + math.log(count)) * known[t][0], known[t][1]) for t, count in counts.items() if t in known]
    return math.fsum(value * weight for value, weight in found) / norm(value for value, _ in found)


def norm(values: Iterable[float]) -> float:
    """What a text's terms are divided by: their length, but no less than `SHORTEST`, for a few words prove little."""
    return max(SHORTEST, math.sqrt(math.fsum(value * value for value in values)))


@cache
def version() -> str:
    """The first digits of the SHA-256 of the weights."""
    return hashlib.sha256(FILE.read_bytes()).hexdigest()[:8]


@cache
def _weights(table: Table) -> tuple[dict[str, tuple[float, float]], float]:
    with np.load(FILE) as held:
        names = held[f"{table}.terms"].tobytes().decode("utf-8").split("\n")
        rare, weight = (held[f"{table}.{part}"].astype(np.float64).tolist() for part in ("rarity", "weight"))
        return dict(zip(names, zip(rare, weight, strict=True), strict=True)), float(held[f"{table}.bias"])
