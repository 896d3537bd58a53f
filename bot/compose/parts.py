"""Builds what a system and an ingester both need of this machine: the embedding model, the names of the knowledge base, the prompt screen."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from bot.settings.settings import Settings
from grounding.bounded.pool import shared_pool
from grounding.errors import InputError, SettingsError, StoreError
from grounding.ports import Embedder
from rai.ports import LocalScreen
from rai.screening.off_policy import OffPolicy

if TYPE_CHECKING:
    from grounding.embedded.index import EmbeddedIndex
    from grounding.embedded.reader import E5Reader
    from grounding.embedded.store_names import StoreNames

LOG = logging.getLogger("attest")
NAMES = "names.db"
VERDICTS = "screen.db"
SPENT = "spent.db"
DECISIONS = "quarantine.db"
HYPOTHETICALS = "hyde.db"


def embedding_model(settings: Settings) -> Embedder | None:
    """The embedding model of this machine; None, and a warning in the log, where it is missing or damaged: search then goes by words only."""
    path = settings.files.model_path
    if not path.exists():
        LOG.warning(
            "no models at %s: %s, prompts are screened by rules alone; %s",
            path,
            _then_instead(settings),
            remedy(settings),
        )
        return None
    from grounding.embedded.vectors.embedder import MiniLM

    try:
        return MiniLM(path)
    except StoreError as error:
        LOG.warning("%s; %s", error, _then_instead(settings))
        return None


def block_reader(settings: Settings) -> E5Reader | None:
    """The reader of this machine; None, and a warning in the log, where it is missing while the embedding model is there: quotes are then chosen by words."""
    model, tokenizer = settings.files.reader_paths
    if model.exists() and tokenizer.exists():
        from grounding.embedded.reader import E5Reader

        return E5Reader(model, tokenizer)
    if settings.files.model_path.exists():
        LOG.warning("no reader at %s: quotes are chosen by words alone; %s", model, remedy(settings))
    return None


def names_over(index: EmbeddedIndex, model: Embedder | None) -> StoreNames:
    """The names and spellings of an index; the words of the model's vocabulary, where there is one, are never slips and may be meant."""
    from grounding.embedded.store_names import StoreNames
    from grounding.embedded.vectors.embedder import MiniLM

    return StoreNames(index.store, index.words, model.vocabulary if isinstance(model, MiniLM) else None)


def remedy(settings: Settings) -> str:
    """The advice to who has no models, or models that cannot be used: half a line for the log."""
    if settings.files.model is None:
        return "`make setup` builds them"
    return "ATTEST_MODEL_FILE names that file: correct it, or leave it out and take those of this installation"


def _then_instead(settings: Settings) -> str:
    return "search goes by words only" if settings.embedding.kind == "embedded" else "passages are graded by words only"


async def embedded_screen(settings: Settings) -> LocalScreen:
    """The prompt screen of this machine; where its classifier is missing or damaged it goes by rules alone, with a warning in the log.

    Raises SettingsError for a list of excluded subjects that cannot be read.
    """
    from rai.embedded.bounded_screen import bounded_screen

    path = settings.files.screen_model_path
    try:
        listed = await asyncio.to_thread(OffPolicy, settings.files.off_policy_path)
    except InputError as error:
        raise SettingsError(str(error)) from None
    run = shared_pool().run
    if path.exists():
        try:
            return await bounded_screen(run, path.resolve(), listed)
        except StoreError as error:
            LOG.warning("%s; prompts are screened by rules alone", error)
    elif settings.files.model_path.exists():  # without either, the embedder has said so
        LOG.warning("no classifier at %s: prompts are screened by rules alone; %s", path, remedy(settings))
    return await bounded_screen(run, None, listed)
