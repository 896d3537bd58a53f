"""Data records of retrieval and drafting, from turn to draft. All are frozen; offsets are Unicode code points, half open.

Turn -> Query -> Passage -> Grade -> Evidence -> Prompt -> Draft

A `Chunk` is an indexed piece of a `Document`; a `Passage` is a chunk or a web result returned for a query. `start` and `end` of a chunk
index into its document's extracted text, so `document.text[start:end] == chunk.text`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, Literal

Role = Literal["customer", "agent", "user", "assistant"]
Origin = Literal["kb", "web"]
Tier = Literal["trusted", "unlisted", "denied"]
"""How far a web site is trusted: on a list of ours, on none, or never to be used."""
Trust = Literal["official", "ordinary", "inbound"]
"""Whose word a source is: the company's own and answered for, what somebody in it wrote, or what came in from outside (e-mails, the web)."""
Label = Literal["Awful", "Poor", "Good", "Perfect"]
SearchBy = Literal["hybrid", "words", "meaning"]


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of code points of a text; `text` repeats the characters in it."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation; a list of turns is in order of time, the newest last."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the conversation chosen for the query: `history[turn].text[start:end] == text`.

    `rank_score` in [0, 1]: how central the sentence is to the conversation's last need; higher is better.
    """

    turn: int
    start: int
    end: int
    text: str
    rank_score: float


@dataclass(frozen=True, slots=True)
class Linked:
    """A name of the knowledge base found in a text, whatever its case and spelling there.

    `name` as a title or product has it; `key` what its spellings have in common. `score` in (0, 1]: the share of the name's weight that
    stands in the text.
    """

    start: int
    end: int
    name: str
    key: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Query:
    """Search query made from a conversation: `text` is `entities`, as the turns spell them, and then `sentences`, verbatim.

    `why` says for each turn that was used what made it needed. A query that a person typed has a text only. `by`: what the search goes by,
    words, meaning or both. `imagined`: a hypothetical answer whose meaning is searched for in place of the text's (HyDE, arXiv 2212.10496);
    it is never evidence. `english`: of a question in another language what English documents call the things that it asks about, with the names in it; it is searched
    for beside the rest. `general`: a question of how something is done without the things that it names, which is searched for beside it as well. `asked`: the last question as it stands in `text`, where that has other words than were typed; empty: as it was typed.
    """

    text: str
    sentences: tuple[Sentence, ...] = ()
    entities: tuple[str, ...] = ()
    note: str | None = None
    why: tuple[str, ...] = ()
    by: SearchBy = "hybrid"
    imagined: str = ""
    english: str = ""
    asked: str = ""
    general: str = ""


@dataclass(frozen=True, slots=True)
class Access:
    """Access rights of one user. `groups` of nobody is empty: only documents for everyone are visible.

    `product` narrows retrieval to documents of that product and those of no product.
    """

    user: str | None = None
    groups: frozenset[str] = frozenset()
    product: str | None = None

    def may_read(self, groups: tuple[str, ...] | None) -> bool:
        """True if a document with these `groups` is visible: None is everyone, () is nobody."""
        return groups is None or not self.groups.isdisjoint(groups)

    def in_scope(self, product: str | None) -> bool:
        """True if a document of this product, or of none, belongs to what is searched."""
        return self.product is None or product in (None, self.product)


@dataclass(frozen=True, slots=True)
class Locator:
    """A place inside a document that a person can find: `label` ("page 3", "Opening hours") begins at `start`."""

    start: int
    label: str


@dataclass(frozen=True, slots=True)
class Document:
    """One article of the knowledge base, as extracted text.

    `groups` None: everyone in the tenant; (): nobody. `internal`: may inform the human agent, never
    quoted in a customer-ready draft. `updated`: ISO 8601 or None. `trust`: whose word it is, which decides how its contacts are shown.
    """

    doc_id: str
    title: str
    text: str
    url: str | None = None
    groups: tuple[str, ...] | None = None
    product: str | None = None
    internal: bool = False
    updated: str | None = None
    content_type: str = "text/plain"
    locators: tuple[Locator, ...] = ()
    trust: Trust = "ordinary"

    @property
    def version(self) -> str:
        """Hash of everything that retrieval or display depends on; equal versions cost no work."""
        meta = (self.title, self.url, self.groups, self.product, self.internal, self.updated, self.locators)
        trust = "" if self.trust == "ordinary" else self.trust  # versions of before there was trust stay what they were
        return hashlib.sha256(f"{meta!r}{trust}\x00{self.text}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """Entry in the list of documents. `root` is the folder or corpus that it was ingested from, `chunking` names the way it was chunked."""

    doc_id: str
    title: str
    content_type: str
    version: str
    chunks: int
    url: str | None
    groups: tuple[str, ...] | None
    product: str | None
    internal: bool
    updated: str | None
    root: str
    ingested_at: str
    chunking: str = ""
    trust: Trust = "ordinary"


def chunk_id(doc_id: str, start: int, end: int, text: str) -> str:
    """Content id of a chunk: the same id stands in index, citation and ledger. 24 hex digits of SHA-256."""
    return hashlib.sha256(f"{doc_id}\x00{start}\x00{end}\x00{text}".encode()).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class Chunk:
    """An indexed piece of a document. `tokens` counts GPT-4o byte-pair tokens of `text`."""

    chunk_id: str
    doc_id: str
    start: int
    end: int
    text: str
    tokens: int
    locator: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk or a web result returned for a query, best first.

    `score`: fused, in [0, 1], higher is better, comparable within one result list only. `bm25`: raw, unbounded,
    or None if words did not find it. `semantic`: cosine in [-1, 1], or None if there are no vectors. `reranked`: what a ranker behind
    the search gave it, in [0, 4] (Azure's semantic ranker), or None; `caption`: the words of it that the ranker found to the point.
    `screened` names the rule that found an instruction hidden in the passage, when there is one. `tier` is of a web page. `trust`: whose word
    it is, that of its document; pages of the web are inbound, of trusted sites ordinary.
    """

    chunk_id: str
    doc_id: str
    title: str
    text: str
    start: int = 0
    url: str | None = None
    locator: str | None = None
    origin: Origin = "kb"
    internal: bool = False
    updated: str | None = None
    version: str = ""
    tokens: int = 0
    score: float = 0.0
    bm25: float | None = None
    semantic: float | None = None
    screened: str | None = None
    tier: Tier | None = None
    reranked: float | None = None
    caption: str | None = None
    trust: Trust = "ordinary"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Result of a search. `kb_version` names the state of the knowledge base that was searched.

    `mode`: how it was searched ("hybrid", "lexical" …); `notes`: what the search lacked.
    """

    passages: tuple[Passage, ...]
    kb_version: str
    mode: str = "hybrid"
    notes: tuple[str, ...] = ()


class Action(StrEnum):
    """Action of corrective RAG (CRAG, arXiv 2401.15884) that the grades lead to."""

    CORRECT = "correct"
    AMBIGUOUS = "ambiguous"
    INCORRECT = "incorrect"


@dataclass(frozen=True, slots=True)
class Grade:
    """One grader's judgement of one passage. `score` in [0, 1]; `extract` lies verbatim in the passage."""

    chunk_id: str
    score: float
    label: Label
    binary: Literal["yes", "no"]
    extract: Span | None
    justification: str


