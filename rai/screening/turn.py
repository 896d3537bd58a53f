"""The memory of one turn: what the screen allowed in it, whose personal data it holds, what is to be said of it, and its account."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from grounding.observe import watched_by
from rai.account import Account
from rai.judgement import Judgement
from rai.personal.known import KnownPersonalData, Personal
from rai.personal.pseudonyms import Pseudonyms
from rai.personal.redact import Redactor
from rai.records import Screening


@dataclass(slots=True)
class TurnScreening:
    """The memory of one turn.

    `conversation`: question, history and agent context; `found`: the personal data in them, None until they were read for it; `told`: what
    a service found there beside it; `known`: how many passages there were, and both less what these hold; `passages`: what the company or
    a web page says, for what stands there is nobody's secret; `pseudonyms`: the placeholders given out.
    `requests`, `data`: texts that the screen allowed as requests, as data; `blocked`: prompts that it stopped, with what they were ("prompt").
    `notes`: what the record should say; `judgements`: calls of a judge; `account`: what calls took.
    """

    conversation: tuple[str, ...] = ()
    found: list[Personal] | None = None
    told: tuple[Personal, ...] = ()
    known: tuple[int, KnownPersonalData | None] = (0, None)
    passages: set[str] = field(default_factory=set)
    pseudonyms: Pseudonyms = field(default_factory=Pseudonyms)
    requests: set[str] = field(default_factory=set)
    data: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    blocked: list[tuple[str, Screening]] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)
    account: Account = field(default_factory=Account)


_turn: ContextVar[TurnScreening | None] = ContextVar("screened_turn", default=None)


@contextmanager
def screened_turn(conversation: Iterable[str] = (), account: Account | None = None) -> Iterator[TurnScreening]:
    """A block with a memory of its own for one turn; tasks started inside share it.

    `conversation`: what the customer's side has said and what is known of the case, whose personal data stays here.
    `account`: where calls in the block are written down, and which bounds them.
    """
    token = _turn.set(turn := TurnScreening(tuple(conversation), account=account or Account()))
    try:
        with watched_by(turn.account.watch):
            yield turn
    finally:
        _turn.reset(token)


def current_turn() -> TurnScreening | None:
    """The turn that is going on, or None outside of one."""
    return _turn.get()


def note(*texts: str) -> None:
    """Adds notes to the turn that is going on, each once. They go into the record, so they must hold no personal data."""
    if (turn := _turn.get()) is not None:
        turn.notes.extend(text for text in texts if text not in turn.notes)


def known_of(turn: TurnScreening, redactor: Redactor) -> KnownPersonalData:
    """The personal data of the turn's conversation, less what stands in its passages. Takes milliseconds for each text at first."""
    if turn.found is None:
        turn.found = [personal for text in turn.conversation for personal in redactor.find(text)]
    size, known = turn.known
    if known is None or size != len(turn.passages):
        turn.known = size, known = (
            len(turn.passages),
            KnownPersonalData([*turn.found, *turn.told], sorted(turn.passages)),
        )
    return known
