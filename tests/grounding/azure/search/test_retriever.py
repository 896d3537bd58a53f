"""Azure AI Search as retriever: the real SDK against a loopback server of the published form, in health and in every failure."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import traceback
from pathlib import Path

import pytest
from azure.core.credentials import AccessToken

from grounding.azure.search.ranker import ASK_AGAIN_S
from grounding.azure.search.retriever import NO_RANKER, REFUSED, UNRANKED
from grounding.azure.search.service import SearchService
from grounding.errors import (
    AttestError,
    ServiceError,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceTimeout,
    ServiceUnavailable,
    SettingsError,
)
from grounding.ingest.chunk_paragraphs import split
from grounding.records import Access, Document, Query
from grounding.services.remote import Overloaded, Throttled
from tests.fakes import faults
from tests.fakes.ai_search_server import KEY, AiSearchServer
from tests.fakes.azure_kb import INDEX, AzureKb, azure_kb, remote
from tests.fakes.embedder import HashEmbedder
from tests.fakes.faults import Fault

ANYBODY = Access()
KB = [
    Document(
        "refunds",
        "Refunds",
        "A refund takes nine working days. It is paid to the card.",
        "https://x.example/r",
        None,
        "roost",
        updated="2026-01-01",
    ),
    Document(
        "legal",
        "Legal refunds",
        "A refund after nine years is a matter of the courts.",
        None,
        ("legal",),
        internal=True,
    ),
    Document("plans", "Plans", "Watch costs nine dollars a month."),
]
QUERY = "where is the parcel of Quillfeather"


def body_of(kb: AzureKb) -> dict[str, object]:
    """The last search that was asked."""
    return kb.server.of("/docs/search.post.search")[-1]


async def test_a_hybrid_search_tells_each_score_apart(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, HashEmbedder(), semantic=True) as kb:
        found = await kb.retriever().retrieve(Query("How many days does a refund take?"), ANYBODY, 5)
        first = found.passages[0]
        assert (first.doc_id, first.url, first.updated, first.tokens > 0) == (
            "refunds",
            "https://x.example/r",
            "2026-01-01",
            True,
        )
        assert first.bm25 is not None
        assert first.bm25 > 0
        assert first.semantic is not None
        assert -1 <= first.semantic <= 1
        assert first.reranked is not None
        assert first.score == round(first.reranked / 4, 6)
        assert first.caption == "A refund takes nine working days."
        assert found.kb_version == kb.index.kb_version()
        body = body_of(kb)
        assert (body["vectorFilterMode"], body["debug"], body["semanticErrorHandling"]) == (
            "preFilter",
            "vector",
            "partial",
        )
        assert "answers" not in body  # a threshold without a count is malformed in the SDK: none is asked for
        assert body["select"] == "chunk_id,source"


OFF = "it is switched off for this service, or the free tier has none"
SPENT = "the free queries of this month are used up"


@pytest.mark.parametrize(
    ("ranker", "note"), [("busy", UNRANKED), ("off", NO_RANKER.format(why=OFF)), ("spent", NO_RANKER.format(why=SPENT))]
)
async def test_without_the_ranker_results_stand_in_the_order_of_the_search(
    tmp_path: Path, ranker: str, note: str
) -> None:
    """A 206 without scores, or a refusal of the service: noted, and nothing is lost."""
    async with azure_kb(tmp_path, KB, HashEmbedder(), semantic=True) as kb:
        kb.server.ranker = ranker
        found = await kb.retriever().retrieve(Query("refund days"), ANYBODY, 5)
        plain = await kb.retriever(semantic=False).retrieve(Query("refund days"), ANYBODY, 5)
        assert found.notes == (note,)
        assert found.mode == "hybrid"
        assert found.passages == plain.passages


def searches(kb: AzureKb) -> list[str]:
    """Whether each search that was asked wanted the ranker: "semantic", or "plain"."""
    return [str(body.get("queryType", "plain")) for body in kb.server.of("/docs/search.post.search")]


@pytest.mark.parametrize(("ranker", "why"), [("off", OFF), ("spent", SPENT)])
async def test_a_refused_ranker_is_asked_once_and_again_after_a_while(tmp_path: Path, ranker: str, why: str) -> None:
    """Every turn that goes without it says so; one request for each of them, not two."""
    now = 0.0
    async with azure_kb(tmp_path, KB, HashEmbedder(), semantic=True) as kb:
        retriever = kb.retriever(clock=lambda: now)
        kb.server.ranker, kb.server.bodies = ranker, []
        for at in (0.0, 1.0, ASK_AGAIN_S - 1):
            now = at
            found = await retriever.retrieve(Query("refund days"), ANYBODY, 5)
            assert (found.notes, found.mode, bool(found.passages)) == ((NO_RANKER.format(why=why),), "hybrid", True)
            assert why in retriever.refused["semantic ranker"]
        assert searches(kb) == ["semantic", "plain", "plain", "plain"]
        now = ASK_AGAIN_S
        assert retriever.refused == {}
        await retriever.retrieve(Query("refund days"), ANYBODY, 5)
        assert searches(kb)[4:] == ["semantic", "plain"]
        kb.server.ranker, now = "on", 2 * ASK_AGAIN_S
        found = await retriever.retrieve(Query("refund days"), ANYBODY, 5)
        assert (found.notes, found.mode, retriever.refused) == ((), "hybrid+ranked", {})


async def test_an_index_without_our_semantic_configuration_is_learned_too(tmp_path: Path) -> None:
    """Switched on after the ingest: the next one makes it."""
    async with azure_kb(tmp_path, KB, HashEmbedder()) as kb:
        retriever, kb.server.bodies = kb.retriever(semantic=True), []
        for _ in range(2):
            (note,) = (await retriever.retrieve(Query("refund days"), ANYBODY, 5)).notes
            assert "the index has no semantic configuration of ours" in note
        assert searches(kb) == ["semantic", "plain", "plain"]
        assert "attest ingest" in retriever.refused["semantic ranker"]


async def test_what_is_refused_of_one_query_says_nothing_of_the_next(tmp_path: Path) -> None:
    """A 400 of another kind, and a busy ranker: the next turn has it again."""
    async with azure_kb(tmp_path, KB, HashEmbedder(), semantic=True) as kb:
        retriever = kb.retriever()
        await retriever.retrieve(Query("refund days"), ANYBODY, 5)  # knows the state from here on
        kb.server.script = [faults.echoed(400)]
        assert (await retriever.retrieve(Query("refund days"), ANYBODY, 5)).notes == (REFUSED,)
        kb.server.ranker = "busy"
        assert (await retriever.retrieve(Query("refund days"), ANYBODY, 5)).notes == (UNRANKED,)
        kb.server.ranker = "on"
        assert (await retriever.retrieve(Query("refund days"), ANYBODY, 5)).mode == "hybrid+ranked"


async def test_a_reply_that_ends_early_is_gone_on_with(tmp_path: Path) -> None:
    """The service says with what to ask for the rest; without it the rest is lost without a word."""
    kb = [Document(f"d{n}", f"Refund {n}", f"A refund of case {n} takes {n} days.") for n in range(12)]
    async with azure_kb(tmp_path, kb, HashEmbedder(), semantic=True) as azure:
        whole = await azure.retriever().retrieve(Query("refund of a case"), ANYBODY, 12)
        azure.server.page = 5
        found = await azure.retriever().retrieve(Query("refund of a case"), ANYBODY, 12)
        assert {p.doc_id for p in found.passages} == {d.doc_id for d in kb}
        assert [p.doc_id for p in found.passages] == [p.doc_id for p in whole.passages]


async def test_a_reply_that_never_ends_ends(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, None) as kb:
        kb.server.bodies = []
        kb.server.otherwise = faults.status(200, '{"value": [], "@search.nextPageParameters": {"search": "refund"}}')
        assert (await kb.retriever().retrieve(Query("refund", by="words"), ANYBODY, 3)).passages == ()
        assert 1 < len(searches(kb)) <= 20


async def test_a_search_of_one_side_is_not_ranked_anew(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, HashEmbedder(), semantic=True) as kb:
        words = await kb.retriever().retrieve(Query("refund", by="words"), ANYBODY, 5)
        assert "vectorQueries" not in body_of(kb)
        meaning = await kb.retriever().retrieve(Query("refund", by="meaning"), ANYBODY, 5)
        assert "search" not in body_of(kb)
        assert {p.reranked for p in (*words.passages, *meaning.passages)} == {None}
        assert all(p.semantic is not None and p.score == max(0.0, round(p.semantic, 6)) for p in meaning.passages)


async def test_the_store_has_the_last_word(tmp_path: Path) -> None:
    """Rights that were narrowed, text that was changed and documents that went since the last upload."""
    async with azure_kb(tmp_path, KB, None) as kb:
        kb.index.store.put(
            [(d, split(d), "test", "2") for d in (Document("plans", "Plans", KB[2].text, groups=("sales",)),)]
        )
        kb.index.store.drop(["refunds"], pulled=True)
        assert len(kb.held) == 3
        found = await kb.retriever().retrieve(Query("nine"), Access("u", frozenset({"legal"})), 9)
        assert {p.doc_id for p in found.passages} == {"legal"}
        found = await kb.retriever().retrieve(Query("nine"), Access("u", frozenset({"sales"})), 9)
        assert {p.doc_id for p in found.passages} == {"plans"}


async def test_without_the_store_passages_are_told_by_the_index(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, HashEmbedder()) as kb:
        with_store = await kb.retriever().retrieve(Query("refund days"), Access("u", frozenset({"legal"})), 5)
        alone = await kb.retriever(store=False).retrieve(Query("refund days"), Access("u", frozenset({"legal"})), 5)
        assert alone == with_store


@pytest.mark.row("0-06")
async def test_passages_of_an_indexer_count_only_where_they_are_switched_on(tmp_path: Path) -> None:
    shared = {
        "chunk_id": "sp-1",
        "doc_id": "Handbook.docx",
        "source": "sharepoint",
        "title": "Handbook.docx",
        "text": "Refunds by hand.",
        "url": "https://contoso.sharepoint.com/Handbook.docx",
        "groups": ["g:legal"],
    }
    async with azure_kb(tmp_path, KB, None) as kb:
        kb.server.documents[INDEX]["sp-1"] = shared
        legal = Access("u", frozenset({"legal"}))
        off = await kb.retriever().retrieve(Query("refunds"), legal, 9)
        assert "Handbook.docx" not in {p.doc_id for p in off.passages}
        on = await kb.retriever(others=True).retrieve(Query("refunds"), legal, 9)
        (passage,) = [p for p in on.passages if p.doc_id == "Handbook.docx"]
        assert (passage.title, passage.url) == ("Handbook.docx", "https://contoso.sharepoint.com/Handbook.docx")
        assert "Handbook.docx" not in {
            p.doc_id for p in (await kb.retriever(others=True).retrieve(Query("refunds"), ANYBODY, 9)).passages
        }


async def test_the_document_that_tells_the_state_is_never_found(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, HashEmbedder()) as kb:
        for others in (False, True):
            found = await kb.retriever(others=others, store=False).retrieve(
                Query("attest kb embedder state"), Access("u", frozenset({"*", "state"})), 100
            )
            assert len(found.passages) == 2


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("how long?", "how long?"),
        ('a + b | (c) "d"', 'a \\+ b \\| \\(c\\) \\"d\\"'),
        ("don't", "don\\'t"),
        ("W-230 -x --y", "W-230 x y"),
        ("pre* fuzzy~", "pre fuzzy"),
        ("*", ""),
        ("?! ~", ""),
        ("  ", ""),
        ("a\\b", "a\\\\b"),
    ],
)
async def test_no_sign_of_a_question_is_an_operator(tmp_path: Path, text: str, sent: str) -> None:
    """A question without a word is not asked at all."""
    async with azure_kb(tmp_path, KB, None) as kb:
        kb.server.bodies = []
        await kb.retriever().retrieve(Query(text), ANYBODY, 9)
        asked = [body["search"] for body in kb.server.of("/docs/search.post.search")]
        assert asked == ([sent] if sent else [])


async def test_an_empty_question_is_not_a_search_for_everything(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, None) as kb:
        assert (await kb.retriever().retrieve(Query("*"), ANYBODY, 9)).passages == ()


# --- signing in


class Token:
    """A credential as azure-identity's, counting how often it was closed."""

    closed = 0

    async def get_token(self, *scopes: str, **_: object) -> AccessToken:
        self.scopes = scopes
        return AccessToken("canary-token", int(time.time()) + 3600)

    async def close(self) -> None:
        self.closed += 1

    async def __aenter__(self) -> Token:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def test_without_a_key_a_token_is_sent_also_to_loopback() -> None:
    """The SDK hands tokens to https alone unless each call says otherwise, and would try for five seconds."""
    async with AiSearchServer() as server:
        token = Token()
        service = SearchService(server.root, token, INDEX, remote())
        assert await service.definition() is None
        assert server.headers[-1]["Authorization"] == "Bearer canary-token"
        assert token.scopes == ("https://search.azure.com/.default",)
        await service.aclose()
        assert token.closed == 0  # others sign in with it too


