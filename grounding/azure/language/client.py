"""Clients of Azure AI Language (api-version 2023-04-01), shared by entity recognition, personal data and summarization.

Whoever asks says `disable_service_logs=True`, or the service keeps the text for 48 hours, and `STRING_INDEX`, so that offsets are those of
Python strings.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from azure.ai.textanalytics.aio import TextAnalyticsClient as AsyncTextAnalyticsClient
from azure.core import AsyncPipelineClient
from azure.core.credentials import AzureKeyCredential
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import HttpResponseError, ODataV4Format
from azure.core.pipeline import PipelineRequest
from azure.core.pipeline.policies import AsyncBearerTokenCredentialPolicy, AzureKeyCredentialPolicy, SansIOHTTPPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest

from grounding.azure.core.faults import code_of
from grounding.azure.core.options import client_options, credential_for, plain_tokens, transport_options
from grounding.errors import ServiceRejected, ServiceReplyInvalid

API_VERSION = "2023-04-01"
SCOPE = "https://cognitiveservices.azure.com/.default"
SERVICE = "language"
ENDPOINT = "https://NAME.cognitiveservices.azure.com"
STRING_INDEX = "UnicodeCodePoint"
Mask = Callable[[Sequence[str]], Awaitable[Sequence[str]]]
"""Texts as they may leave, each as long as it was, so that offsets hold."""


class LanguageService:
    """Client of the synchronous `:analyze-text` operation, through azure-core's pipeline and past the SDK's models, which took 3 ms of
    processor time for a few names.

    `key`: of the resource, or a token credential. `timeout_s` bounds one read. Raises SettingsError for an endpoint or key that cannot be
    used.
    """

    def __init__(
        self, endpoint: str, key: str | AsyncTokenCredential, *, timeout_s: float, language: str = "en"
    ) -> None:
        credential, options = _options(endpoint, key, timeout_s)
        keyed = isinstance(credential, AzureKeyCredential)
        signing = (
            AzureKeyCredentialPolicy(credential, "Ocp-Apim-Subscription-Key")
            if keyed
            else AsyncBearerTokenCredentialPolicy(credential, SCOPE)
        )
        self._language = language
        # of the usual policies none is needed: nothing is tried again, redirected, or logged, and a reply is read once
        self._client: AsyncPipelineClient[HttpRequest, AsyncHttpResponse] = AsyncPipelineClient(
            endpoint.rstrip("/"),
            policies=[*options["per_call_policies"], signing],
            **transport_options(endpoint, timeout_s),
        )

    async def analyze(self, kind: str, documents: Sequence[str]) -> list[list[dict[str, Any]]]:
        """The entities of each document, in the order of `documents`; `kind` is the service's name of the analysis ("EntityRecognition" …).

        To be called inside `translated`: raises errors of azure-core, ServiceReplyInvalid, ServiceRejected for a document that was refused,
        and whatever a reply of another shape leads to.
        """
        asked = [{"id": str(n), "text": text, "language": self._language} for n, text in enumerate(documents)]
        body = {
            "kind": kind,
            "analysisInput": {"documents": asked},
            "parameters": {"loggingOptOut": True, "stringIndexType": STRING_INDEX},
        }
        request = HttpRequest("POST", "/language/:analyze-text", params={"api-version": API_VERSION}, json=body)
        request.url = self._client.format_url(request.url)
        response = await self._client.send_request(request)
        if response.status_code != 200:
            raise HttpResponseError(response=response, error_format=_InnerErrorFormat)
        results = response.json()["results"]
        if results["errors"]:
            raise ServiceRejected(
                SERVICE, f"a part of the text was refused ({code_of(_inner(results['errors'][0])['code'])})"
            )
        told = {document["id"]: document["entities"] for document in results["documents"]}
        if told.keys() != {each["id"] for each in asked}:
            raise ServiceReplyInvalid(SERVICE, f"{len(told)} of {len(asked)} documents answered")
        return [told[each["id"]] for each in asked]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()


def _inner(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The most specific error that a document's result tells."""
    error: Mapping[str, Any] = document["error"]
    return error.get("innererror") or error


class _InnerErrorFormat(ODataV4Format):
    """Error format of this service for azure-core: takes the inner error, which says what went wrong, in place of the outer."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__((error.get("error") or {}).get("innererror") or error)


def async_client(
    endpoint: str, key: str | AsyncTokenCredential, *, timeout_s: float, language: str = "en"
) -> AsyncTextAnalyticsClient:
    """The SDK's asynchronous client. `key`: of the resource, or a token credential. Raises SettingsError for an endpoint or key that cannot
    be used.
    """
    credential, options = _options(endpoint, key, timeout_s)
    return AsyncTextAnalyticsClient(endpoint, credential, default_language=language, **options)


def _options(endpoint: str, key: Any, timeout_s: float) -> tuple[Any, dict[str, Any]]:
    settings = "ATTEST_LANGUAGE_ENDPOINT", "ATTEST_LANGUAGE_KEY"
    return credential_for(endpoint, key, settings=settings, example=ENDPOINT), {
        **client_options(endpoint, timeout_s),
        "per_call_policies": [_SameServicePolicy(endpoint, plain=plain_tokens(endpoint, key))],
    }


class _SameServicePolicy(SansIOHTTPPolicy[Any, Any]):
    """Pipeline policy that refuses requests to any host but the endpoint's: a job's address comes from a reply, and the key goes with the
    request.

    `plain`: tokens may go without https, which the SDK knows as an option of each call alone.
    """

    def __init__(self, endpoint: str, *, plain: bool) -> None:
        self._home = _origin(endpoint)
        self._plain = plain

    def on_request(self, request: PipelineRequest[Any]) -> None:
        """Check the address of a request before it is sent. Raises ServiceReplyInvalid."""
        if _origin(request.http_request.url) != self._home:
            raise ServiceReplyInvalid(SERVICE, "the reply leads to another address than the endpoint")
        if self._plain:
            request.context.options["enforce_https"] = False


def _origin(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
