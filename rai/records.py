"""Records of responsible AI: screenings, claims, reports, outcomes, ledger entries. Frozen; JSON as in the contract.

All offsets are Unicode code points, half open: `answer[claim.start:claim.end] == claim.text`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from grounding.records import Trust

Kind = Literal[
    "number",
    "quantity",
    "money",
    "percent",
    "date",
    "time",
    "url",
    "email",
    "phone",
    "entity",
    "statement",
]
"""Kinds of claims."""
EntityType = Literal["person", "organisation", "address", "product", "code"]
"""Types of what a claim of the kind "entity" names."""
Status = Literal[
    "exact",
    "normalised",
    "rounded",
    "derived",
    "given",
    "conflict",
    "wrong_role",
    "lookalike",
    "absent",
    "entailed",
    "contradicted",
    "unchecked",
]
"""What the check found of a claim; docs/provenance.md says when each is given."""
Verdict = Literal["supported", "unsupported", "irrelevant", "unchecked"]
"""What the check makes of an answer, or of one layer of it."""
Category = Literal[
    "hate",
    "sexual",
    "violence",
    "self_harm",
    "dangerous_help",
    "privacy",
    "jailbreak",
    "injection",
    "instruction_leak",
    "off_policy",
]
"""Reasons for which a text is blocked."""

UNSUPPORTED: frozenset[Status] = frozenset({"wrong_role", "lookalike", "contradicted", "absent"})
"""Statuses of what is wrong and never delivered."""
SUPPORTED: frozenset[Status] = frozenset({"exact", "normalised", "rounded", "derived", "given", "entailed"})
"""Statuses of what may be delivered as it stands; every other that is not `UNSUPPORTED` is doubt."""
CONTACT_KINDS: frozenset[Kind] = frozenset({"phone", "url", "email"})
"""Kinds that lead somewhere: what is not shown to be right of them is struck."""
STRUCK_DOUBT: frozenset[tuple[Kind, Status]] = frozenset(
    [(kind, doubt) for kind in CONTACT_KINDS for doubt in ("unchecked", "conflict")] + [("money", "conflict")]
)
"""Doubt that is struck unless a policy says otherwise; what is doubtful else is delivered and marked."""


@dataclass(frozen=True, slots=True)
class DocumentScreening:
    """The screen's decision on one document or passage. `score` in [0, 1]: how sure it is that it must be blocked.

    `doubtful`: allowed, though the score lies in the band where a stronger screen should decide.
    """

    index: int
    verdict: Literal["allow", "block"]
    rule: str | None
    score: float
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Screening:
    """The screen's decision on a text and the documents given with it.

    `score` in [0, 1] blocks from `threshold` on. `doubtful`: allowed, though the score lies in the band where a stronger screen should
    decide. `by`: the screen that decided, where there are several. `notes`: what the record should say, in sentences.
    """

    verdict: Literal["allow", "block"]
    category: Category | None = None
    rule: str | None = None
    score: float = 0.0
    documents: tuple[DocumentScreening, ...] = ()
    threshold: float = 0.5
    doubtful: bool = False
    by: str = ""
    notes: tuple[str, ...] = ()

    @property
    def blocked(self) -> bool:
        """True if the text may reach no model."""
        return self.verdict == "block"


@dataclass(frozen=True, slots=True)
class Source:
    """A text that claims are checked against. `id` is free; in a turn it is the chunk id.

    `updated`: when it was last changed, ISO 8601, where that is known: of two sources that disagree the newer is named. `replaced_by`: the title of the
    edition that has taken its place, "" while it holds.
    """

    id: str
    text: str
    title: str = ""
    updated: str | None = None
    replaced_by: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """A place in a source that is evidence for or against a claim: `getattr(source, field)[start:end] == text`. `source`: its id."""

    source: str
    field: Literal["text", "title"]
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A checkable piece of a draft, a value, a name or a sentence, and what the check found. `value` is its normal form; `why` a sentence for a person.

    `rule`: the rule that decided ("cell-role"). `formula`: how a derived value comes about ("9 × $12 = $108"). `p` in [0, 1]: the
    chance that the claim is supported, as often as this rule was right on answers whose errors are known; None where nobody counted.
    `score`: of a statement, how far it is supported, in [0, 1]: it ranks, it is no probability; None of other kinds and where
    nothing was weighed.
    `instead`: what the source says here, where role and subject are certain: what a repair may write in the claim's place.
    `trust`: of a contact that nobody answers for, whose word it is (`check.contact_sources`); None of all else. `instead` is then what an official source gives.
    `struck`: whether a policy of its own strikes the claim's doubt; None: `STRUCK_DOUBT` says.
    """

    kind: Kind
    text: str
    start: int
    end: int
    value: str | None = None
    entity: EntityType | None = None
    status: Status = "unchecked"
    evidence: tuple[EvidenceSpan, ...] = ()
    why: str = ""
    score: float | None = None
    instead: EvidenceSpan | None = None
    rule: str | None = None
    formula: str | None = None
    p: float | None = None
    struck: bool | None = None
    trust: Trust | None = None

    @property
    def unsupported(self) -> bool:
        """True if the claim must not be delivered: it is wrong, or in doubt that the policy strikes."""
        by_policy = (self.kind, self.status) in STRUCK_DOUBT if self.struck is None else self.struck
        return self.status in UNSUPPORTED or by_policy


