"""Judged turns as rows of `turns.jsonl`, which `attest eval turns` asks again: a mistake that was found once is looked for ever after."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from bot.desk.index import Desk
from bot.desk.search import ANY, DeskSearch
from bot.judging.verdict import Assessment, last_verdict
from bot.view.reply import DELIVERED
from rai.claims.find import find_values
from rai.ports import Ledger
from rai.records import Entry, Kind, Outcome

KIND = "corrected"
"""The kind under which the suite counts these rows."""
NO_ANSWER = "no corrected answer was given"
NO_FACT = "the corrected answer has no value in it; name what a right answer says under Facts"
NO_ROW = "it was rightly refused, withheld or not reworked, and no row can expect that"
FACT_KINDS: frozenset[Kind] = frozenset(
    {"number", "quantity", "money", "percent", "date", "time", "url", "email", "phone"}
)
"""Kinds of values that are facts of a corrected answer. Names and codes are none: what was asked about stands in a wrong answer as well."""
_Expect = Literal["answered", "insufficient", "ask_back", "smalltalk"]


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
    expect = _expected(said, _object(turn.body.get("reply")))
    if expect is None:
        return CorrectedTurn(turn.entry_id, None, why=NO_ROW)
    facts = (said.facts or facts_in(said.correction)) if expect in ("answered", "ask_back") else ()
    if expect == "answered" and not facts:
        return CorrectedTurn(turn.entry_id, None, why=NO_FACT if said.correction else NO_ANSWER)
    row = {
        "id": turn.entry_id,
        "kind": KIND,
        "as": reader,
        "history": [{"role": t.get("role"), "text": t.get("text")} for t in ask.get("history") or ()],
        "question": str(ask.get("question") or ""),
        "expect": expect,
        "parts": [{"must": [list(fact) for fact in facts], "must_not": list(said.wrong)}],
        "doc": list(said.documents),
    }
    return CorrectedTurn(turn.entry_id, row)


def _expected(said: Assessment, reply: Mapping[str, Any]) -> _Expect | None:
    """What a row expects of a turn that is asked again; None where no row can. What was right is expected once more."""
    if said.verdict == "should_refuse":
        return "insufficient"  # whatever stands under the answer as it should have been: the words of a refusal
    if said.verdict != "right":
        return "answered"
    if reply.get("intent"):
        return "smalltalk" if reply["intent"] != "rework" else None
    if reply.get("clarification"):
        return "ask_back"
    if reply.get("outcome") == Outcome.INSUFFICIENT:
        return "insufficient"
    return "answered" if reply.get("outcome") in DELIVERED else None


def facts_in(answer: str) -> tuple[tuple[str, ...], ...]:
    """The numbers, amounts, dates, times and contacts of an answer, each as it is written there: what can be looked for in another one."""
    found = [answer[v.start : v.end] for v in find_values(answer) if v.kind in FACT_KINDS]
    return tuple((text,) for text in dict.fromkeys(found))


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
