"""An answer as it can be sent to a customer, the same by the button and in words."""

from __future__ import annotations

from collections.abc import Collection

from bot.view.reply import ReplyView
from bot.wording.conversation.card import CardWords
from bot.wording.conversation.customer_text import for_customer


def customer_copy(reply: ReplyView, w: CardWords, internal: Collection[int]) -> str:
    """The text of an answer for a customer; what rests on the sources `internal` is marked."""
    return for_customer(reply.answer, reply.unvouched, internal=internal, mark=w("internal_mark"))
