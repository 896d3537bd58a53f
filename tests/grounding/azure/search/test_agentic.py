"""Agentic retrieval: the real SDK against a loopback server of the published form, and the search that stands behind it."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from azure.core.credentials import AccessToken, AzureKeyCredential
from azure.core.exceptions import HttpResponseError
from azure.search.documents.knowledgebases.aio import KnowledgeBaseRetrievalClient
from azure.search.documents.knowledgebases.models import KnowledgeBaseRetrievalRequest

from grounding.azure.search.agentic import NOTHING, UNSCORED, AgenticRetriever, intents
from grounding.azure.search.filter import readable
from grounding.azure.search.knowledge import SearchKnowledge
from grounding.azure.search.ranker import ASK_AGAIN_S
from grounding.azure.search.sharepoint import definitions
from grounding.errors import ServiceError, ServiceRejected, SettingsError
from grounding.ingest.chunk_paragraphs import split
from grounding.observe import GoneWithout, Operation, watched_by
from grounding.records import Access, Document, Query, Sentence
from tests.fakes import faults
from tests.fakes.ai_search_server import KEY
from tests.fakes.azure_kb import INDEX, AzureKb, azure_kb, remote
from tests.fakes.embedder import HashEmbedder
from tests.fakes.faults import Fault
from tests.grounding.azure.search.test_retriever import FAULTS, KB, OFF, SPENT, Token

ANYBODY, LEGAL = Access(), Access("u", frozenset({"legal"}))
ASKED = Query("How many days does a refund take?")
PERSONAL = "Quillfeather"
RETRIEVE = f"/knowledgebases('{INDEX}')/retrieve"
PAGE: dict[str, Any] = {
    "chunk_id": "sp-1",
    "doc_id": "https://contoso.sharepoint.com/Handbook.docx",
    "source": None,
    "title": "Handbook.docx",
    "text": "A refund by hand takes days.",
    "url": "https://contoso.sharepoint.com/Handbook.docx",
    "groups": ["g:legal"],
    "parent": "x",
}
"""As the indexer of `tools.sharepoint_indexer` leaves it: no source, no stamp, groups from the library's column."""


def asked(kb: AzureKb) -> list[dict[str, Any]]:
    return kb.server.of(RETRIEVE)


async def test_the_knowledge_base_finds_and_ranks(tmp_path: Path) -> None:
    """One request; the ranker's score alone, and nothing that another kind of search would have given."""
    async with azure_kb(tmp_path, KB, HashEmbedder(), agentic=True) as kb:
        searches = len(kb.server.of("/docs/search.post.search"))
        found = await kb.agentic().retrieve(ASKED, ANYBODY, 5)
        assert (found.mode, found.notes, found.kb_version) == ("agentic", (), kb.index.kb_version())
        assert {p.doc_id for p in found.passages} == {"refunds"}
        (first,) = found.passages
        assert (first.text, first.url, first.version) == (KB[0].text, "https://x.example/r", KB[0].version)
        assert first.reranked is not None
        assert first.score == round(first.reranked / 4, 6)
        assert (first.bm25, first.semantic, first.caption) == (None, None, None)
        (body,) = asked(kb)
        assert body["intents"] == [{"type": "semantic", "search": "How many days does a refund take?"}]
        (params,) = body["knowledgeSourceParams"]
        assert params["filterAddOn"] == readable(ANYBODY)
        assert (params["knowledgeSourceName"], params["kind"], params["rerankerThreshold"]) == (INDEX, "searchIndex", 0)
        assert len(kb.server.of("/docs/search.post.search")) == searches


async def test_names_of_earlier_turns_make_a_second_intent(tmp_path: Path) -> None:
    """A passage that both intents find has the better of its two scores, and stands once."""
    query = Query("Roost how long?", (Sentence(0, 0, 9, "how long?", 1.0),), ("Roost",))
    async with azure_kb(tmp_path, [Document("d", "Roost", "Roost takes long.")], None, agentic=True) as kb:
        found = await kb.agentic().retrieve(query, ANYBODY, 5)
        assert [i["search"] for i in asked(kb)[-1]["intents"]] == ["how long?", "Roost how long?"]
        assert [p.doc_id for p in found.passages] == ["d"]


