"""What a message of Teams asks, and what a conversation remembers of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.records import Reply
from bot.turn.conversation.pasted import Pasted
from bot.view.reply import DELIVERED
from bot.wording.conversation.pictures import asks_about_unsaid
from grounding.records import Turn
from rai.records import Outcome

FORGOTTEN = frozenset({Outcome.BLOCKED})
"""Outcomes after which nothing is kept of the turn: what the screen blocked is no history for a model. What failed was asked, and goes on."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked. `anew`: *Change* asks it of something else, whole, so that nothing said before belongs to it; `file`: what hangs on the message says."""

    text: str
    pasted: Pasted | None
    anew: bool = False
    file: str = ""

    @property
    def completed(self) -> str:
        """What a button completes: of a pasted conversation the question in it."""
        return self.pasted.question if self.pasted else self.text

    def told(self) -> tuple[Turn, ...]:
        """All that the message says: what a file says is said by whoever sent it, before what they ask."""
        return (*([Turn("customer", self.file)] if self.file else ()), *self.turns())

    def turns(self) -> tuple[Turn, ...]:
        """The turns of the conversation that later questions are read with."""
        if self.pasted is None:
            return (Turn("user", self.text),)
        return (*self.pasted.history, Turn("customer", self.pasted.question))


def begins_anew(question: Asked, reply: Reply | None) -> bool:
    """Whether what was said before is about another customer: that was said, or a new conversation was pasted."""
    return reply is not None and (
        reply.intent == "new" or ((question.pasted is not None or question.anew) and reply.outcome not in FORGOTTEN)
    )


def said(question: Asked, reply: Reply | None) -> Iterator[Turn]:
    """What the conversation remembers of a turn: small talk would stand between a question and what follows from it. What a file says is said by whoever sent
    it, for this question and those that follow.
    """
    if question.file and (reply is None or reply.outcome is not Outcome.BLOCKED):
        yield Turn("customer", question.file)
    if reply is not None and reply.outcome not in FORGOTTEN and reply.intent is None:
        if (
            reply.record.ask is None or reply.record.ask.rework is None
        ):  # a wish to rework asks nothing that later questions hang on
            yield from question.turns()
        if reply.outcome in DELIVERED:
            yield Turn("assistant", reply.answer)


def pointed_at(question: str, history: Sequence[Turn]) -> str:
    """What the customer said last, by a file or in what was pasted, if a question points at a code or message that it does not say: it may stand before another
    question.
    """
    by_customer = (turn.text for turn in reversed(history) if turn.role == "customer")
    return next(by_customer, "") if asks_about_unsaid(question) else ""
