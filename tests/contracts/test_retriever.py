"""What every Retriever promises, run over each implementation."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from grounding.azure.search.agentic import MODE
from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.retriever import EmbeddedRetriever
from grounding.ports import Retriever
from grounding.records import Access, Document, Query, SearchBy
from tests.fakes.ai_search_server import AiSearchServer
from tests.fakes.azure_kb import AzureKb, azure_kb
from tests.fakes.embedder import HashEmbedder
from tests.grounding.embedded.kb import open_kb, retriever_of

BY: list[SearchBy] = ["hybrid", "words", "meaning"]
GROUPS = ["billing", "tier2", "legal"]
PRODUCTS = ["wren", "roost", None]


def documents() -> list[Document]:
    """200 documents about the same things with random rights; every id says who may read it."""
    rng = random.Random(7)
    out = []
    for n in range(200):
        groups = rng.choice([None, (), *[tuple(rng.sample(GROUPS, k)) for k in (1, 2)]])
        product = rng.choice(PRODUCTS)
        out.append(
            Document(
                f"d{n}",
                f"Refund rule {n}",
                f"The refund of case {n} takes {n % 9} days and costs nothing.",
                None,
                groups,
                product,
            )
        )
    return out


@asynccontextmanager
async def retriever_over(
    kind: str, folder: Path, kb: list[Document], uploaded: dict[str, AiSearchServer] | None = None
) -> AsyncIterator[Retriever]:
    """A retriever over `kb`: the embedded one, or Azure AI Search with and without the store of record beside it."""
    embedder = None if "lexical" in kind else HashEmbedder()
    if kind.startswith("azure"):
        async with azure_kb(folder, kb, embedder, semantic="ranked" in kind, agentic="agentic" in kind) as azure:
            if uploaded is not None:
                uploaded[kind] = azure.server
            yield _retriever(azure, kind)
    else:
        index = await open_kb(folder, kb, embedder)
        yield retriever_of(index, embedder)
        index.close()


def _retriever(azure: AzureKb, kind: str) -> Retriever:
    store = "alone" not in kind
    return azure.agentic(store=store) if "agentic" in kind else azure.retriever(store=store)


@pytest.fixture(scope="module")
def uploaded() -> dict[str, AiSearchServer]:
    """Servers that hold the documents already; each test reads them through one of its own."""
    return {}


@pytest.fixture(scope="module")
def taken_in(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the folder of an index that holds the documents already and is closed; each test has a copy of its own."""
    made: dict[str, Path] = {}

    def of(kind: str) -> Path:
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp(kind) / "index"
            asyncio.run(_take_in(made[kind], None if kind == "lexical" else HashEmbedder()))
        return made[kind]

    return of


async def _take_in(folder: Path, embedder: HashEmbedder | None) -> None:
    (await open_kb(folder, documents(), embedder)).close()


@pytest.fixture
def folder(kind: str, tmp_path: Path, taken_in: Callable[[str], Path]) -> Path:
    """The folder of the test's index, with the documents in it where nobody else has to hold them."""
    return tmp_path / "index" if kind.startswith("azure") else shutil.copytree(taken_in(kind), tmp_path / "index")


