"""A chat model over chat.completions: OpenAI, Azure OpenAI's `/openai/v1/`, Ollama, llama.cpp, vLLM, LM Studio.

chat.completions is what all of them, and their older builds, understand. The call does not stream: no part of a draft
is shown before the whole is checked, and a reply in one piece carries its finish reason in the same JSON. The body is
read here and not by the SDK, which hands out a page of HTML as `str` and a reply without choices as an object.

A reply is complete only with finish reason "stop". "length" means cut off in mid-sentence, possibly in mid-number:
ServiceReplyInvalid, and not tried again, because at temperature 0 the next one would be cut at the same place.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import openai
from openai import AsyncOpenAI, DefaultAsyncHttpx2Client, Timeout

from grounding.azure.faults import names_parameter, translated
from grounding.errors import AttestError, ContentFiltered, ServiceRejected, ServiceReplyInvalid, SettingsError
from grounding.records import Completion
from grounding.remote import Remote

OPENAI_BASE_URL = "https://api.openai.com/v1"
CONNECT_S = 5.0
_THINKING = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)  # local servers leave a model's musings in the reply
TokenProvider = Callable[[], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class _Reply:
    """One choice, read but not yet judged."""

    text: str
    finish_reason: str | None
    refused: bool
    model: str | None
    usage: dict[str, int]


class OpenAIChat:
    """ChatModel over any OpenAI-compatible server.

    `api_key`: a key, an async function that returns a bearer token (Microsoft Entra ID), or None for a local server.
    `model`: model or deployment name. What a model turns out not to take (a temperature, `max_tokens`) is left out or
    renamed from then on. Raises SettingsError if `base_url` is not an http or https address, or the key cannot be sent.
    """

    def __init__(
        self,
        base_url: str | None,
        api_key: str | TokenProvider | None,
        model: str,
        remote: Remote,
        *,
        temperature: float | None = 0.0,
    ) -> None:
        url = base_url or OPENAI_BASE_URL
        host = _host(url)
        _check_key(api_key)
        self._model = model
        self._remote = remote
        self._temperature = temperature
        self._length_name = "max_tokens"
        self._client = AsyncOpenAI(
            base_url=url,
            # Without a key the SDK would send the environment's to whatever server this is.
            api_key=self._guarded(api_key) if callable(api_key) else api_key or "none",
            max_retries=0,
            timeout=Timeout(remote.deadline_s, connect=min(CONNECT_S, remote.deadline_s)),
            # A redirect would carry the prompt to an address that nobody configured; a proxy cannot reach our loopback.
            http_client=DefaultAsyncHttpx2Client(trust_env=not _is_loopback(host), follow_redirects=False),
        )
        self._client.organization = self._client.project = self._client.admin_api_key = None

    @property
    def name(self) -> str:
        return self._model

    async def complete(self, system: str, user: str, *, purpose: str, max_tokens: int = 800) -> Completion:
        """The complete reply. Raises ServiceError, or ContentFiltered if filter or model refuse."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        reply = await self._remote.call(lambda: self._attempt(messages, max_tokens))
        self._judge(reply, purpose, max_tokens)
        return Completion(reply.text, reply.model or self._model, reply.usage, self._temperature)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _attempt(self, messages: list[dict[str, str]], max_tokens: int) -> _Reply:
        with translated(self._remote.service):
            body = await self._send(messages, max_tokens)
        return _read(self._remote.service, body)

    async def _send(self, messages: list[dict[str, str]], max_tokens: int) -> str:
        while True:
            options: dict[str, Any] = {self._length_name: max_tokens}
            if self._temperature is not None:
                options["temperature"] = self._temperature
            try:
                raw = await self._client.chat.completions.with_raw_response.create(
                    model=self._model,
                    messages=messages,  # type: ignore[arg-type]  # plain dicts of the SDK's typed ones
                    **options,
                )
                return raw.text
            except openai.APIStatusError as error:
                if not self._adapt(error, options):
                    raise

    def _adapt(self, error: openai.APIStatusError, sent: dict[str, Any]) -> bool:
        """Leave out or rename what the model does not take; True if the next request will differ from the one sent."""
        if "temperature" in sent and names_parameter(error, "temperature"):
            self._temperature = None
            return True
        if "max_tokens" in sent and names_parameter(error, "max_tokens"):
            self._length_name = "max_completion_tokens"
            return True
        return False

    def _judge(self, reply: _Reply, purpose: str, max_tokens: int) -> None:
        service = self._remote.service
        if reply.finish_reason == "content_filter":
            raise ContentFiltered(f"{service}: the service's content filter cut the reply")
        if reply.refused:
            raise ContentFiltered(f"{service}: the model refused to answer")
        if reply.finish_reason == "length":
            raise ServiceReplyInvalid(service, f"the {purpose} reply was cut off at {max_tokens} tokens")

    def _guarded(self, provider: TokenProvider) -> TokenProvider:
        async def token() -> str:
            try:
                return await provider()
            except AttestError:
                raise
            except Exception as error:  # noqa: BLE001  # whatever a provider raises, its words may hold credentials
                raise ServiceRejected(self._remote.service, f"no token was given ({type(error).__name__})") from None

        return token


def _read(service: str, body: str) -> _Reply:
    """The first choice of a chat.completions body. Raises ServiceReplyInvalid if it is not a whole one."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        page = body.lstrip()[:1] == "<"
        hint = "a web page came back; does the base URL end in /v1?" if page else "the reply is not JSON, or was cut"
        raise ServiceReplyInvalid(service, hint) from None
    choices = data.get("choices") if isinstance(data, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise ServiceReplyInvalid(service, "the reply holds no choice")
    reason, text, model = choice.get("finish_reason"), message.get("content"), data.get("model")
    reply = _Reply(
        text=_THINKING.sub("", text) if isinstance(text, str) else "",
        finish_reason=reason if isinstance(reason, str) else None,
        refused=bool(message.get("refusal")),
        model=model if isinstance(model, str) and model else None,
        usage=_usage(data.get("usage")),
    )
    if reply.finish_reason not in ("stop", "length", "content_filter"):
        raise ServiceReplyInvalid(service, "the reply does not say that it is complete")
    if reply.finish_reason == "stop" and not reply.refused and not reply.text.strip():
        raise ServiceReplyInvalid(service, "the reply is empty")
    return reply


def _usage(usage: Any) -> dict[str, int]:
    """Token counts by OpenAI's names, as far as the server gives them."""
    if not isinstance(usage, dict):
        return {}
    details = usage.get("prompt_tokens_details")
    counts = {
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "cached_tokens": details.get("cached_tokens") if isinstance(details, dict) else None,
    }
    return {name: count for name, count in counts.items() if isinstance(count, int) and not isinstance(count, bool)}


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname if parts.scheme in ("http", "https") else None
    except ValueError:
        host = None
    if not host:
        raise SettingsError(
            "ATTEST_OPENAI_BASE_URL: not an http or https address; "
            "allowed: such as http://127.0.0.1:11434/v1 or https://NAME.openai.azure.com/openai/v1/"
        )
    return host


def _check_key(api_key: object) -> None:
    """A key pasted with a line break or an ellipsis fails in the depths of the HTTP library, its text in the error."""
    if isinstance(api_key, str) and re.search(r"[^!-~]", api_key):
        raise SettingsError(
            "ATTEST_OPENAI_API_KEY: holds a space, a line break or a character outside ASCII; no key does"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
