"""A reply as people are shown it: one record, which the terminal, the chat page, the reviewers' page and Teams draw each in their own way.

It is read from a reply's JSON, so that an answer of this minute and one that lies in the ledger are told alike. An entry of old
may lack a field, and what a page is given may be anything: what is not there, or not in its form, is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from bot.records import Reply
from bot.view.claim_form import parse_claims
from bot.view.decisions import Decided, decided
from bot.view.place import place_in
from bot.wording.contacts import source_tag
from bot.wording.conversation.clarification import completed
from bot.wording.notes import for_person
from bot.wording.refusals import FALLBACK
from bot.wording.reviewing.usage import usage_words
from bot.wording.web import web_tag
from grounding.query.clarify import question_alone
from grounding.records import Tier, Trust
from rai.records import Claim, Outcome

DELIVERED = frozenset({Outcome.ANSWERED, Outcome.REPAIRED})
"""Outcomes whose answer is not a fixed text."""


@dataclass(frozen=True, slots=True)
class ListedSource:
    """A cited or offered passage. `name`: its title, or the document's id; `web`: a few words beside a page of the web or a document from outside,
    empty of the company's own.
    """

    n: int
    name: str
    locator: str
    url: str
    doc_id: str
    chunk_id: str
    quote: str
    tier: Tier | None
    web: str

    @property
    def place(self) -> str:
        """Where in its document it stands, beside its name."""
        return place_in(self.name, self.locator)


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page of the web that was found. `web`: as of a `ListedSource`."""

    title: str
    url: str
    snippet: str
    web: str


@dataclass(frozen=True, slots=True)
class Aside:
    """A passage for the person alone, not for the customer."""

    title: str
    quote: str


@dataclass(frozen=True, slots=True)
class AskedBack:
    """A question to the person. `question` names what may be meant, `alone` does not, for where `options` stand beside it."""

    question: str
    alone: str
    options: tuple[str, ...]
    why: str

    def choices(self, asked: str) -> list[tuple[str, str]]:
        """Each option, with the question `asked` as it completes it."""
        return [(option, completed(asked, " ".join(option.split()))) for option in self.options]


@dataclass(frozen=True, slots=True)
class DraftView:
    """The draft before the check, never sent."""

    text: str
    claims: tuple[Claim, ...]

    @property
    def unsupported(self) -> tuple[Claim, ...]:
        """Its claims that must not be sent."""
        return tuple(claim for claim in self.claims if claim.unsupported)


@dataclass(frozen=True, slots=True)
class ReplyView:
    """What a person may be shown of a reply. Texts are empty where the reply has none.

    `delivered`: whether `answer` may go to a customer; all others are fixed texts or small talk. `unanswered`: parts of the question that
    the answer leaves open, empty where there is one part alone; without an answer what the documents do not have. `refusal_language`: of a refusal that can be reported as wrong.
    `offered_as`: heading of what is offered, in the person's language. `notes`: all of them; `notes_for_person`: those that a person reads below an answer. `taken`: what calls of models took, in words. `query`: what was searched for; `action`: the name
    that CRAG has for what was decided at last; `relevance`: of the answer to the question, 0 to 1.
    `timings_ms`: milliseconds by stage. `language`: in which its person is spoken to.
    """

    outcome: str
    code: str
    intent: str
    answer: str
    understood: str
    web_notice: str
    contact_notice: str
    citations: tuple[ListedSource, ...]
    offered: tuple[ListedSource, ...]
    offered_as: str
    internal: tuple[Aside, ...]
    claims: tuple[Claim, ...]
    draft: DraftView | None
    decided: Decided
    asked_back: AskedBack | None
    unanswered: tuple[str, ...]
    suggestions: tuple[str, ...]
    refusal_language: str
    entry_id: str
    notes: tuple[str, ...]
    taken: str
    query: str
    action: str
    relevance: float | None
    kb_version: str
    mode: Mapping[str, str]
    timings_ms: Mapping[str, float]
    web: tuple[FoundPage, ...]
    language: str = FALLBACK

    @property
    def delivered(self) -> bool:
        return self.outcome in DELIVERED and not self.intent

    @property
    def drafted(self) -> bool:
        """Whether a model drafts."""
        return self.mode.get("generator", "").startswith("model:")

    @property
    def drafts_anew(self) -> bool:
        """Whether the same question may get another draft: of a model, and of the demo generator, which stands for one."""
        return self.drafted or self.mode.get("generator") == "demo"

    @property
    def rests_on(self) -> frozenset[str]:
        """Ids of the passages that the answer, its draft and what is offered rest on."""
        claims = (*self.claims, *(self.draft.claims if self.draft else ()))
        spans = [span for claim in claims for span in (*claim.evidence, *([claim.instead] if claim.instead else ()))]
        cited = {source.chunk_id for source in (*self.citations, *self.offered)}
        return frozenset(cited | {span.source for span in spans})

    @property
    def unvouched(self) -> tuple[str, ...]:
        """Contacts in the answer that nobody answers for, as they stand there."""
        return tuple(dict.fromkeys(claim.text for claim in self.claims if claim.trust is not None))

    @property
    def notes_for_person(self) -> tuple[str, ...]:
        return tuple(for_person(self.notes, self.language))


