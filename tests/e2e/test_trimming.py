"""Who may read what, over every path that hands out text: 1,000 random users, groups and documents against a plain reference.

Each document has a word that stands nowhere else and that nobody types, so one look at what came out says whose text
is in it. Words alone search the running system; words and vectors together are searched beside it, over the same files.
"""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.web import Application, Request

from bot.compose.system import compose
from bot.server.app import build_app
from bot.settings.settings import Settings
from bot.system import System
from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.retriever import EmbeddedRetriever
from grounding.ingest.chunk_paragraphs import split
from grounding.records import Access, Document, IngestReport, Query
from rai.records import Entry
from tests.e2e.processes import settings_over
from tests.e2e.trimming import (
    PRODUCTS,
    UNKNOWN,
    Article,
    Company,
    company,
    misspelt,
    own_words,
    words_of,
)
from tests.fakes.embedder import HashEmbedder
from tests.grounding.embedded.kb import retriever_of
from tests.knowledge_base import take_in
from tests.thorough import some

COMPANIES, PEOPLE, ARTICLES = 8, 9, 36
CASES, ASKED, WITH_MODEL = 1000, 5, 24
"""Each case is searched for; one in `ASKED` goes through a whole turn and its pages as well."""
ALL = 1000

Client = TestClient[Request, Application]


@dataclass
class Site:
    """A running system over a company's documents, and a search by words and vectors over the same index."""

    settings: Settings
    corpus: Path
    now: Company
    system: System
    client: Client
    index: EmbeddedIndex
    hybrid: EmbeddedRetriever
    embedder: HashEmbedder

    async def ingest(self, changed: Company) -> None:
        """The files of `changed`, taken in by an ingest of its own while everything runs."""
        changed.write(self.corpus, self.settings.directory_path)
        await ingested(self.settings, self.corpus)
        await self.index.embed_missing(64, lambda *_: None)
        self.now = changed

    async def access(self, user: str | None, product: str | None = None) -> Access:
        groups = await self.system.directory.groups(user) if user is not None else frozenset[str]()
        return Access(user, groups, product)

    async def get(self, path: str) -> tuple[int, str]:
        response = await self.client.get(path)
        return response.status, await response.text()

    async def post(self, path: str, body: dict[str, Any]) -> str:
        response = await self.client.post(path, json=body)
        return await response.text()

    async def entry(self, entry_id: str) -> Entry:
        entry = await self.system.ledger.get(entry_id)
        assert entry is not None
        return entry


async def ingested(settings: Settings, corpus: Path, *, vectors: bool = False) -> IngestReport:
    return await take_in(settings, corpus, lexical_only=not vectors)


@asynccontextmanager
async def site(folder: Path, start: Company, model: Path | None = None) -> AsyncIterator[Site]:
    home, corpus = folder / "home", folder / "corpus.jsonl"
    home.mkdir(parents=True)
    settings = settings_over(home, model, rate_per_minute=100_000, web="sample")
    start.write(corpus, settings.directory_path)
    await ingested(settings, corpus, vectors=model is not None)
    system = await compose(settings)
    embedder = HashEmbedder()
    index = EmbeddedIndex(home / "index", embedder)
    await index.embed_missing(64, lambda *_: None)
    client: Client = TestClient(TestServer(build_app(system)))
    await client.start_server()
    try:
        yield Site(settings, corpus, start, system, client, index, retriever_of(index, embedder), embedder)
    finally:
        await client.close()
        index.close()
        await system.close()


@dataclass(frozen=True, slots=True)
class Case:
    """Who asks what, about which document."""

    user: str | None
    product: str | None
    about: Article
    question: str


def case(draw: random.Random, now: Company) -> Case:
    about = draw.choice(now.articles)
    name = draw.choice((about.name, about.name.capitalize(), misspelt(draw, about.name), "it"))
    question = draw.choice(
        (
            f"How much does the {about.topic} of {name} cost?",
            f"What is the {about.topic} of {name} called?",
            f"Whom do I ask about the {about.topic} of {name}?",
        )
    )
    user = draw.choice((None, UNKNOWN, *now.people, *now.people))
    return Case(user, draw.choice((None, None, *PRODUCTS)), about, question)


