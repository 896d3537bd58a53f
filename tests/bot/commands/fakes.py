"""A small system in memory: every port is an ordinary implementation with rules simple enough to predict."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from bot.commands.shared.wiring import Ingester, Wiring
from bot.records import Ask, Citation, OnStage, Reply, Stage
from bot.settings.settings import Settings
from bot.system import CheckRequest, OpenLedger, System
from grounding.bounded.pool import Run
from grounding.errors import InputError, ServiceUnavailable, StoreError
from grounding.ingest.history import OnChange, Tombstone
from grounding.ingest.sources import is_corpus
from grounding.query.linking import QueryBuilder
from grounding.records import (
    Access,
    Action,
    Document,
    DocumentInfo,
    Grade,
    Grading,
    IngestPlan,
    IngestReport,
    OnProgress,
    Passage,
    Progress,
    Query,
    Refusal,
    Retrieval,
    Sentence,
    Turn,
)
from grounding.text import sentences, terms
from rai.ports import Ledger
from rai.records import Claim, DocumentScreening, Entry, EvidenceSpan, Outcome, Report, Screening, Verification
from rai.screening.quarantine import Nothing, Quarantine
from tests.fakes.ledger import LEDGER_ID, exported
from tests.fakes.replies import reply_of

T = TypeVar("T")
DOCUMENTS = (
    Document("refunds.md", "Refunds", "Refunds take 5 business days. Call 020 7946 0000.", product=None),
    Document("salaries.md", "Salaries", "Refunds of salaries go to payroll.", groups=("hr",)),
    Document("trail.md", "Trail Pro", "The Trail Pro is waterproof to 30 metres.", product="Trail Pro"),
)


@dataclass
class MemoryLibrary:
    """Documents in a dict, in the order given."""

    held: dict[str, Document]
    root: str = "memory"
    gone: dict[str, Document] = field(default_factory=dict)
    chunking: str = "paragraphs 24-200"

    async def documents(self) -> tuple[DocumentInfo, ...]:
        return tuple(
            DocumentInfo(
                doc_id=d.doc_id,
                title=d.title,
                content_type=d.content_type,
                version=d.version,
                chunks=1,
                url=d.url,
                groups=d.groups,
                product=d.product,
                internal=d.internal,
                updated=d.updated,
                root=self.root,
                ingested_at="2026-11-20T00:00:00Z",
                chunking=self.chunking,
            )
            for d in sorted(self.held.values(), key=lambda d: d.doc_id)
        )

    async def document(self, doc_id: str, version: str | None = None) -> Document | None:
        found = self.held.get(doc_id)
        return found if found and version in (None, found.version) else None

    async def last(self, doc_id: str) -> Document | None:
        return self.held.get(doc_id)

    async def remove(self, doc_id: str) -> bool:
        found = self.held.pop(doc_id, None)
        if found is not None:
            self.gone[doc_id] = found
        return found is not None


@dataclass
class MemoryRetriever:
    """Score: share of the query's terms that a document holds."""

    library: MemoryLibrary
    down: bool = False

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        if self.down:
            raise ServiceUnavailable("search", "refused the connection")
        wanted = set(terms(query.text))
        found = []
        for document in self.library.held.values():
            held = set(terms(document.title + " " + document.text))
            score = len(wanted & held) / len(wanted) if wanted else 0.0
            fits = document.product in (None, access.product) or access.product is None
            if score and fits and access.may_read(document.groups):
                found.append(
                    Passage(
                        f"c-{document.doc_id}", document.doc_id, document.title, document.text, score=score, bm25=score
                    )
                )
        ranked = sorted(found, key=lambda passage: -passage.score)
        return Retrieval(tuple(ranked[:k]), "kb-1", "lexical", () if ranked else ("no words match",))


