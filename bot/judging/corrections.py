"""Judged turns as rows of `turns.jsonl`, which `attest eval turns` asks again: a mistake that was found once is looked for ever after."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.desk.index import Desk
from bot.desk.search import ANY, DeskSearch
from bot.judging.verdict import Assessment, last_verdict
from rai.claims.find import find_values
from rai.ports import Ledger
from rai.records import Entry

KIND = "corrected"
"""The kind under which the suite counts these rows."""
NO_ANSWER = "no corrected answer was given"
NO_FACT = "the corrected answer has no value in it; name what a right answer says under Facts"


@dataclass(frozen=True, slots=True)
class CorrectedTurn:
    """A judged turn. `row`: the row that asks it again, None with `why` where none can be made; `groups`: those that it read with."""

    entry_id: str
    row: dict[str, Any] | None
    groups: tuple[str, ...] = ()
    why: str = ""


async def corrected(ledger: Ledger, desk: Desk, wanted: DeskSearch) -> AsyncIterator[CorrectedTurn]:
    """The judged turns of a search, the newest first, that say what should have been done: those with a corrected answer or facts, and those that should not have been answered.

    Who asked is not among it: a turn that read with rights names a reader, who stands for everybody with the same groups. Raises StoreError.
    """
    await desk.follow(ledger)
    readers: dict[tuple[str, ...], str] = {}
    async for found in desk.rows(replace(wanted, verdict=wanted.verdict or ANY)):
        turn = await ledger.get(found.row.entry_id)
        verdict = await last_verdict(ledger, desk, found.row.entry_id)
        said = Assessment.recorded(verdict.body) if verdict is not None else None
        if turn is None or said is None or (said.verdict == "right" and not (said.correction or said.facts)):
            continue
        groups = tuple(sorted(str(name) for name in _object(turn.body.get("access")).get("groups") or ()))
        reader = readers.setdefault(groups, f"reader-{len(readers) + 1}") if groups else None
        yield replace(corrected_turn(turn, said, reader), groups=groups)


def corrected_turn(turn: Entry, said: Assessment, reader: str | None) -> CorrectedTurn:
    """The row of one judged turn. `reader`: the name under which it is asked, None for what everyone may read."""
    ask = _object(turn.body.get("ask"))
    unanswerable = said.verdict == "should_refuse" and not said.correction
    facts = () if unanswerable else said.facts or facts_in(said.correction)
    if not unanswerable and not facts:
        return CorrectedTurn(turn.entry_id, None, why=NO_FACT if said.correction else NO_ANSWER)
    row = {
        "id": turn.entry_id,
        "kind": KIND,
        "as": reader,
        "history": [{"role": t.get("role"), "text": t.get("text")} for t in ask.get("history") or ()],
        "question": str(ask.get("question") or ""),
        "expect": "insufficient" if unanswerable else "answered",
        "parts": [{"must": [list(fact) for fact in facts], "must_not": list(said.wrong)}],
        "doc": list(said.documents),
    }
    return CorrectedTurn(turn.entry_id, row)


def facts_in(answer: str) -> tuple[tuple[str, ...], ...]:
    """The values of an answer, each as it is written there: what can be looked for in another one."""
    return tuple((text,) for text in dict.fromkeys(answer[v.start : v.end] for v in find_values(answer)))


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
