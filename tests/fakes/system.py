"""A whole `System` in memory: small ordinary implementations of every seam, and turns of every outcome.

The shop it belongs to is Northwind. A question's words choose the outcome; what is in an answer, its claims, the
evidence and the ledger's entry all point at the same characters, as the real pipeline guarantees.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from bot.records import Ask, Citation, InternalNote, OnStage, Refusal, Reply, Stage, Struck
from bot.settings.load import load_settings
from bot.system import CheckRequest, System
from grounding.corrective.decide import Decision
from grounding.corrective.find import Correction
from grounding.errors import ServiceUnavailable
from grounding.evidence.web import web_previews
from grounding.policy import Policy
from grounding.query.clarify import Clarification
from grounding.query.linking import QueryBuilder
from grounding.records import (
    Access,
    Action,
    Document,
    DocumentInfo,
    Evidence,
    Grade,
    Grading,
    Label,
    Passage,
    Query,
    Retrieval,
    Span,
    Turn,
    WebResult,
    chunk_id,
)
from rai.records import Claim, Entry, EvidenceSpan, Kind, Outcome, Report, Screening, Source, Status, Verification
from tests.fakes.ledger import exported
from tests.fakes.replies import reply_of, told

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"

RETURNS = Document(
    "returns",
    "Returns and refunds",
    "Returns and refunds\n\nYou can return an unused item within 30 days of delivery. Refunds reach the card that was "
    "charged in 5 to 7 working days.\n\nReturn shipping costs €4.90 and is taken off the refund. Faulty items travel "
    "free.\n\nQuestions about a return: +44 20 7946 0018, weekdays 9:00 to 17:30, or returns@northwind.example.",
    url="https://help.northwind.example/returns",
    updated="2026-09-14",
    product=None,
)
PLANS = Document(
    "plans",
    "Care plans",
    "Care plans\n\nNorthwind Care costs €7.99 a month or €79.00 a year. It covers accidental damage from the first day.",
    url="https://help.northwind.example/care",
    product="Northwind Care",
)
ESCALATION = Document(
    "escalation",
    "Escalation rules",
    "Goodwill credits above €50 need a team lead. Do not mention credits before the customer asks.",
    groups=("billing",),
    internal=True,
)
NASTY = Document(
    "nasty",
    f"Tips {HOSTILE}",
    f"Camera tips 𝒜𝒷. {HOSTILE} The lens cloth costs €3.50 with every camera.",
    url="javascript:document.title='owned'",
)


@dataclass
class FakeLibrary:
    """Documents with their versions; `old` keeps what was replaced or removed."""

    current: dict[str, Document] = field(default_factory=dict)
    old: list[Document] = field(default_factory=list)

    async def documents(self) -> tuple[DocumentInfo, ...]:
        return tuple(
            DocumentInfo(
                d.doc_id, d.title, d.content_type, d.version, 1, d.url, d.groups, d.product, d.internal, d.updated,
                "kb", "2026-11-01T08:00:00Z",
            )
            for _, d in sorted(self.current.items())
        )  # fmt: skip

    async def document(self, doc_id: str, version: str | None = None) -> Document | None:
        now = self.current.get(doc_id)
        if version is None:
            return now
        return next(
            (d for d in [*([now] if now else []), *self.old] if d.doc_id == doc_id and d.version == version), None
        )

    async def last(self, doc_id: str) -> Document | None:
        return self.current.get(doc_id) or next((d for d in reversed(self.old) if d.doc_id == doc_id), None)

    async def remove(self, doc_id: str) -> bool:
        gone = self.current.pop(doc_id, None)
        if gone is not None:
            self.old.append(gone)
        return gone is not None

    def put(self, document: Document) -> None:
        if document.doc_id in self.current:
            self.old.append(self.current[document.doc_id])
        self.current[document.doc_id] = document


@dataclass
class FakeDirectory:
    """People and their groups; `down` makes it unreachable."""

    people: dict[str, frozenset[str]] = field(default_factory=dict)
    down: bool = False

    async def groups(self, user: str) -> frozenset[str]:
        if self.down:
            raise ServiceUnavailable("directory", "connection refused")
        return self.people.get(user, frozenset())


class FakeLedger:
    """A keyed chain in a list."""

    def __init__(self) -> None:
        self.kept: list[Entry] = []
        self.walks = 0

    async def append(self, kind: str, body: dict[str, Any]) -> Entry:
        prev = self.kept[-1].mac if self.kept else ""
        seq = len(self.kept) + 1
        entry = Entry(f"e{seq:05d}x7q", seq, f"2026-11-20T09:{seq % 60:02d}:00Z", kind, body, prev, "")
        entry = replace(entry, mac=self._mac(entry))
        self.kept.append(entry)
        return entry

    def _mac(self, entry: Entry) -> str:
        return hmac.new(
            b"key", repr((entry.prev, entry.seq, entry.kind, entry.body)).encode(), hashlib.sha256
        ).hexdigest()

    async def get(self, entry_id: str) -> Entry | None:
        return next((e for e in self.kept if e.entry_id == entry_id), None)

    async def entries(
        self, *, after: int = 0, limit: int | None = None, newest_first: bool = False
    ) -> AsyncIterator[Entry]:
        kept = sorted((e for e in self.kept if e.seq > after), key=lambda e: e.seq, reverse=newest_first)
        for entry in kept[:limit]:
            yield entry

    async def export(self) -> AsyncIterator[str]:
        for line in exported(self.kept):
            yield line

    async def verify(self) -> Verification:
        self.walks += 1
        prev = ""
        for entry in self.kept:
            if entry.prev != prev or entry.mac != self._mac(entry):
                return Verification(False, len(self.kept), prev, entry.entry_id, "its code does not match its content")
            prev = entry.mac
        return Verification(True, len(self.kept), prev)


class FakeScreen:
    """Blocks what asks for the instructions."""

    name = "words"

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        if "ignore your instructions" in text.lower():
            return Screening("block", "jailbreak", "ignore-instructions", 0.97)
        return Screening("allow")


class FakeSummarizer:
    """The last customer turn is the query."""

    async def summarize(self, turns: Sequence[Turn]) -> Query:
        return Query(next(t.text for t in reversed(turns)))


class FakeRetriever:
    """Every document that shares a word with the query, in one passage."""

    def __init__(self, library: FakeLibrary) -> None:
        self._library = library

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        words = set(re.findall(r"\w{4,}", query.text.lower()))
        hits = [
            passage_of(d)
            for d in self._library.current.values()
            if access.may_read(d.groups) and words & set(re.findall(r"\w{4,}", d.text.lower()))
        ]
        return Retrieval(tuple(hits[:k]), "kb-7f3a")


class FakeGrader:
    """Everything is good."""

    name = "flat"

    async def grade(self, question: str, passages: Sequence[Passage]) -> Grading:
        return Grading("graded", tuple(grade_of(p, 0.86) for p in passages))


def passage_of(document: Document, *, start: int = 0) -> Passage:
    text = document.text[start:]
    return Passage(
        chunk_id(document.doc_id, start, start + len(text), text), document.doc_id, document.title, text, start,
        document.url, "page 2", version=document.version, internal=document.internal, score=0.91, bm25=7.4, semantic=0.62,
    )  # fmt: skip


def grade_of(passage: Passage, score: float) -> Grade:
    label: Label = "Perfect" if score >= 0.8 else "Good" if score >= 0.4 else "Poor"
    extract = Span(0, 20, passage.text[:20])
    return Grade(passage.chunk_id, score, label, "yes" if score >= 0.4 else "no", extract, "names the same thing")


def claim(
    answer: str,
    text: str,
    kind: Kind,
    status: Status,
    source: Passage | None = None,
    *,
    of: str | None = None,
    why: str = "",
) -> Claim:
    """A claim on the first `text` of `answer`, supported by the first `of` (or `text`) of `source`."""
    start = answer.index(text)
    evidence: tuple[EvidenceSpan, ...] = ()
    if source is not None:
        there = of or text
        at = source.text.index(there)
        evidence = (EvidenceSpan(source.chunk_id, "text", at, at + len(there), there),)
    reason = why or f"{there!r} stands in the source" if source is not None else why or "no source says this"
    return Claim(kind, text, start, start + len(text), text.lower(), None, status, evidence, reason)


def citation(n: int, passage: Passage, quote: str) -> Citation:
    return Citation(
        n,
        passage.title,
        passage.url,
        passage.doc_id,
        passage.chunk_id,
        passage.locator,
        quote,
        passage.origin,
        passage.tier,
    )


STAGES = (
    ("screen", "Screening the question"),
    ("retrieve", "Searching the knowledge base"),
    ("grade", "Grading the passages"),
    ("compose", "Drafting the answer"),
    ("check", "Checking every value against its source"),
)


class FakeTurns:
    """Answers by the words of the question. `pause` slows each stage; a turn about "forever" never ends by itself."""

    def __init__(self, ledger: FakeLedger, library: FakeLibrary, pause: float = 0.0) -> None:
        self._ledger, self._library, self.pause = ledger, library, pause
        self.asks: list[Ask] = []
        self.finished = 0
        self.begun = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def answer(self, ask: Ask, on_stage: OnStage | None) -> Reply:
        self.asks.append(ask)
        self.begun.set()
        try:
            for name, label in STAGES:
                if on_stage is not None:
                    await on_stage(Stage(name, label))
                await asyncio.sleep(3600 if "forever" in ask.question else self.pause)
            if "explode" in ask.question:
                raise RuntimeError(f"secret words of {ask.user}: {ask.question}")
            if "outage" in ask.question:
                raise ServiceUnavailable("search", "connection refused")
            reply, passages = self._reply(ask.question.lower())
            reply = await self._record(ask, reply, passages)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        self.finished += 1
        return reply

    def _reply(self, question: str) -> tuple[Reply, tuple[Passage, ...]]:
        makers = {
            "repair": repaired, "withhold": withheld, "ignore your instructions": blocked, "broken": failed,
            "weather": insufficient, "hostile": hostile, "flat white": from_web, "this plan": asks_back,
        }  # fmt: skip
        return next((make() for word, make in makers.items() if word in question), answered())

    async def _record(self, ask: Ask, reply: Reply, passages: tuple[Passage, ...]) -> Reply:
        timings = {name: 12.5 * (i + 1) for i, (name, _) in enumerate(STAGES)}
        mode = {"generator": "extractive", "grader": "lexical+semantic", "search": "hybrid", "screen": "rules"}
        # the id is known before the body is written, as in the real ledger the reply is stored with it
        entry_id = f"e{len(self._ledger.kept) + 1:05d}x7q"
        reply = told(reply, timings_ms=timings, mode=mode, entry_id=entry_id, kb_version="kb-7f3a", query=ask.question)
        await self._ledger.append("turn", turn_body(ask, reply, passages))
        return reply


CALLS = [
    {"purpose": "rewrite", "model": "gpt-4o", "ended": "complete", "ms": 412.4, "usage": {"prompt_tokens": 210, "completion_tokens": 18}, "temperature": 0.0},
    {"purpose": "rewrite", "model": "gpt-4o", "ended": "ServiceTimeout", "ms": 8000.0, "usage": {}, "temperature": None},
]  # fmt: skip
BLOCK = {"category": "jailbreak", "rule": "JB-01", "score": 0.97, "threshold": 0.5, "by": "rules"}


def turn_body(ask: Ask, reply: Reply, passages: Sequence[Passage]) -> dict[str, Any]:
    """A ledger body of kind "turn"."""
    parts = [
        {"name": name, "text": f"The {name} part. " + HOSTILE}
        for name in ("system", "guidance", "history", "agent_context", "example")
    ]
    return {
        "ask": {
            "question": ask.question, "history": [{"role": t.role, "text": t.text} for t in ask.history],
            "context": ask.context, "product": ask.product, "user": ask.user, "channel": ask.channel,
            "conversation": ask.conversation, "policy": ask.policy,
        },
        "reply": reply.as_json(),
        "policy": Policy().as_json(),
        "evidence": [
            {
                "n": n, "chunk_id": p.chunk_id, "doc_id": p.doc_id, "version": p.version, "title": p.title, "url": p.url,
                "locator": p.locator, "start": p.start, "end": p.start + len(p.text), "text": p.text, "origin": p.origin,
                "score": 0.86, "tier": p.tier,
            }
            for n, p in enumerate(passages, 1)
        ],
        "passages": [
            {"chunk_id": p.chunk_id, "doc_id": p.doc_id, "title": p.title, "start": p.start, "end": p.start + len(p.text), "score": p.score, "bm25": p.bm25, "semantic": p.semantic, "screened": p.screened}
            for p in passages
        ],
        "prompt": {"parts": parts, "question": ask.question, "cuts": ["history: 2 oldest turns"], "tokens": 812, "sha256": "ab" * 32}
        if passages else None,
        "screenings": [{"what": "question", "verdict": "block", **BLOCK} if reply.outcome is Outcome.BLOCKED else {"what": "question", "verdict": "allow", "category": None, "rule": None, "score": 0.02, "threshold": 0.5}],
        "stages": [{"name": name, **({"node": "grade_documents"} if name == "grade" else {}), "ms": ms} for name, ms in reply.record.timings_ms.items()],
        "searched": reply.record.query.text,
        "decision": asdict(reply.record.found.decision) if reply.record.found.decision else None,
        "calls": CALLS if reply.record.usage else [],
        "web": [asdict(p) for p in web_previews(reply.record.found.web, [Evidence(n, p) for n, p in enumerate(passages, 1)])],
    }  # fmt: skip


def answered() -> tuple[Reply, tuple[Passage, ...]]:
    first, second = passage_of(RETURNS), passage_of(PLANS)
    text = (
        "You can return an unused item within 30 days of delivery [1]. Return shipping costs €4.90 [1]. "
        "For questions call +44 20 7946 0018 [1]. Northwind Care is €79.00 a year [2]."
    )
    sentence = "You can return an unused item within 30 days of delivery [1]."
    claims = (
        claim(
            text,
            sentence,
            "statement",
            "entailed",
            first,
            of="You can return an unused item within 30 days of delivery.",
        ),
        claim(text, "30 days", "quantity", "exact", first),
        claim(text, "€4.90", "money", "exact", first),
        claim(text, "+44 20 7946 0018", "phone", "exact", first),
        claim(text, "Northwind Care", "entity", "exact", second),
        claim(text, "€79.00", "money", "exact", second),
    )
    cited = (
        citation(1, first, "You can return an unused item within 30 days of delivery."),
        citation(2, second, "Northwind Care costs €7.99 a month or €79.00 a year."),
    )
    notes = (InternalNote("Escalation rules", "escalation", "c9", "Goodwill credits above €50 need a team lead."),)
    grades = (grade_of(first, 0.93), grade_of(second, 0.55))
    return reply_of(
        Outcome.ANSWERED, text, citations=cited, claims=claims, grades=grades, action=Action.CORRECT,
        internal_notes=notes, relevance=0.88, decision=Decision(Action.CORRECT, (first.chunk_id,), "max_at_least_correct", 0.8, 0.13, 0.93),
    ), (first, second)  # fmt: skip


def repaired() -> tuple[Reply, tuple[Passage, ...]]:
    first = passage_of(RETURNS)
    draft = "Refunds reach your card in 5 to 7 working days [1]. Return shipping costs €5.90 [1]. Call +44 20 7946 0081 [1]."
    text = "Refunds reach your card in 5 to 7 working days [1]."
    days = claim(text, "5 to 7 working days", "quantity", "exact", first)
    struck = Struck(
        draft,
        (
            claim(draft, "5 to 7 working days", "quantity", "exact", first),
            claim(draft, "€5.90", "money", "absent", first, of="€4.90", why="the source says €4.90, not €5.90"),
            claim(draft, "+44 20 7946 0081", "phone", "lookalike", first, of="+44 20 7946 0018",
                  why="the source has +44 20 7946 0018: two digits are swapped"),
        ),
    )  # fmt: skip
    cited = (citation(1, first, "Refunds reach the card that was charged in 5 to 7 working days."),)
    return reply_of(
        Outcome.REPAIRED, text, citations=cited, claims=(days,), grades=(grade_of(first, 0.9),), action=Action.CORRECT,
        draft=struck, relevance=0.8, notes=("two sentences were taken out",),
    ), (first,)  # fmt: skip


def withheld() -> tuple[Reply, tuple[Passage, ...]]:
    first = passage_of(PLANS)
    draft = "The plan costs €9.99 a month."
    struck = Struck(draft, (claim(draft, "€9.99", "money", "absent", first, of="€7.99", why="the source says €7.99"),))
    return reply_of(
        Outcome.WITHHELD, "I found sources, but could not support an answer with them.",
        offered=(citation(1, first, "Northwind Care costs €7.99 a month"),), draft=struck, grades=(grade_of(first, 0.7),),
        action=Action.AMBIGUOUS,
    ), (first,)  # fmt: skip


def insufficient() -> tuple[Reply, tuple[Passage, ...]]:
    first = passage_of(RETURNS)
    text = "The provided information is not sufficient to answer this question."
    return reply_of(
        Outcome.INSUFFICIENT, text, offered=(citation(1, first, "Returns and refunds"),), grades=(grade_of(first, 0.1),),
        action=Action.INCORRECT,
    ), (first,)  # fmt: skip


def asks_back() -> tuple[Reply, tuple[Passage, ...]]:
    """Not enough, asked in other words and on the web, a question to the human agent."""
    reply, passages = insufficient()
    at_first = Decision(Action.INCORRECT, (), "max_below_keep", 0.4, 0.3, 0.1)
    in_doubt = Decision(Action.AMBIGUOUS, (passages[0].chunk_id,), "max_below_correct", 0.8, 0.25, 0.55)
    options = ("Northwind Care", f"Northwind Care Plus {HOSTILE}"[:80])
    return told(
        reply, action=Action.AMBIGUOUS, decided_first=at_first, decision=in_doubt,
        corrections=(
            Correction("rewrites", ("price of the plan", f"cost of the plan {HOSTILE}"), 1, in_doubt),
            Correction("web", why="web search is off"),
        ),
        clarification=Clarification(
            f"Which plan do you mean: {', '.join(options)} or another?", options, "“this plan” points at something that no turn names",
        ),
        usage={"calls": 2, "prompt_tokens": 210, "completion_tokens": 18},
    ), passages  # fmt: skip


def from_web() -> tuple[Reply, tuple[Passage, ...]]:
    text = "A flat white has less foam [1]."
    page = Passage("w1", "web:1", "Coffee basics", "A flat white has a thin layer of microfoam.", origin="web",
                   url="https://coffee.example/flat-white", tier="unlisted")  # fmt: skip
    web = (
        WebResult(
            "Coffee basics",
            "https://coffee.example/flat-white",
            "A flat white has a thin layer of microfoam.",
            query="flat white",
        ),
    )
    cited = (citation(1, page, "a thin layer of microfoam"),)
    return reply_of(Outcome.ANSWERED, text, citations=cited, web=web, action=Action.INCORRECT), (page,)


def blocked() -> tuple[Reply, tuple[Passage, ...]]:
    text = "This question cannot be answered within the limits of our search policies."
    return Reply(Outcome.BLOCKED, text, refusal=Refusal("jailbreak", "en")), ()


def failed() -> tuple[Reply, tuple[Passage, ...]]:
    text = "The language model did not answer. Please try again."
    return Reply(Outcome.FAILED, text, code="model_unavailable"), ()


def hostile() -> tuple[Reply, tuple[Passage, ...]]:
    first = passage_of(NASTY)
    text = f"𝒜𝒷 {HOSTILE} The lens cloth costs €3.50 [1]."
    return reply_of(
        Outcome.ANSWERED, text, citations=(citation(1, first, HOSTILE),), claims=(claim(text, "€3.50", "money", "exact", first),),
        web=(WebResult(HOSTILE, "javascript:alert(1)", HOSTILE),), notes=(HOSTILE,),
        internal_notes=(InternalNote(HOSTILE, "nasty", "c", HOSTILE),),
    ), (first,)  # fmt: skip


_AMOUNT = re.compile(r"[€$£]\d+(?:\.\d\d)?|\+\d[\d ]{7,}\d|\d+(?: days)?")


async def check(request: CheckRequest) -> Report:
    """Amounts, phones and numbers: exact if a source has the same characters, absent otherwise."""
    claims = tuple(_check(m.start(), m.group(), request.sources) for m in _AMOUNT.finditer(request.answer))
    bad = [c for c in claims if c.unsupported]
    kept = [s for s in re.split(r"(?<=[.!?]) ", request.answer) if not any(c.text in s for c in bad)]
    return Report(
        "unsupported" if bad else "supported",
        0.97 if bad else 0.02,
        claims,
        None,
        " ".join(kept) if bad and kept else None,
    )


def _check(start: int, text: str, sources: Sequence[Source]) -> Claim:
    kind: Kind = "money" if text[0] in "€$£" else "phone" if text[0] == "+" else "number"
    for source in sources:
        at = source.text.find(text)
        if at >= 0:
            span = EvidenceSpan(source.id, "text", at, at + len(text), text)
            return Claim(kind, text, start, start + len(text), text, None, "exact", (span,), "stands so in the source")
    return Claim(kind, text, start, start + len(text), text, None, "absent", (), "no source has it")


@dataclass
class Fake:
    """The system and the parts that a test looks into or breaks."""

    system: System
    library: FakeLibrary
    directory: FakeDirectory
    ledger: FakeLedger
    turns: FakeTurns
    reasons: dict[str, str]


def fake_system(*, pause: float = 0.0, **overrides: object) -> Fake:
    """A complete system; `overrides` are settings."""
    library = FakeLibrary({d.doc_id: d for d in (RETURNS, PLANS, ESCALATION, NASTY)})
    directory = FakeDirectory({"alice": frozenset({"billing"}), "dave": frozenset()})
    ledger = FakeLedger()
    turns = FakeTurns(ledger, library, pause)
    reasons: dict[str, str] = {}

    async def ready() -> dict[str, str]:
        return reasons

    async def close() -> None:
        return None

    settings = load_settings(**overrides)
    system = System(
        settings=settings, answer=turns.answer, check=check, queries=QueryBuilder(FakeSummarizer()), embedder=None,
        retriever=FakeRetriever(library), grader=FakeGrader(), screen=FakeScreen(), library=library, directory=directory,
        ledger=ledger, ready=ready, close=close,
    )  # fmt: skip
    return Fake(system, library, directory, ledger, turns, reasons)
