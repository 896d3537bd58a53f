"""A text that holds whoever reads it, in front of a running server: its turn ends as the seam says, and the server answers others meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_aiohttp.plugin import AiohttpClient

from bot.records import Ask, OnStage, Reply
from bot.server.app import build_app
from bot.turn.pipeline import answer_turn
from bot.turn.seams import Seams
from bot.wording.notices import WITHHELD
from grounding.bounded.limits import Limits
from grounding.bounded.pool import Pool
from grounding.policy import Policy
from grounding.records import Document
from rai.records import Report, Screening, Source
from rai.screening.decision import RememberingScreen
from tests.bot.http.conftest import Client
from tests.e2e.support import ScriptedGrader, world
from tests.fakes.clock import AMPLE_S
from tests.fakes.embedder import HashEmbedder
from tests.fakes.system import fake_system
from tests.grounding.bounded import work

HOLDS = "a" * 60
PRICES = Document("prices.md", "Plans", "The plan costs $9.99 a month.")
QUESTION = "What does the plan cost a month?"


class Held:
    """A pool whose children are held by a bad pattern: as screen of the word HOLD, and as check."""

    name = "held"

    def __init__(self, seconds: int = 1) -> None:
        self.pool = Pool(Limits(seconds=float(seconds), seconds_per_byte=0.0, patience=300.0), size=1)

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        if "HOLD" in text:
            await self.pool.run(work.backtracks, HOLDS)
        return Screening("allow")

    async def check(
        self, answer: str, sources: Sequence[Source], question: str | None, given: Sequence[str], at: datetime | None
    ) -> Report:
        await self.pool.run(work.backtracks, HOLDS)
        return Report("supported", 0.0, ())


async def served(client: AiohttpClient, folder: Path, held: Held, **parts: Any) -> tuple[Client, Seams]:
    w = await world(folder, [PRICES], HashEmbedder(), model=None, grader=ScriptedGrader({"prices.md": 0.9}))
    seams = replace(w.seams, deadline_s=AMPLE_S, **parts)
    fake = fake_system()

    async def answer(ask: Ask, on_stage: OnStage | None = None) -> Reply:
        return await answer_turn(ask, seams, Policy(), on_stage)

    system = replace(fake.system, answer=answer)
    return await client(build_app(system)), seams


async def alive_until(client: Client, task: asyncio.Task[Any]) -> int:
    """How often the server said that it is alive before the task was done."""
    count = 0
    while not task.done():
        assert (await client.get("/healthz")).status == 200
        count += 1
        await asyncio.sleep(0.05)
    return count


async def asked(client: Client, question: str) -> dict[str, Any]:
    response = await client.post("/api/ask", json={"question": question})
    assert response.status == 200
    reply: dict[str, Any] = await response.json()
    return reply


async def test_a_question_that_holds_the_screen(aiohttp_client: AiohttpClient, tmp_path: Path) -> None:
    """It is held for several times as long as an answer takes here."""
    client, _ = await served(aiohttp_client, tmp_path / "first", Held())
    began = time.monotonic()
    await asked(client, QUESTION)
    seconds = 1 + int(5 * (time.monotonic() - began))
    held = Held(seconds)
    client, seams = await served(aiohttp_client, tmp_path, held, screen=RememberingScreen(held, timeout_s=AMPLE_S))
    turn = asyncio.create_task(asked(client, "HOLD this line"))
    await asyncio.sleep(0.1)
    other = await asked(client, QUESTION)
    assert not turn.done()
    assert "9.99" in other["answer"]
    assert await alive_until(client, turn) > 3
    reply = turn.result()
    assert (reply["outcome"], reply["code"]) == ("failed", "screen_unavailable")
    assert any(f"took longer than {seconds} s and was ended" in note for note in reply["notes"])
    entry = await seams.ledger.get(reply["entry_id"])
    assert entry is not None
    held.pool.close()


async def test_a_draft_that_holds_the_check(aiohttp_client: AiohttpClient, tmp_path: Path) -> None:
    held = Held()
    client, seams = await served(aiohttp_client, tmp_path, held, check=held.check)
    turn = asyncio.create_task(asked(client, QUESTION))
    assert await alive_until(client, turn) > 3
    reply = turn.result()
    assert (reply["outcome"], reply["answer"]) == ("withheld", WITHHELD)
    assert (await seams.ledger.get(reply["entry_id"])) is not None
    held.pool.close()
