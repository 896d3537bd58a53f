"""Wrappers that keep services outside from learning who the customer is: around a chat model, an embedder, a tagger, the ledger's redaction.

What a service finds to be personal in a conversation joins what our own rules find, for everything that asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from grounding.errors import ServiceError
from grounding.observe import record_degraded
from grounding.ports import ChatModel, Embedder, Vectors
from grounding.records import Completion
from rai.personal.known import KnownPersonalData, Personal
from rai.personal.pseudonyms import PlaceholderKey
from rai.personal.redact import Redactor, masked, merged
from rai.ports import EntityTagger, PersonalFinder
from rai.records import EntityType
from rai.screening.turn import TurnScreening, current_turn, known_of, note

_SHORTEST = 16
"""Fewest characters of a passage that is recognised where a prompt quotes it."""


class PrivateModel:
    """A chat model that is sent placeholders instead of the conversation's personal data, which is put back into its reply.

    Evidence goes as it is: what stands in it is the company's own and not personal, so that a phone number of the
    question that equals one of the evidence stays readable on both sides and can be answered about.

    It belongs inside `ScreenedModel`, next to the service. The screen then judges the words that people wrote, with what
    it has allowed in this turn known by heart, and of what is sent it has seen all but the placeholders, which hold
    nothing of anybody's. Outside of it, every prompt would be new to the screen, and judged twice. The screens that are
    services themselves are asked about the conversation as it is.

    Outside of a turn only what stands in the user message is known to be personal.
    """

    __slots__ = ("__model", "__redactor")

    def __init__(self, model: ChatModel, redactor: Redactor) -> None:
        self.__model = model
        self.__redactor = redactor

    @property
    def name(self) -> str:
        return self.__model.name

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """The model's reply with what the placeholders stand for. Raises what the model raises."""
        turn = current_turn() or TurnScreening((user,))
        known = await asyncio.to_thread(known_of, turn, self.__redactor)
        passages = sorted((p.strip() for p in turn.passages if len(p.strip()) >= _SHORTEST), key=len, reverse=True)
        (system, user), key = turn.pseudonyms.replace((system, user), lambda text: _outside(text, passages, known))
        reply = await self.__model.complete(system, user, purpose=purpose, max_tokens=max_tokens, schema=schema)
        restored = key.restore(reply.text)
        if key.values:
            note(f"the model for {purpose} was given placeholders: {_counted(key)}")
        if restored.unknown:
            note(f"{restored.unknown} placeholder(s) that stand for nothing were taken out of the reply of the model")
        return replace(reply, text=restored.text)


def _counted(key: PlaceholderKey) -> str:
    """How many placeholders of each kind there are, in words: "1 EMAIL, 2 PERSON"."""
    return ", ".join(f"{count} {kind}" for kind, count in sorted(key.counts.items()))


def _outside(text: str, passages: Iterable[str], known: KnownPersonalData) -> list[Personal]:
    """The known personal data in `text`, but for the passages quoted in it."""
    quoted: list[tuple[int, int]] = []
    for passage in passages:
        at = text.find(passage)
        while at >= 0:
            quoted.append((at, at + len(passage)))
            at = text.find(passage, at + len(passage))
    found = [p for p in known.find(text) if not any(start < p.end and p.start < end for start, end in quoted)]
    return merged(text, found)


class PrivateEmbedder:
    """An embedder that is sent placeholders instead of the conversation's personal data.

    For queries alone: what is ingested is the company's own. Outside of a turn the text itself is read for what is personal.
    """

    def __init__(self, embedder: Embedder, redactor: Redactor) -> None:
        self._embedder = embedder
        self._redactor = redactor

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def width(self) -> int:
        return self._embedder.width

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the texts with placeholders. Raises what the embedder raises."""
        turn = current_turn() or TurnScreening(tuple(texts))
        known = await asyncio.to_thread(known_of, turn, self._redactor)
        public, key = turn.pseudonyms.replace(texts, lambda text: merged(text, known.find(text)))
        if key.values:
            note(f"the embedding service was given placeholders: {_counted(key)}")
        return await self._embedder.embed(public)


class PrivateTagger:
    """An entity tagger that is sent the conversation's personal data masked, in the same length: offsets stay exact.

    A customer's name is then no claim; it is given and needs no source.
    """

    def __init__(self, tagger: EntityTagger, redactor: Redactor) -> None:
        self._tagger = tagger
        self._redactor = redactor

    async def tag(self, text: str) -> tuple[tuple[int, int, EntityType], ...]:
        """The names of the masked text as (start, end, type). Raises what the tagger raises."""
        if (turn := current_turn()) is not None:
            known = await asyncio.to_thread(known_of, turn, self._redactor)
            text = masked(text, merged(text, known.find(text)))
        return tuple(await self._tagger.tag(text))


def masking(redactor: Redactor) -> Callable[[Sequence[str]], Awaitable[list[str]]]:
    """A function that masks the conversation's personal data in texts, each in its length; outside of a turn what is found in these texts."""

    async def mask(texts: Sequence[str]) -> list[str]:
        turn = current_turn() or TurnScreening(tuple(texts))
        known = await asyncio.to_thread(known_of, turn, redactor)
        return [masked(text, merged(text, known.find(text))) for text in texts]

    return mask


async def look_further(finder: PersonalFinder | None) -> None:
    """Asks a service for personal data in the conversation of this turn, which is then kept from web queries, prompts and the ledger too.

    If it fails, what our own rules find stands alone, and a note says so.
    """
    turn = current_turn()
    if finder is None or turn is None or not any(text.strip() for text in turn.conversation):
        return
    try:
        turn.told = tuple(await finder.find(turn.conversation))
    except ServiceError as error:
        record_degraded("pii")
        note(f"personal data was looked for on this machine alone: {error}")
    turn.known = 0, None


def redaction(redactor: Redactor) -> Callable[[dict[str, Any], str], dict[str, Any]]:
    """The redaction of the ledger's entries: `Redactor.redact_entry`, with what a service found in the turn."""

    def redact(body: dict[str, Any], kind: str) -> dict[str, Any]:
        turn = current_turn()
        return redactor.redact_entry(body, kind, turn.told if turn else ())

    return redact