def ids(articles: tuple[Article, ...]) -> set[str]:
    return {a.doc_id for a in articles}


def assert_only(text: str, readable: tuple[Article, ...], said: str, what: object) -> None:
    """`text` holds no word of a document's own but those of `readable` and those that the person wrote."""
    leaked = words_of(text) - own_words(readable) - words_of(said)
    assert not leaked, (what, leaked)


async def assert_searched(on: Site, one: Case) -> None:
    """Everything that may be read is found, and nothing else: by words exactly what matches, by vectors all there is."""
    access = await on.access(one.user, one.product)
    readable = on.now.readable(one.user, one.product)
    by_words = await on.system.retriever.retrieve(Query(one.about.topic), access, ALL)
    assert {p.doc_id for p in by_words.passages} == {a.doc_id for a in readable if a.topic == one.about.topic}, one
    both = await on.hybrid.retrieve(Query(one.question), access, ALL)
    assert {p.doc_id for p in both.passages} == ids(readable), one
    assert both.mode == "hybrid" or not readable


async def asked(on: Site, one: Case) -> dict[str, Any]:
    """A whole turn over HTTP: neither the reply nor what the ledger keeps of it holds what may not be read."""
    form = {"question": one.question, "product": one.product, "as": one.user}
    text = await on.post("/api/ask", {k: v for k, v in form.items() if v is not None})
    readable = on.now.readable(one.user, one.product)
    assert_only(text, readable, one.question, one)
    reply: dict[str, Any] = json.loads(text)
    entry = await on.entry(reply["entry_id"])
    assert_only(json.dumps(entry.body), readable, one.question, one)
    return reply


async def assert_pages(on: Site, one: Case, reply: dict[str, Any], then: Company) -> tuple[int, int]:
    """The pages behind a reply show what its person may read now, in the rights of `then` and in those of today; (shown, refused)."""
    entry = await on.entry(reply["entry_id"])
    now, before = ids(on.now.readable(one.user)), then.readable_by(on.now.people, one.user)
    open_to = tuple(a for a in before if a.doc_id in now or a.doc_id not in ids(on.now.articles))
    counts = [0, 0]
    for item in entry.body["evidence"]:
        if item["origin"] == "web":
            continue
        status, page = await on.get(f"/source/{entry.entry_id}/{item['n']}")
        may = item["doc_id"] in ids(open_to)
        assert status == (200 if may else 403), (one, item["doc_id"], status)
        assert_only(page, open_to, "", one)
        counts[0 if may else 1] += 1
    view = await on.post("/chat/view", {"entry_id": entry.entry_id, "answer": "", "claims": []})
    assert_only(view, open_to, "", one)
    shown = {e["doc_id"] for e in json.loads(view)["evidence"] if e["origin"] != "web"}
    assert shown == {e["doc_id"] for e in entry.body["evidence"] if e["doc_id"] in ids(open_to)}
    return counts[0], counts[1]


async def assert_errors(on: Site, reply: dict[str, Any], secret: str) -> None:
    """What is asked wrongly gets a line that names nothing of the documents."""
    answers = [
        (await on.get(f"/source/{reply['entry_id']}/77"))[1],
        (await on.get(f"/source/{secret}/1"))[1],
        await on.post("/api/ask", {"question": "", "as": UNKNOWN}),
        await on.post("/api/ask", {"question": "refund", "policy": "none such"}),
        await on.post("/api/ask", {"question": "refund", "product": 7}),
        (await on.get("/readyz"))[1],
        (await on.get("/metrics"))[1],
        (await on.get("/chat"))[1],
    ]
    assert_only("\n".join(answers), (), secret, "errors")
    public = on.now.readable(None)
    assert_only((await on.get("/chat/options"))[1], public, "", "options")


