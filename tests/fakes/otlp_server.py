"""A loopback collector: takes `POST /v1/traces` as OTLP over HTTP in protobuf, and reads it with the published messages.

It runs in a thread of its own, so that a system under test may close while it listens.
"""

from __future__ import annotations

import gzip
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue


@dataclass(frozen=True, slots=True)
class Received:
    """A span as it arrived. `parent` is empty for the first of a trace; `status` is "", "OK" or "ERROR"."""

    name: str
    trace: str
    id: str
    parent: str
    kind: str
    attributes: Mapping[str, Any]
    status: str
    said: str
    events: tuple[tuple[str, Mapping[str, Any]], ...] = ()


@dataclass(slots=True)
class _Kept:
    status: int = 200
    spans: list[Received] = field(default_factory=list)
    resources: list[Mapping[str, Any]] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    asked: int = 0
    wait: threading.Event | None = None


class OtlpServer:
    """Use as `with OtlpServer() as collector`."""

    def __init__(self) -> None:
        self._kept = _Kept()
        self._server = _Server(self._kept)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hang(on=False)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def spans(self) -> list[Received]:
        """Every span that was taken, in the order of arrival."""
        return self._kept.spans

    @property
    def resources(self) -> list[Mapping[str, Any]]:
        return self._kept.resources

    @property
    def asked(self) -> int:
        """Requests, those that were refused too."""
        return self._kept.asked

    @property
    def text(self) -> str:
        """Everything that was sent, in protobuf's text form."""
        return "\n".join(self._kept.bodies)

    def answer(self, status: int) -> None:
        """Answer with this status from now on; spans count as taken with 200 alone."""
        self._kept.status = status

    def hang(self, *, on: bool = True) -> None:
        """Take requests and do not answer them, until it is switched off."""
        waiting, self._kept.wait = self._kept.wait, threading.Event() if on else None
        if waiting is not None:
            waiting.set()

    def named(self, name: str) -> list[Received]:
        return [span for span in self.spans if span.name == name]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, kept: _Kept) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.kept = kept


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        kept = self.server.kept
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        kept.asked += 1
        if kept.wait is not None:
            kept.wait.wait(60)
        status = 404 if self.path != "/v1/traces" else kept.status
        if status == 200:
            self._take(ExportTraceServiceRequest.FromString(body))
        self._answer(status, ExportTraceServiceResponse().SerializeToString())

    def do_GET(self) -> None:
        self._answer(405 if self.path == "/v1/traces" else 404, b"")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _take(self, request: ExportTraceServiceRequest) -> None:
        kept = self.server.kept
        kept.bodies.append(str(request))
        for group in request.resource_spans:
            kept.resources.append(_attributes(group.resource.attributes))
            kept.spans += [_received(span) for scope in group.scope_spans for span in scope.spans]

    def log_message(self, *_: Any) -> None:
        """Not on stderr."""


def _received(span: Any) -> Received:
    return Received(
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        {1: "internal", 3: "client"}.get(span.kind, str(span.kind)),
        _attributes(span.attributes),
        {0: "", 1: "OK", 2: "ERROR"}[span.status.code],
        span.status.message,
        tuple((event.name, _attributes(event.attributes)) for event in span.events),
    )


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    return getattr(value, kind) if kind else None