class LastTurnSummarizer:
    """The last turn's sentences, all of them."""

    async def summarize(self, turns: Sequence[Turn]) -> Query:
        if not turns or not turns[-1].text.strip():
            raise InputError("the conversation has no text")
        last = len(turns) - 1
        spans = tuple(Sentence(last, s.start, s.end, s.text, 1.0) for s in sentences(turns[-1].text))
        return Query(" ".join(s.text for s in spans), spans, ("Trail Pro",) if "waterproof" in turns[-1].text else ())


class OverlapGrader:
    """1 if the passage holds a term of the question, else 0."""

    name = "overlap"

    async def grade(self, question: str, passages: Sequence[Passage]) -> Grading:
        wanted = set(terms(question))
        return Grading(
            "graded",
            tuple(
                Grade(p.chunk_id, 1.0, "Perfect", "yes", None, "holds it")
                if wanted & set(terms(p.text))
                else Grade(p.chunk_id, 0.0, "Awful", "no", None, "lacks it")
                for p in passages
            ),
        )


class WordScreen:
    """Blocks what says `bomb`, and documents that say `ignore`."""

    name = "words"

    def __init__(self, *, down: bool = False) -> None:
        self.down = down

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        if self.down:
            raise ServiceUnavailable("screen", "refused the connection")
        judged = tuple(
            DocumentScreening(i, "block", "orders", 0.9)
            if "ignore" in d.lower()
            else DocumentScreening(i, "allow", None, 0.1)
            for i, d in enumerate(documents)
        )
        if "bomb" in text.lower():
            return Screening("block", "dangerous_help", "word:bomb", 1.0, judged)
        return Screening("allow", documents=judged)


class TwoPeople:
    """hanna is in hr; for broken, or while it is down, the directory does not answer."""

    def __init__(self, *, down: bool = False) -> None:
        self.down = down

    async def groups(self, user: str) -> frozenset[str]:
        if self.down or user == "broken":
            raise ServiceUnavailable("directory", "refused the connection")
        return frozenset({"hr"}) if user == "hanna" else frozenset()


@dataclass
class MemoryLedger:
    """A list with a hash chain; `tampered` says what verify must find, `shut` that nothing can be written."""

    held: list[Entry] = field(default_factory=list)
    tampered: bool = False
    ledger_id: str | None = LEDGER_ID
    shut: bool = False

    async def append(self, kind: str, body: dict[str, Any]) -> Entry:
        if self.shut:
            raise StoreError("the disk is full")
        prev = self.held[-1].mac if self.held else "0"
        seq = len(self.held) + 1
        mac = hashlib.sha256(f"{prev}{kind}{body!r}".encode()).hexdigest()
        entry = Entry(f"e{seq}", seq, "2026-11-20T10:00:00Z", kind, body, prev, mac)
        self.held.append(entry)
        return entry

    async def get(self, entry_id: str) -> Entry | None:
        return next((entry for entry in self.held if entry.entry_id == entry_id), None)

    async def entries(
        self,
        *,
        after: int = 0,
        limit: int | None = None,
        newest_first: bool = False,
        kinds: Collection[str] | None = None,
    ) -> AsyncIterator[Entry]:
        wanted = [entry for entry in self.held if entry.seq > after and (kinds is None or entry.kind in kinds)]
        for entry in (wanted[::-1] if newest_first else wanted)[:limit]:
            yield entry

    async def each(
        self, make: Callable[[Entry], T], *, after: int = 0, limit: int, run: Run = asyncio.to_thread, at_once: int = 1
    ) -> list[T]:
        return [await run(make, entry) async for entry in self.entries(after=after, limit=limit)]

    async def export(self) -> AsyncIterator[str]:
        for line in exported(self.held):
            yield line

    async def holds(self, entry_id: str) -> bool:
        return not self.tampered and await self.get(entry_id) is not None

    async def verify(self, on_progress: OnProgress | None = None) -> Verification:
        head = self.held[-1].mac if self.held else "0"
        if self.tampered:
            return Verification(False, len(self.held), head, "e2", "the entry was changed")
        return Verification(True, len(self.held), head, notes=("kept by one key",))


