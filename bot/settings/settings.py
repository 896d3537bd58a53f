"""All settings together, a group for each thing, and what depends on several groups. `bot.settings.load` reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, SecretStr
from pydantic.fields import FieldInfo

from bot.settings.endpoints import Endpoint, clear_text_conflicts, cloud_conflicts
from bot.settings.group import Conflicts, Group
from bot.settings.groups.answering import Answering
from bot.settings.groups.bot import Bot, bot_conflicts
from bot.settings.groups.bounds import Bounds, Retention, bound_conflicts
from bot.settings.groups.budget import Budget, IngestCeiling, ModelPrices, ceiling_conflicts, price_conflicts
from bot.settings.groups.chat_model import ChatModel, backend_conflicts, key_conflicts, role_conflicts
from bot.settings.groups.checkpoints import Checkpoints, checkpoint_conflicts
from bot.settings.groups.chunks import Chunks, chunk_conflicts
from bot.settings.groups.database import Database, database_conflicts
from bot.settings.groups.directory import Directory, directory_conflicts
from bot.settings.groups.embedding import Embedding, embedding_conflicts
from bot.settings.groups.files import Files
from bot.settings.groups.identity import Identity
from bot.settings.groups.language import Language, language_conflicts
from bot.settings.groups.observability import Log, Traces, trace_conflicts
from bot.settings.groups.reviewing import Reviewing, SignIn, reviewing_conflicts
from bot.settings.groups.screen import ContentSafety, Moderation, Screen, screen_conflicts
from bot.settings.groups.search import Search, search_conflicts
from bot.settings.groups.serving import Serving, serves_others, serving_conflicts
from bot.settings.groups.web import Web, web_conflicts


class Settings(BaseModel):
    """All settings with their defaults, in the order in which they are shown. Secrets are `SecretStr`, so no printed form shows them."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True, extra="forbid")

    files: Files
    database: Database
    checkpoints: Checkpoints
    serving: Serving
    signin: SignIn
    reviewing: Reviewing
    log: Log
    traces: Traces
    bot: Bot
    directory: Directory
    answering: Answering
    model: ChatModel
    embedding: Embedding
    prices: ModelPrices
    budget: Budget
    ceiling: IngestCeiling
    search: Search
    screen: Screen
    content_safety: ContentSafety
    moderation: Moderation
    language: Language
    web: Web
    identity: Identity
    bounds: Bounds
    chunks: Chunks
    retention: Retention

    @property
    def serves_others(self) -> tuple[str, ...]:
        """The settings, as a person would name them, by which others than this machine are served; none in local mode."""
        return serves_others(self.serving, self.bot)

    @property
    def local_mode(self) -> bool:
        """True if the server is for this machine alone: whoever reaches it may see everything and ask as anyone."""
        return self.serving.local != "off" and not self.serves_others

    @property
    def review_links(self) -> bool:
        """True if a link that is made on this machine opens the reviewers' desk."""
        return self.reviewing.links == "on" or (self.reviewing.links == "auto" and not self.signin.is_on)

    @property
    def directory_path(self) -> Path:
        """The file that says who belongs to which groups, whether or not it is there."""
        return self.directory.file or self.files.home / "directory.yaml"

    @property
    def erasures_file(self) -> Path:
        """The list of erasures outside of a database: the file that is named, else one beside the ledger's key."""
        return self.database.erasures_file or self.files.ledger_key.with_name("ledger-erasures.jsonl")

    @property
    def judges(self) -> bool:
        """True if a chat model judges what the check leaves in doubt: where one is configured, unless it is switched off.

        A key or address that is there for an embedding model alone configures no chat model.
        """
        if self.model.judge != "auto":
            return self.model.judge == "model"
        return self.model.is_reached and (bool(self.model.uses) or self.embedding.kind == "embedded")

    @property
    def chat_url(self) -> str | None:
        """The address of the chat model, of several that of the usual one; None is OpenAI's own."""
        listed = self.model.backends.chat_within if self.model.backends else ()
        return listed[0].base_url if listed else self.model.base_url

    @property
    def embedding_url(self) -> str | None:
        """The address of the service that embeds, of several that of the first; None is OpenAI's own."""
        listed = self.embedding.listed_in(self.model)
        return listed[0].base_url if listed else self.embedding.url_beside(self.model)

    @property
    def embedding_key(self) -> SecretStr | None:
        """The key for that address. The chat model's key goes to the chat model's address alone."""
        return self.embedding.key_beside(self.model)

    @property
    def embedding_at_openai(self) -> bool:
        """True where texts are embedded at the chat model's address, with its key: then in the same header, or by the same token."""
        return self.embedding.shares_door_of(self.model)

    def value(self, name: str) -> object:
        """The value of the setting of a name. Raises KeyError."""
        place = PLACES[name]
        return getattr(getattr(self, place.group), place.field)

    def given(self) -> set[str]:
        """Names of the settings that were set and not left at their default."""
        return {name for group in type(self).model_fields for name in getattr(self, group).given()}

    def changed(self, **values: object) -> Settings:
        """A copy in which the settings of these names have these values; nothing is checked anew."""
        updates: dict[str, dict[str, object]] = {}
        for name, value in values.items():
            updates.setdefault(PLACES[name].group, {})[PLACES[name].field] = value
        return self.model_copy(
            update={group: getattr(self, group).changed(fields) for group, fields in updates.items()}
        )

    def conflicts(self) -> Conflicts:
        """Every rule on settings that must fit together: whether it is broken, and the line that says so. The first broken one is told."""
        yield from database_conflicts(self.database)
        yield from checkpoint_conflicts(self.checkpoints, self.files)
        yield from serving_conflicts(self.serving, self.bot)
        yield from reviewing_conflicts(self.signin, self.reviewing, self.serving, local=self.local_mode)
        yield from web_conflicts(self.web)
        yield from trace_conflicts(self.traces)
        yield from backend_conflicts(self.model)
        yield from role_conflicts(self.model, judges=self.judges)
        yield from key_conflicts(self.model)
        yield from language_conflicts(self.language)
        yield from clear_text_conflicts(self._endpoints())
        yield from cloud_conflicts(self._endpoints(), self.identity.cloud)
        yield from embedding_conflicts(self.embedding, self.model)
        yield from price_conflicts(self.prices, self.budget, self.embedding)
        yield from ceiling_conflicts(self.ceiling, self.prices, self.embedding)
        yield from directory_conflicts(self.directory, self.identity.cloud)
        yield from search_conflicts(self.search, imagines=self.model.hyde == "model")
        yield from screen_conflicts(
            self.screen,
            self.content_safety,
            self.moderation,
            self.files,
            reached=self.model.is_reached,
            several=self.model.several,
        )
        yield from chunk_conflicts(self.chunks)
        yield from bound_conflicts(self.bounds)
        yield from bot_conflicts(self.bot)

    def _endpoints(self) -> tuple[Endpoint, ...]:
        """Every service whose address is a setting."""
        safety, language, web = self.content_safety, self.language, self.web
        return (
            Endpoint("ATTEST_OPENAI_BASE_URL", self.model.base_url, self.model.api_key, open=True),
            Endpoint("ATTEST_EMBEDDING_BASE_URL", self.embedding.base_url, self.embedding_key, open=True),
            Endpoint(
                "ATTEST_MODERATION_BASE_URL", self.moderation.base_url, self.moderation.key, open=True, azure=False
            ),
            Endpoint("ATTEST_SEARCH_ENDPOINT", self.search.endpoint, self.search.key),
            Endpoint("ATTEST_CONTENT_SAFETY_ENDPOINT", safety.endpoint, safety.key),
            Endpoint("ATTEST_LANGUAGE_ENDPOINT", language.endpoint, language.key),
            Endpoint("ATTEST_TAVILY_BASE_URL", web.tavily_base_url, web.tavily_key, azure=False),
            Endpoint("ATTEST_BING_ENDPOINT", web.bing_endpoint, web.bing_key, azure=False),
            *(
                Endpoint(f"{b.where}: base_url", b.base_url, SecretStr(b.name) if b.has_key else None, open=True)
                for b in self.model.backends or ()
            ),
        )


class Place(NamedTuple):
    """Where a setting stands: the group in `Settings`, the field in the group, and what pydantic knows of it."""

    group: str
    field: str
    info: FieldInfo


def _places() -> Iterator[tuple[str, Place]]:
    for group, at in Settings.model_fields.items():
        kind = at.annotation
        assert isinstance(kind, type)
        assert issubclass(kind, Group)
        for field, info in kind.model_fields.items():
            yield info.alias or field, Place(group, field, info)


PLACES: Mapping[str, Place] = dict(_places())
"""Every setting by its name: `search_endpoint` is the endpoint of the search."""
