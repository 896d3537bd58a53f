"""Builds the traces. Where they are off, neither the SDK nor an exporter is imported."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from bot.compose.resources import Resources
from bot.records import Answer
from bot.settings.settings import Settings
from grounding.services.cloud import is_azure_ai


@dataclass(frozen=True, slots=True)
class Tracing:
    """What a system does to be traced: `watch` puts turns into spans, `incoming` a block into the trace that a request's headers name."""

    watch: Callable[[Answer], Answer] = lambda answer: answer
    incoming: Callable[[Mapping[str, str]], AbstractContextManager[None]] = lambda _headers: nullcontext()


def tracing(settings: Settings, resources: Resources) -> Tracing:
    """The traces that the settings ask for; what is still here when the system closes is sent, for a few seconds at most."""
    if settings.traces.exporter == "off":
        return Tracing()
    from bot.observability.export import batches, close, exporter, provider
    from bot.observability.telemetry import Tracer

    to = exporter(settings)
    processor = batches(to)

    async def send_the_rest() -> None:
        await asyncio.to_thread(close, processor, to)

    resources.append(send_the_rest)
    content = settings.traces.content == "on"
    traces = Tracer(
        provider(processor),
        model_provider=model_provider(settings.chat_url),
        embedding_provider=model_provider(settings.embedding_url),
        content=content,
    )
    return Tracing(traces.watch, traces.incoming)


def model_provider(base_url: str | None) -> str:
    """The name that OpenTelemetry's conventions have for who serves a model: Azure by its addresses, else OpenAI, whose interface it is."""
    return "azure.ai.openai" if is_azure_ai(base_url or "") else "openai"
