"""Names in a text, found by Azure AI Language: a presidio recogniser over the service, and the tagger that adds its names to the local ones.

presidio's own AzureAILanguageRecognizer is not used: it asks for personal data and not for names, drops the error of a
document that is too long as if it held nothing, and leaves the service to log the text for 48 hours. The contract is
that of api-version 2023-04-01: 5,120 text elements a document and 5 documents a request.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from azure.core.credentials_async import AsyncTokenCredential
from presidio_analyzer import EntityRecognizer, RecognizerResult, RemoteRecognizer

from grounding.azure.core.faults import translated
from grounding.azure.language.client import SERVICE, LanguageService
from grounding.errors import ServiceError, ServiceReplyInvalid
from grounding.observe import record_degraded
from grounding.services.remote import Remote
from grounding.text import sentences
from rai.ports import EntityTagger
from rai.records import EntityType
from rai.screening.turn import note

LOG = logging.getLogger("attest")
Tag = tuple[int, int, EntityType]
"""Start, end (code points, half open) and type of a name."""
MAX_PIECE = 5000
"""Most code points of one document: never more text elements than that, so below the service's 5,120."""
MAX_DOCUMENTS = 5
"""The service's limit of documents in one request."""
MIN_CONFIDENCE = 0.6
"""Least confidence of an entity, in [0, 1], the service's own. Its documentation names no threshold; ours keeps what is likelier than not."""
_TYPES: dict[str, EntityType] = {
    "Person": "person",
    "Organization": "organisation",
    "Address": "address",
    "Location/GPE": "address",
    "Product": "product",
}
_SPACE = re.compile(r"\s(?=\S*$)")
_MARKER = re.compile(r" ?\[\d{1,3}\]")
_REMEMBERED = 256
"""Most texts whose names are remembered, by their hash."""


Piece = tuple[int, str]
"""Offset and text of a part of a text."""
Told = tuple[int, str, Sequence[Mapping[str, Any]]]
"""The same with the entities that the service found in it."""


class LanguageRecognizer(RemoteRecognizer):
    """A presidio recogniser over the service's named entities. Results carry our entity types; offsets are code points.

    presidio's recognisers block. The service is asked without blocking, by `read`, and `analyze` gets what it said as the artifacts that
    presidio hands to every recogniser.

    `key`: of the Language resource, or a token credential (Microsoft Entra ID), which goes to https, or to this machine. Raises
    SettingsError for an endpoint or key that cannot be used.
    """

    label = "Azure AI Language NER"
    task = "EntityRecognition"
    kinds: frozenset[str] = frozenset(_TYPES.values())

    def __init__(
        self, endpoint: str, key: str | AsyncTokenCredential, *, language: str = "en", timeout_s: float = 20.0
    ) -> None:
        self._service = LanguageService(endpoint, key, timeout_s=timeout_s, language=language)
        super().__init__(
            supported_entities=sorted(self.kinds), supported_language=language, name=self.label, version="2023-04-01"
        )

    def load(self) -> None:
        """Nothing to load: the model is the service's."""

    def get_supported_entities(self) -> list[str]:
        """The entity types that may be found: ours, not presidio's."""
        return list(self.supported_entities)

    async def read(self, text: str) -> list[RecognizerResult]:
        """Asks the service for every entity of `text`, of whatever length. Raises ServiceError if any part of it could not be read."""
        whole = len(text) <= MAX_PIECE
        pieces = [(0, text)] if whole else await asyncio.to_thread(lambda: list(_pieces(text)))
        with translated(SERVICE):
            told: list[Told] = []
            for at in range(0, len(pieces), MAX_DOCUMENTS):
                batch = pieces[at : at + MAX_DOCUMENTS]
                replies = await self._service.analyze(self.task, [piece for _, piece in batch])
                told += [(*piece, reply) for piece, reply in zip(batch, replies, strict=True)]
            return self.analyze(text, self.supported_entities, told)

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = ()) -> list[RecognizerResult]:
        """The entities in `nlp_artifacts`, which are replies as `Told`. Raises ServiceReplyInvalid, or what a reply of another shape leads to."""
        del text  # it stands in the artifacts, piece by piece
        results = [
            result for offset, piece, found in nlp_artifacts for result in self._results(offset, piece, found, entities)
        ]
        return list(EntityRecognizer.remove_duplicates(results))

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._service.aclose()

    def _kind(self, entity: Mapping[str, Any]) -> str | None:
        """Our type of an entity of the service; None for what is no name."""
        category, text = entity["category"], entity["text"]
        kind = _TYPES.get(category) or _TYPES.get(f"{category}/{entity.get('subcategory')}")
        # "phone" is a Product to the service and no name to us
        named = text[0].isupper() or any(c.isdigit() for c in text)
        return kind if named else None

    def _results(
        self, offset: int, piece: str, found: Sequence[Mapping[str, Any]], wanted: Sequence[str]
    ) -> list[RecognizerResult]:
        results = []
        for entity in found:
            start, end = entity["offset"], entity["offset"] + entity["length"]
            if not 0 <= start < end <= len(piece) or piece[start:end] != entity["text"]:
                raise ServiceReplyInvalid(SERVICE, "an entity lies outside of the text")
            kind, score = self._kind(entity), float(entity["confidenceScore"])
            if kind and kind in wanted and score >= MIN_CONFIDENCE:
                results.append(RecognizerResult(kind, offset + start, offset + end, score))
        return results


