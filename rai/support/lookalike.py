"""Hosts that are made to look like one of a source: near spellings, swapped signs, the same name under another ending."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

# Signs that pass for others; Cyrillic and Greek letters that look Latin (Unicode TR 39 confusables, the common ones)
_SIGNS = str.maketrans("0135$@аеорсхуіјѕԁһοαερν", "oles" + "saaeopcxyijsdhoaepv")
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))


def looks_like(host: str, known: Iterable[str]) -> str | None:
    """The host of `known` that `host` could be taken for, or None; equal hosts and their subdomains do not count."""
    best: tuple[int, str] | None = None
    for other in sorted(set(known)):
        if host == other or host.endswith(f".{other}") or other.endswith(f".{host}"):
            continue
        distance = _distance(host, other)
        if distance is not None and (best is None or distance < best[0]):
            best = (distance, other)
    return best[1] if best else None


def _distance(host: str, other: str) -> int | None:
    if _skeleton(host) == _skeleton(other):
        return 0
    name, _, ending = host.rpartition(".")
    known, _, known_ending = other.rpartition(".")
    if name and name == known and ending != known_ending:
        return 0
    allowed = 1 if len(other) < 9 else 2
    distance = edit_distance(host, other, allowed)
    return distance if distance <= allowed else None


def _skeleton(host: str) -> str:
    plain = unicodedata.normalize("NFKD", host.lower())
    plain = "".join(c for c in plain if not unicodedata.combining(c)).translate(_SIGNS)
    for pair, sign in _PAIRS:
        plain = plain.replace(pair, sign)
    return plain.replace("-", "")


def edit_distance(a: str, b: str, most: int) -> int:
    """Levenshtein distance with swaps of neighbours (optimal string alignment), or `most` + 1 when it is larger."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    before, row = [0] * (len(b) + 1), list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        older, before, row = before, row, [i] + [0] * len(b)
        for j, y in enumerate(b, 1):
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                row[j] = min(row[j], older[j - 2] + 1)
    return min(row[-1], most + 1)
