"""The reply to small talk: fixed and friendly, in the language of whoever wrote; nothing is searched and nothing is cited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.records import Reply
from bot.turn.access import restricted
from bot.turn.conversation.small_talk import Form, SmallTalkTexts, Talk, lists
from bot.turn.rework import last_turn, shown_answer, standing_answer, told_again
from bot.turn.state import TurnState
from bot.view.customer import customer_copy
from bot.view.place import named_place
from bot.view.reply import ReplyView, reply_view
from bot.view.verdict import MAX_LINE, cut, missing_parts, why_lines
from bot.wording.conversation.card import CardWords
from rai.records import Outcome

MOST_SOURCES = MOST_LINES = 5
_CHANGED = frozenset({Outcome.REPAIRED, Outcome.WITHHELD})
_BUTTONS: dict[Form, tuple[Form, ...]] = {
    "greeting": ("help", "new"),
    "thanks": ("new",),
    "ok": ("new",),
    "farewell": ("new",),
    "help": ("about", "new"),
    "about": ("help",),
    "new": ("help",),
    "copy": ("new",),
    "why": ("new",),
    "check": ("help",),
}


async def talked(state: TurnState, talk: Talk) -> Reply:
    """The reply to a message that says nothing to look up."""
    known = lists().languages[talk.language]
    answer = await _answer(state, talk, known.texts)
    buttons = tuple(known.buttons[form] for form in _BUTTONS[talk.form] if form in known.buttons)
    return Reply(Outcome.ANSWERED, answer, intent=talk.intent, suggestions=buttons)


async def _answer(state: TurnState, talk: Talk, texts: SmallTalkTexts) -> str:
    if talk.intent != "rework":
        return str(getattr(texts, talk.form))
    if not state.history:  # nothing was said, or it was forgotten: another customer, a message that was deleted
        return texts.nothing_yet
    entry = await last_turn(state)
    if entry is None:
        said = any(turn.role == "assistant" for turn in state.history)
        return texts.why if said else texts.nothing_yet
    if not await told_again(state, entry):
        return texts.gone
    if talk.form == "copy":
        return await _to_copy(state, CardWords(talk.language)) or texts.unanswered
    reply, asked = reply_view(entry.body["reply"]), str(entry.body["ask"].get("question") or "")
    return _why(reply, asked, CardWords(talk.language), texts)


async def _to_copy(state: TurnState, words: CardWords) -> str:
    """The answer that stands as it can be sent to a customer, each line a paragraph, so that every channel keeps them apart; empty where nothing was answered."""
    entry, last = await standing_answer(state)
    if entry is None or not await told_again(state, entry):
        return ""
    reply = replace(reply_view(entry.body["reply"], words.language), answer=shown_answer(state, entry, last=last))
    library, cited = state.seams.library, reply.citations
    listed = await restricted(library, (c.doc_id for c in cited)) if library is not None else frozenset[str]()
    text = customer_copy(reply, words, {c.n for c in cited if c.doc_id in listed})
    return "\n\n".join(line for line in text.splitlines() if line.strip())


def _why(reply: ReplyView, asked: str, words: CardWords, texts: SmallTalkTexts) -> str:
    """Why a turn ended as it did: what was changed or held back and what the check had found of it, what no source answers, what an answer rests on."""
    parts = [_listed(words(name), why_lines(reply, words, MOST_LINES)) for name in (reply.outcome,) if name in _CHANGED]
    missing = [words("missing", part=cut(part, MAX_LINE)) for part in missing_parts(reply, asked)]
    parts += ["\n".join(missing)]
    if reply.delivered:
        named = dict.fromkeys(named_place(c.name, c.locator) for c in reply.citations)
        parts.append(_listed(texts.why_sources, list(named)[:MOST_SOURCES]))
    return "\n\n".join(filter(None, parts)) or (texts.why if reply.delivered else reply.answer)


def _listed(head: str, lines: Sequence[str]) -> str:
    return (
        "\n".join([head if head.endswith(":") else f"{head}:", "", *(f"- {line}" for line in lines)]) if lines else ""
    )
