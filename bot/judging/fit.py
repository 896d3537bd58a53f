"""Whether a verdict fits its turn: what may be said of one that was answered is not what may be said of one that was not, and a document that answers it is one of the knowledge base."""

from __future__ import annotations

from collections.abc import Sequence

from bot.view.reply import DELIVERED
from bot.wording.reviewing.outcomes import outcome_word
from bot.wording.reviewing.verdicts import ON_ANSWERS, ON_NO_ANSWERS, VERDICT_WORDS, VERDICTS, Verdict
from grounding.ports import Library
from rai.records import Entry


def fitting(turn: Entry) -> tuple[Verdict, ...]:
    """The verdicts that fit a turn. Small talk and a question back say something and are no answer: of them anything may be said."""
    reply = turn.body["reply"]
    if reply.get("intent") or reply.get("clarification"):
        return VERDICTS
    return ON_ANSWERS if reply.get("outcome") in DELIVERED else ON_NO_ANSWERS


def misfit(turn: Entry, verdict: Verdict) -> str:
    """Why a verdict does not fit a turn, on one line; empty where it does."""
    allowed = fitting(turn)
    if verdict in allowed:
        return ""
    outcome = str(turn.body["reply"].get("outcome") or "")
    done = "an answer was delivered" if allowed == ON_ANSWERS else "no answer was delivered"
    words = ", ".join(f"“{VERDICT_WORDS[name]}”" for name in allowed)
    return (
        f"“{VERDICT_WORDS[verdict]}” does not fit this turn: {done} ({outcome_word(outcome)}). Allowed here: {words}."
    )


async def unknown(library: Library, documents: Sequence[str]) -> str:
    """Which of these ids no document has, on one line; empty where each has one. Raises StoreError."""
    missing = [name for name in documents if await library.document(name) is None]
    if not missing:
        return ""
    named, has = ", ".join(f"“{name}”" for name in missing), "is" if len(missing) == 1 else "are"
    ids = "no id of a document" if len(missing) == 1 else "no ids of documents"
    return f"{named} {has} {ids}. Allowed: ids of documents that are in the knowledge base now."