@dataclass(frozen=True, slots=True)
class Grading:
    """Grades of all passages, in the order given. `ungraded` when the grader failed: treated as ambiguous."""

    status: Literal["graded", "ungraded"]
    grades: tuple[Grade, ...]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage in the prompt under its number `n` (1, 2, …); `score` is its grade in [0, 1]."""

    n: int
    passage: Passage
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class PromptPart:
    """One of the five parts of a prompt: its name and rendered text."""

    name: Literal["system", "guidance", "history", "agent_context", "example"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """Prompt in five parts of ascending importance, then the question. `cuts` records what the budget removed.

    `query`: what was searched for, with the names that the question depends on; empty means the question itself. `asked`: the question as it stands there. `message`: what a chat
    model gets as the user message where that is more than the question. `marker`: the delimiter of its quotations; with it the same prompt
    can be made again.
    """

    parts: tuple[PromptPart, ...]
    question: str
    evidence: tuple[Evidence, ...] = ()
    cuts: tuple[str, ...] = ()
    tokens: int = 0
    query: str = ""
    marker: str = ""
    message: str = ""
    asked: str = ""

    @property
    def last(self) -> str:
        """The question as it stands in `query`."""
        return self.asked or self.question

    @property
    def user_text(self) -> str:
        """The user message for a chat model."""
        return self.message or self.question

    @property
    def system_text(self) -> str:
        """The system message for a chat model: the five parts joined."""
        return "\n\n".join(part.text for part in self.parts)


LEAD_IN = "Quoted from the sources:"
"""What stands above a draft of quotes: our own words."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Output of a model or composer before any check. `generator` names who wrote it; `unknown`: a name in the question that the evidence does not
    have, where that is why nothing answers. `rivals`: names of what rows of a table are about that answer alike, where the question tells none of them apart.
    """

    text: str
    generator: str
    usage: dict[str, int] = field(default_factory=dict)
    unknown: str = ""
    rivals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Served:
    """Which of several backends answered, and its model. `degraded`: a note where that is another model than the usual one, with the reason."""

    backend: str
    model: str
    degraded: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """A chat model's complete reply; an incomplete one is an error, never a value. `temperature`: as it was asked with, None if unknown.

    `served`: by whom, where there are several backends.
    """

    text: str
    model: str
    usage: dict[str, int] = field(default_factory=dict)
    temperature: float | None = None
    served: Served | None = None


@dataclass(frozen=True, slots=True)
class WebResult:
    """One result of a web search, as the provider gave it, already filtered by the allow and deny lists.

    `query`: what was searched for when it was found, without personal data where that is taken out; another query's is the same result.
    """

    title: str
    url: str
    snippet: str
    published: datetime | None = None
    tier: Tier = "unlisted"
    query: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far long work is: stage "plan", "run", "read", "words", "vectors", "screen", "hyde" or "search" of an ingest, "chain" of a record that is verified, and of a copy the name
    of a table; `total` is None while it is not known.
    """

    stage: str
    done: int
    total: int | None


