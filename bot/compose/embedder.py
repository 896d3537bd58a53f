"""Builds the embedder that search uses: the model on this machine, or a service.

Grader, composer, summarizer and relevance were fitted on the local model and keep it, whatever search uses.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from bot.compose.backends import embedder_backends
from bot.compose.parts import SPENT, block_reader, embedding_model
from bot.compose.resources import Resources
from bot.places import places_of
from bot.settings.backends import ListedBackend
from bot.settings.settings import Settings
from grounding.embedded.vectors.rationed import RationedEmbedder, RationedJobs, Spending
from grounding.ports import Embedder
from grounding.services.address import check_key
from grounding.services.breaker import FAILURES
from grounding.services.embedding_jobs import EmbeddingJobs
from grounding.services.key_file import KeyFile
from grounding.services.remote import Remote
from rai.personal.redact import Redactor
from rai.screening.personal_data import PrivateEmbedder

if TYPE_CHECKING:
    from grounding.azure.openai.embedder import OpenAIEmbedder
    from grounding.embedded.reader import E5Reader

LOG = logging.getLogger("attest")
SERVICE = "embedding service"
QUERY_SHARE = 0.1
"""Of a turn's deadline, for the meaning of one query: a turn can do without, and may search several times."""
QUERY_FAILURES = 3
"""Failed attempts in a row after which the service is left alone for a while."""
JOBS_S = 900.0
"""For one call of the batch API: a file of 200 MB goes up or comes down."""
INGEST_S, INGEST_RETRIES = 300.0, 5
"""For one batch of an ingest, repetitions and pauses that the service asks for included: nobody waits for an answer."""


def query_embedder(
    settings: Settings, local: Embedder | None, reader: E5Reader | None, redactor: Redactor, resources: Resources
) -> Embedder | None:
    """The embedder of queries: `local` joined with the `reader`, or a service that has little time. With pseudonyms on, a service is given placeholders for the
    customer's personal data. None where the model on this machine is wanted and not there. Raises SettingsError.
    """
    if settings.embedding.kind == "embedded":
        return _joined(settings, local, reader)
    within = min(settings.bounds.call_deadline_s, QUERY_SHARE * settings.bounds.turn_deadline_s)
    retries = min(1, settings.bounds.retries)
    service = _remote_embedder(settings, resources, within_s=within, retries=retries, failures=QUERY_FAILURES)
    return PrivateEmbedder(service, redactor) if settings.model.pseudonyms == "on" else service


def passage_embedder(settings: Settings, resources: Resources) -> Embedder | None:
    """The embedder of passages at ingest: the model on this machine (None where it is not there), or a service that has time. Passages are the
    company's text and go as they are. Raises SettingsError.
    """
    if settings.embedding.kind == "embedded":
        return _joined(settings, embedding_model(settings), block_reader(settings))
    within = max(INGEST_S, settings.bounds.call_deadline_s)
    return _remote_embedder(settings, resources, within_s=within, retries=INGEST_RETRIES, failures=FAILURES)


def _joined(settings: Settings, local: Embedder | None, reader: E5Reader | None) -> Embedder | None:
    """Both models of this machine; the embedding model alone where the reader is missing, and for a search service, whose quota counts each dimension."""
    if local is None or reader is None or settings.search.kind == "azure":
        return local
    from grounding.embedded.vectors.joined import JoinedEmbedder

    return JoinedEmbedder(local, reader)


def rationed_embedder(settings: Settings, resources: Resources) -> Embedder | None:
    """The same, within the ceiling of an ingest where there is one."""
    embedder, ceiling = passage_embedder(settings, resources), settings.ceiling.within(settings.prices)
    if embedder is None or ceiling.is_none:
        return embedder
    return RationedEmbedder(embedder, ceiling, spending(settings))


