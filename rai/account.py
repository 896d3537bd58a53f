"""The account of a turn: what its calls of models take, what that costs, and how much they may take.

Before a call of a chat model the most that it can take is held; afterwards what it took is written down instead. Money is
decimal throughout, and prices are those of the deployment's settings: no list of prices is built in, for they change.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal

from grounding.errors import BudgetSpent, ServiceRejected, ServiceUnavailable
from grounding.observe import EmbedCall, Operation
from grounding.services.remote import CircuitOpen, Overloaded, Throttled

PER = 1_000_000
"""Tokens that a price is for."""
MARGIN = 300
"""Tokens that a draft's prompt may have beyond the policy's bound: its random markers are counted there by a stand-in."""
EMBED = "embed"
"""The purpose of a call that embeds."""
_DRAFT = "compose"
"""The purpose of a call that drafts."""
_LEFT_OUT = {"judge": "a judge of claims in doubt", _DRAFT: "a second draft"}
_UNBILLED = frozenset(e.__name__ for e in (ServiceUnavailable, ServiceRejected, Throttled, Overloaded, CircuitOpen))
"""Ends of a call for which nobody bills: it was not sent, or the service did not take it."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call of a chat model, or of a service that embeds (`purpose` "embed").

    `ended`: "complete", or the kind of error; `usage` as the service counts, replies that could not be used included; `ms` milliseconds.
    `backend`: which of several answered, "" where there is one.
    """

    purpose: str
    model: str
    ended: str
    ms: float
    usage: dict[str, int]
    temperature: float | None
    backend: str = ""

    @property
    def is_untold(self) -> bool:
        """True if it may have been billed, and the service does not tell for how many tokens."""
        told = {"prompt_tokens"} if self.purpose == EMBED else {"prompt_tokens", "completion_tokens"}
        return self.ended not in _UNBILLED and not told <= self.usage.keys()


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of tokens, in units of `currency` for a million. `cached_input` None: cached tokens cost as much as others."""

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    embedding: Decimal = Decimal(0)
    currency: str = "USD"

    def cost(self, usage: Mapping[str, int], purpose: str = "") -> Decimal:
        """The exact cost of the tokens of a call; those that the service does not tell cost nothing here."""
        asked = usage.get("prompt_tokens", 0)
        if purpose == EMBED:
            return (asked * self.embedding).scaleb(-6)
        cached = min(asked, usage.get("cached_tokens", 0))
        at = self.input if self.cached_input is None else self.cached_input
        written = usage.get("completion_tokens", 0)
        return ((asked - cached) * self.input + cached * at + written * self.output).scaleb(-6)

    def as_json(self) -> dict[str, str | int | None]:
        """The prices as the ledger keeps them, so that a reviewer can recompute the cost from the calls."""
        cached = None if self.cached_input is None else plain(self.cached_input)
        return {
            "input": plain(self.input),
            "cached_input": cached,
            "output": plain(self.output),
            "embedding": plain(self.embedding),
            "currency": self.currency,
            "per_tokens": PER,
        }


