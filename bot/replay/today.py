"""Which turns of a search would end otherwise today: each of them replayed, the newest first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

from bot.desk.index import Desk
from bot.desk.search import DeskSearch
from bot.events.kinds import EVERY
from bot.replay.replay import Replayed
from bot.replay.replay import replay as replayed
from bot.system import System
from grounding.errors import InputError
from rai.records import Entry

TURN = "turn"


@dataclass(frozen=True, slots=True)
class TodaysTurn:
    """A turn, and what its replay came to. `why`: that it could not be replayed; `older`: whether more turns of the search stand before it."""

    entry: Entry
    found: Replayed | None
    why: str = ""
    older: bool = True

    @property
    def question(self) -> str:
        return str((self.entry.body.get("ask") or {}).get("question") or "")

    @property
    def then(self) -> str:
        """How it ended."""
        return str((self.entry.body.get("reply") or {}).get("outcome") or "")

    @property
    def now(self) -> str:
        """How it would end; "" where that is not known."""
        return str((self.found.today.get("reply") or {}).get("outcome") or "") if self.found else ""

    @property
    def is_same(self) -> bool:
        """True if answer, outcome and what is found of its claims are as they were."""
        return self.found is not None and self.found.is_same

    @property
    def lines(self) -> tuple[str, ...]:
        """How the answer's words differ, a line each that begins with +, - or a blank."""
        stages = self.found.stages if self.found else ()
        rows = [row for stage in stages if stage.name == "reply" for row in stage.rows]
        return tuple(line for row in rows if row.what == "answer" for line in row.lines)

    def as_json(self) -> dict[str, Any]:
        return {
            "entry_id": self.entry.entry_id,
            "seq": self.entry.seq,
            "at": self.entry.at,
            "question": self.question,
            "same": self.is_same if self.found else None,
            "then": self.then or None,
            "now": self.now or None,
            "differing": list(self.found.differing) if self.found else [],
            "lines": list(self.lines),
            "error": self.why or None,
        }


async def todays(system: System, desk: Desk, wanted: DeskSearch, size: int) -> AsyncIterator[TodaysTurn]:
    """The newest `size` turns of a search, each with what it would be today; those before the entry `wanted.before`, if it is given; none of a search for entries of another kind. No model is asked. Raises StoreError, ServiceError."""
    if wanted.kind not in ("", TURN, EVERY):
        return
    found = await desk.find(replace(wanted, kind=TURN), size)
    for row in found.rows:
        entry = await system.ledger.get(row.entry_id)
        if entry is None:
            continue
        older = found.older or row is not found.rows[-1]
        try:
            yield TodaysTurn(entry, await replayed(system, entry), older=older)
        except InputError as error:
            yield TodaysTurn(entry, None, str(error), older)
