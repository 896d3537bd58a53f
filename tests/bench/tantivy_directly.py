"""The baseline of search by words: tantivy called with its own query parser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import tantivy


def tantivy_directly(folder: Path, questions: Sequence[str], depth: int) -> list[Callable[[], object]]:
    """A search by tantivy with its own query parser for each question, on the same index: no rights, no boosts, no stop words left out."""
    index = tantivy.Index.open(str(folder))
    searcher = index.searcher()

    def search(words: str) -> list[object]:
        query, _ = index.parse_query_lenient(words, ["title", "body"])
        return [searcher.doc(address)["pk"] for _, address in searcher.search(query, depth, count=False).hits]

    return [partial(search, words) for words in questions]
