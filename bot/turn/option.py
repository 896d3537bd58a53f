"""What the last turn asked back, and the option of it that a person types instead of pressing its button."""

from __future__ import annotations

from bot.records import Reply
from bot.turn.rework import last_turn
from bot.turn.state import TurnState
from bot.view.reply import AskedBack, reply_view
from grounding.text import terms
from rai.records import Outcome

MOST_TERMS = 8
"""Terms of a message that may be an option, which is a title or the name of a row."""


async def options_again(state: TurnState) -> Reply | None:
    """What was asked back last, once more, with each option as a button; None where the last turn left nothing to choose."""
    asked, _ = await _asked_back(state)
    return Reply(Outcome.ANSWERED, asked.question, intent="rework", suggestions=asked.options) if asked else None


async def with_option(state: TurnState) -> str:
    """The last question, completed with the option that was typed ("c2" of Perch C1 and Perch C2) as its button does it; empty where what was typed is none, or not one
    alone.
    """
    typed = frozenset(terms(state.ask.question))
    if not 0 < len(typed) <= MOST_TERMS:
        return ""
    asked, question = await _asked_back(state)
    meant = [done for option, done in asked.choices(question) if typed <= frozenset(terms(option))] if asked else []
    return meant[0] if len(meant) == 1 else ""


async def _asked_back(state: TurnState) -> tuple[AskedBack | None, str]:
    """What the last turn asked back and offers options of, and the question that they complete."""
    entry = await last_turn(state) if state.history else None
    if entry is None:
        return None, ""
    asked, question = reply_view(entry.body["reply"]).asked_back, str(entry.body["ask"].get("question") or "")
    return (asked, question) if asked and asked.options and question else (None, "")
