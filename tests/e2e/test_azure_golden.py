"""The golden set with every seam on its Azure adapter gives the outcomes that it gives on this machine.

The services are stand-ins that answer from the embedded engine behind the published interfaces, so that a difference is an adapter's.
Every sixth question here; all of them by `python -m tests.bench --only golden`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from bot.compose.system import compose
from bot.records import Reply
from grounding.embedded.vectors.embedder import MiniLM
from grounding.records import Access
from tests.bench.azure_golden import in_graph, told
from tests.bench.place import golden_asks
from tests.e2e.processes import copy_of_home, settings_over
from tests.fakes.azure_stack import azure_stack
from tests.fakes.engine import Engine

pytestmark = pytest.mark.asyncio(loop_scope="module")
EVERY = 6


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def replies(
    quick_home: Path, quick_model_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[list[tuple[Reply, Reply]]]:
    """Of each question the reply of this machine, and that of the services."""
    folder = tmp_path_factory.mktemp("azure")
    here = await compose(settings_over(copy_of_home(quick_home, folder / "here"), quick_model_file))
    async with azure_stack(quick_home, quick_model_file, folder) as stack:
        there = await compose(stack.settings(web="off"))
        asks = golden_asks()[::EVERY]
        yield [(await here.answer(ask, None), await there.answer(in_graph(ask), None)) for ask in asks]
        await there.close()
    await here.close()


async def test_outcomes_and_citations_are_the_same(replies: list[tuple[Reply, Reply]]) -> None:
    """Outcome and decision of every question. A service's scores are not ours to the last digit, so that of near ties another is quoted
    now and then: what is cited is the same of nine in ten.
    """
    ends = [
        ((here.outcome, here.record.action), (there.outcome, there.record.action), there.record.notes)
        for here, there in replies
    ]
    assert [e for e in ends if e[0] != e[1]] == []
    different = [(told(here), told(there)) for here, there in replies if told(here) != told(there)]
    assert 10 * len(different) <= len(replies), different
    assert len(replies) >= 30
    assert {here.outcome.value for here, _ in replies} >= {"answered", "insufficient"}


async def test_the_stand_in_does_not_mind_in_which_order_the_searches_of_a_turn_arrive(
    quick_home: Path, quick_model_file: Path, tmp_path: Path
) -> None:
    """Under load the parts of a question come before the whole of it."""
    engine = Engine(copy_of_home(quick_home, tmp_path / "home"), MiniLM(quick_model_file))
    whole = "how long do refunds take and what does shipping to Germany cost"
    parts = ["how long do refunds take", "what does shipping to Germany cost"]
    seen = []
    for order in ([whole, *parts], [*parts, whole], [parts[1], whole, parts[0]]):
        for text in order:
            await engine.search(text, None, Access(), 50)
        seen.append(([p.chunk_id for p in engine.found], engine.query))
        await engine.grades(whole, [])
    assert seen[0] == seen[1] == seen[2]
    assert seen[0][1] == whole
    engine.close()


async def test_the_services_were_asked(replies: list[tuple[Reply, Reply]]) -> None:
    """Otherwise the test above would show nothing."""
    answered = [there for _, there in replies if there.citations]
    assert answered
    for reply in answered:
        assert reply.record.mode["generator"].startswith("model:")
        assert reply.record.mode["grader"].endswith("/score")
        assert "Content Safety" in reply.record.mode["screen"] or "content" in reply.record.mode["screen"].lower()
        assert int(reply.record.usage["calls"]) >= 2