async def test_a_document_named_twice_has_the_better_score(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, [Document("d", "Roost", "Roost takes long.")], None, agentic=True) as kb:
        (key,) = kb.held
        named = [{"docKey": key, "rerankerScore": score} for score in (1.5, 3.5, 2.0)]
        kb.server.script = [reply({"references": named})]
        (passage,) = (await kb.agentic().retrieve(ASKED, ANYBODY, 5)).passages
        assert passage.reranked == 3.5


SPREAD = [Document(f"d{n}", f"Refund {n}", f"A refund of case {n}. " + "word " * n) for n in range(6)]


@pytest.mark.parametrize("scoring", [False, None])
@pytest.mark.parametrize("store", [False, True])
async def test_a_reply_without_scores_keeps_its_order(tmp_path: Path, scoring: bool | None, store: bool) -> None:
    """The published contract leaves the score open: the places are taken, no score is made up for the ranker, and the record says so."""
    async with azure_kb(tmp_path, SPREAD, None, agentic=True) as kb:
        scored = await kb.agentic(store=store).retrieve(Query("refund of a case"), ANYBODY, 9)
        kb.server.knowledge.scoring = scoring
        found = await kb.agentic(store=store).retrieve(Query("refund of a case"), ANYBODY, 9)
        assert (found.mode, found.notes) == ("agentic", (UNSCORED,))
        assert [p.doc_id for p in found.passages] == [p.doc_id for p in scored.passages]
        assert {p.reranked for p in found.passages} == {None}
        scores = [p.score for p in found.passages]
        assert all(0 < score <= 1 for score in scores)
        assert scores == sorted(set(scores), reverse=True)


async def test_a_reference_without_a_score_stays_in_its_place_among_others(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, SPREAD, None, agentic=True) as kb:
        keys = {d["doc_id"]: key for key, d in kb.held.items()}
        named = [("d1", 3.0), ("d2", None), ("d3", 2.0), ("d4", 3.5), ("d2", None), ("d5", None)]
        kb.server.script = [reply({"references": [{"docKey": keys[d], "rerankerScore": s} for d, s in named]})]
        found = await kb.agentic().retrieve(Query("refund"), ANYBODY, 9)
        told = [(p.doc_id, p.reranked) for p in found.passages]
        assert told == [("d4", 3.5), ("d5", None), ("d1", 3.0), ("d2", None), ("d3", 2.0)]
        scores = [p.score for p in found.passages]
        assert scores == sorted(scores, reverse=True)
        assert found.notes == ()


@pytest.mark.parametrize("ranker", ["off", "spent"])
async def test_a_refused_ranker_is_asked_once_and_again_after_a_while(tmp_path: Path, ranker: str) -> None:
    """Neither the knowledge base nor the search pays for the refusal a second time."""
    now = 0.0
    async with azure_kb(tmp_path, KB, None, agentic=True) as kb:
        retriever = AgenticRetriever(kb.knowledge, kb.retriever(clock=lambda: now), clock=lambda: now)
        kb.server.ranker, kb.server.bodies = ranker, []
        for _ in range(3):
            found = await retriever.retrieve(ASKED, ANYBODY, 3)
            assert "the semantic ranker is not available" in found.notes[0]
            assert found.passages
        assert len(asked(kb)) == 1
        assert len(kb.server.of("/docs/search.post.search")) == 1 + 3
        assert set(retriever.refused) == {"agentic retrieval", "semantic ranker"}
        now, kb.server.ranker = ASK_AGAIN_S, "on"
        assert ((await retriever.retrieve(ASKED, ANYBODY, 3)).mode, retriever.refused) == ("agentic", {})


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("how long?", ["how long?"]),
        ('a + b | (c) "d"', ["a b c d"]),
        ("W-230 -x --y pre* fuzzy~", ["W-230 x y pre fuzzy"]),
        ("don't", ["don't"]),
        ("*", []),
        ("?! ~", []),
        ("", []),
        ("\ud800", []),
        ("a" * 5000, ["a" * 2000]),
    ],
)
def test_no_sign_of_an_intent_is_an_operator(text: str, sent: list[str]) -> None:
    assert intents(Query(text)) == sent


