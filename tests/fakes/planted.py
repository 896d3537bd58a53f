"""A turn with a fault of ours planted in one of its stages, and what its record must say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.records import Ask, OnStage, Reply
from bot.turn.pipeline import answer_turn
from bot.turn.seams import Seams
from grounding.policy import Policy
from rai.records import Report
from tests.bot.turn.test_pipeline import Failing, small
from tests.e2e.support import World

SECRET = "Quillfeather 4111"
FAULT = KeyError(SECRET)
DRAFT = "Watch Plus costs $9.99 a month [1]."
WRONG = "Watch Plus costs $8.88 a month [1]. Watch Basic costs $3.99 a month [1]."


class Late:
    """The check, which raises from its second call on: in the check of what was repaired."""

    def __init__(self, seams: Seams) -> None:
        self._check, self._calls = seams.check, 0

    async def __call__(self, *given: Any) -> Report:
        self._calls += 1
        if self._calls > 1:
            raise FAULT
        return await self._check(*given)


class Malformed:
    """The check, whose report holds a claim that cannot be cited."""

    async def __call__(self, *_: Any) -> Report:
        claims: tuple[Any, ...] = (object(),)
        return Report("supported", 0.1, claims, None, None)


class Picky:
    """The ledger, which cannot write a turn that holds an answer, but one that holds none."""

    def __init__(self, seams: Seams) -> None:
        self._ledger = seams.ledger

    async def append(self, kind: str, body: dict[str, Any]) -> Any:
        if "9.99" in str(body["reply"]["answer"]) or body["evidence"]:
            raise FAULT
        return await self._ledger.append(kind, body)


def raising() -> Callable[..., Awaitable[Any]]:
    async def check(*_: Any) -> Any:
        raise FAULT

    return check


PLANTED: dict[str, Callable[[Seams], Seams]] = {
    "screen": lambda s: replace(s, screen=part(Failing(FAULT))),
    "query": lambda s: replace(s, queries=part(Failing(FAULT))),
    "access": lambda s: replace(s, directory=part(Failing(FAULT))),
    "retrieve": lambda s: replace(s, retriever=part(Failing(FAULT))),
    "grade": lambda s: replace(s, grader=part(Ungrading())),
    "compose": lambda s: replace(s, composer=part(Failing(FAULT))),
    "check": lambda s: replace(s, check=raising()),
    "repair": lambda s: replace(s, check=part(Late(s))),
    "cite": lambda s: replace(s, check=part(Malformed())),
    "ledger": lambda s: replace(s, ledger=part(Picky(s))),
}


def part(planted: Any) -> Any:
    return planted


class Ungrading:
    name = "ungrading"

    async def grade(self, *_: object) -> Any:
        raise FAULT


async def planted(folder: Path, stage: str) -> World:
    w = await small(folder, *([WRONG] * 3 if stage == "repair" else [DRAFT] * 3))
    return replace(w, seams=PLANTED[stage](w.seams))


def answering(w: World) -> Callable[[Ask, OnStage | None], Awaitable[Reply]]:
    return lambda ask, on_stage: answer_turn(replace(ask, user="bella"), w.seams, Policy(), on_stage)


async def is_recorded(w: World, entry_id: str) -> bool:
    """Exactly one entry, which says that the turn failed and where, and verifies."""
    found = [entry async for entry in w.ledger.entries() if entry.kind == "turn"]
    assert [entry.entry_id for entry in found] == [entry_id]
    told = found[0].body["reply"]
    assert (told["outcome"], told["code"]) == ("failed", None)
    assert any("failed inside" in note for note in told["notes"])
    return (await w.ledger.verify()).ok
