"""What goes into a turn and what comes out of it, as every channel sees it. Frozen; JSON as in the contract."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from bot.stop import Stop
from bot.version import VERSION
from bot.wording.contacts import contact_notice
from bot.wording.refusals import FALLBACK, language_for, spoken
from bot.wording.web import web_notice
from grounding.corrective.find import FoundEvidence
from grounding.policy import DEFAULT_POLICY, Policy
from grounding.query.clarify import Clarification
from grounding.quoting.coverage import Covered
from grounding.records import Access, Action, Evidence, Grade, Origin, Prompt, Query, Tier, Trust, Turn, plain
from rai.account import ModelCall, Prices
from rai.judgement import Judgement
from rai.records import Category, Claim, Outcome, Screening

Code = Literal["screen_unavailable", "model_unavailable", "search_unavailable", "ledger_unavailable", "deadline"]
Intent = Literal["greeting", "thanks", "farewell", "help", "about", "new", "rework"]
"""What a message that is small talk wants."""
How = Literal["shorter", "friendlier", "email", "chat", "translate", "summary"]
"""What is made of an answer that was given, or of the conversation ("summary")."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks, as the record keeps it; also where the turn answers as for a stranger, because a whole group reads along.

    `authenticated_by`: how it is known who that is. "aad": the directory's object id, in a message that the channel signed; "channel": the
    channel's own id of the sender; "key 0": whoever holds the first of the server's keys; "local": whoever uses this machine says so; "cli":
    whoever runs the command says so; "account": the operating system's account that ran a command or a server; "review 1a2b3c4d": whoever opened a link to the
    reviewers' pages, with the beginning of a hash that tells their sessions apart; "oidc 1a2b3c4d": whoever signed in there, likewise; "link": whoever holds a signed link to a source, `user` being whom it
    was made for. None: nobody told. `tenant`: the person's, where the channel names it.
    """

    user: str | None = None
    authenticated_by: str | None = None
    tenant: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewerActor(Actor):
    """A reviewer who signed in: `user` is who it is for the directory, `tenant` the provider's or its issuer, `role` what they may do at the desk."""

    name: str | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Versions:
    """What a turn runs on. `models`: the models of this machine by their role, each with a hash; `settings`: a hash of all that decide how
    turns run, without secrets. Empty where nobody told.
    """

    program: str = VERSION
    models: Mapping[str, str] = field(default_factory=dict)
    settings: str = ""


@dataclass(frozen=True, slots=True)
class Rework:
    """What is to be made of an earlier answer. `entry_id`: of its entry, empty for the last answer of the conversation and for a summary; `language`: to translate into, as ISO 639-1."""

    how: How
    entry_id: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """One turn to answer: the question and what is known around it.

    `user` is who asks (already authenticated by the channel), None for a stranger, who sees what everyone may see. `actor`: who it was and
    how that is known, for the record alone; None: nothing beside `user`.
    `at`: when it is asked, in the customer's zone where that is known: "tomorrow" in an answer is a day then.
    `excluded`: words that are never searched for. `locale`: of the person's own program, as "de-AT": the language of a refusal where the question does not tell it. `stop`: with what the person who
    waits can end the turn; None: with nothing. `rework`: what is asked for is a reworking of that answer, `question` only says so. `answered`: the entry of the last answer in this conversation, where the channel, or who calls, knows it.
    `web`: the web is searched too, however good what the knowledge base has may look.
    """

    question: str
    history: tuple[Turn, ...] = ()
    context: str | None = None
    product: str | None = None
    user: str | None = None
    policy: str = DEFAULT_POLICY
    channel: str = "cli"
    conversation: str | None = None
    at: datetime | None = None
    locale: str | None = None
    excluded: tuple[str, ...] = ()
    actor: Actor | None = None
    stop: Stop | None = field(default=None, compare=False, repr=False)
    rework: Rework | None = None
    answered: str = ""
    web: bool = False

    @property
    def language(self) -> str:
        """In which the person is spoken to."""
        return language_for(self.question, self.locale, spoken(self.history))


