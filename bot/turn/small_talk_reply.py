"""The reply to small talk: fixed and friendly, in the language of whoever wrote; nothing is searched and nothing is cited."""

from __future__ import annotations

from bot.records import Reply
from bot.turn.small_talk import Form, SmallTalkTexts, Talk, lists
from bot.turn.state import TurnState
from grounding.records import Turn
from rai.records import Outcome

LOOKED_AT = 50
"""Entries of the ledger that are looked at for the last answer."""
MOST_SOURCES = 5
_BUTTONS: dict[Form, tuple[Form, ...]] = {
    "greeting": ("help", "new"),
    "thanks": ("new",),
    "ok": ("new",),
    "farewell": ("new",),
    "help": ("about", "new"),
    "about": ("help",),
    "new": ("help",),
    "why": ("new",),
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
    last = next((turn for turn in reversed(state.history) if turn.role == "assistant"), None)
    if last is None:
        return texts.nothing_yet
    sources = await _sources(state, last)
    return "\n".join([texts.why_sources, "", *(f"- {source}" for source in sources)]) if sources else texts.why


async def _sources(state: TurnState, last: Turn) -> list[str]:
    """What the last answer cited, as the record of this person's turn has it; nothing if it is not found."""
    async for entry in state.seams.ledger.entries(newest_first=True, limit=LOOKED_AT, kinds=("turn",)):
        reply = entry.body.get("reply") or {}
        if (
            str(reply.get("answer", "")).strip() == last.text.strip()
            and entry.body["ask"].get("user") == state.ask.user
        ):
            cited = [(c.get("title") or c.get("doc_id"), c.get("locator")) for c in reply.get("citations") or ()]
            named = dict.fromkeys(" · ".join(dict.fromkeys(str(p) for p in place if p)) for place in cited)
            return list(named)[:MOST_SOURCES]
    return []
