"""What of a conversation nobody has answered yet."""

from __future__ import annotations

from collections.abc import Sequence

from bot.turn.conversation.small_talk import answers
from grounding.query.conversation import asks
from grounding.records import Turn
from grounding.text import sentences


def open_questions(turns: Sequence[Turn]) -> list[str]:
    """The messages of a conversation that ask something and that nobody answered before somebody asked again. Of a customer's messages in a row all have the reply that
    follows them; who asks Attest asks with every message, and has a reply to each.
    """
    out: list[str] = []
    asked: list[str] = []
    replied = False
    for turn in [*turns, Turn("user", "")]:
        if turn.role in ("agent", "assistant"):
            asked = [] if turn.role == "assistant" or answers(turn.text) else asked
            replied = True
        elif turn.role == "user" or replied:
            out += asked
            asked = []
        if turn.role in ("customer", "user"):
            asks_ = turn.role == "user" or any(asks(s.text) for s in sentences(turn.text))
            asked += [turn.text] if asks_ and turn.text else []
            replied = False
    return out
