"""An answer that was given, made into something else: shorter, friendlier, an e-mail, another language; and the conversation in a few lines.

What comes of it is a turn of its own, which names the entry that it was made from. Its words are checked against the same sources as the answer's, as those
who ask may read them today; a prompt goes through the screen like every other. Without a model, quotes can be made fewer, and nothing else is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, cast

from bot.records import Actor, Ask, How, Reply, Rework, Struck
from bot.turn.conversation.open_questions import open_questions
from bot.turn.conversation.small_talk import REWORKS, SmallTalkTexts, Talk, lists
from bot.turn.draft.answer_form import REFERENCED
from bot.turn.draft.citations import markers, without_markers
from bot.turn.draft.draft_to_reply import decide_reply
from bot.turn.draft.lost_answer import is_step, lost_parts
from bot.turn.draft.moved_values import moves_values
from bot.turn.draft.sources import as_sources
from bot.turn.entries.read_again import may_be_told, read_again
from bot.turn.prompt import turn_prompt
from bot.turn.screening import screen_draft
from bot.turn.state import TurnState
from bot.view.verdict import MAX_LINE, cut
from bot.wording.conversation.customer_text import MISSING
from bot.wording.conversation.email import LANGUAGES, as_email, email_body
from grounding.model_calls.spotlight import block
from grounding.model_calls.templates import fill, template
from grounding.prompting.model_composer import tidy
from grounding.quoting.question_parts import Reading, read
from grounding.records import Evidence, Passage, Query, Turn
from grounding.text import BAR
from rai.personal.redact import MASK, is_masked
from rai.records import Entry, Outcome, Report
from rai.screening.decision import as_data
from rai.screening.languages import language as language_of

LOOKED_AT = 50
"""Entries of the ledger that are looked at for the last answer."""
SUMMED_UP = 2000
"""Entries that are looked at for the answers of a conversation that is summed up; as a rule the newest few have them."""
_GIVEN = frozenset({Outcome.ANSWERED.value, Outcome.REPAIRED.value})
_SPEAKERS = {"customer": "Customer", "agent": "Agent", "user": "Agent", "assistant": "Assistant"}


def offered_reworks(answer: str, *, drafts: bool) -> tuple[Rework, ...]:
    """What can be made of an answer: with a model all of it, and other languages than its own; without one fewer quotes, where there are several."""
    if not drafts:
        return (Rework("shorter"),) if sum(bool(markers(line)) for line in answer.splitlines()) > 1 else ()
    own = language_of(answer) or "en"
    into = [Rework("translate", language=code) for code in LANGUAGES if code != own]
    return (Rework("email"), Rework("chat"), Rework("shorter"), Rework("friendlier"), *into)


def wanted(ask: Ask, talk: Talk | None) -> Rework | None:
    """What is to be made of an earlier answer, by a button or in words; None if the turn asks for something else."""
    if ask.rework is not None or talk is None or talk.form not in REWORKS:
        return ask.rework
    return Rework(cast("How", talk.form), language=talk.into)


async def reworked(state: TurnState, rework: Rework, language: str) -> Reply:
    """The reply to a wish to rework. `language`: of notices."""
    texts = (lists().languages.get(language) or lists().languages["en"]).texts
    drafts = state.seams.composer.name.startswith("model:")
    state.ask = replace(state.ask, rework=rework)
    if rework.how == "summary":
        return await _summary(state, texts, drafts=drafts)
    if not rework.entry_id and last_said(state) is None:
        return _said(texts.nothing_yet)
    if not drafts and rework.how != "shorter":
        return _said(texts.quoting)
    entry, last = await standing_answer(state, rework.entry_id)
    if entry is None:
        unanswered = not rework.entry_id and await last_turn(state) is not None
        return _said(texts.unanswered if unanswered else texts.gone)
    state.ask = replace(state.ask, rework=replace(rework, entry_id=entry.entry_id))
    if rework.how == "translate" and rework.language not in LANGUAGES:
        return replace(_said(texts.which), suggestions=tuple(name.into for name in LANGUAGES.values()))
    if not await _take_up(state, entry):
        return _said(texts.gone)
    answer = _text(state, entry, last=last)
    made = await (_drafted(state, answer, rework) if drafts else _fewer(state, answer))
    return _said(texts.shortest) if made is None else await _ended(state, made, rework, texts, answer)


def _said(text: str) -> Reply:
    return Reply(Outcome.ANSWERED, text, intent="rework")


async def _ended(state: TurnState, made: Reply, rework: Rework, texts: SmallTalkTexts, answer: str) -> Reply:
    """The reply with what was made of `answer`; what says more than its sources or than the answer, or leaves out a part of what was asked, is not used, and why is said."""
    given = made.outcome.value in _GIVEN
    why = await _why_unused(state, answer, made.answer, rework, texts) if given else ""
    if why or not given:
        # the answer that was given stands, so nothing is offered in its place, and no source lacks anything
        state.clarification = None
        draft = Struck(made.answer, made.claims) if why else made.draft
        failed = texts.held if draft is not None else texts.lost.format(part=cut(state.about, MAX_LINE))
        return Reply(Outcome.WITHHELD, why or failed, draft=draft, relevance=made.relevance)
    if rework.how == "translate":
        return replace(made, coverage=())  # parts are told by words of one language
    return _as_email(made, state.language) if rework.how == "email" else made


async def _why_unused(state: TurnState, answer: str, made: str, rework: Rework, texts: SmallTalkTexts) -> str:
    """Why a text that the check let pass is not used in the place of `answer`; "" if it is."""
    translated = rework.how == "translate"
    if lost := lost_parts(_reading(state), answer, made, translated=translated):
        return texts.lost.format(part=cut(lost[0], MAX_LINE))
    told, regions = _without_ours(made), state.seams.regions
    return texts.moved if await state.seams.run(moves_values, answer, told, regions, translated=translated) else ""


def _as_email(made: Reply, language: str) -> Reply:
    """With the greeting and the end of an e-mail, which are ours and claim nothing."""
    text, before = as_email(made.answer, language)
    claims = tuple(replace(c, start=c.start + before, end=c.end + before) for c in made.claims)
    return replace(made, answer=text, claims=claims)


async def standing_answer(state: TurnState, entry_id: str = "") -> tuple[Entry | None, bool]:
    """The entry of the answer that is meant, one of this person's in this conversation, and whether it is the last one. After a rework that was held back that is the answer
    which was to be reworked: it stands.
    """
    ledger = state.seams.ledger
    entry = await ledger.get(entry_id) if entry_id else await last_turn(state)
    last = not entry_id
    for _ in range(LOOKED_AT):
        if entry is None or not _is_turn(entry, state.ask) or _is_answer(entry, state.ask):
            break
        before = _of(entry, "ask").get("rework")
        entry = await ledger.get(str(before.get("entry_id") or "")) if isinstance(before, Mapping) else None
        last = False
    return (entry, last) if entry is not None and _is_answer(entry, state.ask) else (None, last)


async def last_turn(state: TurnState) -> Entry | None:
    """The last turn in which something was asked, however it ended, as the record has it: the channel, or the caller, knows which was last; elsewhere it is the last of the
    conversation, or of the person the one with that answer. Of a stranger without a conversation, whom nothing tells from others, none is looked for. Small talk is none.
    """
    ledger, ask = state.seams.ledger, state.ask
    if ask.answered and (entry := await ledger.get(ask.answered)) is not None and _is_turn(entry, ask):
        return entry
    if _is_nameless(ask):
        return None
    last = (last_said(state) or "").strip()
    async for entry in ledger.entries(newest_first=True, limit=LOOKED_AT, kinds=("turn",)):
        if _is_turn(entry, ask) and (ask.conversation or (last and str(_of(entry, "reply")["answer"]).strip() == last)):
            return entry
    return None


def _is_turn(entry: Entry, ask: Ask) -> bool:
    """Whether an entry is a turn of this person, in this conversation, that is no small talk."""
    reply = _of(entry, "reply")
    asked = not reply.get("intent") and isinstance(reply.get("answer"), str)
    return entry.kind == "turn" and asked and _is_theirs(entry, ask)


def _is_theirs(entry: Entry, ask: Ask) -> bool:
    said, who = _of(entry, "ask"), _of(entry, "actor")
    if said.get("user") != ask.user:
        return False
    if not _is_nameless(ask):
        return ask.conversation is None or said.get("conversation") == ask.conversation
    actor = ask.actor or Actor()
    caller = (None, ask.channel, actor.user, actor.authenticated_by)
    return (said.get("conversation"), said.get("channel"), who.get("user"), who.get("authenticated_by")) == caller


def _is_nameless(ask: Ask) -> bool:
    """Whether neither a person nor a conversation tells whose turn this is: many may share a key."""
    return ask.user is None and ask.conversation is None


def _is_answer(entry: Entry, ask: Ask) -> bool:
    return _is_turn(entry, ask) and _of(entry, "reply").get("outcome") in _GIVEN


def _of(entry: Entry, name: str) -> Mapping[str, Any]:
    part = entry.body.get(name)
    return part if isinstance(part, Mapping) else {}


def last_said(state: TurnState) -> str | None:
    """What the assistant said last in the conversation, as it was shown; None if it said nothing."""
    return next((turn.text for turn in reversed(state.history) if turn.role == "assistant"), None)


def shown_answer(state: TurnState, entry: Entry, *, last: bool) -> str:
    """The answer of an entry as it was shown: the conversation has it whole, the record with personal data masked. What was said last may be another one, where a message was
    deleted or the screen left one out.
    """
    recorded = str(_of(entry, "reply")["answer"])
    said = last_said(state) if last else None
    return said if said is not None and is_masked(said.strip(), recorded.strip()) else recorded


def _text(state: TurnState, entry: Entry, *, last: bool) -> str:
    """The answer without what is ours in it."""
    return email_body(_without_ours(shown_answer(state, entry, last=last)))


def _without_ours(text: str) -> str:
    """A text without what the program sets below an answer, and sets again where it holds."""
    for ours in (MISSING, REFERENCED):
        text = text.partition(f"\n\n{ours}")[0]
    return text


async def _take_up(state: TurnState, entry: Entry) -> bool:
    """Put the answer's evidence and question into the state; False if a source that it cites may not be read any more, or is stopped by the screen."""
    access = state.access
    assert access is not None
    recorded = [row for row in entry.body.get("evidence") or () if isinstance(row, Mapping)]
    again = [await read_again(state.seams.library, access, row) for row in recorded]
    kept = await _screened(state, [e for e in again if e is not None])
    cited = {citation.get("n") for citation in _of(entry, "reply").get("citations") or ()}
    if not kept or cited - {e.n for e in kept}:
        return False
    state.evidence = tuple(kept)
    first, translated = await _first(state, entry)
    state.about = str(_of(first, "ask").get("question") or "")
    state.query = Query("" if translated else str(_of(first, "query").get("text") or state.about))
    # what the assistant has said is no evidence for what it says now
    state.history = tuple(turn for turn in state.history if turn.role != "assistant")
    return True


