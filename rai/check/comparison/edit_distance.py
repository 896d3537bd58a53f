"""How many slips apart two spellings are."""

from __future__ import annotations


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