@dataclass(frozen=True, slots=True)
class Rerun:
    """A recorded turn to be run once more, over the knowledge base as it is now; nothing of it is recorded.

    `groups`: those that it could read with then; `draft`: what was drafted then, without its marks, which stands in for a model that is not asked, None where
    there was none; `generator`: who drafted it. `asks_model`: models are asked again, as the settings have them. The web is not searched again.
    """

    ask: Ask
    groups: frozenset[str] = frozenset()
    draft: str | None = None
    generator: str = ""
    asks_model: bool = False


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a part of the answer comes from. `quote` lies verbatim in the cited passage; `tier` is that of a web page's site, `trust` whose word
    the source is.
    """

    n: int
    title: str
    url: str | None
    doc_id: str
    chunk_id: str
    locator: str | None
    quote: str
    origin: Origin = "kb"
    tier: Tier | None = None
    trust: Trust = "ordinary"


@dataclass(frozen=True, slots=True)
class InternalNote:
    """A passage that may inform the human agent and is never part of a customer-ready draft."""

    title: str
    doc_id: str
    chunk_id: str
    quote: str


@dataclass(frozen=True, slots=True)
class Struck:
    """The draft as it was before repair, with its claims: shown struck out, never sent to a customer."""

    text: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a question was refused, as far as the person is told: the policy's category, None if it is not known. `language`: of the notice."""

    category: Category | None
    language: str