async def told_again(state: TurnState, entry: Entry) -> bool:
    """Whether whoever asks may still read all that the reply of an entry rests on."""
    assert state.access is not None
    return await may_be_told(state.seams.library, state.access, entry.body)


async def _first(state: TurnState, entry: Entry) -> tuple[Entry, bool]:
    """The entry of the question that an answer goes back to, through all that was made of it since, and whether it was translated on the way."""
    translated = False
    for _ in range(LOOKED_AT):
        made = _of(entry, "ask").get("rework")
        if not isinstance(made, Mapping):
            break
        translated = translated or made.get("how") == "translate"
        before = await state.seams.ledger.get(str(made.get("entry_id") or ""))
        if before is None:
            break
        entry = before
    return entry, translated


async def _screened(state: TurnState, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence less what the screen takes for orders; what is left is known to the turn as passages that it has found."""
    texts = [as_data(e.passage.title, e.passage.text) for e in evidence]
    decided = await state.seams.screen.screen("", texts) if texts else None
    orders = {d.index for d in decided.documents if d.verdict == "block"} if decided else set()
    kept = [e for i, e in enumerate(evidence) if i not in orders]
    said = {text for e in kept for text in (e.passage.title, e.passage.text)}
    state.screening.data |= said
    state.screening.passages |= said
    return kept


async def _drafted(state: TurnState, answer: str, rework: Rework) -> Reply:
    """What a model makes of the answer, checked like every draft."""
    language = LANGUAGES[rework.language].english if rework.how == "translate" else ""
    asked = fill("rework_translate", language=language) if language else template(f"rework_{rework.how}")
    request = fill("rework", wanted=asked, answer=block(tidy(answer, frozenset()), state.marker))
    state.prompt = await asyncio.to_thread(turn_prompt, state, request, state.evidence)
    if language:  # the question is of another language, and says nothing of whether this text answers it
        state.query = Query("")
    draft = await state.stage("compose", state.seams.composer.compose(state.prompt))
    return await decide_reply(
        state, email_body(draft.text)
    )  # what was recorded is drafted once more when it is replayed


async def _fewer(state: TurnState, answer: str) -> Reply | None:
    """The quotes that answer most of the question, as few as answer the parts that all of them do, and lose no step of what is done; None if that is all of them. Rows and
    steps that one passage has stay together: one of several siblings alone would say that it holds for all.
    """
    lines = answer.splitlines()
    quotes = [i for i, line in enumerate(lines) if markers(line)]
    units: dict[object, list[int]] = {}
    for i in quotes:
        together = BAR in lines[i] or is_step(lines[i])
        units.setdefault(tuple(markers(lines[i])) if together else i, []).append(i)
    reading = _reading(state)
    grades = {e.n: e.score for e in state.evidence}

    async def worth(unit: Sequence[int]) -> tuple[float, float]:
        # a passage that was graded low can have the words of an answer, and another subject
        graded = max(grades.get(n, 0.0) for i in unit for n in markers(lines[i]))
        return graded, max([await _relevance(state, lines[i]) for i in unit])

    ranked = [(await worth(unit), unit) for unit in units.values()]
    kept = list(quotes)
    for _, unit in sorted(ranked):  # the least to the point goes first
        fewer = [k for k in kept if k not in unit]
        told = "\n".join(lines[i] for i in fewer)
        if fewer and not lost_parts(reading, answer, told, translated=False):
            kept = fewer
    if len(kept) == len(quotes):
        return None
    left = "\n".join(line for i, line in enumerate(lines) if i in kept or i not in quotes)
    return await decide_reply(state, left)


def _reading(state: TurnState) -> Reading:
    """The question of the answer that is reworked, by its parts."""
    return read(state.query.text or state.about, state.about)


async def _relevance(state: TurnState, line: str) -> float:
    report = await state.stage("check", _checked(state, line, state.evidence))
    return report.relevance or 0.0


async def _checked(state: TurnState, text: str, evidence: Sequence[Evidence]) -> Report:
    sources = as_sources([e.passage for e in evidence])
    return await state.seams.check(text, sources, state.query.text, (), state.ask.at)


async def _summary(state: TurnState, texts: SmallTalkTexts, *, drafts: bool) -> Reply:
    """The conversation in a few lines, a model's or quoted from it; each of its messages is a source, and nothing else is. They stand in the record as the
    history, and are no evidence of documents.
    """
    asked = [turn for turn in state.history if turn.text.strip()]
    turns = await _still_told(state, asked)
    if not turns:
        return _said(texts.nothing_yet)
    said = messages(turns)
    state.history = ()
    if drafts:
        state.prompt = await asyncio.to_thread(turn_prompt, state, template("rework_summary"), said)
        draft = await state.stage("compose", state.seams.composer.compose(state.prompt))
        shown = await screen_draft(state, draft.text)
    else:
        shown = told_shortly(turns)
    report = await state.stage("check", _checked(state, shown, said)) if shown else None
    outcome = Outcome.ANSWERED
    if report is not None and report.verdict == "unsupported":
        outcome, shown = Outcome.REPAIRED, report.repaired
        report = await state.stage("check", _checked(state, shown, said)) if shown else None
    if not shown or report is None or report.verdict == "unsupported":
        return Reply(Outcome.WITHHELD, texts.held_summary)
    still = [f"- {_begun(question)}" for question in open_questions(asked)]
    return Reply(
        outcome, "\n\n".join([shown, *(["\n".join([texts.open, "", *still])] if still else [])]), claims=report.claims
    )


async def _still_told(state: TurnState, turns: Sequence[Turn]) -> list[Turn]:
    """The turns without answers that rest on what whoever asks may not read any more, and without what only says answers again. What a caller sends whom nothing tells from
    others is the caller's own.
    """
    ask = state.ask
    sought = set() if _is_nameless(ask) else {turn.text.strip() for turn in turns if turn.role == "assistant"}
    closed = set[str]()
    async for entry in state.seams.ledger.entries(newest_first=True, limit=SUMMED_UP, kinds=("turn",)):
        if not sought:
            break
        here = {text for text in sought if _is_theirs(entry, ask) and _says(entry, text)}
        sought -= here
        if here and (_repeats(entry) or not await told_again(state, entry)):
            closed |= here
    return [turn for turn in turns if turn.role != "assistant" or turn.text.strip() not in closed]


def _says(entry: Entry, text: str) -> bool:
    """Whether a text is the answer of an entry, in which personal data is masked."""
    recorded = str(_of(entry, "reply").get("answer") or "").strip()
    return len(recorded) == len(text) and all(a in (b, MASK) for a, b in zip(recorded, text, strict=True))


def _repeats(entry: Entry) -> bool:
    """Whether a turn only said again what was answered before, so that its entry names no sources: a summary, an answer to copy."""
    made = _of(entry, "ask").get("rework")
    return _of(entry, "reply").get("intent") == "rework" or (isinstance(made, Mapping) and made.get("how") == "summary")


def told_shortly(turns: Sequence[Turn]) -> str:
    """A conversation word for word, shortened: of each message of a customer, or of whoever asked, the beginning, and behind it that of what was answered: of
    an answer of quotes the first.
    """
    lines = []
    for turn, after in zip_longest(turns, turns[1:]):
        if turn.role in ("customer", "user"):
            answered = after is not None and after.role not in ("customer", "user")
            lines.append(f"- {_begun(turn.text)}" + (f" → {_begun(after.text)}" if answered else ""))
    return "\n".join(lines or [f"- {_begun(turn.text)}" for turn in turns])


def _begun(text: str) -> str:
    """The beginning of a message, without marks of citations."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = next((line.removeprefix("- ") for line in lines if line.startswith("- ")), lines[0])
    return cut(without_markers(first), SHORT)


SHORT = 160
"""Characters of a message that a summary without a model quotes."""


def messages(turns: Sequence[Turn]) -> tuple[Evidence, ...]:
    """The messages of a conversation as what its summary rests on."""
    return tuple(
        Evidence(n, Passage(f"message {n}", "conversation", f"{_SPEAKERS[turn.role]}, message {n}", turn.text))
        for n, turn in enumerate(turns, 1)
    )