OnProgress = Callable[[Progress], None]
"""Is told how far work is, perhaps in another thread."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A document that was not ingested, with a stable code and the reason for a person."""

    doc: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Result of an ingest. Numbers count documents, `chunks` live chunks of the whole knowledge base, `embedded` new vectors.

    `opened`: documents that more people may read than before this run: the usual cause is a forgotten --acl. `chunking` names the way to
    chunk (grounding/ingest/chunk_settings.py); `rechunked` counts, of the unchanged, those that were chunked in another way before, by its name.
    `long_chunks`: of the chunks made, those that the embedding model does not read at once. `reembedded`: of `embedded`, those that had a
    vector of another embedding model. `waiting`: why passages are left without vectors, empty if none is; they are found by words, and the
    next ingest goes on. `held_index`: the index in Azure AI Search that is whole and waits to be taken into use, empty if none does.
    """

    added: int
    changed: int
    unchanged: int
    deleted: int
    refused: tuple[Refusal, ...]
    chunks: int
    embedded: int
    kb_version: str
    seconds: float
    opened: tuple[str, ...] = ()
    chunking: str = ""
    rechunked: Mapping[str, int] = field(default_factory=dict)
    long_chunks: int = 0
    reembedded: int = 0
    waiting: str = ""
    held_index: str = ""


@dataclass(frozen=True, slots=True)
class IngestPlan:
    """What an ingest would do now; nothing was written. Numbers count documents, but for those that follow.

    `chunks`: that would be made anew; `embedded`: chunks that would get a vector, those among them that wait since an earlier run; `tokens`: of what
    would be embedded, by the tokenizer of the model on this machine; `text_bytes`: of the text of the new chunks, in UTF-8.
    """

    added: int
    changed: int
    unchanged: int
    deleted: int
    refused: tuple[Refusal, ...]
    opened: tuple[str, ...]
    rechunked: Mapping[str, int]
    chunks: int
    embedded: int
    tokens: int
    text_bytes: int


def plain(value: Any) -> Any:
    """Copy of `value` for JSON, with each record in it as a dict by field, in the order of its fields.

    Lists, tuples and dicts are new, all else is shared. What `dataclasses.asdict` gives, without the deep copy of every number and text: a
    turn's reply and entry hold thousands, and none of them can change.
    """
    kind: Any = type(value)
    if kind is str or kind is float or kind is int or value is None:
        return value
    names = _field_names(kind)
    if names is not None:
        return {name: plain(getattr(value, name)) for name in names}
    if kind is list:
        return [plain(item) for item in value]
    if kind is tuple:
        return tuple([plain(item) for item in value])
    if kind is dict:
        return {key: plain(item) for key, item in value.items()}
    return value


@cache
def _field_names(kind: type) -> tuple[str, ...] | None:
    """Names of the fields of a record class; None for any other class."""
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else None
