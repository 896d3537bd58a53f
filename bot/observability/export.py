"""Sends spans to a collector that speaks OTLP over HTTP, or to stderr. Nothing here may delay a turn, fill the log or hold up the end.

Imported only when traces are switched on.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
from collections.abc import Sequence

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter, SpanExportResult

from bot.settings.settings import Settings
from bot.version import VERSION
from grounding.services.address import is_loopback

LOG = logging.getLogger("attest")
PATH = "/v1/traces"
"""Below the address of a collector."""
SEND_S = 5.0
"""Seconds that a batch is tried for, in a thread of its own; then it is dropped."""
CLOSE_S = 3.0
"""Seconds that the end waits for spans that are still here to be sent."""
QUEUED, BATCH = 4096, 512
"""Spans kept while the collector is slow, about 200 turns; the oldest go first."""


class WarningExporter(SpanExporter):
    """An exporter that warns in the log when another begins to fail, and when it works again; the SDK itself has a line for each batch."""

    def __init__(self, inner: SpanExporter, where: str) -> None:
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        self._inner = inner
        self._where = where
        self._failing = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        try:
            result = self._inner.export(spans)
        except Exception:  # noqa: BLE001  # whatever it is, traces must not matter
            result = SpanExportResult.FAILURE
        failed = result is not SpanExportResult.SUCCESS
        if failed and not self._failing:
            LOG.warning("%s takes no traces; spans are dropped until it does, answers are not affected", self._where)
        elif self._failing and not failed:
            LOG.warning("%s takes traces again", self._where)
        self._failing = failed
        return result

    def shutdown(self) -> None:
        self._inner.shutdown()


def exporter(settings: Settings) -> SpanExporter:
    """The exporter that the settings name; `traces` may not be off."""
    if settings.traces.exporter == "console":
        return ConsoleSpanExporter(out=sys.stderr, formatter=lambda span: span.to_json(indent=None) + "\n")
    session = requests.Session()
    session.trust_env = not is_loopback(settings.traces.endpoint)  # a proxy cannot reach our loopback
    session.max_redirects = 0  # spans go where somebody said, and nowhere else
    endpoint = settings.traces.endpoint.rstrip("/") + PATH
    return WarningExporter(
        OTLPSpanExporter(endpoint=endpoint, timeout=SEND_S, session=session), "the collector of traces"
    )


def provider(processor: SpanProcessor) -> TracerProvider:
    """A tracer provider of this system's own: no global is set, and what is left at the end is sent by `close` alone."""
    resource = Resource.create(
        {
            "service.name": "attest",
            "service.version": VERSION,
            "host.name": socket.gethostname(),  # several processes may serve
            "process.pid": os.getpid(),
        }
    )
    made = TracerProvider(resource=resource, shutdown_on_exit=False, span_limits=SpanLimits(max_events=64))
    made.add_span_processor(processor)
    return made


def batches(to: SpanExporter) -> BatchSpanProcessor:
    """A processor that sends spans in batches, every two seconds, from a thread of its own."""
    return BatchSpanProcessor(to, max_queue_size=QUEUED, max_export_batch_size=BATCH, schedule_delay_millis=2000)


def close(processor: SpanProcessor, to: SpanExporter) -> None:
    """Send what is still here, within `CLOSE_S`. The SDK's own end would wait for 30 s on a collector that is gone."""
    sending = threading.Thread(target=processor.shutdown, name="attest-last-spans", daemon=True)
    sending.start()
    sending.join(CLOSE_S)
    if sending.is_alive():
        to.shutdown()  # ends the pause between two tries