async def check_for_wrong(request: CheckRequest) -> Report:
    """Unsupported if the answer says `wrong`; a number is exact if a source holds it."""
    claims = []
    for span in (s for s in sentences(request.answer) if "5" in s.text):
        at = request.answer.index("5")
        source = next((s for s in request.sources if "5" in s.text), None)
        where = (
            (EvidenceSpan(source.id, "text", source.text.index("5"), source.text.index("5") + 1, "5"),)
            if source
            else ()
        )
        claims.append(
            Claim("number", "5", at, at + 1, "5", status="exact" if where else "absent", evidence=where, why=span.text)
        )
    bad = "wrong" in request.answer
    return Report("unsupported" if bad else "supported", 0.9 if bad else 0.1, tuple(claims), None, None)


@dataclass
class FakeWorld:
    """Everything a test may look at or change, and the wiring that builds systems over it."""

    library: MemoryLibrary
    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    screen: WordScreen = field(default_factory=WordScreen)
    quarantine: Quarantine = field(default_factory=Nothing)
    search_down: bool = False
    directory_down: bool = False
    answers: Callable[[Ask], Reply] | None = None
    recorded: Callable[[Ask, Reply], dict[str, Any]] | None = None
    before: Callable[[], Awaitable[None]] | None = None
    waiting: dict[str, str] = field(default_factory=dict)
    asked: list[Ask] = field(default_factory=list)
    ingests: list[tuple[tuple[Path, ...], Path | None, bool, Settings]] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    refused: tuple[Refusal, ...] = ()
    opened: int = 0
    closed: int = 0

    def wiring(self) -> Wiring:
        return Wiring(self.compose, self.open_ingester, self.open_history, self.open_record, self.open_ledger)

    async def compose(self, settings: Settings) -> System:
        self.opened += 1
        return System(
            settings=settings,
            answer=self.answer,
            check=check_for_wrong,
            queries=QueryBuilder(LastTurnSummarizer()),
            embedder=None,
            retriever=MemoryRetriever(self.library, self.search_down),
            grader=OverlapGrader(),
            screen=self.screen,
            library=self.library,
            directory=TwoPeople(down=self.directory_down),
            ledger=self.ledger,
            ready=self.ready,
            close=self.close,
            quarantine=self.quarantine,
        )

    async def open_ingester(self, settings: Settings) -> Ingester:
        self.opened += 1
        return MemoryIngester(self, settings)

    def open_history(self, _: Settings) -> MemoryHistory:
        return MemoryHistory(self)

    @asynccontextmanager
    async def open_record(self, _: Settings) -> AsyncIterator[Ledger]:
        yield self.ledger

    @asynccontextmanager
    async def open_ledger(self, settings: Settings, *, writes: bool = False) -> AsyncIterator[OpenLedger]:
        assert writes, "whoever reads alone opens the record"
        yield OpenLedger(cast(Any, self.ledger), None, settings.files.signing_key_path)

    async def ready(self) -> dict[str, str]:
        return self.waiting

    async def close(self) -> None:
        self.closed += 1

    async def answer(self, ask: Ask, on_stage: OnStage | None) -> Reply:
        self.asked.append(ask)
        if on_stage is not None:
            await on_stage(Stage("retrieve", "Searching"))
        if self.before is not None:
            await self.before()
        made = (self.answers or answered)(ask)
        more = self.recorded(ask, made) if self.recorded else {}
        body = {"question": ask.question, "reply": {"outcome": made.outcome.value}, **more}
        entry = await self.ledger.append("turn", body)
        return replace(made, entry_id=entry.entry_id)


