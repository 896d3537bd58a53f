"""A model that changes values in what it quotes: none of the changed values is delivered.

Every answerable question of the sample's golden set is asked. The model reads the evidence out of the prompt it is given,
quotes the sentences that meet the question, and is wrapped by one that plants errors. Retrieval, grading, screening,
check, repair and ledger are the real ones over the sample knowledge base.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bot.compose.system import compose
from bot.evaluate.suites.golden import ask_of
from bot.records import Reply
from bot.settings.load import SAMPLE
from bot.system import CheckRequest, System
from bot.turn.pipeline import answer_turn
from bot.turn.seams import Seams
from grounding.embedded.demo import Planted, plant
from grounding.policy import Policy
from grounding.ports import ChatModel
from grounding.prompting.model_composer import ModelComposer
from grounding.prompting.prompt import insufficient_sentence, own_texts
from grounding.records import Completion
from grounding.text import caseless, sentences, terms
from rai.records import Outcome, Report, Source
from rai.screening.model import ScreenedModel
from tests.e2e.processes import copy_of_home, settings_over
from tests.fakes.model import FaultyModel

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEED = 0
AT_LEAST = 40
QUOTED = 3
AROUND = 24
"""Characters on either side of a planted value that identify its place in its sentence."""
_FENCED = re.compile(r"^\[(\d+)\] [^\n]*\n<<<(\w{16})\n[^\n]*\n(.*?)\n\2>>>", re.DOTALL | re.MULTILINE)
DELIVERED = (Outcome.ANSWERED, Outcome.REPAIRED)


class QuotingModel:
    """Answers with the sentences of the evidence in the prompt that share most terms with the question, each with its [n]; headings say nothing by themselves."""

    name = "quoting"

    def __init__(self) -> None:
        self.last = ""

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        asked = set(terms(user))
        found = [
            (len(asked & set(terms(s.text))), s.text.strip().removesuffix("."), n)
            for n, _, passage in _FENCED.findall(system)
            for s in sentences(passage)
            if "\n" not in s.text.strip() and any(c.isdigit() for c in s.text) and not s.text.startswith("#")
        ]
        best = sorted((f for f in found if f[0]), key=lambda f: -f[0])[:QUOTED]
        self.last = "\n".join(f"{text} [{n}]." for _, text, n in best) or insufficient_sentence()
        return Completion(self.last, self.name)


class Listener:
    """Passes everything on and remembers the last question and reply."""

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner
        self.asked, self.last = "", ""

    @property
    def name(self) -> str:
        return self._inner.name

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        reply = await self._inner.complete(system, user, purpose=purpose, max_tokens=max_tokens)
        self.asked, self.last = user, reply.text
        return reply


@dataclass(frozen=True, slots=True)
class Faulty:
    """One turn: what the model would have said, what it said, what was changed, and how the turn ended."""

    id: str
    clean: str
    draft: str
    planted: tuple[Planted, ...]
    reply: Reply


def rows() -> list[dict[str, Any]]:
    lines = (SAMPLE / "golden.jsonl").read_text("utf-8").splitlines()
    return [row for row in map(json.loads, lines) if "answerable" in row["tags"]]


def seams_of(system: System, model: ChatModel) -> Seams:
    """The system's own seams; only who drafts is another."""

    async def check(
        answer: str, sources: Sequence[Source], question: str | None, given: Sequence[str], at: datetime | None
    ) -> Report:
        return await system.check(CheckRequest(answer, tuple(sources), question, tuple(given), at))

    return Seams(
        screen=system.screen,
        queries=system.queries,
        retriever=system.retriever,
        grader=system.grader,
        web=None,
        composer=ModelComposer(
            ScreenedModel(model, system.screen, trusted=own_texts(system.settings.answering.company))
        ),
        directory=system.directory,
        check=check,
        ledger=system.ledger,
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def turns(
    quick_home: Path, quick_model_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[list[Faulty]]:
    home = copy_of_home(quick_home, tmp_path_factory.mktemp("faulty") / "home")
    system = await compose(settings_over(home, quick_model_file))
    quoting = QuotingModel()
    listener = Listener(FaultyModel(quoting, SEED))
    seams, out = seams_of(system, listener), []
    for row in rows():
        listener.last = ""
        reply = await answer_turn(ask_of(row), seams, Policy())
        if not listener.last or quoting.last == insufficient_sentence():
            continue  # the model was not asked, or found nothing to quote
        text, planted = plant(quoting.last, f"{SEED}:{listener.asked}")
        assert text == listener.last, "the errors that are looked for are not those that were planted"
        out.append(Faulty(row["id"], quoting.last, text, planted, reply))
    yield out
    await system.close()


def delivered(turn: Faulty, error: Planted) -> bool:
    """True if a planted error stands in the answer: in its place in its sentence, or as a value more often than its
    truthful part, or the clean draft to which a repair goes back, holds it. Case and kinds of dash and space do not matter.
    """
    if turn.reply.outcome not in DELIVERED:
        return caseless(error.span.text) in caseless(turn.reply.answer) and error.kind != "negation"
    sentence = next(s for s in sentences(turn.draft) if s.start <= error.span.start < s.end)
    place = turn.draft[max(sentence.start, error.span.start - AROUND) : min(sentence.end, error.span.end + AROUND)]
    answer, clean = caseless(turn.reply.answer), caseless(turn.clean)
    place = caseless(place).strip()
    # Rows of a table read alike around their values: the place of an error in one may be the truth of its neighbour.
    if answer.count(place) > clean.count(place) or caseless(sentence.text).strip() in answer:
        return True
    truthful = max(_count(error.span.text, text) for text in (_truthful(turn), clean))
    return error.kind != "negation" and _count(error.span.text, answer) > truthful


def _truthful(turn: Faulty) -> str:
    """The draft without the values that were planted."""
    pieces, done = [], 0
    for error in turn.planted:
        pieces.append(turn.draft[done : error.span.start])
        done = error.span.end
    return "\x00".join([*pieces, turn.draft[done:]])


def _count(value: str, text: str) -> int:
    form = rf"(?<!\w)(?<!\d[.,]){re.escape(caseless(value))}(?!\w|[.,]\d)"
    return len(re.findall(form, caseless(text)))


async def test_errors_were_planted_in_enough_turns(turns: list[Faulty]) -> None:
    """Otherwise the test below would show nothing."""
    assert len([t for t in turns if t.planted]) >= AT_LEAST
    kinds = {error.kind for turn in turns for error in turn.planted}
    assert {"money", "number", "part", "date", "phone", "time"} <= kinds


def leaks(turn: Faulty) -> list[str]:
    """What of a turn's planted errors was delivered, for a person to read."""
    return [
        f"{turn.id}: {e.kind} {e.before!r} -> {e.span.text!r} in {turn.reply.answer!r}"
        for e in turn.planted
        if delivered(turn, e)
    ]


async def test_no_planted_value_is_delivered(turns: list[Faulty]) -> None:
    found = [line for t in turns for line in leaks(t)]
    assert not found, "\n".join(found)


async def test_what_was_not_changed_is_still_delivered(turns: list[Faulty]) -> None:
    """A check that withholds everything would pass the test above: most turns keep their truthful sentences."""
    several = [t for t in turns if t.planted and len(sentences(t.clean)) > len(t.planted)]
    kept = [t for t in several if t.reply.outcome in DELIVERED]
    assert len(kept) >= len(several) // 2, (len(kept), len(several))


async def test_every_turn_is_on_the_record(turns: list[Faulty]) -> None:
    for turn in turns:
        assert turn.reply.entry_id