@pytest.mark.parametrize(
    "query", [replace(ASKED, by="words"), replace(ASKED, by="meaning"), replace(ASKED, imagined="9 days"), Query("*")]
)
async def test_what_agentic_retrieval_cannot_do_the_search_does(tmp_path: Path, query: Query) -> None:
    """One side alone, an imagined answer, or no word at all."""
    async with azure_kb(tmp_path, KB, HashEmbedder(), agentic=True) as kb:
        assert await kb.agentic().retrieve(query, ANYBODY, 5) == await kb.retriever().retrieve(query, ANYBODY, 5)
        assert asked(kb) == []


async def test_what_has_no_word_in_common_the_search_finds_by_meaning(tmp_path: Path) -> None:
    """Vectors have no part in agentic retrieval, so an empty reply is not the last word."""
    async with azure_kb(tmp_path, KB, HashEmbedder(), agentic=True) as kb:
        found = await kb.agentic().retrieve(Query("zzz qqq"), ANYBODY, 5)
        assert found.notes == (NOTHING,)
        assert (found.mode, bool(found.passages)) == ("hybrid+ranked", True)


async def test_long_passages_are_not_left_out_for_want_of_room(tmp_path: Path) -> None:
    """The service leaves out without a word what does not fit its reply; its own limit would hold a fifth of these."""
    kb = [
        Document(f"d{n}", f"Refund {n}", f"Refund of case {n}. " + "It takes some time to go. " * 20) for n in range(40)
    ]
    async with azure_kb(tmp_path, kb, None, agentic=True) as azure:
        found = await azure.agentic().retrieve(Query("refund of a case"), ANYBODY, 50)
        assert {p.doc_id for p in found.passages} == {d.doc_id for d in kb}


# --- trimming


@pytest.mark.parametrize("careless", [False, True])
@pytest.mark.parametrize("name", ["legal", "o'brien", "a|b", "x') or groups/any(g: true", "'", "%7C"])
async def test_a_passage_of_another_group_never_comes_back(tmp_path: Path, name: str, careless: bool) -> None:
    """Also from a service that takes the filter and forgets it: the store has the last word."""
    kb = [Document("theirs", "Refund", "A refund for some.", groups=(name,)), Document("all", "Refunds", "A refund.")]
    async with azure_kb(tmp_path, kb, None, agentic=True) as azure:
        azure.server.knowledge.careless = careless
        for groups, seen in ((set(), {"all"}), ({"sales"}, {"all"}), ({name}, {"all", "theirs"})):
            found = await azure.agentic().retrieve(Query("refund"), Access("u", frozenset(groups)), 9)
            assert (found.mode, {p.doc_id for p in found.passages}) == ("agentic", seen)


async def test_what_the_store_no_longer_lets_through_is_left_out(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, None, agentic=True) as kb:
        narrowed = replace(KB[0], groups=("sales",))
        kb.index.store.put([(narrowed, split(narrowed), "test", "2")])
        kb.index.store.drop(["plans"], pulled=True)
        found = await kb.agentic().retrieve(Query("nine refund watch"), LEGAL, 9)
        assert {p.doc_id for p in found.passages} == {"legal"}


@pytest.mark.parametrize("careless", [False, True])
@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize("others", [False, True])
async def test_pages_of_an_indexer_are_read_from_the_index_under_the_filter(
    tmp_path: Path, store: bool, others: bool, careless: bool
) -> None:
    """The store does not know them, so who may read them is asked of the index once more, whoever named their keys."""
    async with azure_kb(tmp_path, KB, None, agentic=True) as kb:
        mapped = definitions(INDEX, "https://contoso.sharepoint.com", "t", "a")[f"skillsets('{INDEX}-sharepoint')"]
        (pages_of,) = mapped["indexProjections"]["selectors"]
        assert {m["name"] for m in pages_of["mappings"]} | {"chunk_id", "parent", "source"} >= set(PAGE)
        kb.server.documents[INDEX]["sp-1"] = PAGE
        kb.server.knowledge.careless = careless
        retriever = kb.agentic(store=store, others=others)
        for access, may in ((LEGAL, others), (ANYBODY, False)):
            found = await retriever.retrieve(ASKED, access, 9)
            assert found.mode == "agentic"
            pages = [p for p in found.passages if p.chunk_id == "sp-1"]
            assert len(pages) == may
            assert {p.doc_id for p in found.passages} <= {"refunds", "legal", "plans", PAGE["doc_id"]}
            assert may or "legal" in access.groups or {p.doc_id for p in found.passages} == {"refunds"}
            for page in pages:
                assert (page.title, page.url, page.text) == (PAGE["title"], PAGE["url"], PAGE["text"])
                assert page.reranked is not None


