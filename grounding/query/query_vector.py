"""Query embedding: one vector for what a query means, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grounding.errors import ContentFiltered, ServiceError, StoreError
from grounding.ports import Embedder, QuestionEmbedder, Vectors

BY_WORDS = "searched by words only"


class QueryVector(NamedTuple):
    """A unit vector, or None and a note that says why."""

    vector: Vectors | None
    note: str = ""


def question_texts(question: str, names: Sequence[str]) -> list[str]:
    """Texts to search for: the question, and where there are `names` also the question with them in front."""
    return [question, " ".join([*names, question])] if names else [question]


async def query_vector(embedder: Embedder, texts: Sequence[str], imagined: str | None) -> QueryVector:
    """Query vector: the mean of the embeddings of `texts`, and half and half with that of an `imagined` answer, if given (HyDE, arXiv
    2212.10496).

    Embedded in one call, so that a service is waited for once; where questions are embedded otherwise than an answer, in two. A call that fails costs the
    vector, not the search.
    """
    answer = [imagined] if imagined else []
    try:
        if isinstance(embedder, QuestionEmbedder):
            asked = await embedder.embed_questions(texts)
            vectors = np.concatenate([asked, await embedder.embed(answer)]) if answer else asked
        else:
            vectors = await embedder.embed([*texts, *answer])
    except (ServiceError, ContentFiltered, StoreError) as error:
        return QueryVector(None, f"{error}: {BY_WORDS}")
    vector = _unit(vectors[: len(texts)].sum(axis=0))
    return QueryVector(_unit(vector + vectors[-1]) if imagined else vector)


def _unit(vector: Vectors) -> Vectors:
    unit: Vectors = vector / np.float32(max(float(np.linalg.norm(vector)), 1e-6))
    return unit