@pytest.mark.row("4-15")
@pytest.mark.parametrize("seed", some(range(COMPANIES), 3))
async def test_a_thousand_random_people_and_documents(tmp_path: Path, seed: int) -> None:
    """Half of the cases before and half after rights and people have changed under the running system."""
    draw = random.Random(seed)
    cases = CASES // COMPANIES
    old: list[tuple[Case, dict[str, Any]]] = []
    outcomes, shown, refused = set(), 0, 0
    async with site(tmp_path, company(draw, PEOPLE, ARTICLES)) as on:
        first = on.now
        for n in range(cases):
            if n == cases // 2:
                await on.ingest(first.changed(draw))
                for one, reply in old:
                    counts = await assert_pages(on, one, reply, first)
                    shown, refused = shown + counts[0], refused + counts[1]
            one = case(draw, on.now)
            await assert_searched(on, one)
            if n % ASKED == 0:
                reply = await asked(on, one)
                assert (await assert_pages(on, one, reply, on.now))[1] == 0
                outcomes.add(reply["outcome"])
                if n < cases // 2:
                    old.append((one, reply))
        await assert_errors(on, old[0][1], draw.choice(first.articles).secret)
    assert "answered" in outcomes, "nothing was answered: nothing was tested"
    assert min(shown, refused) > 0, "no page was shown, or none was refused: nothing was tested"


async def test_what_one_person_was_told_is_not_told_to_the_next(tmp_path: Path) -> None:
    """The same words, first from who may read the answer, then from others: nothing of it stays in a cache."""
    draw = random.Random(100)
    async with site(tmp_path, company(draw, PEOPLE, ARTICLES)) as on:
        told = 0
        for about in on.now.articles[:12]:
            question = f"What is the {about.topic} of {about.name} called?"
            everyone = [None, UNKNOWN, *on.now.people]
            may = [user for user in everyone if about in on.now.readable(user)]
            for user in [*may[:2], *[u for u in everyone if u not in may][:3], *may[:1]]:
                reply = await asked(on, Case(user, None, about, question))
                told += about.secret in json.dumps(reply)
        assert told > 6, "nobody was told anything: nothing was tested"


async def test_rights_count_from_the_moment_they_are_stored(tmp_path: Path) -> None:
    """Between the commit of a document and the words that follow it, and when a group is taken from a person."""
    start = company(random.Random(101), PEOPLE, ARTICLES)
    # the newest chunks too, whose numbers an index could know by the rights of before if they were given again
    start = replace(start, articles=(*start.articles[:-1], replace(start.articles[-1], groups=None)))
    async with site(tmp_path, start) as on:
        everyone = await on.access(None)
        opened = [a for a in on.now.articles if a.groups is None]
        for a in opened:
            assert a.doc_id in {p.doc_id for p in (await on.hybrid.retrieve(Query(a.topic), everyone, ALL)).passages}
        closed = [Document(a.doc_id, str(a.row()["title"]), a.text, groups=("hr",), product=a.product) for a in opened]
        for document in reversed(closed):
            on.index.put([(document, split(document), str(on.corpus), "later")])
        for a in opened:
            for retriever in (on.hybrid, on.system.retriever):
                found = await retriever.retrieve(Query(a.topic), everyone, ALL)
                assert a.doc_id not in {p.doc_id for p in found.passages}
        people = Company({"ann": ("hr",)}, ())
        people.write(on.corpus.with_name("none.jsonl"), on.settings.directory_path)
        assert (await on.access("ann")).groups == {"hr"}
        found = await on.hybrid.retrieve(Query("refund"), await on.access("ann"), ALL)
        assert {a.doc_id for a in opened} <= {p.doc_id for p in found.passages}
        Company({"ann": ()}, ()).write(on.corpus.with_name("none.jsonl"), on.settings.directory_path)
        found = await on.hybrid.retrieve(Query("refund"), await on.access("ann"), ALL)
        assert not {a.doc_id for a in opened} & {p.doc_id for p in found.passages}


async def test_a_whole_turn_with_the_embedding_model(tmp_path: Path, quick_model_file: Path) -> None:
    """As it runs in production: words, vectors, grading and statements by the real model."""
    draw = random.Random(102)
    async with site(tmp_path, company(draw, PEOPLE, ARTICLES), quick_model_file) as on:
        outcomes = set()
        for _ in range(WITH_MODEL):
            one = case(draw, on.now)
            reply = await asked(on, one)
            assert reply["mode"]["search"] == "hybrid"
            assert (await assert_pages(on, one, reply, on.now))[1] == 0
            outcomes.add(reply["outcome"])
        assert "answered" in outcomes