class LanguageTagger:
    """A `rai.ports.EntityTagger`: the local tagger's names, and beside them those that the service finds.

    If the service fails the local names stand alone, and log and record say so: its names are then no claims, and a statement
    that rests on one stays what the other layers make of it.
    """

    def __init__(self, local: EntityTagger, recognizer: LanguageRecognizer, remote: Remote) -> None:
        self._local = local
        self._recognizer = recognizer
        self._remote = remote
        self._known: OrderedDict[bytes, list[Tag]] = OrderedDict()

    async def tag(self, text: str) -> tuple[Tag, ...]:
        """The names of `text` as (start, end, type), ascending, not overlapping; local names win where both speak."""
        kept = list(await self._local.tag(text))
        if not text.strip():
            return tuple(kept)
        try:
            found = await self._found(text)
        except ServiceError as error:
            record_degraded("tagger")
            LOG.warning("names are tagged without the service: %s", error)
            note(f"names were looked for in the local list alone: {error}")
            return tuple(kept)
        for result in sorted(found, key=lambda tag: (tag[0], -tag[1])):
            if all(result[1] <= start or end <= result[0] for start, end, _ in kept):
                kept.append(result)
        return tuple(sorted(kept))

    async def _found(self, text: str) -> list[Tag]:
        """The names that the service finds in `text`.

        It is asked about `text` without the markers of its citations: an answer is checked without and with them, and one request serves both.
        """
        plain, places = unmarked(text)
        if not plain.strip():
            return []
        key = hashlib.sha256(plain.encode("utf-8", "surrogatepass")).digest()
        if key not in self._known:
            results = await self._remote.call(lambda: self._recognizer.read(plain))
            self._known[key] = [(r.start, r.end, cast(EntityType, r.entity_type)) for r in results]
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        moved = [(places[start], places[end - 1] + 1, kind) for start, end, kind in self._known[key]]
        return [
            tag for tag, (start, end, _) in zip(moved, self._known[key], strict=True) if tag[1] - tag[0] == end - start
        ]

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._recognizer.aclose()


def unmarked(text: str) -> tuple[str, list[int]]:
    """`text` without markers such as [2] and the space before them, and for each code point of that its place in `text`."""
    plain, places, at = [], list[int](), 0
    for marker in [*_MARKER.finditer(text), None]:
        end = len(text) if marker is None else marker.start()
        plain.append(text[at:end])
        places += range(at, end)
        at = end if marker is None else marker.end()
    return "".join(plain), places


def _pieces(text: str) -> Iterator[Piece]:
    """A text in parts of at most MAX_PIECE code points, cut between sentences, else at a space, else anywhere; blank parts are left out."""
    ends = [s.end for s in sentences(text)]
    start, at = 0, 0
    while start < len(text):
        limit = start + MAX_PIECE
        if limit >= len(text):
            end = len(text)
        else:
            while at < len(ends) and ends[at] <= limit:
                at += 1
            end = ends[at - 1] if at and ends[at - 1] > start else limit
            if end == limit and (space := _SPACE.search(text, limit - 200, limit)):
                end = space.start()
        if text[start:end].strip():
            yield start, text[start:end]
        start = end
