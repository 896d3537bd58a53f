"""From a draft to a reply: sent as it is, mended, drafted again by a model that is told what was wrong, or held back.

A draft that replacing values alone mends costs no further call. Otherwise a model, where one drafts, is asked once more;
what it writes is checked like the first draft. Where that fails too, what is left of the better draft goes out without
its unsupported sentences, or nothing does and the sources are offered.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.records import Code, Refusal, Reply, Struck
from bot.turn.draft.answer_form import (
    admits_ignorance,
    asks_back,
    closing_question,
    shortened,
    with_file_names,
    with_what_is_missing,
)
from bot.turn.draft.citations import (
    citations,
    markers,
    offered,
    with_markers,
    with_mended_markers,
    with_numbers,
)
from bot.turn.draft.contacts import as_draft, with_official, with_trust
from bot.turn.draft.lost_answer import loses_the_answer
from bot.turn.draft.missing import what_is_missing
from bot.turn.draft.regeneration import drafted_again
from bot.turn.draft.sources import as_sources
from bot.turn.screening import screen_draft
from bot.turn.state import TurnState
from bot.wording.closest import closest, unknown
from bot.wording.conversation.left_out import without_left_out
from bot.wording.notices import notice, said
from bot.wording.refusals import FALLBACK, refusal_text
from grounding.errors import AttestError, kind_and_place
from grounding.evidence.choose import choose
from grounding.grading.features import speaks_of
from grounding.query.answer_kind import answer_kind, holds
from grounding.query.clarify import MOST_OPTIONS, Clarification
from grounding.quoting.coverage import Covered, coverage
from grounding.quoting.question_parts import Reading, read
from grounding.records import LEAD_IN, Evidence
from rai.records import SUPPORTED, Category, Outcome, Report
from rai.screening.languages import language

CLOSEST = 3
"""Passages that are named where nothing was quoted: so many that a person on the telephone can look into."""
QUOTED_S = 5.0
"""Seconds that quoting may take where the model did not answer: somebody has waited for that already."""
_SILENT = frozenset({"model_unavailable", "deadline"})
NEAREST, NEAREST_AT = 2, 0.2
"""How many passages are offered when nothing was good enough, and the lowest grade of one ("Poor")."""


_ITS_OWN = frozenset({"phone", "email", "url", "percent", "money"})
"""Kinds of values that have a form of their own, so that a text without one does not tell it."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A text and what the check says of it."""

    text: str
    report: Report

    @property
    def deliverable(self) -> bool:
        return self.report.verdict in ("supported", "unchecked")


async def decide_reply(state: TurnState, draft: str) -> Reply:
    """The verdict on a draft, and what becomes of it."""
    if admits_ignorance(draft):
        return reply_without_answer(state, Outcome.INSUFFICIENT)
    shown = await screen_draft(state, shortened(draft, state.policy))
    if shown is None:
        return replace(reply_without_answer(state, Outcome.WITHHELD), answer=said("unfit", state.language))
    if asks_back(shown):
        return await _asked_back(state, shown)
    first = await state.stage("check", _marked(state, shown))
    beside = first.report.verdict == "irrelevant"
    if beside and not (
        has_its_codes(state.ask.question, first.text) or in_another_language(state.language, first.text)
    ):
        return reply_without_answer(state, Outcome.INSUFFICIENT, relevance=first.report.relevance)
    await _asks_too(state, first.text)
    if first.deliverable or beside:
        return await _delivered(state, Outcome.ANSWERED, first)
    struck = Struck(first.text, first.report.claims)
    mended = await _mended(state, first)
    if mended is None:
        return replace(reply_without_answer(state, Outcome.WITHHELD, relevance=first.report.relevance), draft=struck)
    return await _delivered(state, Outcome.REPAIRED, mended, struck)


def has_its_codes(question: str, text: str) -> bool:
    """True if the question names codes, and `text` has them all: "the camera shows C-412" is no sentence that the likeness of sentences could judge."""
    codes = frozenset(_CODE.findall(question))
    return bool(codes) and codes <= frozenset(_CODE.findall(text))


def in_another_language(asked: str, text: str) -> bool:
    """True if a question in another language than English, `asked`, is answered with quotes that are not in that: the likeness of sentences knows English, and little
    of what says the same in two languages.
    """
    return asked != FALLBACK and text.startswith(LEAD_IN) and language(text.removeprefix(LEAD_IN)) != asked


_CODE = re.compile(r"(?<![\w-])[A-Z]{1,4}-\d{1,5}(?![\w-])")