@pytest.mark.parametrize(
    ("endpoint", "key"),
    [("http://n.search.windows.net", KEY), ("ftp://x", KEY), ("https://n.search.windows.net", "a b")],
)
def test_what_cannot_be_used_is_said_at_once(endpoint: str, key: str) -> None:
    with pytest.raises(SettingsError, match="ATTEST_SEARCH_") as caught:
        SearchService(endpoint, key, INDEX, remote())
    assert key not in str(caught.value)


# --- failures

FAULTS: dict[str, tuple[Fault, type[AttestError], int]] = {
    "400": (faults.echoed(400), ServiceRejected, 1),
    "401": (faults.echoed(401), ServiceRejected, 1),
    "403": (faults.status(403), ServiceRejected, 1),
    "404 in HTML": (faults.html(404), ServiceRejected, 1),
    "408": (faults.status(408), ServiceUnavailable, 3),
    "429": (faults.status(429), Throttled, 3),
    "429 with Retry-After": (faults.status(429, Retry_After="1"), Throttled, 3),
    "500": (faults.echoed(500), ServiceUnavailable, 3),
    "502 in HTML": (faults.html(502), ServiceUnavailable, 3),
    "503 with Retry-After": (faults.status(503, Retry_After="1"), Overloaded, 3),
    "HTML with 200": (faults.html(200), ServiceReplyInvalid, 2),
    "cut JSON": (faults.status(200, '{"value": [{"@search.sc'), ServiceReplyInvalid, 2),
    "cut connection": (faults.half(b'{"value": ['), ServiceError, 0),
    "no reply": (faults.closed(), ServiceUnavailable, 3),
    "redirect": (faults.redirect("http://127.0.0.1:9/"), ServiceRejected, 1),
    "null": (faults.status(200, "null"), ServiceReplyInvalid, 2),
    "a list": (faults.status(200, "[]"), ServiceReplyInvalid, 2),
    "an empty object": (faults.status(200, "{}"), ServiceReplyInvalid, 2),
    "an empty body": (faults.status(200, ""), ServiceReplyInvalid, 2),
    "no score": (faults.status(200, '{"value": [{"chunk_id": "a"}]}'), ServiceReplyInvalid, 2),
    "a broken caption": (
        faults.status(200, '{"value": [{"@search.score": 1, "chunk_id": "a", "@search.captions": 5}]}'),
        ServiceReplyInvalid,
        0,
    ),
    "broken subscores": (
        faults.status(
            200, '{"value": [{"@search.score": 1, "chunk_id": "a", "@search.documentDebugInfo": {"vectors": 5}}]}'
        ),
        ServiceReplyInvalid,
        0,
    ),
    "no key": (faults.status(200, '{"value": [{"@search.score": 1}]}'), ServiceReplyInvalid, 0),
    "a score in words": (
        faults.status(200, '{"value": [{"@search.score": "high", "chunk_id": "a"}]}'),
        ServiceReplyInvalid,
        2,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_failure_is_ours_and_holds_neither_key_nor_question(
    fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Tried again as our wrapper says, never by the SDK; nothing of what the server repeated stands in message, chain or log."""
    caplog.set_level(logging.DEBUG)
    step, kind, attempts = FAULTS[fault]
    async with azure_kb(tmp_path, KB, None) as kb:
        before = len(kb.server.bodies)
        kb.server.otherwise = step
        with pytest.raises(kind) as caught:
            await kb.retriever().retrieve(Query(QUERY, by="words"), ANYBODY, 3)
        assert not attempts or len(kb.server.bodies) - before == attempts
    ours = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
    logged = "".join(r.getMessage() for r in caplog.records if r.name != "aiohttp.access")
    assert not [secret for secret in (KEY, "Quillfeather") if secret in ours or secret in logged]


@pytest.mark.parametrize(
    "fault",
    [faults.slow(), faults.status(429, Retry_After="60"), faults.status(503, Retry_After="60")],
    ids=["slow", "429", "503"],
)
async def test_no_failure_outlasts_the_deadline(fault: Fault, tmp_path: Path) -> None:
    """The SDK alone would sleep through every Retry-After; a pause longer than what is left is not begun."""
    async with azure_kb(tmp_path, KB, None, deadline_s=1.0, sleep=asyncio.sleep) as kb:
        kb.server.otherwise = fault
        began = time.monotonic()
        with pytest.raises((ServiceTimeout, ServiceUnavailable, Throttled)):
            await kb.retriever().retrieve(Query(QUERY, by="words"), ANYBODY, 3)
        assert time.monotonic() - began < 20  # not the minute that was asked for
    assert len(asyncio.all_tasks()) == 1


async def test_a_count_begins_with_a_mark_and_a_missing_document_has_no_body(tmp_path: Path) -> None:
    """As recordings of the real service show both."""
    async with azure_kb(tmp_path, KB, None) as kb:
        assert await kb.service.count() == len(KB) + 1
        assert await kb.service.document("no-such-document") is None


async def test_a_missing_index_says_what_makes_it(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, HashEmbedder(), follow=False) as kb:
        for by in ("words", "hybrid"):
            with pytest.raises(ServiceRejected, match="there is no index 'attest' yet; attest ingest makes it"):
                await kb.retriever().retrieve(Query("refund", by=by), ANYBODY, 3)


async def test_ready_tells_what_is_missing(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, None) as kb:
        assert await kb.retriever().ready() == {}
        kb.server.documents[INDEX].pop(next(iter(kb.held)))
        assert "2 of 3 passages are in the index" in (await kb.retriever().ready())["search"]
        kb.server.otherwise = faults.status(500)
        assert "search: failed (status 500" in (await kb.retriever().ready())["search"]
        kb.server.otherwise = faults.html(200)  # which the SDK hands out as the number of documents
        assert (await kb.retriever().ready())["search"] == "search: the reply cannot be read (ValueError)"


async def test_ready_names_the_search_that_is_slow(tmp_path: Path) -> None:
    """Sooner than the probe gives up, which could not say which part it was."""
    async with azure_kb(tmp_path, KB, None) as kb:
        kb.server.otherwise = faults.slow()
        assert await kb.retriever().ready() == {"search": "no answer within 4 s"}


async def test_the_state_is_asked_for_once_a_minute(tmp_path: Path) -> None:
    now = 0.0
    async with azure_kb(tmp_path, KB, HashEmbedder()) as kb:
        retriever = kb.retriever(clock=lambda: now)
        for at in (0.0, 30.0, 59.0, 61.0):
            now = at
            await retriever.retrieve(Query("refund"), ANYBODY, 3)
        assert len(kb.server.of("/docs('attest-state')")) == 1 + 2  # one is the ingest's


async def test_a_damaged_state_is_no_state(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, KB, HashEmbedder()) as kb:
        for damage in ("", "{", "[]", json.dumps({"other": 1})):
            kb.server.documents[INDEX]["attest-state"]["stamp"] = damage
            assert (await kb.retriever().retrieve(Query("refund"), ANYBODY, 3)).mode == "lexical"
