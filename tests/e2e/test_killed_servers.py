"""Two servers over one PostgreSQL behind a balancer, and one killed with SIGKILL: one reply to each question, in order, one whole chain."""

from __future__ import annotations

from pathlib import Path

from tests.bench.killed import Talks, killed


async def test_each_question_has_one_reply_whichever_server_dies(database_url: str, tmp_path: Path) -> None:
    found = await killed(database_url, tmp_path / "killed", Talks(conversations=4, bursts=3, pace_s=3.0, every_s=4.0))
    assert found.kills > 0
    assert len(found.replies) == 24
    assert min(found.replies.values()) == 1, found
    assert found.repeats <= found.kills  # docs/teams.md: at most one a kill, where it falls between sending and noting
    assert found.in_order == 4
    assert (found.whole, found.turns >= 24 - found.apologies) == (True, True), found