@dataclass(frozen=True, slots=True)
class Regeneration:
    """A second draft: what was asked, what came, and whether the reply rests on it. `text` None: none came, `why` says so."""

    prompt: Prompt
    text: str | None
    why: str = ""
    used: bool = False


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """How a turn came to its reply: what an operator and a reviewer read, and what the ledger's entry is made of.

    `turn_id`: 16 hexadecimal digits that log lines and the trace of the turn carry too. `mode`: the names of those who drafted, graded,
    searched and screened. `rejected_drafts`: drafts that must not be shown. `stages`: those that ended, with their milliseconds;
    `timings_ms`: the same by name, with their total. `usage`: what the calls took together. `access`: the rights that it read with, None
    if it did not come that far. `ended`: "stopped" where the person who waited pressed Stop, else empty. `held`: the groups of who asked, for the record alone; None where the directory was not asked or did not tell.
    """

    turn_id: str = ""
    ask: Ask | None = None
    policy: Policy | None = None
    mode: dict[str, str] = field(default_factory=dict)
    query: Query = field(default_factory=lambda: Query(""))
    found: FoundEvidence = field(default_factory=FoundEvidence)
    evidence: tuple[Evidence, ...] = ()
    prompt: Prompt | None = None
    regeneration: Regeneration | None = None
    rejected_drafts: tuple[str, ...] = ()
    screenings: tuple[tuple[str, Screening], ...] = ()
    judgements: tuple[Judgement, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    prices: Prices | None = None
    usage: dict[str, int | str] = field(default_factory=dict)
    stages: tuple[tuple[str, float], ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    access: Access | None = None
    held: frozenset[str] | None = None
    ended: str = ""
    versions: Versions = field(default_factory=Versions)

    @property
    def policy_name(self) -> str:
        """Empty where none was chosen."""
        return self.policy.name if self.policy else ""

    @property
    def kb_version(self) -> str:
        """Of the knowledge base that was searched; empty where nothing was."""
        return self.found.retrieval.kb_version

    @property
    def action(self) -> Action | None:
        """What was decided at last of what was found; None where nothing was searched for."""
        return self.found.decision.action if self.found.decision else None


@dataclass(frozen=True, slots=True)
class Reply:
    """What people get: how the turn ended, and `answer`, which the channel shows: the checked answer, or the fixed notice of the outcome.

    `entry_id`: of the ledger's entry, empty where none could be written. `intent`: of small talk, which is not searched for;
    `offered_as`: the heading of `offered` in the person's language, "" for the channel's own. `suggestions`: messages that may be sent next, as buttons where there are some. `coverage`: the parts of the question, each answered or
    not; where nothing answers, what of it the documents do not have. `understood`: of a pasted conversation or e-mail how much was read and what is asked. `record`: how the turn came to this.
    """

    outcome: Outcome
    answer: str
    code: Code | None = None
    citations: tuple[Citation, ...] = ()
    claims: tuple[Claim, ...] = ()
    entry_id: str = ""
    internal_notes: tuple[InternalNote, ...] = ()
    offered: tuple[Citation, ...] = ()
    offered_as: str = ""
    draft: Struck | None = None
    relevance: float | None = None
    refusal: Refusal | None = None
    clarification: Clarification | None = None
    intent: Intent | None = None
    suggestions: tuple[str, ...] = ()
    coverage: tuple[Covered, ...] = ()
    understood: str = ""
    record: TurnRecord = field(default_factory=TurnRecord)

    @property
    def web_notice(self) -> str | None:
        """The line that marks an answer of which a part rests on the web, in the language of the question; None if none does."""
        return web_notice(((c.n, c.url, c.tier) for c in self.citations if c.origin == "web"), self._language)

    @property
    def contact_notice(self) -> str | None:
        """The line that marks contacts of the answer that nobody answers for, with whose they are; None where there is none."""
        held = {e.passage.chunk_id: (e.n, e.passage) for e in self.record.evidence}
        return contact_notice(self.claims, held, self._language)

    @property
    def _language(self) -> str:
        return FALLBACK if self.record.ask is None else self.record.ask.language

    def as_json(self) -> dict[str, Any]:
        """The form of `ask --json` and `POST /api/ask`."""
        record, found = self.record, self.record.found
        return {
            "outcome": self.outcome.value,
            "answer": self.answer,
            "code": self.code,
            "citations": plain(self.citations),
            "claims": [claim_json(c) for c in self.claims],
            "query": record.query.text,
            "grades": [grade_json(g) for g in found.grades],
            "action": record.action.value if record.action else None,
            "web": [{"title": w.title, "url": w.url, "snippet": w.snippet, "tier": w.tier} for w in found.web],
            "timings_ms": plain(record.timings_ms),
            "kb_version": record.kb_version,
            "entry_id": self.entry_id,
            "mode": plain(record.mode),
            "notes": list(record.notes),
            "internal_notes": plain(self.internal_notes),
            "offered": plain(self.offered),
            "offered_as": self.offered_as,
            "draft": self.draft and {"text": self.draft.text, "claims": [claim_json(c) for c in self.draft.claims]},
            "relevance": self.relevance,
            "refusal": plain(self.refusal),
            "decided_first": plain(found.first),
            "decision": plain(found.decision),
            "corrections": plain(found.corrections),
            "clarification": plain(self.clarification),
            "policy": record.policy_name,
            "usage": plain(record.usage),
            "turn_id": record.turn_id,
            "intent": self.intent,
            "suggestions": list(self.suggestions),
            "coverage": plain(self.coverage),
            "understood": self.understood,
            "web_notice": self.web_notice,
            "contact_notice": self.contact_notice,
        }


def claim_json(claim: Claim) -> dict[str, Any]:
    """A claim in the contract's form."""
    return {
        "kind": claim.kind,
        "entity": claim.entity,
        "text": claim.text,
        "start": claim.start,
        "end": claim.end,
        "value": claim.value,
        "status": claim.status,
        "evidence": [plain(e) for e in claim.evidence],
        "why": claim.why,
        "rule": claim.rule,
        "p": claim.p,
        "instead": plain(claim.instead) if claim.instead else None,
        "formula": claim.formula,
        **({"score": claim.score} if claim.score is not None else {}),
        **({"struck": claim.struck} if claim.struck is not None else {}),
        **({"trust": claim.trust} if claim.trust is not None else {}),
    }


def grade_json(grade: Grade) -> dict[str, Any]:
    """A grade in the contract's form."""
    data: dict[str, Any] = plain(grade)
    data["id"] = data.pop("chunk_id")
    return data


@dataclass(frozen=True, slots=True)
class Stage:
    """Progress of a turn: a stage has begun. `label` is a short sentence for a person."""

    name: str
    label: str


OnStage = Callable[[Stage], Awaitable[None]]
Answer = Callable[[Ask, OnStage | None], Awaitable[Reply]]
"""The one function every channel calls: a turn in, a reply out; the ledger is already written when it returns."""
