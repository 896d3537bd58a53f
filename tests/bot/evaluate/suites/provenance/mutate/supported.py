"""An answer that its sources support, for what is changed in it."""

from __future__ import annotations

from bot.evaluate.suites.provenance.mutate.records import Supported
from rai.records import Source


def supported(answer: str, *texts: str, question: str | None = None) -> Supported:
    sources = tuple(Source(f"s{n}", text) for n, text in enumerate(texts))
    return Supported("x", answer, sources, question, (), "test")
