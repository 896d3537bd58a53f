"""What goes into a turn and what comes out of it, as every channel sees it. Frozen; JSON as in the contract."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Literal

from bot.wording.web import web_notice
from grounding.corrective.decide import Decision
from grounding.corrective.find import Correction
from grounding.plain import plain
from grounding.policy import DEFAULT_POLICY
from grounding.query.clarify import Clarification
from grounding.quoting.coverage import Covered
from grounding.records import Action, Grade, Origin, Tier, Turn, WebResult
from rai.records import Category, Claim, Outcome

Code = Literal[
    "screen_unavailable", "model_unavailable", "search_unavailable", "ledger_unavailable", "deadline"
]  # fmt: skip
Intent = Literal["greeting", "thanks", "farewell", "help", "about", "new", "rework"]
"""What a message that is small talk wants."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One turn to answer: the question and what is known around it.

    `user` is who asks (already authenticated by the channel), None for a stranger, who sees what everyone may see.
    `at`: when it is asked, in the customer's zone where that is known: "tomorrow" in an answer is a day then.
    `excluded`: words that are never searched for. `locale`: of the person's own program, as "de-AT": the language of a refusal where the question does not tell it.
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


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a part of the answer comes from. `quote` lies verbatim in the cited passage; `tier` is that of a web page's site."""

    n: int
    title: str
    url: str | None
    doc_id: str
    chunk_id: str
    locator: str | None
    quote: str
    origin: Origin = "kb"
    tier: Tier | None = None


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
class Reply:
    """How the turn ended. `answer` is what the channel shows: the checked answer, or the fixed notice of the outcome.

    `turn_id`: 16 hexadecimal digits that log lines and the trace of the turn carry too. `intent`: of small talk, which is not searched for;
    `suggestions`: messages that may be sent next, as buttons where there are some. `coverage`: the parts of the question, each answered or not. `understood`: of a pasted conversation or
    e-mail how much was read and what is asked.
    """

    outcome: Outcome
    answer: str
    code: Code | None = None
    citations: tuple[Citation, ...] = ()
    claims: tuple[Claim, ...] = ()
    query: str = ""
    grades: tuple[Grade, ...] = ()
    action: Action | None = None
    web: tuple[WebResult, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict)
    kb_version: str = ""
    entry_id: str = ""
    mode: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    internal_notes: tuple[InternalNote, ...] = ()
    offered: tuple[Citation, ...] = ()
    draft: Struck | None = None
    relevance: float | None = None
    refusal: Refusal | None = None
    decided_first: Decision | None = None
    decision: Decision | None = None
    corrections: tuple[Correction, ...] = ()
    clarification: Clarification | None = None
    policy: str = ""
    usage: dict[str, int | str] = field(default_factory=dict)
    turn_id: str = ""
    intent: Intent | None = None
    suggestions: tuple[str, ...] = ()
    coverage: tuple[Covered, ...] = ()
    understood: str = ""

    @property
    def web_notice(self) -> str | None:
        """The line that marks an answer of which a part rests on the web; None if none does."""
        return web_notice((c.n, c.url, c.tier) for c in self.citations if c.origin == "web")

    def as_json(self) -> dict[str, Any]:
        """The form of `ask --json` and `POST /api/ask`."""
        own: dict[str, Any] = {
            "outcome": self.outcome.value,
            "action": self.action.value if self.action else None,
            "web": [{"title": w.title, "url": w.url, "snippet": w.snippet, "tier": w.tier} for w in self.web],
            "claims": [claim_json(c) for c in self.claims],
            "grades": [grade_json(g) for g in self.grades],
            "draft": self.draft and {"text": self.draft.text, "claims": [claim_json(c) for c in self.draft.claims]},
        }
        names = (field.name for field in fields(self))
        data = {name: own[name] if name in own else plain(getattr(self, name)) for name in names}
        return {**data, "web_notice": self.web_notice}


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
