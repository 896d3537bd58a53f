"""What happened by day, counted as the index is made: figures of a year are read without looking at an entry. Those of some people are counted from their entries when they are asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, String, and_, cast, func, literal, select
from sqlalchemy.dialects.sqlite import insert

from bot.desk.conditions import conditions
from bot.desk.rows import FEEDBACK, SCREEN
from bot.desk.search import DeskSearch
from bot.desk.tables import CLAIMS, DAILY, ENTRIES, SAID, SORTS
from bot.events.kinds import EVERY, VERDICT

OUTCOME, MS, STRUCK, REFUSED = "outcome", "ms", "struck", "refused"
"""What is counted beside feedback and verdicts: turns by outcome, by time, by the rule that struck something, by the rule that refused."""
STEP = 1.1
"""Times are kept to a tenth: each as the next power of this."""


@dataclass(frozen=True, slots=True)
class DailyNumber:
    """So many of `name` on a day."""

    day: str
    what: str
    name: str
    number: int


def rounded_up(ms: float) -> int:
    """A time in milliseconds as it is counted: at most a tenth more. -1 for one that is not known."""
    return -1 if ms <= 0 else math.ceil(STEP ** math.ceil(math.log(ms, STEP) - 1e-9))


def percentile(times: Mapping[int, int], share: float) -> int | None:
    """The time within which `share` of all lie, of times with how often each is; None without any."""
    left = math.ceil(share * sum(times.values()))
    for ms, number in sorted(times.items()):
        left -= number
        if left <= 0 and number:
            return ms
    return None


def tally(connection: Connection, of: Mapping[str, ColumnElement[bool]], sign: int) -> None:
    """Adds (1), or takes away again (-1), what these entries count. `of`: the same entries as a condition on each of the tables `entries`, `claims` and `said`."""
    for counted in _counted(of):
        rows = counted.subquery()
        query = select(rows.c.day, rows.c.what, rows.c.name, sign * func.count()).where(rows.c.day != "")
        made = insert(DAILY).from_select(
            ["day", "what", "name", "number"], query.group_by(rows.c.day, rows.c.what, rows.c.name)
        )
        connection.execute(
            made.on_conflict_do_update(
                index_elements=["day", "what", "name"], set_={"number": DAILY.c.number + made.excluded.number}
            )
        )


def numbers(connection: Connection, since: str, until: str, among: frozenset[str] | None = None) -> list[DailyNumber]:
    """What was counted from one day to another, both included; with `among` of the turns of these people alone, and of what was said of them."""
    if among is not None:
        return _among(connection, DeskSearch(since=since, until=until, among=among))
    query = select(DAILY).where(DAILY.c.day >= since, DAILY.c.day <= until, DAILY.c.number > 0)
    return [DailyNumber(*row) for row in connection.execute(query.order_by(DAILY.c.day))]


def _among(connection: Connection, wanted: DeskSearch) -> list[DailyNumber]:
    """The same as it is for the turns of a search."""
    found = []
    turns = and_(*conditions(connection, replace(wanted, kind="turn")))
    every = and_(*conditions(connection, replace(wanted, kind=EVERY)))
    for counted in _counted({ENTRIES.name: turns, CLAIMS.name: turns, SAID.name: every}):
        rows = counted.subquery()
        query = select(rows.c.day, rows.c.what, rows.c.name, func.count()).where(rows.c.day != "")
        grouped = query.group_by(rows.c.day, rows.c.what, rows.c.name).order_by(rows.c.day)
        found += [DailyNumber(*row) for row in connection.execute(grouped)]
    return sorted(found, key=lambda each: each.day)


def _counted(of: Mapping[str, ColumnElement[bool]]) -> Iterator[Select[tuple[Any, ...]]]:
    c, day = ENTRIES.c, func.substr(ENTRIES.c.at, 1, 10).label("day")
    turns = (c.kind == "turn", c.erased.is_(False))
    yield select(day, literal(OUTCOME).label("what"), c.outcome.label("name")).where(*turns, of["entries"])
    time = cast(c.ms, String).label("name")
    yield select(day, literal(MS).label("what"), time).where(*turns, c.ms > 0, of["entries"])
    struck = select(day, literal(STRUCK).label("what"), SORTS.c.rule.label("name")).join(CLAIMS, CLAIMS.c.seq == c.seq)
    struck = struck.join(SORTS, SORTS.c.id == CLAIMS.c.of).where(SORTS.c.struck.is_(True), of["claims"])
    yield struck.distinct().add_columns(c.seq)
    refused = select(day, literal(REFUSED).label("what"), SORTS.c.rule.label("name"))
    refused = refused.join(CLAIMS, CLAIMS.c.seq == c.seq).join(SORTS, SORTS.c.id == CLAIMS.c.of)
    yield refused.where(SORTS.c.kind == SCREEN, of["claims"]).add_columns(c.seq)
    said = select(day, SAID.c.what.label("what"), SAID.c.value.label("name")).join(SAID, SAID.c.seq == c.seq)
    yield said.where(SAID.c.what.in_((FEEDBACK, VERDICT)), of["said"])
