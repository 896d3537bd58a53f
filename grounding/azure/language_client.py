"""Clients of Azure AI Language, made in one place for whoever finds names, personal data or the sentences that count.

Whatever asks says `disable_service_logs=True`, or the service keeps the text for 48 hours, and `STRING_INDEX`, so that its offsets
are those of Python. api-version 2023-04-01.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from azure.ai.textanalytics import TextAnalyticsClient
from azure.ai.textanalytics.aio import TextAnalyticsClient as AsyncTextAnalyticsClient
from azure.core.credentials import AzureKeyCredential, TokenCredential
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.pipeline import PipelineRequest
from azure.core.pipeline.policies import SansIOHTTPPolicy

from grounding.address import check_address, check_key, is_loopback
from grounding.errors import ServiceReplyInvalid

SERVICE = "language"
ENDPOINT = "https://NAME.cognitiveservices.azure.com"
STRING_INDEX = "UnicodeCodePoint"
Mask = Callable[[Sequence[str]], Awaitable[Sequence[str]]]
"""Texts as they may leave, each as long as it was, so that offsets hold."""


def blocking_client(
    endpoint: str, key: str | TokenCredential, *, timeout_s: float, language: str = "en"
) -> TextAnalyticsClient:
    """A client for threads. `key`: of the resource, or a token credential. Raises SettingsError for what cannot be used."""
    credential, options = _options(endpoint, key, timeout_s)
    return TextAnalyticsClient(endpoint, credential, default_language=language, **options)


def async_client(
    endpoint: str, key: str | AsyncTokenCredential, *, timeout_s: float, language: str = "en"
) -> AsyncTextAnalyticsClient:
    """A client for the event loop. `key`: of the resource, or a token credential. Raises SettingsError for what cannot be used."""
    credential, options = _options(endpoint, key, timeout_s)
    return AsyncTextAnalyticsClient(endpoint, credential, default_language=language, **options)


def _options(endpoint: str, key: Any, timeout_s: float) -> tuple[Any, dict[str, Any]]:
    check_address(endpoint, "ATTEST_LANGUAGE_ENDPOINT", ENDPOINT)
    if isinstance(key, str):
        check_key(key, "ATTEST_LANGUAGE_KEY")
    local = is_loopback(endpoint)
    return AzureKeyCredential(key) if isinstance(key, str) else key, {
        "retry_total": 0,  # our wrapper decides
        "permit_redirects": False,
        "connection_timeout": min(5.0, timeout_s),
        "read_timeout": timeout_s,
        "logging_enable": False,
        "use_env_settings": not local,  # a proxy cannot reach our loopback
        "per_call_policies": [_AtHome(endpoint, plain=local and not isinstance(key, str))],
    }


class _AtHome(SansIOHTTPPolicy[Any, Any]):
    """Keeps every request, and the key with it, at the endpoint: the address of a job's state comes from a reply.

    `plain`: tokens may go without https, which the SDK knows as an option of each call alone.
    """

    def __init__(self, endpoint: str, *, plain: bool) -> None:
        self._home = _origin(endpoint)
        self._plain = plain

    def on_request(self, request: PipelineRequest[Any]) -> None:
        if _origin(request.http_request.url) != self._home:
            raise ServiceReplyInvalid(SERVICE, "the reply leads to another address than the endpoint")
        if self._plain:
            request.context.options["enforce_https"] = False


def _origin(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