async def _asked_back(state: TurnState, question: str) -> Reply:
    """The reply of a turn whose model asks what is meant; it is told as the question that rules ask, if its values stand in the sources."""
    checked = await state.stage("check", _check(state, question))
    if not any(
        c.unsupported for c in checked.report.claims
    ):  # whether it answers the question is not to be asked of it
        by_rules = state.clarification.options if state.clarification else ()
        options = await _choices(state, question) or by_rules
        state.clarification = Clarification(question, options, "the model asks before it answers")
    return reply_without_answer(state, Outcome.INSUFFICIENT)


async def _choices(state: TurnState, question: str) -> tuple[str, ...]:
    """What a model's question lets choose from: two and more names in it that the documents have, as it writes them."""
    linker, access = state.seams.linker, state.access
    [found] = await linker.link([question], access) if linker is not None and access is not None else [[]]
    named = dict.fromkeys(question[name.start : name.end] for name in found)
    return tuple(named)[:MOST_OPTIONS] if len(named) > 1 else ()


async def _asks_too(state: TurnState, text: str) -> None:
    """A model's answer that ends by asking which of several things is meant asks back like one that says no more: what it answers may be of the other."""
    question = closing_question(text) if state.seams.composer.name.startswith("model:") else ""
    if question and (options := await _choices(state, question)):
        state.clarification = Clarification(question, options, "the model asks behind its answer")


async def _mended(state: TurnState, first: Checked) -> Checked | None:
    """What may go out instead of an unsupported draft, or None."""
    repaired = await state.stage("check", _repair(state, first.text, first.report))
    if state.seams.reviser is None or (repaired is not None and first.report.repair == "replaced"):
        return repaired
    text = await state.stage("compose", drafted_again(state, first.text, first.report.claims))
    if text is None:
        return repaired
    second = await state.stage("check", _second(state, text))
    if second is None or (repaired is not None and _told(repaired) > _told(second)):
        return repaired
    if state.regeneration is not None:
        state.regeneration = replace(state.regeneration, used=True)
    return second


async def _second(state: TurnState, text: str) -> Checked | None:
    """The second draft, or what is left of it; None if it is not fit to be shown."""
    shown = await screen_draft(state, shortened(text, state.policy))
    if shown is None:
        return None
    again = await _marked(state, shown)
    if not again.deliverable:
        state.note("the second draft was not supported either")
        return await _repair(state, again.text, again.report)
    return again if speaks_of(state.query.text, _read(state, again.text)) else None


async def _repair(state: TurnState, draft: str, report: Report) -> Checked | None:
    """The repaired answer, if it speaks of what was asked, still has what answered it, is supported with its citations in place, and rests on a source at all."""
    if report.repaired is None or not speaks_of(state.query.text, _read(state, report.repaired)):
        return None
    wanted = answer_kind(state.ask.question)
    if wanted is not None and wanted.name in _ITS_OWN and not holds(report.repaired, wanted):
        return None  # without the number that was asked for it is no answer
    if loses_the_answer(draft, report.repaired, _asked(state)):
        return None
    shown = await screen_draft(state, report.repaired)
    if shown is None:
        return None
    again = await _check(state, shown)
    text = with_mended_markers(shown, again.report.claims, state.evidence)
    if text != shown:
        again = await _check(state, text)
    return again if again.deliverable and markers(text) else None


def _told(checked: Checked) -> int:
    """How many supported values and sentences an answer tells."""
    return sum(c.status in SUPPORTED for c in checked.report.claims)


async def _marked(state: TurnState, draft: str) -> Checked:
    """A draft with its citations, checked."""
    checked = await _check(state, draft)
    marked = with_markers(draft, checked.report.claims, state.evidence)
    return checked if marked == draft else await _check(state, marked)


def _read(state: TurnState, text: str) -> str:
    """An answer as its reader takes it: with the titles of what it cites."""
    cited = markers(text)
    return "\n".join([text, *(e.passage.title for e in state.evidence if e.n in cited)])


def _asked(state: TurnState) -> Reading:
    """The question by its parts."""
    return read(state.query.text, state.query.asked or state.asked)


async def _check(state: TurnState, text: str) -> Checked:
    sources = as_sources([e.passage for e in state.evidence])
    told = [without_left_out(each) for each in state.said]
    report = await state.seams.check(text, sources, without_left_out(state.query.text), told, state.ask.at)
    return Checked(text, replace(report, claims=with_numbers(text, report.claims, state.evidence)))


async def _delivered(state: TurnState, outcome: Outcome, checked: Checked, draft: Struck | None = None) -> Reply:
    """The reply that carries a checked answer. A contact in it that nobody answers for is marked, and where an official source of the evidence
    has another for the same thing, that one is told in its place. `draft`: what was mended already.
    """
    claims = await with_trust(state, checked.text, checked.report.claims)
    told = Checked(checked.text, replace(checked.report, claims=claims))
    official = with_official(told.text, claims, state.evidence)
    if official is not None:
        again = await state.stage("check", _check(state, official))
        if again.deliverable:
            marked = await with_trust(state, again.text, again.report.claims)
            told = Checked(again.text, replace(again.report, claims=marked))
            outcome, draft = Outcome.REPAIRED, draft or Struck(checked.text, as_draft(claims))
    return replace(answered(state, outcome, told), draft=draft)