@pytest.fixture(params=["hybrid", "lexical", "azure", "azure ranked", "azure agentic"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def retriever(kind: str, folder: Path, uploaded: dict[str, AiSearchServer]) -> AsyncIterator[Retriever]:
    if not kind.startswith("azure"):
        embedder = None if kind == "lexical" else HashEmbedder()
        index = EmbeddedIndex(folder, embedder)
        yield retriever_of(index, embedder)
        index.close()
        return
    if kind in uploaded:
        server = AiSearchServer.like(uploaded[kind])
        options = {"semantic": "ranked" in kind, "agentic": "agentic" in kind}
        async with azure_kb(folder, documents(), HashEmbedder(), server=server, follow=False, **options) as azure:
            yield _retriever(azure, kind)
        return
    async with retriever_over(kind, folder, documents(), uploaded) as found:
        yield found


@pytest.mark.parametrize(
    "query", [Query("how long does a refund take", by=by, imagined=i) for by in BY for i in ("", "9 days")]
)
async def test_nobody_sees_what_they_may_not(retriever: Retriever, query: Query) -> None:
    """Trimming agrees with a plain reference for random users, groups and products, and never costs a visible result."""
    rng = random.Random(11)
    by_id = {d.doc_id: d for d in documents()}
    for _ in range(20 if isinstance(retriever, EmbeddedRetriever) else 5):  # the SDK reads a thousand results slowly
        access = Access("u", frozenset(rng.sample(GROUPS, rng.randint(0, 3))), rng.choice(PRODUCTS))
        found = await retriever.retrieve(query, access, 1000)
        expected = {
            i
            for i, d in by_id.items()
            if (d.groups is None or access.groups & set(d.groups))
            and (access.product is None or d.product in (None, access.product))
        }
        seen = {p.doc_id for p in found.passages}
        assert seen <= expected
        assert len(seen) >= min(len(expected), 50 if found.mode == MODE else 100)  # so many are ranked for an intent


async def test_a_group_named_like_a_sign_opens_nothing(retriever: Retriever) -> None:
    """Group names are data: no name is taken for everyone, nobody or a pattern."""
    plain = {p.doc_id for p in (await retriever.retrieve(Query("refund"), Access(), 500)).passages}
    for name in ("*", "g:billing", "", "[]", "null", "billing OR tier2"):
        found = await retriever.retrieve(Query("refund"), Access("u", frozenset({name})), 500)
        assert {p.doc_id for p in found.passages} == plain


@pytest.mark.parametrize("by", BY)
async def test_passages_are_exact_and_ordered(retriever: Retriever, by: SearchBy) -> None:
    """At most k, best first, scores in [0, 1], each passage the characters of its document at its offset."""
    by_id = {d.doc_id: d for d in documents()}
    found = await retriever.retrieve(Query("refund of case 17", by=by), Access("u", frozenset(GROUPS)), 20)
    assert 0 < len(found.passages) <= 20
    assert [p.score for p in found.passages] == sorted((p.score for p in found.passages), reverse=True)
    assert found.kb_version.startswith("kb-")
    for p in found.passages:
        assert 0.0 <= p.score <= 1.0
        assert by_id[p.doc_id].text[p.start : p.start + len(p.text)] == p.text
        assert p.version == by_id[p.doc_id].version


@pytest.mark.row("1-01")
@pytest.mark.parametrize("k", [1, 50, 100, 1000])
async def test_any_number_may_be_retrieved(retriever: Retriever, k: int) -> None:
    found = await retriever.retrieve(Query("refund"), Access("u", frozenset(GROUPS)), k)
    assert len(found.passages) <= k


@pytest.mark.parametrize(
    "query", ["", "   ", "?!", "\x00", "a" * 5000, 'title:"x" AND (', "𝔘𝔫𝔦", "-- ; DROP TABLE chunks"]
)
async def test_any_text_is_a_query(retriever: Retriever, query: str) -> None:
    """No query is a syntax error, whatever signs it holds."""
    for by in BY:
        await retriever.retrieve(Query(query, by=by, imagined=query), Access(), 10)


@pytest.mark.row("4-11")
async def test_by_words_is_bm25_alone(retriever: Retriever) -> None:
    """No meaning, imagined or not, and nothing to be sorry about."""
    plain = await retriever.retrieve(Query("refund of case 17", by="words"), Access(), 30)
    scores = [p.bm25 for p in plain.passages]
    assert plain.passages
    assert None not in scores
    assert scores == sorted(scores, key=lambda score: -(score or 0))
    assert {p.semantic for p in plain.passages} == {None}
    assert (plain.mode, plain.notes) == ("lexical", ())
    assert await retriever.retrieve(Query("refund of case 17", by="words", imagined="days"), Access(), 30) == plain


async def test_a_retriever_says_what_it_searched_by(retriever: Retriever) -> None:
    """Without vectors meaning and both are words, with a note; with them the mode names what was asked for."""
    found = {
        by: await retriever.retrieve(Query("refund", by=by, imagined="It costs nothing."), Access(), 5) for by in BY
    }
    if found["hybrid"].notes:
        assert {f.mode for f in found.values()} == {"lexical"}
        assert found["meaning"].notes == found["hybrid"].notes
    else:
        ranked = "+ranked" if any(p.reranked is not None for p in found["hybrid"].passages) else ""
        assert {by: f.mode for by, f in found.items()} == {
            "hybrid": f"hybrid+hyde{ranked}",
            "words": "lexical",
            "meaning": "semantic+hyde",
        }


async def test_the_same_question_gives_the_same_order(retriever: Retriever) -> None:
    one = await retriever.retrieve(Query("days of refund"), Access(), 50)
    assert one == await retriever.retrieve(Query("days of refund"), Access(), 50)


@pytest.mark.parametrize("kind", ["hybrid", "azure", "azure agentic"])
async def test_a_passage_is_not_given_twice_within_a_group(kind: str, tmp_path: Path) -> None:
    """Equal text under one title and the same rights is one passage; under other rights or another title it stays another."""
    text = "Refunds are paid within nine working days."
    same = [Document(f"copy{n}", "Refunds", text) for n in range(3)]
    others = [Document("closed", "Refunds", text, groups=("billing",)), Document("trade", "Trade refunds", text)]
    async with retriever_over(kind, tmp_path / "index", [*same, *others]) as retriever:
        found = await retriever.retrieve(Query("refunds"), Access("u", frozenset({"billing"})), 10)
    assert sorted(p.doc_id[:4] for p in found.passages) == ["clos", "copy", "trad"]


SIGNS = ["a'b", "a,b", "a|b", "a b", "'", "x') or groups/any(g: true", "g:a", "%7C", "ä|ö", "b", "a"]


@pytest.mark.parametrize("kind", ["hybrid", "azure", "azure alone", "azure agentic", "azure agentic alone"])
async def test_a_group_of_any_name_opens_its_own_documents_alone(kind: str, tmp_path: Path) -> None:
    """Quotes, delimiters and what looks like a filter are signs of a name; products likewise."""
    kb = [
        Document(f"d{n}", f"Refund {n}", f"Refunds of group number {n}.", None, (name,), name)
        for n, name in enumerate(SIGNS)
    ]
    kb += [Document("nobody", "Refund", "Refunds of nobody.", None, ()), Document("all", "Refund", "Refunds for all.")]
    async with retriever_over(kind, tmp_path / "index", kb) as retriever:
        for n, name in enumerate(SIGNS):
            for product in (None, name):
                found = await retriever.retrieve(Query("refunds"), Access("u", frozenset({name}), product), 50)
                assert {p.doc_id for p in found.passages} == {f"d{n}", "all"}
        both = await retriever.retrieve(Query("refunds"), Access("u", frozenset(SIGNS)), 50)
        assert len(both.passages) == len(SIGNS) + 1
