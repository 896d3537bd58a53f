"""Benchmark of agreement: in how many golden questions the embedded engine and the Azure adapters come to the same."""

from __future__ import annotations

from dataclasses import replace

from bot.compose.system import compose
from bot.records import Ask, Reply
from tests.bench.figures import Figure
from tests.bench.place import Place, golden_asks
from tests.fakes.azure_stack import azure_stack, object_id


async def bench_azure_golden(place: Place) -> list[Figure]:
    """Counts of questions with the same outcome, and with the same outcome, decision and cited documents."""
    here = await compose(place.settings)
    async with azure_stack(place.home, place.model, place.scratch / "agreeing") as stack:
        there = await compose(stack.settings(web="off"))
        pairs = [(await here.answer(ask, None), await there.answer(in_graph(ask), None)) for ask in golden_asks()]
        await there.close()
    await here.close()
    outcomes = sum(a.outcome is b.outcome for a, b in pairs)
    whole = sum(told(a) == told(b) for a, b in pairs)
    return [
        Figure("golden set on services: same outcome", outcomes, "turns", len(pairs), "all"),
        Figure("golden set on services: same outcome, decision and citations", whole, "turns", len(pairs), "all"),
    ]


def told(reply: Reply) -> tuple[str, list[str], str]:
    """Outcome, cited documents and decision of a turn."""
    return reply.outcome.value, sorted({c.doc_id for c in reply.citations}), str(reply.record.action)


def in_graph(ask: Ask) -> Ask:
    """The same, asked by a person as Microsoft Graph knows them."""
    return replace(ask, user=object_id(ask.user)) if ask.user else ask
