"""A fault of ours in any stage of a turn, over HTTP: a reply that says it failed, and its record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.wording.notices import FAILED
from tests.bot.http.conftest import Start
from tests.bot.turn.test_pipeline import ASK
from tests.fakes.planted import PLANTED, SECRET, answering, is_recorded, planted
from tests.fakes.system import fake_system


@pytest.mark.parametrize("stage", PLANTED)
async def test_over_http_it_is_a_reply_like_any_other(stage: str, tmp_path: Path, start: Start) -> None:
    w = await planted(tmp_path, stage)
    fake = fake_system()
    client = await start(replace(fake, system=replace(fake.system, answer=answering(w))))
    response = await client.post("/api/ask", json={"question": ASK.question})
    told = await response.json()
    assert (response.status, told["outcome"], told["code"]) == (200, "failed", None)
    assert told["answer"] == FAILED[None]
    assert await is_recorded(w, told["entry_id"])
    assert SECRET not in await response.text()