async def with_quotes(state: TurnState, reply: Reply) -> Reply:
    """The reply of a turn whose model did not answer, or whose draft was held back, with what the sources say in their own words, each value checked: a person
    may read on from there. It is no answer: nobody read the question beside it.
    """
    quoter = state.seams.quoter
    unanswered = reply.code in _SILENT or reply.outcome is Outcome.WITHHELD
    if quoter is None or state.prompt is None or not unanswered:
        return reply
    try:
        async with asyncio.timeout(QUOTED_S):
            quoted = (await quoter.compose(state.prompt)).text
            checked = None if admits_ignorance(quoted) else await _check(state, quoted)
    except (AttestError, TimeoutError) as error:
        state.note(f"nothing was quoted instead: {kind_and_place(error)}")
        return reply
    if checked is None or not checked.deliverable:
        return reply
    found = citations(checked.text, checked.report.claims, state.evidence, state.found.grades)
    return replace(reply, offered=found, offered_as=said("quoted_instead", state.language) if found else "")


def answered(state: TurnState, outcome: Outcome, checked: Checked) -> Reply:
    """The reply that carries a checked answer."""
    report = checked.report
    cited = citations(checked.text, report.claims, state.evidence, state.found.grades)
    parts = coverage(_asked(state), _read(state, checked.text))
    drafts = state.seams.composer.name.startswith("model:")
    told = checked.text if drafts else with_what_is_missing(checked.text, parts)
    text = with_file_names(told, cited, state.policy)
    return Reply(outcome, text, citations=cited, claims=report.claims, relevance=report.relevance, coverage=parts)


def reply_without_answer(
    state: TurnState, outcome: Outcome, code: Code | None = None, relevance: float | None = None
) -> Reply:
    """The reply of a turn that ends without an answer; withheld or insufficient, it offers the sources."""
    missing: tuple[Covered, ...] = ()
    if outcome is Outcome.INSUFFICIENT:
        missing = what_is_missing(read(state.asked), state.found.retrieval.passages, state.unknown)
        if not state.seams.composer.name.startswith("model:"):
            return replace(_nothing_quoted(state, relevance), coverage=missing)
    offers = (
        offered(_own_first(state.evidence or _nearest(state)), state.found.grades)
        if outcome in (Outcome.WITHHELD, Outcome.INSUFFICIENT)
        else ()
    )
    told = notice(outcome, code, state.language)
    return Reply(outcome, told, code=code, offered=offers, relevance=relevance, coverage=missing)


def _own_first(evidence: Sequence[Evidence]) -> list[Evidence]:
    """What the company says before what the web says."""
    return sorted(evidence, key=lambda e: e.passage.origin != "kb")


def _web_searched(state: TurnState) -> bool:
    """Whether the web was searched, and answered."""
    return any(c.step == "web" and not c.why for c in state.found.corrections)


def _nothing_quoted(state: TurnState, relevance: float | None) -> Reply:
    """The reply of a turn in which nothing was worth quoting: what comes closest, by title and section alone, and the name that is not there."""
    language = state.language
    places = {
        (e.passage.title, e.passage.locator): e
        for e in reversed(state.evidence or _nearest(state))
        if e.passage.origin == "kb"
    }
    near = offered(sorted(places.values(), key=lambda e: e.n)[:CLOSEST], state.found.grades)
    told = [
        notice(Outcome.INSUFFICIENT, None, language),
        *([unknown(state.unknown, language)] if state.unknown else []),
        *([said("web_too", language)] if _web_searched(state) else []),
    ]
    return Reply(
        Outcome.INSUFFICIENT,
        " ".join(told),
        offered=tuple(replace(c, quote="") for c in near),
        offered_as=closest(language) if near else "",
        relevance=relevance,
    )


def refusing_reply(state: TurnState, category: Category | None = None) -> Reply:
    """The reply to a question that the screen blocked, in its language; it names the policy where that is known."""
    code = state.language
    return Reply(Outcome.BLOCKED, refusal_text(category, code), refusal=Refusal(category, code))


def _nearest(state: TurnState) -> tuple[Evidence, ...]:
    """What comes nearest when nothing was good enough: for the human agent to read, never an answer."""
    scores = state.found.scores
    near = [
        p
        for p in state.found.retrieval.passages
        if not p.internal and not p.screened and scores.get(p.chunk_id, 0.0) >= NEAREST_AT
    ]
    return choose(sorted(near, key=lambda p: -scores[p.chunk_id])[:NEAREST], scores, state.policy)
