"""The screen put around the ports: no prompt reaches a model unscreened, no passage an order goes unmarked.

`compose` wraps what it hands out; grounding never sees this. Within `screened_turn()` the pieces that were screened
are remembered, so that of a prompt made of them only the new text is judged again. Outside of it all of it is judged.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from grounding.asking.reply_room import Grant, room_granted_by
from grounding.asking.spotlight import MARKER_LINE
from grounding.errors import BudgetSpent, PromptBlocked, ServiceError, WorkError
from grounding.observe import ChatCall, Operation, ReplyUnused, added, observed, watched_by
from grounding.ports import ChatModel, Retriever, WebSearch
from grounding.records import Access, Completion, Query, Retrieval, WebResult
from grounding.tokens import asked_tokens
from rai.account import Account, Hold, ModelCall, Spending
from rai.judgement import Judgement
from rai.personal.known import KnownPersonalData, Personal
from rai.personal.pseudonyms import Pseudonyms
from rai.personal.redact import MASK, Redactor, masked, merged
from rai.ports import PromptScreen
from rai.records import Screening
from rai.screening.cut_prompt import cut_prompt
from rai.screening.quarantine import Released, without_released

TIMEOUT_S = 10.0
Earlier = Callable[[Sequence[str]], dict[str, str | None]]
"""Verdicts that are known, by `verdict_key`: the rule that leaves a passage out, or None."""
_SHORTEST = 16  # a piece shorter than this is cheap to judge again, and cutting it out could tear a sentence apart
_REMEMBERED = 20_000
_BEFORE_STOP = re.compile(r"(?<!\s)\s+(?=[,.;:!?])")
_LEFT_OVER = re.compile(r"([,.;:!?])(?:\s*[,;:])+")


@dataclass(slots=True)
class TurnScreening:
    """What the screen has allowed in this turn, and what should be said about it. `blocked`: prompts that it stopped, by what they are.

    `conversation`: question, history and agent context; `found`: the personal data in them, once they were read for it; `told`: what a service found there
    beside it; `known`: both less what as many passages hold.
    `passages`: what the company, or a web page, says: what stands in it is nobody's secret.
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
    """Remember, until the block ends, what is screened in it; tasks started inside share the memory.

    `conversation`: what the customer's side has said and what is known of the case, whose personal data stays here.
    `account`: what calls in the block take is written down there, and bounded as it says.
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


class RememberingScreen:
    """A screen that notes in the current turn which texts it allowed. Fails closed.

    Raises PromptBlocked(None, unavailable=True) when the inner screen raises, or is not done within `timeout_s`.
    """

    def __init__(self, screen: PromptScreen, *, timeout_s: float = TIMEOUT_S) -> None:
        self._screen = screen
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        return self._screen.name

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        """The inner screen's decision."""
        screening = await _decide(self._screen, self._timeout_s, text, documents)
        if (turn := _turn.get()) is not None:
            if text and not screening.blocked:
                turn.requests.add(text)
            turn.data.update(documents[d.index] for d in screening.documents if d.verdict == "allow")
        return screening


class ScreenedModel:
    """A chat model that screens each prompt before it is sent. The model behind it cannot be reached around it.

    `trusted`: our own templates; lines of them are not judged. `system` is judged as data, `user` as a request.
    """

    __slots__ = ("__call", "__name")

    def __init__(
        self, model: ChatModel, screen: PromptScreen, *, trusted: Iterable[str] = (), timeout_s: float = TIMEOUT_S
    ) -> None:
        ours = frozenset(line.strip() for text in trusted for line in text.splitlines() if line.strip())

        async def call(
            system: str, user: str, purpose: str, max_tokens: int, schema: Mapping[str, Any] | None = None
        ) -> Completion:
            asked = ChatCall(model.name, purpose, max_tokens, system, user)
            with await _holding(asked, schema) as hold:
                request, data = _unjudged(user, ours), _unjudged(system, ours)
                if request or data:
                    screening = await _decide(screen, timeout_s, request, (data,) if data else ())
                    _refuse(screening)
                reply = model.complete(system, user, purpose=purpose, max_tokens=max_tokens, schema=schema)
                with room_granted_by(_granting(asked, hold)):
                    completion = await _counted(asked, reply, hold)
            if _turn.get() is not None and (said := await cut_prompt(asked, completion)):
                note(said)
            return completion

        self.__call: Callable[..., Awaitable[Completion]] = call
        self.__name = model.name

    @property
    def name(self) -> str:
        return self.__name

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """The model's reply. Raises PromptBlocked, BudgetSpent if the turn's budget has no room for it, or what the model raises."""
        try:
            return await self.__call(system, user, purpose, max_tokens, schema)
        except BudgetSpent as error:
            note(str(error))
            raise


