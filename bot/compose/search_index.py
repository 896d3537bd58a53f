"""Opens the indexes behind an alias for a command: neither a system nor a model is needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.compose.database import usable_places
from bot.compose.embedder import fingerprint_of
from bot.compose.resources import Resources
from bot.compose.search import UPLOAD_RETRIES, UPLOAD_S, USUAL_WIDTH, reindexing, schema_of
from bot.settings.settings import Settings

if TYPE_CHECKING:
    from grounding.azure.search.reindex import Reindexing


@dataclass(frozen=True, slots=True)
class SearchIndexes:
    """The indexes behind the alias, and the name of the one that these settings make."""

    indexes: Reindexing
    fits: str


@asynccontextmanager
async def opened_indexes(settings: Settings) -> AsyncIterator[SearchIndexes]:
    """The indexes behind the alias that the settings name. Raises SettingsError where they name none, StoreError."""
    from grounding.embedded.index import EmbeddedIndex

    resources = Resources()
    width = settings.embedding.known_width if settings.embedding.kind == "openai" else USUAL_WIDTH
    schema = schema_of(settings, fingerprint_of(settings), width)
    places = await asyncio.to_thread(usable_places, settings)
    store = await asyncio.to_thread(EmbeddedIndex, places.index, None, places.database)
    try:
        found = reindexing(settings, store.store, schema, resources, within_s=UPLOAD_S, retries=UPLOAD_RETRIES)
        yield SearchIndexes(found, schema.name(settings.search.index))
    finally:
        await resources.close()
        await asyncio.to_thread(store.close)