@dataclass
class MemoryIngester:
    """Takes every line of a corpus, every file of a folder, into the world's library."""

    world: FakeWorld
    settings: Settings

    async def take_part(self, root: str, path: Path, **more: Any) -> IngestReport:
        self.world.roots.append(root)
        return await self.run([path], **more)

    async def plan(
        self,
        paths: Sequence[Path],
        *,
        acl: Path | None,
        lexical_only: bool,
        on_progress: Callable[[Progress], None],
        root: str | None = None,
    ) -> IngestPlan:
        documents = [document for path in paths for document in _documents(path)]
        new = [d for d in documents if d.doc_id not in self.world.library.held]
        size = sum(len(d.text.encode()) for d in new)
        return IngestPlan(
            len(new),
            0,
            len(documents) - len(new),
            0,
            self.world.refused,
            (),
            {},
            len(new),
            len(new),
            1000 * len(new),
            size,
        )

    async def run(
        self,
        paths: Sequence[Path],
        *,
        acl: Path | None,
        lexical_only: bool,
        on_progress: Callable[[Progress], None],
        on_change: OnChange = lambda _kind, _doc_id: None,
    ) -> IngestReport:
        self.world.ingests.append((tuple(paths), acl, lexical_only, self.settings))
        documents = [document for path in paths for document in _documents(path)]
        for number, document in enumerate(documents, start=1):
            self.world.library.held[document.doc_id] = document
            on_progress(Progress("read", number, len(documents)))
            on_change("added", document.doc_id)
        added = len(documents) - len(self.world.refused)
        return IngestReport(added, 0, 0, 0, self.world.refused, added, 0, "kb-2", 0.25)

    async def rebuild(self, on_progress: Callable[[Progress], None], /) -> None:
        on_progress(Progress("words", len(self.world.library.held), len(self.world.library.held)))

    async def restore(self, doc_id: str) -> bool:
        found = self.world.library.gone.pop(doc_id, None)
        if found is not None:
            self.world.library.held[doc_id] = found
        return found is not None

    async def close(self) -> None:
        self.world.closed += 1


@dataclass
class MemoryHistory:
    """What was removed from the world's library."""

    world: FakeWorld

    def tombstones(self) -> tuple[Tombstone, ...]:
        gone = self.world.library.gone
        return tuple(Tombstone(d.doc_id, d.title, d.version, "memory", d.groups, True, "1") for d in gone.values())

    def versions(self, doc_id: str) -> tuple[str, ...]:
        held = {**self.world.library.held, **self.world.library.gone}
        return (held[doc_id].version,) if doc_id in held else ()

    def backup(self, target: Path) -> int:
        return target.write_bytes(b"everything")


def _documents(path: Path) -> Iterable[Document]:
    if is_corpus(path):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield Document(row["doc_id"], row["title"], row["text"])
    elif path.is_dir():
        for file in sorted(path.rglob("*.md")):
            yield Document(file.name, file.stem, file.read_text(encoding="utf-8"))


def answered(ask: Ask) -> Reply:
    """An answer with one citation, whatever was asked."""
    text = "Refunds take 5 business days [1]."
    return reply_of(
        Outcome.ANSWERED,
        text,
        citations=(Citation(1, "Refunds", None, "refunds.md", "c1", "line 1", "Refunds take 5 business days."),),
        claims=(
            Claim(
                "number",
                "5",
                13,
                14,
                "5",
                status="exact",
                evidence=(EvidenceSpan("c1", "text", 13, 14, "5"),),
                why="stands there",
            ),
        ),
        query=ask.question,
        action=Action.CORRECT,
        timings_ms={"retrieve": 4.0, "check": 2.0},
        kb_version="kb-1",
        mode={"generator": "fake", "grader": "overlap", "search": "lexical", "screen": "words"},
        notes=("tavily: failed (status 500); answered from the knowledge base only",),
    )


def world() -> FakeWorld:
    """A fresh world with three documents."""
    return FakeWorld(MemoryLibrary({document.doc_id: document for document in DOCUMENTS}))


async def compose_small(settings: Settings) -> System:
    """A system over a fresh world: what a process of its own can import and build."""
    return await world().compose(settings)