class ScreenedRetriever:
    """A retriever whose passages carry, in `screened`, the rule that found an order to the assistant in them.

    Verdicts are kept by chunk id, a hash of the text, and by title; `earlier` looks up those of the ingest, `released` what people let out.
    Raises PromptBlocked(None, unavailable=True) when the screen cannot decide.
    """

    def __init__(
        self,
        retriever: Retriever,
        screen: PromptScreen,
        *,
        earlier: Earlier = lambda _keys: {},
        released: Released = lambda _keys: (),
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._retriever = retriever
        self._screen = screen
        self._earlier = earlier
        self._released = released
        self._timeout_s = timeout_s
        self._verdicts: OrderedDict[str, str | None] = OrderedDict()

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        """The retriever's result, each passage marked."""
        found = await self._retriever.retrieve(query, access, k)
        texts = [(verdict_key(p.chunk_id, p.title, p.text), as_data(p.title, p.text)) for p in found.passages]
        rules = await self._judge(texts)
        judged = [replace(p, screened=rule) for p, rule in zip(found.passages, rules, strict=True)]
        marked = await without_released(judged, self._released)
        if (turn := _turn.get()) is not None:
            said = {t for p in marked if p.screened is None for t in (p.title, p.text)}
            turn.data |= said
            turn.passages |= said
        return replace(found, passages=marked)

    async def _judge(self, texts: Sequence[tuple[str, str]]) -> list[str | None]:
        new = {key: text for key, text in texts if key not in self._verdicts}
        rules = await asyncio.to_thread(self._earlier, list(new)) if new else {}
        left = {key: text for key, text in new.items() if key not in rules}
        rules |= dict(zip(left, await _orders(self._screen, self._timeout_s, list(left.values())), strict=True))
        answer = [rules[key] if key in rules else self._verdicts[key] for key, _ in texts]
        self._verdicts.update(rules)
        while len(self._verdicts) > _REMEMBERED:
            self._verdicts.popitem(last=False)
        return answer


class ScreenedWeb:
    """A web search that sends no personal data out and lets no result in that gives orders to the assistant.

    `redactor` None: queries are sent as they are.
    """

    def __init__(
        self, web: WebSearch, screen: PromptScreen, redactor: Redactor | None, *, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._web = web
        self._screen = screen
        self._redactor = redactor
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        return self._web.name

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        """Results fit to use; what was dropped stands in the turn's notes. Empty if the query was personal data only."""
        clean = (
            query if self._redactor is None else await asyncio.to_thread(_public, query, _turn.get(), self._redactor)
        )
        if not clean:
            note("the web was not searched: the query held nothing but personal data")
            return ()
        found = await self._web.search(clean, k)
        rules = await _orders(self._screen, self._timeout_s, [as_data(r.title, r.snippet) for r in found])
        kept = tuple(r for r, rule in zip(found, rules, strict=True) if rule is None)
        if len(kept) < len(found):
            named = ", ".join(sorted({rule for rule in rules if rule}))
            note(f"{len(found) - len(kept)} of {len(found)} web results dropped: they give orders ({named})")
        if (turn := _turn.get()) is not None:
            said = {t for r in kept for t in (r.title, r.snippet)}
            turn.data |= said
            turn.passages |= said
        return kept


async def _holding(asked: ChatCall, schema: Mapping[str, Any] | None) -> AbstractContextManager[Hold]:
    """The block in which the turn's account holds what the call may take; it raises BudgetSpent where there is no room for it."""
    turn = _turn.get()
    if turn is None or not turn.account.terms.bounded:
        return nullcontext(Hold(Spending()))
    tokens = await asyncio.to_thread(asked_tokens, asked.system, asked.user, schema)
    return turn.account.holding(asked.purpose, tokens, asked.max_tokens)


def _granting(asked: ChatCall, hold: Hold) -> Grant:
    """What the turn's account lets a reply take beyond its cap; without a bound, all that is wanted."""
    turn, cap = _turn.get(), asked.max_tokens

    def grant(tokens: int, again: bool) -> int | None:
        bounded = turn is not None and turn.account.terms.bounded
        given = turn.account.widen(hold, asked.purpose, tokens, again=again) if turn and bounded else tokens
        asked.max_tokens = cap + (given or 0)
        return given

    return grant


async def _counted(asked: ChatCall, call: Awaitable[Completion], hold: Hold) -> Completion:
    """The model's reply, with the call in the current turn's account."""

    def listen(operation: Operation) -> AbstractContextManager[None]:
        if isinstance(operation, ReplyUnused):
            asked.unused = added(asked.unused, operation.usage)
        return nullcontext()

    began, ended, reply = time.perf_counter(), "complete", None
    try:
        with observed(asked), watched_by(listen):
            asked.completion = reply = await call
        return reply
    except BaseException as error:
        ended = type(error).__name__
        raise
    finally:
        if (turn := _turn.get()) is not None:
            ms = round((time.perf_counter() - began) * 1000, 1)
            temperature = reply.temperature if reply else None
            made = ModelCall(asked.purpose, asked.model, ended, ms, asked.usage, temperature)
            turn.account.settle(hold, made)


def known_of(turn: TurnScreening, redactor: Redactor) -> KnownPersonalData:
    """Personal data of the turn's conversation, less what stands in its passages. Takes milliseconds for each text at first."""
    if turn.found is None:
        turn.found = [personal for text in turn.conversation for personal in redactor.find(text)]
    size, known = turn.known
    if known is None or size != len(turn.passages):
        turn.known = size, known = (
            len(turn.passages),
            KnownPersonalData([*turn.found, *turn.told], sorted(turn.passages)),
        )
    return known


def _public(query: str, turn: TurnScreening | None, redactor: Redactor) -> str:
    """`query` without personal data: what is found in it, and what the conversation around it tells."""
    found = redactor.find(query)
    if turn is not None:
        known = known_of(turn, redactor)
        found = merged(query, [*(p for p in found if not known.is_own(p)), *known.find(query)])
    if not found:
        return query
    clean = " ".join(masked(query, found).replace(MASK, " ").split())
    clean = _LEFT_OVER.sub(r"\1", _BEFORE_STOP.sub("", clean)).strip(" ,;:")
    note("personal data was taken out of the web query")
    return clean if re.search(r"\w", clean) else ""


async def _decide(screen: PromptScreen, timeout_s: float, text: str, documents: Sequence[str]) -> Screening:
    try:
        async with asyncio.timeout(timeout_s):
            screening = await screen.screen(text, documents)
    except PromptBlocked:
        raise
    except Exception as error:  # whatever goes wrong in a screen, the prompt stays here
        note(f"the prompt screen could not decide: {_said(error, screen.name, timeout_s)}")
        raise PromptBlocked(None, unavailable=True) from error
    if len(screening.documents) != len(documents):
        note(f"the prompt screen could not decide: {screen.name} left documents out")
        raise PromptBlocked(None, unavailable=True)
    note(*screening.notes)
    return screening


def _said(error: Exception, name: str, timeout_s: float) -> str:
    """Which screen failed and how; of errors that are not ours the kind alone, for their words may hold the text."""
    if isinstance(error, ServiceError | WorkError):
        return str(error)
    return (
        f"{name}: {f'no decision within {timeout_s:g} s' if isinstance(error, TimeoutError) else type(error).__name__}"
    )


async def _orders(screen: PromptScreen, timeout_s: float, texts: Sequence[str]) -> list[str | None]:
    if not texts:
        return []
    screening = await _decide(screen, timeout_s, "", texts)
    rules: list[str | None] = [None] * len(texts)
    for document in screening.documents:
        if document.verdict == "block":
            rules[document.index] = document.rule or "unnamed"
    return rules


def _refuse(screening: Screening) -> None:
    orders = next((d for d in screening.documents if d.verdict == "block"), None)
    if not screening.blocked and orders is None:
        return
    if orders is not None and not screening.blocked:
        screening = replace(screening, verdict="block", category="injection", rule=orders.rule, score=orders.score)
    if (turn := _turn.get()) is not None:
        turn.blocked.append(("prompt", screening))
    raise PromptBlocked(screening.rule)


def _unjudged(text: str, ours: frozenset[str]) -> str:
    """`text` less our own lines, the lines that open and close quotations, and the pieces of this turn that were allowed, in the order of the
    text. A passage stays data wherever a prompt puts it, so that a grader's prompt may carry it in the user message.
    """
    turn = _turn.get()
    pieces = turn.requests | turn.data if turn is not None else frozenset()
    for piece in sorted((p.strip() for p in pieces if len(p.strip()) >= _SHORTEST), key=len, reverse=True):
        text = text.replace(piece, "\n")
    whole = "\n".join(pieces)
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(
        line
        for line in lines
        if line
        and line not in ours
        and not MARKER_LINE.fullmatch(line)
        and not (len(line) >= _SHORTEST and line in whole)
    )


def note(*texts: str) -> None:
    """Say something about the turn that is going on, each thing once; it goes into the record, so it holds no personal data."""
    if (turn := _turn.get()) is not None:
        turn.notes.extend(text for text in texts if text not in turn.notes)


def verdict_key(chunk_id: str, title: str, text: str) -> str:
    """What a verdict on a chunk is kept by."""
    return hashlib.sha256(f"{chunk_id}\x00{title}\x00{text}".encode("utf-8", "surrogatepass")).hexdigest()


def as_data(title: str, text: str) -> str:
    """A passage as the screen reads it."""
    return f"{title}\n{text}"
