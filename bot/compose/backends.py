"""Builds what is asked in place of one endpoint where several are listed (ATTEST_OPENAI_BACKENDS)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import SecretStr

from bot.compose.resources import Resources
from bot.settings.backends import ListedBackend
from bot.settings.load import variable
from bot.settings.settings import Settings
from grounding.ports import ChatModel, Embedder
from grounding.services.backends import Backend, Backends
from grounding.services.breaker import FAILURES
from grounding.services.key_file import KeyFile, read_key
from grounding.services.remote import Remote

T = TypeVar("T")
Make = Callable[[ListedBackend, Settings, Remote, KeyFile | None], T]
"""Makes the client of a backend: of what is listed, the settings as if it were the one endpoint, the wrapper of its calls, and its key where
that stands in a file.
"""


def chat_backends(
    settings: Settings, make: Make[ChatModel], resources: Resources, *, within_s: float | None, needed: bool
) -> ChatModel:
    """The listed chat models that a turn may use, as one."""
    from grounding.azure.openai.backends import ChatBackends

    listed = settings.model.backends.chat_within if settings.model.backends else ()
    return ChatBackends(
        backends_of(settings, listed, make, resources, service="openai", within_s=within_s, needed=needed)
    )


def embedder_backends(
    settings: Settings,
    make: Make[Embedder],
    resources: Resources,
    *,
    service: str,
    within_s: float,
    retries: int,
    failures: int,
) -> Embedder:
    """The listed embedding models that give the vectors of the settings and that a turn may use, as one."""
    from grounding.azure.openai.backends import EmbedderBackends

    listed = settings.embedding.listed_in(settings.model)
    return EmbedderBackends(
        backends_of(
            settings,
            listed,
            make,
            resources,
            service=service,
            within_s=within_s,
            retries=retries,
            failures=failures,
        )
    )


def backends_of(
    settings: Settings,
    listed: Sequence[ListedBackend],
    make: Make[T],
    resources: Resources,
    *,
    service: str,
    within_s: float | None = None,
    retries: int | None = None,
    failures: int = FAILURES,
    needed: bool = False,
) -> Backends[T]:
    """The listed backends of a service, ready to be chosen among; the rest as `Resources.remote` has it.

    Where there is a choice, all seams share the breaker of a backend, so that what one found out costs no other.
    """

    def backend(at: ListedBackend) -> Backend[T]:
        remote = resources.remote(
            settings,
            f"{service} {at.name}",
            within_s=within_s,
            retries=retries,
            failures=failures,
            shared_as=(service, at.name) if len(listed) > 1 else None,
        )
        client = make(at, settings_at(settings, at), remote, _key_file(at, resources))
        return Backend(at.name, at.model, client, remote, at.order, at.weight)

    found = Backends(service, [backend(at) for at in listed])
    resources.watch(found, needed=needed)
    return found


def settings_at(settings: Settings, at: ListedBackend) -> Settings:
    """The settings as if this backend were the one endpoint, with its key as it is now. Raises SettingsError if there is none."""
    key = read_key(at.key_file, f"{at.where}: key_file") if at.key_file else variable(at.key_env or "")
    embeds: dict[str, object] = {
        "embedding_base_url": None,
        "embedding_api_key": None,
        "embedding_model": at.deployment,
    }
    if at.dimensions is not None:
        embeds["embedding_width"] = at.dimensions
    return settings.changed(
        openai_backends=None,
        openai_base_url=at.base_url,
        openai_api_key=SecretStr(key) if key else None,
        openai_model=at.deployment,
        openai_auth=at.auth,
        openai_scope=at.scope,
        **(embeds if settings.model.backends and at in settings.model.backends.embeddings else {}),
    )


def _key_file(at: ListedBackend, resources: Resources) -> KeyFile | None:
    path = at.key_file
    if path is None:
        return None
    return resources.shared(("key file", path), lambda: KeyFile(path, f"{at.where}: key_file"))
