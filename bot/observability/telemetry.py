"""Makes OpenTelemetry traces: a span for the turn, one for each stage, call of a chat model and call of a remote service.

Names are those of the GenAI semantic conventions where they have one, `attest.…` elsewhere (docs/telemetry.md has the
tables). No span holds a text of a person or of a document unless `content` asks for it. An error is told by its type and,
if it is a service's, by our own line on it: `record_exception` would export foreign words.

Imported only when traces are switched on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.context import Context, attach, detach
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from bot.observability.turn_mark import marked
from bot.records import Answer, Ask, OnStage, Reply
from grounding.observe import (
    ChatCall,
    EmbedCall,
    GoneWithout,
    Operation,
    RemoteCall,
    ReplyUnused,
    StageRun,
    watched_by,
)
from rai.records import Outcome

AGENT = "attest"
Attributes = dict[str, AttributeValue]
_W3C = TraceContextTextMapPropagator()
_TOKENS = {
    "prompt_tokens": "gen_ai.usage.input_tokens",
    "completion_tokens": "gen_ai.usage.output_tokens",
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
    "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
}


class Tracer:
    """The traces of one system. `model_provider`, `embedding_provider`: the `gen_ai.provider.name` of chat calls and of embeddings."""

    def __init__(
        self,
        provider: TracerProvider,
        *,
        model_provider: str,
        embedding_provider: str = "openai",
        content: bool = False,
    ) -> None:
        self._tracer = provider.get_tracer("attest")
        self._model_provider = model_provider
        self._embedding_provider = embedding_provider
        self._content = content

    @contextmanager
    def incoming(self, headers: Mapping[str, str]) -> Iterator[None]:
        """Let what happens in the block belong to the trace that a W3C `traceparent` names. No other header is looked at."""
        given = headers.get("traceparent")
        token = attach(_W3C.extract({"traceparent": given}, Context()) if given else Context())
        try:
            yield
        finally:
            detach(token)

    def watch(self, answer: Answer) -> Answer:
        """Wrap `answer` so that each turn is a span of its own."""

        async def traced(ask: Ask, on_stage: OnStage | None = None) -> Reply:
            begun: Attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": AGENT}
            with marked() as mark, self._span(f"invoke_agent {AGENT}", begun) as span, watched_by(self._operation):
                mark.trace_id = trace.format_trace_id(span.get_span_context().trace_id)
                try:
                    reply = await answer(ask, on_stage)
                    self._end_turn(span, ask, reply)
                    return reply
                except BaseException as error:
                    _fail(span, type(error).__name__)
                    raise
                finally:
                    span.set_attribute("attest.turn_id", mark.turn_id)

        return traced

    @contextmanager
    def _span(self, name: str, attributes: Attributes, kind: SpanKind = SpanKind.INTERNAL) -> Iterator[Span]:
        span = self._tracer.start_span(name, kind=kind, attributes=attributes)
        with trace.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            yield span

    @contextmanager
    def _operation(self, operation: Operation) -> Iterator[None]:
        """The watcher of a turn."""
        if isinstance(operation, GoneWithout):
            trace.get_current_span().add_event("attest.gone_without", {"attest.seam": operation.seam})
            yield
            return
        if isinstance(operation, ReplyUnused):  # its tokens stand on the chat call's span
            yield
            return
        with self._span(*self._begun(operation)) as span:
            try:
                yield
            finally:
                span.set_attributes(self._ended(operation))
                if operation.fault is not None:
                    _fail(span, operation.fault.type, operation.fault.message)

    def _begun(self, operation: Operation) -> tuple[str, Attributes, SpanKind]:
        match operation:
            case StageRun(name=name):
                return name, {"gen_ai.operation.name": "retrieval"} if name == "retrieve" else {}, SpanKind.INTERNAL
            case RemoteCall(service=service):
                return f"call {service}", {"attest.service": service}, SpanKind.CLIENT
            case ChatCall(model=model):
                begun: Attributes = {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.provider.name": self._model_provider,
                    "gen_ai.request.model": model,
                    "gen_ai.request.max_tokens": operation.max_tokens,
                    "attest.purpose": operation.purpose,
                }
                return f"chat {model}", begun | (_prompt(operation) if self._content else {}), SpanKind.CLIENT
            case EmbedCall(model=model):
                asked: Attributes = {
                    "gen_ai.operation.name": "embeddings",
                    "gen_ai.provider.name": self._embedding_provider,
                    "gen_ai.request.model": model,
                    "attest.texts": operation.texts,
                    **({"attest.backend": operation.backend} if operation.backend else {}),
                }
                return f"embeddings {model}", asked, SpanKind.CLIENT
            case _:
                return type(operation).__name__, {}, SpanKind.INTERNAL

    def _ended(self, operation: Operation) -> Attributes:
        match operation:
            case RemoteCall():
                return {
                    "attest.attempts": operation.attempts,
                    "attest.outcome": operation.outcome,
                    "attest.breaker": operation.breaker.state,
                }
            case ChatCall(completion=completion):
                ended = _tokens(operation.usage) | {
                    "gen_ai.request.max_tokens": operation.max_tokens
                }  # with room to think
                if completion is None:
                    return ended
                ended["gen_ai.response.model"] = completion.model
                if completion.served is not None:
                    ended |= {
                        "attest.backend": completion.served.backend,
                        "gen_ai.request.model": completion.served.model,
                    }
                said = _message("assistant", completion.text, finish_reason="stop")
                return ended | ({"gen_ai.output.messages": said} if self._content else {})
            case EmbedCall(usage=usage):
                return _tokens(usage)
            case _:
                return {}

    def _end_turn(self, span: Span, ask: Ask, reply: Reply) -> None:
        known = {
            "attest.outcome": reply.outcome.value,
            "attest.code": reply.code,
            "attest.entry_id": reply.entry_id,
            "attest.policy": reply.record.policy_name,
            "attest.kb_version": reply.record.kb_version,
        }
        if self._content:
            known |= {
                "attest.question": ask.question,
                "attest.query": reply.record.query.text,
                "attest.answer": reply.answer,
            }
        span.set_attributes({name: value for name, value in known.items() if value})
        if reply.outcome is Outcome.FAILED:
            _fail(span, reply.code or "failed")


def _tokens(usage: Mapping[str, int]) -> Attributes:
    return {_TOKENS[name]: count for name, count in usage.items() if name in _TOKENS}


def _fail(span: Span, kind: str, message: str = "") -> None:
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, message or None))


def _prompt(call: ChatCall) -> Attributes:
    system = json.dumps([{"type": "text", "content": call.system}], ensure_ascii=False)
    return {"gen_ai.system_instructions": system, "gen_ai.input.messages": _message("user", call.user)}


def _message(role: str, text: str, **more: str) -> str:
    """One message in the conventions' JSON form."""
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}], **more}], ensure_ascii=False)