def view_of(reply: Reply, language: str = FALLBACK) -> ReplyView:
    """The view of a reply that was just made."""
    return reply_view(reply.as_json(), language)


def reply_view(reply: Mapping[str, Any], language: str = FALLBACK) -> ReplyView:
    """The view of a reply's JSON, with the tags of sources in `language`. Raises InputError for claims that are not in the form of claims."""
    refusal, usage, relevance = _mapping(reply.get("refusal")), _mapping(reply.get("usage")), reply.get("relevance")
    return ReplyView(
        outcome=_text(reply.get("outcome")),
        code=_text(reply.get("code")),
        intent=_text(reply.get("intent")),
        answer=_text(reply.get("answer")),
        understood=_text(reply.get("understood")),
        web_notice=_text(reply.get("web_notice")),
        contact_notice=_text(reply.get("contact_notice")),
        citations=_sources(reply.get("citations"), language),
        offered=_sources(reply.get("offered"), language),
        offered_as=_text(reply.get("offered_as")),
        internal=tuple(
            Aside(_text(note.get("title")), _text(note.get("quote"))) for note in _mappings(reply.get("internal_notes"))
        ),
        claims=parse_claims(reply.get("claims") or (), "claims"),
        draft=_draft(reply.get("draft")),
        decided=decided(reply),
        asked_back=_asked_back(_mapping(reply.get("clarification"))),
        unanswered=_unanswered(_mappings(reply.get("coverage")), _text(reply.get("outcome"))),
        suggestions=_texts(reply.get("suggestions")),
        refusal_language=_text(refusal.get("language")),
        entry_id=_text(reply.get("entry_id")),
        notes=_texts(reply.get("notes")),
        taken=usage_words(usage),
        query=_text(reply.get("query")),
        action=_text(reply.get("action")),
        relevance=float(relevance) if isinstance(relevance, int | float) else None,
        kb_version=_text(reply.get("kb_version")),
        mode={str(name): str(value) for name, value in _mapping(reply.get("mode")).items()},
        timings_ms={
            str(name): float(ms)
            for name, ms in _mapping(reply.get("timings_ms")).items()
            if isinstance(ms, int | float)
        },
        web=tuple(_page(item, language) for item in _mappings(reply.get("web"))),
        language=language,
    )


def _sources(value: object, language: str) -> tuple[ListedSource, ...]:
    return tuple(_source(item, language) for item in _mappings(value))


def _source(item: Mapping[str, Any], language: str) -> ListedSource:
    number, tier = item.get("n"), _tier(item.get("tier"))
    title, doc_id = _text(item.get("title")), _text(item.get("doc_id"))
    return ListedSource(
        n=number if isinstance(number, int) else 0,
        name=title if title.strip() else doc_id,
        locator=_text(item.get("locator")),
        url=_text(item.get("url")),
        doc_id=doc_id,
        chunk_id=_text(item.get("chunk_id")),
        quote=_text(item.get("quote")),
        tier=tier,
        web=web_tag(tier, language) if item.get("origin") == "web" else source_tag(_trust(item.get("trust")), language),
    )


def _trust(value: object) -> Trust | None:
    return next((trust for trust in get_args(Trust) if trust == value), None)


def _tier(value: object) -> Tier | None:
    return next((tier for tier in get_args(Tier) if tier == value), None)


def _page(item: Mapping[str, Any], language: str) -> FoundPage:
    tag = web_tag(_tier(item.get("tier")), language)
    return FoundPage(_text(item.get("title")), _text(item.get("url")), _text(item.get("snippet")), tag)


def _draft(value: object) -> DraftView | None:
    if not isinstance(value, Mapping):
        return None
    return DraftView(_text(value.get("text")), parse_claims(value.get("claims") or (), "draft.claims"))


def _asked_back(asked: Mapping[str, Any]) -> AskedBack | None:
    question, options = _text(asked.get("question")), _texts(asked.get("options"))
    if not question:
        return None
    return AskedBack(question, question_alone(question, options), options, _text(asked.get("why")))


def _unanswered(parts: tuple[Mapping[str, Any], ...], outcome: str) -> tuple[str, ...]:
    """The parts that are open; of an answer to a question of one part none, for it is the answer."""
    told = len(parts) > 1 or outcome == Outcome.INSUFFICIENT
    return tuple(_text(p.get("part")) for p in parts if not p.get("answered")) if told else ()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: object) -> tuple[Mapping[str, Any], ...]:
    return tuple(item for item in value if isinstance(item, Mapping)) if isinstance(value, list | tuple) else ()