@dataclass(frozen=True, slots=True)
class Layer:
    """The verdict of one layer of the check by itself; `score` as in `Report`. The report is the union of its layers."""

    name: Literal["values", "entities", "statements", "judge", "relevance"]
    verdict: Verdict
    score: float


@dataclass(frozen=True, slots=True)
class Report:
    """The result of the provenance check of one answer.

    `score` in [0, 1]: how sure the checker is that something is unsupported. `relevance` in [0, 1] or None if not asked.
    `repaired`: the answer with what is unsupported replaced or taken out, itself checked, or None. `repair`: how it was made;
    `replaced` took nothing out.
    """

    verdict: Verdict
    score: float
    claims: tuple[Claim, ...]
    relevance: float | None = None
    repaired: str | None = None
    layers: tuple[Layer, ...] = ()
    notes: tuple[str, ...] = ()
    repair: Literal["replaced", "dropped"] | None = None


class Outcome(StrEnum):
    """The way in which a turn ends. Expected ends are values, not exceptions."""

    ANSWERED = "answered"
    REPAIRED = "repaired"
    INSUFFICIENT = "insufficient"
    BLOCKED = "blocked"
    WITHHELD = "withheld"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the ledger. `at`: ISO 8601; `body` is JSON-serialisable; `prev`: the link of the entry before; `mac`: its own, which chains it to that."""

    entry_id: str
    seq: int
    at: str
    kind: str
    body: dict[str, Any]
    prev: str
    mac: str


@dataclass(frozen=True, slots=True)
class Break:
    """A place at which the ledger does not hold. `why` begins with changed, missing, reordered or truncated.

    `entry`: the id of the entry at which it shows, None if it is none of an entry; `at`: the number of that place, counting entries as they
    stand, None for what concerns the ledger as a whole. `before`, `after`: how many entries lie between it and the break before (or the
    beginning), and the next (or the end); what lies there holds.
    """

    entry: str | None
    why: str
    at: int | None = None
    before: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True)
class KeptCheckpoint:
    """A signed checkpoint in its second place: its `name` there, and when it was written, as that place says."""

    name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of checking the ledger's chain. `head`: the last link; `broken`: the id of the first entry at which it does not hold; `why`: the reason.

    `entries`, `head`: up to the first break of the chain. `breaks`: all of them, in the order of the entries. `ledger_id`: of which ledger, None if it
    has no id.
    """

    ok: bool
    entries: int
    head: str
    broken: str | None = None
    why: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)
    breaks: tuple[Break, ...] = field(default_factory=tuple)
    ledger_id: str | None = None