def embedding_jobs(settings: Settings, embedder: Embedder | None, resources: Resources) -> EmbeddingJobs | None:
    """The batch API of the embedding service, within the ceiling of `embedder`; None where passages are embedded at once. Raises SettingsError."""
    if settings.embedding.kind != "openai" or settings.embedding.batch == "off":
        return None
    from grounding.azure.openai.embedding_jobs import OpenAIEmbeddingJobs

    within = max(JOBS_S, settings.bounds.call_deadline_s)
    jobs = OpenAIEmbeddingJobs(
        settings.embedding_url,
        _credential(settings, resources),
        settings.embedding.model,
        settings.embedding.numbers,
        resources.remote(settings, SERVICE, within_s=within, retries=INGEST_RETRIES, failures=FAILURES),
        auth=settings.model.auth if settings.embedding_at_openai else "bearer",
        shorten=settings.embedding.width is not None,
    )
    resources.append(jobs.aclose)
    return RationedJobs(jobs, embedder) if isinstance(embedder, RationedEmbedder) else jobs


def spending(settings: Settings) -> Spending:
    """What the ingests of each day had embedded by a service."""
    return Spending(places_of(settings).in_index(SPENT))


def _remote_embedder(
    settings: Settings, resources: Resources, *, within_s: float, retries: int, failures: int
) -> Embedder:
    """The embedding service: one endpoint, or of the listed ones those that give the same vectors and that a turn may use."""
    if not settings.embedding.listed_in(settings.model):
        remote = resources.remote(settings, SERVICE, within_s=within_s, retries=retries, failures=failures)
        return service_embedder(settings, remote, resources)
    fingerprint = fingerprint_of(settings)

    def make(backend: ListedBackend, at: Settings, remote: Remote, key: KeyFile | None) -> Embedder:
        return service_embedder(at, remote, resources, key=key, fingerprint=fingerprint, backend=backend.name)

    return embedder_backends(
        settings, make, resources, service=SERVICE, within_s=within_s, retries=retries, failures=failures
    )


def service_embedder(
    settings: Settings,
    remote: Remote,
    resources: Resources,
    *,
    key: KeyFile | None = None,
    fingerprint: str | None = None,
    backend: str = "",
) -> OpenAIEmbedder:
    """The client of the embedding service; `resources` closes it. `key`: the file that holds it, in place of the settings'; `fingerprint` and
    `backend`: of one of several. Raises SettingsError for an address or a key that cannot be used.
    """
    from grounding.azure.openai.embedder import OpenAIEmbedder

    embedder = OpenAIEmbedder(
        settings.embedding_url,
        key or _credential(settings, resources),
        settings.embedding.model,
        settings.embedding.numbers,
        remote,
        auth=settings.model.auth if settings.embedding_at_openai else "bearer",
        shorten=settings.embedding.width is not None,
        fingerprint=fingerprint,
        backend=backend,
    )
    resources.append(embedder.aclose)
    return embedder


def _credential(settings: Settings, resources: Resources) -> str | Callable[[], Awaitable[str]] | None:
    key = settings.embedding_key
    if key is not None:
        check_key(key.get_secret_value(), "ATTEST_EMBEDDING_API_KEY")
    return resources.openai_credential(
        settings,
        key,
        settings.embedding_url,
        setting="ATTEST_EMBEDDING_BASE_URL",
        service=SERVICE,
        scope=settings.model.scope if settings.embedding_at_openai else None,
    )


def fingerprint_of(settings: Settings) -> str | None:
    """The fingerprint of the embedder that search uses, without loading it; None if there is none."""
    if settings.embedding.kind == "openai":
        from grounding.azure.openai.fingerprint import listed_fingerprint, service_fingerprint

        if settings.embedding.listed_in(settings.model):
            return listed_fingerprint(settings.embedding.model, settings.embedding.numbers)
        return service_fingerprint(settings.embedding_url, settings.embedding.model, settings.embedding.numbers)
    from grounding.embedded.vectors.model_fingerprint import model_fingerprint

    if not settings.files.model_path.exists():
        return None
    own, (reader, tokenizer) = model_fingerprint(settings.files.model_path), settings.files.reader_paths
    if settings.search.kind == "azure" or not (reader.exists() and tokenizer.exists()):
        return own
    from grounding.embedded.reader import E5Reader
    from grounding.embedded.vectors.joined import joined_fingerprint

    return joined_fingerprint(own, E5Reader(reader, tokenizer).fingerprint)