@dataclass(frozen=True, slots=True)
class Terms:
    """The bounds of what a turn may take of chat models: tokens and cost, None for no bound. A bound on the cost needs prices.

    `draft_tokens`: the most that a draft's reply takes, room for thinking included; 0 where no chat model drafts.
    """

    prices: Prices | None = None
    tokens: int | None = None
    cost: Decimal | None = None
    draft_tokens: int = 0

    @property
    def bounded(self) -> bool:
        """True if there is a bound that can be kept."""
        return self.tokens is not None or (self.cost is not None and self.prices is not None)


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens of chat models and their cost."""

    tokens: int = 0
    cost: Decimal = Decimal(0)

    def __add__(self, other: Spending) -> Spending:
        return Spending(self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: Spending) -> Spending:
        return Spending(self.tokens - other.tokens, self.cost - other.cost)


@dataclass(slots=True)
class Hold:
    """An amount held for one call: the most that it may take, with a prompt of `asked` tokens and a reply of `written`.

    `took`: what it took, as far as is known when it ends; of a call that was not sent, nothing.
    """

    most: Spending
    asked: int = 0
    written: int = 0
    took: Spending = field(default_factory=Spending)


class Account:
    """The account of one turn. `prompt_tokens`: the policy's bound on the prompt of a draft, for which `room` is kept."""

    def __init__(self, terms: Terms | None = None, *, prompt_tokens: int = 0) -> None:
        self.terms = terms or Terms()
        self.calls: list[ModelCall] = []
        self.committed = Spending()
        drafts = self.terms.draft_tokens
        self.room = self._amount(prompt_tokens + MARGIN, drafts) if drafts else Spending()
        self._drafted = False

    @contextmanager
    def holding(self, purpose: str, asked: int, most: int) -> Iterator[Hold]:
        """A block in which a call is made, for which `asked` tokens of its prompt and `most` of its reply are held.

        Raises BudgetSpent where they do not fit, or would leave too little for the draft that is still to be made.
        """
        hold = Hold(self._amount(asked, most), asked, most)
        room = self._kept(purpose)
        if bound := self._exceeded(self.committed + hold.most + room):
            raise BudgetSpent(self._said(bound, purpose))
        self.committed += hold.most
        if purpose == _DRAFT:
            self._drafted = True
        try:
            yield hold
        finally:
            self.committed += hold.took - hold.most

    def widen(self, hold: Hold, purpose: str, tokens: int, *, again: bool = False) -> int | None:
        """Holds up to `tokens` more for the reply of a call under way, as many as fit; returns how many that are.

        `again`: for a second try of it, whose prompt and reply have to fit beside the first; None if they do not.
        """
        least = self._amount(hold.asked, hold.written) if again else Spending()
        free = self._free(self.committed + least + self._kept(purpose), tokens)
        if free < 0:
            return None if again else 0
        more = least + self._amount(0, free)
        hold.most += more
        self.committed += more
        return free

    def settle(self, hold: Hold, call: ModelCall) -> None:
        """Writes a call down, and what it took: what the service counts; else all that was held, if it may have been billed."""
        self.calls.append(call)
        if call.is_untold:
            hold.took = hold.most
        else:
            usage = call.usage
            hold.took = self._amount(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0), usage)

    @contextmanager
    def watch(self, operation: Operation) -> Iterator[None]:
        """A watcher that writes down calls of a service that embeds."""
        began = time.perf_counter()
        try:
            yield
        finally:
            if isinstance(operation, EmbedCall):
                ms = round((time.perf_counter() - began) * 1000, 1)
                ended = operation.fault.type if operation.fault else "complete"
                call = ModelCall(EMBED, operation.model, ended, ms, dict(operation.usage), None, operation.backend)
                self.calls.append(call)

    def _amount(self, asked: int, written: int, usage: Mapping[str, int] | None = None) -> Spending:
        told = {"prompt_tokens": asked, "completion_tokens": written} if usage is None else usage
        return Spending(asked + written, self.terms.prices.cost(told) if self.terms.prices else Decimal(0))

    def _kept(self, purpose: str) -> Spending:
        """The amount that a call of this purpose has to leave for the draft."""
        return Spending() if purpose == _DRAFT or self._drafted else self.room

    def _free(self, amount: Spending, tokens: int) -> int:
        """How many of `tokens` a reply may have beside `amount`; negative if not even the amount fits."""
        terms, free = self.terms, tokens
        if terms.tokens is not None:
            free = min(free, terms.tokens - amount.tokens)
        if terms.cost is not None and terms.prices is not None:
            left = terms.cost - amount.cost
            each = terms.prices.output
            free = min(free, -1 if left < 0 else int(left * PER / each) if each else free)
        return free

    def _exceeded(self, amount: Spending) -> str:
        """The bound that `amount` goes beyond, in words; empty if none."""
        terms = self.terms
        if terms.tokens is not None and amount.tokens > terms.tokens:
            return f"{terms.tokens} tokens"
        if terms.cost is not None and terms.prices is not None and amount.cost > terms.cost:
            return f"{plain(terms.cost)} {terms.prices.currency}"
        return ""

    def _said(self, bound: str, purpose: str) -> str:
        if not self._drafted and purpose != _DRAFT and self.room.tokens:
            left = "room for the draft alone"
        else:
            what = _LEFT_OUT.get(purpose, "another call") if self._drafted or purpose != _DRAFT else "the draft"
            left = f"no room for {what}"
        return f"the turn's budget of {bound} leaves {left}"


def totals(calls: Iterable[ModelCall], prices: Prices | None) -> dict[str, int | str]:
    """The sums over calls, by name: chat calls and their tokens, tokens of embeddings, and the cost where prices are set.

    Only what services count is in them. `uncounted_calls`: those that may have been billed and of which no tokens are told.
    """
    made = list(calls)
    if not made:
        return {}
    chats = [c for c in made if c.purpose != EMBED]
    out: dict[str, int | str] = {"calls": len(chats)}
    for name in ("prompt_tokens", "completion_tokens"):
        out[name] = sum(c.usage.get(name, 0) for c in chats)
    more = {
        "cached_tokens": sum(c.usage.get("cached_tokens", 0) for c in chats),
        "reasoning_tokens": sum(c.usage.get("reasoning_tokens", 0) for c in chats),
        "embedding_tokens": sum(c.usage.get("prompt_tokens", 0) for c in made if c.purpose == EMBED),
        "uncounted_calls": sum(c.is_untold for c in made),
    }
    out |= {name: count for name, count in more.items() if count}
    if prices is not None:
        cost = sum((prices.cost(c.usage, c.purpose) for c in made), Decimal(0))
        out |= {"cost": plain(cost), "currency": prices.currency}
    return out


def plain(amount: Decimal) -> str:
    """A decimal number without exponent or trailing zeros, such as "0.00061"."""
    text = f"{amount:f}"
    return (text.rstrip("0").rstrip(".") or "0") if "." in text else text
