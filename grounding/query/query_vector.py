"""The meaning that a query is searched for: one vector of what it says, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grounding.errors import ContentFiltered, ServiceError
from grounding.ports import Embedder, Vectors

BY_WORDS = "searched by words only"


class QueryVector(NamedTuple):
    """A unit vector, or None and the note that says why."""

    vector: Vectors | None
    note: str = ""


def with_names(question: str, names: Sequence[str]) -> list[str]:
    """The question, and where there are `names` also the question behind them: what is searched for in place of either alone."""
    return [question, " ".join([*names, question])] if names else [question]


async def query_vector(embedder: Embedder, texts: Sequence[str], imagined: str | None) -> QueryVector:
    """The mean of `texts`; of that and of an imagined answer half and half again (HyDE, arXiv 2212.10496).

    Asked for in one call, so that a service is waited for once. One that fails costs the meaning, not the search.
    """
    try:
        vectors = await embedder.embed([*texts, *([imagined] if imagined else [])])
    except (ServiceError, ContentFiltered) as error:
        return QueryVector(None, f"{error}: {BY_WORDS}")
    vector = _unit(vectors[: len(texts)].sum(axis=0))
    return QueryVector(_unit(vector + vectors[-1]) if imagined else vector)


def _unit(vector: Vectors) -> Vectors:
    unit: Vectors = vector / np.float32(max(float(np.linalg.norm(vector)), 1e-6))
    return unit
