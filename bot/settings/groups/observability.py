"""Settings of the log and the traces: what they hold, and where they go."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bot.settings.forms import Url
from bot.settings.group import Conflicts, Group


class Log(Group):
    """The log on stderr: from which level on, and in which form."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", alias="log_level", description="what goes to the log on stderr"
    )
    format: Literal["text", "json"] = Field(
        "text",
        alias="log_format",
        description="json: one object a line, with the turn's id, its trace and its ledger entry",
    )


class Traces(Group):
    """The OpenTelemetry traces: where they go, and whether texts stand in them."""

    exporter: Literal["off", "console", "otlp"] = Field(
        "off",
        alias="traces",
        description="where OpenTelemetry traces go: console is stderr, otlp a collector; off costs nothing",
    )
    endpoint: Url = Field(
        "http://127.0.0.1:4318",
        alias="traces_endpoint",
        description="base URL of the collector (OTLP over HTTP); /v1/traces is added",
    )
    content: Literal["off", "on"] = Field(
        "off",
        alias="traces_content",
        description="on: questions, prompts, drafts and answers stand in the traces, personal data included",
    )


def trace_conflicts(traces: Traces) -> Conflicts:
    """Rules on traces: nothing is said of them where there are none."""
    elsewhere = "endpoint" in traces.model_fields_set and traces.exporter != "otlp"
    yield elsewhere, f"ATTEST_TRACES_ENDPOINT needs ATTEST_TRACES=otlp; {traces.exporter} leaves it unused"
    nowhere = traces.content == "on" and traces.exporter == "off"
    yield nowhere, "ATTEST_TRACES_CONTENT=on needs ATTEST_TRACES=console or otlp"
