"""What a name in the question does to the search: it selects the passages titled by it, for who may read them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from grounding.embedded.retriever import EmbeddedRetriever
from grounding.evidence.fuse import SELECTS, exclusiveness
from grounding.ports import Embedder
from grounding.query.conversation import assemble
from grounding.records import Access, Document, Query, Sentence
from tests.fakes.embedder import HashEmbedder
from tests.grounding.embedded.kb import open_kb, retriever_of

TOPICS = {
    "pets": "Pets are welcome in all rooms.",
    "parking": "Parking is free for guests of the house.",
    "breakfast": "Breakfast is served until ten.",
    "pool": "The pool is open all year.",
}
HOTELS = ("Gonville Hotel", "Ashley Hotel", "Lensfield Hotel", "Worth House", "Acorn Guest House")
EVERYONE = Access()
STAFF = Access("lea", frozenset({"staff"}))
DOCUMENTS = (
    *(Document(f"{hotel}/{topic}", f"{hotel}: {topic}", text) for hotel in HOTELS for topic, text in TOPICS.items()),
    *(
        Document(f"secret/{topic}", f"Nightjar Lodge: {topic}", text, None, ("staff",), None)
        for topic, text in TOPICS.items()
    ),
    Document("home/1", "Home", "The home screen shows the lamps that are at home."),
    *(Document(f"lamp/{n}", f"Lamp {n}", "Take the lamp home, or leave it at home.") for n in range(6)),
)


@pytest.fixture(params=["hybrid", "lexical"])
async def retriever(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[EmbeddedRetriever]:
    embedder: Embedder | None = HashEmbedder() if request.param == "hybrid" else None
    index = await open_kb(tmp_path / "index", DOCUMENTS, embedder)
    yield retriever_of(index, embedder)
    index.close()


async def found(retriever: EmbeddedRetriever, query: Query | str, access: Access = EVERYONE, k: int = 40) -> list[str]:
    query = Query(query) if isinstance(query, str) else query
    return [p.doc_id for p in (await retriever.retrieve(query, access, k)).passages]


@pytest.mark.parametrize("said", ["gonville hotel", "Gonville Hotel", "gonvile hotel", "GONVILLE"])
async def test_a_name_selects_what_is_titled_by_it(retriever: EmbeddedRetriever, said: str) -> None:
    """The same texts stand under four other names; of each the right one is before the others, in words alone and with meaning."""
    ids = await found(retriever, f"are pets welcome at {said}")
    assert ids[0] == "Gonville Hotel/pets"
    for topic in TOPICS:
        assert next(i for i in ids if i.endswith(f"/{topic}")) == f"Gonville Hotel/{topic}"


async def test_two_names_select_both(retriever: EmbeddedRetriever) -> None:
    ids = await found(retriever, "is there parking at the gonville hotel or the lensfield hotel")
    assert set(ids[:2]) == {"Gonville Hotel/parking", "Lensfield Hotel/parking"}


async def test_a_name_taken_along_from_the_talk_selects(retriever: EmbeddedRetriever) -> None:
    """The query that the conversation gives: the name first, then the question, whose meaning alone is searched for."""
    query = assemble([Sentence(2, 0, 17, "Are pets allowed?", 1.0)], ["acorn guesthouse"])
    assert (await found(retriever, query))[0] == "Acorn Guest House/pets"


async def test_a_word_that_is_spoken_of_everywhere_selects_nothing(retriever: EmbeddedRetriever) -> None:
    """One page is titled by it and six others hold it: it is a word like others."""
    assert exclusiveness(1, 6) < SELECTS
    ids = await found(retriever, "leave the lamp at home")
    assert ids[0].startswith("lamp/")


@pytest.mark.parametrize("access", [Access(), Access("u", frozenset({"*", "billing"}))])
async def test_a_name_that_may_not_be_seen_selects_nothing(retriever: EmbeddedRetriever, access: Access) -> None:
    """The passages that come back are those that come back for a name that nobody knows."""
    restricted, unknown = [
        await found(retriever, f"are pets welcome at {name} lodge", access) for name in ("nightjar", "nightowl")
    ]
    assert set(restricted) == set(unknown)
    assert not any(i.startswith("secret") for i in restricted)
    assert (await found(retriever, "are pets welcome at nightjar lodge", STAFF))[0] == "secret/pets"


async def test_names_bring_no_more_than_was_asked_for(retriever: EmbeddedRetriever) -> None:
    for k in (1, 3):
        assert len(await found(retriever, "gonville hotel", k=k)) == k


async def test_scores_with_names_stay_in_bounds(retriever: EmbeddedRetriever) -> None:
    result = await retriever.retrieve(Query("are pets welcome at the gonville hotel"), Access(), 40)
    scores = [p.score for p in result.passages]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert result.mode == ("hybrid" if any(p.semantic is not None for p in result.passages) else "lexical")


async def test_without_names_of_documents_the_search_is_that_of_words(tmp_path: Path) -> None:
    """A retriever without a linker finds, and ranks by words and meaning alone."""
    embedder = HashEmbedder()
    index = await open_kb(tmp_path / "index", DOCUMENTS, embedder)
    try:
        plain = EmbeddedRetriever(index.store, index.words, None, None)
        assert "Gonville Hotel/pets" in await found(plain, "are pets welcome at the gonville hotel")
    finally:
        index.close()


@pytest.mark.row("3-02")
@pytest.mark.row("3-03")
@pytest.mark.row("4-10")
@pytest.mark.row("4-13")
@pytest.mark.parametrize("k", [3, 40])
async def test_by_meaning_is_the_order_of_cosines(tmp_path: Path, k: int) -> None:
    """The nearest chunks, computed here beside it from the same texts; a name that would select does not."""
    embedder = HashEmbedder()
    index = await open_kb(tmp_path / "index", DOCUMENTS, embedder)
    try:
        result = await retriever_of(index, embedder).retrieve(
            Query("pets at the gonville hotel", by="meaning"), EVERYONE, k
        )
        texts = [f"{d.title}\n{d.text}" for d in DOCUMENTS]
        cosines = (await embedder.embed(texts)) @ (await embedder.embed(["pets at the gonville hotel"]))[0]
        nearest = [
            d for c, d in sorted(zip(cosines, DOCUMENTS, strict=True), key=lambda pair: -pair[0]) if d.groups is None
        ]
        assert [p.doc_id for p in result.passages if not p.doc_id.startswith("lamp")] == [
            d.doc_id for d in nearest[:k] if not d.doc_id.startswith("lamp")
        ]
        assert {p.bm25 for p in result.passages} == {None}
        semantic = [p.semantic or 0.0 for p in result.passages]
        assert np.allclose(
            semantic, sorted(cosines[[d.groups is None for d in DOCUMENTS]])[::-1][: len(semantic)], atol=2e-3
        )
        assert [p.score for p in result.passages] == pytest.approx([min(1, max(0, s)) for s in semantic], abs=1e-6)
    finally:
        index.close()


@pytest.mark.row("C-05")
async def test_an_imagined_answer_is_searched_for_by_its_meaning_alone(tmp_path: Path) -> None:
    """A question that shares no word with the passage finds it by the answer imagined; BM25 never reads that."""
    embedder = HashEmbedder()
    index = await open_kb(tmp_path / "index", DOCUMENTS, embedder)
    try:
        retriever = retriever_of(index, embedder)
        asked = "may my dog sleep over in gonville"
        plain = await retriever.retrieve(Query(asked, by="meaning"), EVERYONE, 40)
        imagined = await retriever.retrieve(
            Query(asked, by="meaning", imagined="Pets are welcome in all rooms of the Gonville Hotel."), EVERYONE, 40
        )
        assert imagined.passages[0].doc_id == "Gonville Hotel/pets"
        assert (imagined.passages[0].semantic or 0) > max(p.semantic or 0 for p in plain.passages)
        both = [
            await retriever.retrieve(Query(asked, imagined=text), EVERYONE, 40) for text in ("", "Pets are welcome.")
        ]
        assert both[1].passages[0].doc_id == "Gonville Hotel/pets"
        assert {p.doc_id: p.bm25 for p in both[0].passages if p.bm25} == {
            p.doc_id: p.bm25 for p in both[1].passages if p.bm25
        }
    finally:
        index.close()
