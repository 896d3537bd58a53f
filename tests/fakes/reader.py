"""A reader of blocks that knows no meaning: near is what shares words with the question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grounding.ports import Nearness
from grounding.text import terms


class WordReader:
    """BlockReader by shared terms, Jaccard as a whole and by the question's share piece by piece."""

    async def near(self, questions: Sequence[str], blocks: Sequence[str]) -> Nearness:
        """How near each block is to each question."""
        asked, found = [set(terms(q)) for q in questions], [set(terms(b)) for b in blocks]
        shape = len(asked), len(found)
        whole = [[len(q & b) / max(1, len(q | b)) for b in found] for q in asked]
        pieces = [[len(q & b) / max(1, len(q)) for b in found] for q in asked]
        return Nearness(np.array(whole, np.float32).reshape(shape), np.array(pieces, np.float32).reshape(shape))