# --- failures: the search of the same index answers


def fails(**reference: Any) -> Fault:
    told = {"type": "searchIndex", "id": "0", "activitySource": 0, "docKey": "k", "rerankerScore": 1.0} | reference
    return reply({"references": [{k: v for k, v in told.items() if v != "left out"}]})


def reply(body: Any) -> Fault:
    async def fault(_request: web.Request) -> web.StreamResponse:
        return web.json_response(body)

    return fault


BROKEN: dict[str, Fault] = {
    "no references": reply({"response": []}),
    "references in words": reply({"references": "many"}),
    "null references": reply({"references": None}),
    "no key": fails(docKey="left out"),
    "a key of null": fails(docKey=None),
    "a key in figures": fails(docKey=5),
    "a score in words": fails(rerankerScore="high"),
    "a score of yes": fails(rerankerScore=True),
    "a score of no number": fails(rerankerScore=float("nan")),
    "a score above all": fails(rerankerScore=40.0),
    "a score below all": fails(rerankerScore=-1.0),
    "a reference that is none": reply({"references": [5]}),
}
FAILING = {name: fault for name, (fault, _, attempts) in FAULTS.items() if attempts or name == "cut connection"}


@pytest.mark.parametrize("fault", [*FAILING, *BROKEN])
async def test_when_it_fails_the_search_answers(fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One attempt, then all results of the search and none of a reply that cannot be trusted; nothing of it is repeated."""
    caplog.set_level(logging.DEBUG)
    gone: list[Operation] = []
    query = Query(f"How many days does a refund take, {PERSONAL}?")
    async with azure_kb(tmp_path, KB, HashEmbedder(), agentic=True) as kb:
        plain = await kb.retriever().retrieve(query, ANYBODY, 3)
        kb.server.script = [(FAILING | BROKEN)[fault]]
        with watched_by(lambda op: _noted(gone, op)):
            found = await kb.agentic().retrieve(query, ANYBODY, 3)
        assert len(asked(kb)) == 1
    assert (found.passages, found.mode) == (plain.passages, plain.mode)
    (note,) = found.notes
    assert note.startswith("agentic retrieval: ")
    assert [op.seam for op in gone if isinstance(op, GoneWithout)] == ["agentic"]
    logged = "".join(r.getMessage() for r in caplog.records if r.name != "aiohttp.access")
    assert not [secret for secret in (KEY, PERSONAL) if secret in note or secret in logged]


def _noted(gone: list[Operation], operation: Operation) -> AbstractContextManager[object]:
    gone.append(operation)
    return nullcontext()


@pytest.mark.parametrize(
    ("ranker", "note"),
    [
        ("busy", "agentic retrieval: answered in part (status 206)"),
        ("off", f"agentic retrieval: the semantic ranker is not available ({OFF})"),
        ("spent", f"agentic retrieval: the semantic ranker is not available ({SPENT})"),
    ],
)
async def test_a_service_that_ranks_nothing_says_so_in_one_line(tmp_path: Path, ranker: str, note: str) -> None:
    async with azure_kb(tmp_path, KB, None, agentic=True) as kb:
        kb.server.ranker = ranker
        found = await kb.agentic(semantic=False).retrieve(ASKED, ANYBODY, 3)
        assert found.notes[0] == f"{note}; these are the results of the search"
        assert found.passages


async def test_without_a_knowledge_base_the_search_answers_and_says_what_makes_one(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, None) as kb:
        found = await kb.agentic().retrieve(ASKED, ANYBODY, 3)
        assert "there is no knowledge base 'attest' yet; attest ingest makes it" in found.notes[0]
        assert [p.doc_id for p in found.passages][:1] == ["refunds"]


@pytest.mark.parametrize(
    "fault",
    [faults.slow(), faults.status(429, Retry_After="60"), faults.status(503, Retry_After="60")],
    ids=["slow", "429", "503"],
)
async def test_no_failure_outlasts_its_part_of_the_deadline(fault: Fault, tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, None, agentic=True, deadline_s=4.0, sleep=asyncio.sleep) as kb:
        kb.server.script = [fault]
        began = time.monotonic()
        found = await kb.agentic().retrieve(ASKED, ANYBODY, 3)
        assert time.monotonic() - began < 20  # not the minute that was asked for
        assert found.passages
    assert len(asyncio.all_tasks()) == 1


async def test_when_both_fail_the_error_is_the_searchs(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, None, agentic=True) as kb:
        kb.server.otherwise = faults.echoed(403)
        with pytest.raises(ServiceRejected, match=r"^search: ") as caught:
            await kb.agentic().retrieve(Query(f"refund {PERSONAL}"), ANYBODY, 3)
    told = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
    assert not [secret for secret in (KEY, PERSONAL) if secret in told]


async def test_an_index_that_does_not_confirm_the_pages_of_others_is_searched(tmp_path: Path) -> None:
    """The second request of that way fails: nothing that only the knowledge base vouches for is used."""
    async with azure_kb(tmp_path, KB, None, agentic=True) as kb:
        kb.server.documents[INDEX]["sp-1"] = PAGE
        kb.server.knowledge.careless = True
        references = [{"docKey": "sp-1", "rerankerScore": 3.0}, {"docKey": "x') or true", "rerankerScore": 4.0}]
        kb.server.script = [reply({"references": references}), faults.status(400)]
        found = await kb.agentic(others=True, semantic=False).retrieve(ASKED, ANYBODY, 9)
        assert found.mode != "agentic"
        assert found.passages
        assert {p.doc_id for p in found.passages} <= {"refunds", "plans"}


# --- the knowledge base is made, kept up to date, and left alone where it is somebody else's


async def test_it_is_made_once_and_named_after_the_index(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, None, agentic=True) as kb:
        held = kb.server.knowledge.held
        source, base = held["knowledgesources"][INDEX], held["knowledgebases"][INDEX]
        assert source["searchIndexParameters"] == {
            "searchIndexName": INDEX,
            "semanticConfigurationName": "attest",
            "searchFields": [{"name": "title"}, {"name": "text"}],
        }
        assert base["knowledgeSources"] == [{"name": INDEX}]
        etags = (source["@odata.etag"], base["@odata.etag"])
        await kb.knowledge.prepare()
        assert (held["knowledgesources"][INDEX]["@odata.etag"], held["knowledgebases"][INDEX]["@odata.etag"]) == etags


async def test_a_source_of_an_earlier_form_is_changed_under_its_etag(tmp_path: Path) -> None:
    """What else it holds stays; a change that somebody else made meanwhile is not written over but looked at again."""
    async with azure_kb(tmp_path, KB, None, agentic=True) as kb:
        held = kb.server.knowledge.held["knowledgesources"]
        held[INDEX]["searchIndexParameters"] = {"searchIndexName": INDEX, "sourceDataFields": [{"name": "url"}]}
        left = iter(range(1))

        def somebody() -> None:
            if next(left, None) is not None:
                held[INDEX] = {**held[INDEX], "@odata.etag": '"other"', "description": "ours too"}

        kb.server.before_put = somebody
        await kb.knowledge.prepare()
        assert held[INDEX]["searchIndexParameters"] == {
            "searchIndexName": INDEX,
            "sourceDataFields": [{"name": "url"}],
            "semanticConfigurationName": "attest",
            "searchFields": [{"name": "title"}, {"name": "text"}],
        }
        assert held[INDEX]["description"] == "ours too"


async def test_two_who_make_it_at_once_make_one(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, None, semantic=True) as kb:
        await asyncio.gather(kb.knowledge.prepare(), kb.knowledge.prepare())
        assert (await kb.agentic().retrieve(ASKED, ANYBODY, 3)).mode == "agentic"


@pytest.mark.parametrize(
    ("kind", "change", "why"),
    [
        (
            "knowledgesources",
            {"searchIndexParameters": {"searchIndexName": "payroll"}},
            "does not read the index of that name",
        ),
        (
            "knowledgesources",
            {"kind": "azureBlob", "searchIndexParameters": None},
            "does not read the index of that name",
        ),
        (
            "knowledgebases",
            {"knowledgeSources": [{"name": INDEX}, {"name": "payroll"}]},
            "reads other knowledge sources",
        ),
        ("knowledgebases", {"knowledgeSources": [{"name": "payroll"}]}, "reads other knowledge sources"),
    ],
)
async def test_what_is_somebody_elses_is_refused(tmp_path: Path, kind: str, change: dict[str, Any], why: str) -> None:
    """A filter holds for one source: a base that reads another would let through what nobody trimmed."""
    async with azure_kb(tmp_path, KB, None, agentic=True) as kb:
        held = kb.server.knowledge.held[kind]
        held[INDEX] = {**held[INDEX], **change}
        before = dict(held[INDEX])
        with pytest.raises(SettingsError, match=f"ATTEST_SEARCH_INDEX=attest: .*{why}"):
            await kb.knowledge.prepare()
        assert held[INDEX] == before


async def test_a_refused_knowledge_base_is_a_clear_error(tmp_path: Path) -> None:
    """No index, or one without a semantic configuration."""
    async with azure_kb(tmp_path, KB, None) as kb:
        with pytest.raises(ServiceRejected, match=r"agentic retrieval: the request was refused \(status 400"):
            await kb.knowledge.prepare()
    async with azure_kb(tmp_path / "2", KB, None, follow=False) as kb:
        with pytest.raises(ServiceError):
            await kb.knowledge.prepare()


# --- traps of the SDK


async def test_the_name_of_the_knowledge_base_goes_to_the_client_alone(tmp_path: Path) -> None:
    """As samples have it, given to retrieve(), it is a TypeError of the transport; without it in the client there is no client."""
    async with azure_kb(tmp_path, KB, None, agentic=True) as kb:
        await kb.agentic().retrieve(ASKED, ANYBODY, 3)
        assert [at for at, _ in kb.server.bodies][-1] == RETRIEVE
        with pytest.raises(TypeError):
            KnowledgeBaseRetrievalClient(kb.server.root, AzureKeyCredential(KEY))
        client = KnowledgeBaseRetrievalClient(kb.server.root, AzureKeyCredential(KEY), knowledge_base_name=INDEX)
        with pytest.raises(TypeError):
            await client.retrieve(KnowledgeBaseRetrievalRequest(intents=[]), knowledge_base_name=INDEX)
        await client.close()


async def test_the_stub_refuses_what_the_stable_interface_does_not_know(tmp_path: Path) -> None:
    """Messages and reasoning efforts are of the preview: the stub would show it if they were sent."""
    async with azure_kb(tmp_path, KB, None, agentic=True) as kb:
        client = KnowledgeBaseRetrievalClient(kb.server.root, AzureKeyCredential(KEY), knowledge_base_name=INDEX)
        intent = {"type": "semantic", "search": "a"}
        bodies: list[dict[str, Any]] = [
            {"messages": []},
            {"intents": []},
            {"intents": [intent], "retrievalReasoningEffort": {"kind": "low"}},
        ]
        for body in bodies:
            with pytest.raises(HttpResponseError, match="InvalidRequestParameter"):
                await client.retrieve(body)
        await client.close()


async def test_without_a_key_a_token_is_sent_also_to_loopback(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, None, agentic=True) as kb:
        token = Token()
        knowledge = SearchKnowledge(kb.server.root, token, INDEX, remote("agentic retrieval"))
        await knowledge.prepare()
        assert await knowledge.retrieve(["refund"], readable(ANYBODY))
        assert kb.server.headers[-1]["Authorization"] == "Bearer canary-token"
        assert isinstance(await token.get_token(), AccessToken)
        await knowledge.aclose()
        assert token.closed == 0


@pytest.mark.parametrize(
    ("endpoint", "key"), [("http://n.search.windows.net", KEY), ("https://n.search.windows.net", "a b")]
)
def test_what_cannot_be_used_is_said_at_once(endpoint: str, key: str) -> None:
    with pytest.raises(SettingsError, match="ATTEST_SEARCH_") as caught:
        SearchKnowledge(endpoint, key, INDEX, remote())
    assert key not in str(caught.value)
