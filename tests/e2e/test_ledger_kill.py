"""kill -9 of a ledger's writers and of a server, at moments drawn at random: a small version of `python -m tests.e2e.ledger_kill`."""

from __future__ import annotations

import random
from pathlib import Path

from tests.e2e.ledger_kill import kill_servers, kill_writers
from tests.postgres.ledger import made


async def test_writers_killed_while_they_write_erase_and_bring_an_older_ledger_up(tmp_path: Path) -> None:
    """What was acknowledged is there after each kill, what was erased is not, and chain, anchor and checkpoints hold. The seed of a failure is in its notes."""
    sums = await kill_writers(tmp_path, 10, random.SystemRandom().randrange(1 << 32), longest_s=0.8)
    assert sums["kills"] == 10
    assert sums["acknowledged answers"], "nobody had written anything before a kill: nothing was tested"


async def test_writers_killed_while_they_write_and_erase_in_postgresql(tmp_path: Path, database_url: str) -> None:
    made(database_url).close()
    seed = random.SystemRandom().randrange(1 << 32)
    sums = await kill_writers(tmp_path, 8, seed, longest_s=0.8, database=database_url)
    assert sums["kills"] == 8
    assert sums["acknowledged answers"], "nobody had written anything before a kill: nothing was tested"


async def test_a_server_killed_while_callers_ask_it(tmp_path: Path) -> None:
    sums = await kill_servers(tmp_path, 1, random.SystemRandom().randrange(1 << 32), answered=True)
    assert sums["acknowledged replies"], "no reply had arrived before the kill: nothing was tested"
