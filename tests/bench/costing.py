"""Benchmark of cost: calls and tokens that a turn takes of a chat model, by purpose, in tokens of the GPT-4o vocabulary, over services that answer from the embedded engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from bot.compose.system import compose
from grounding.observe import ChatCall, Operation, watched_by
from grounding.tokens import asked_tokens, count_tokens
from tests.bench.figures import Figure, spread
from tests.bench.place import Place, plain_asks
from tests.fakes.azure_stack import azure_stack

TURNS = 30


@dataclass(slots=True)
class _Turn:
    """Tokens in and out, and calls, by purpose."""

    asked: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    written: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    calls: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @contextmanager
    def watch(self, operation: Operation) -> Iterator[None]:
        yield
        if isinstance(operation, ChatCall):
            self.calls[operation.purpose] += 1
            self.asked[operation.purpose] += asked_tokens(operation.system, operation.user)
            self.written[operation.purpose] += count_tokens(operation.completion.text) if operation.completion else 0


async def bench_cost(place: Place) -> list[Figure]:
    """Calls and tokens, p50 and p90, of the first single questions of the golden set, graded and drafted by the model. The form of a structured reply is not counted."""
    turns = []
    async with azure_stack(place.home, place.model, place.scratch / "costing") as stack:
        system = await compose(stack.settings(web="off"))
        try:
            for ask in plain_asks()[:TURNS]:
                turn = _Turn()
                with watched_by(turn.watch):
                    await system.answer(ask, None)
                turns.append(turn)
        finally:
            await system.close()
    return [figure for purpose in ("grade", "compose") for figure in _figures(purpose, turns)]


def _figures(purpose: str, turns: Sequence[_Turn]) -> list[Figure]:
    made = [t for t in turns if t.calls[purpose]]
    kinds = {
        "calls": [float(t.calls[purpose]) for t in made],
        "tokens in": [float(t.asked[purpose]) for t in made],
        "tokens out": [float(t.written[purpose]) for t in made],
    }
    return [
        figure
        for kind, values in kinds.items()
        for figure in spread(f"{purpose}: {kind} a turn", values, "", at=(50, 90))
    ]
