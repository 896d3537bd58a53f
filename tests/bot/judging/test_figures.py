"""Figures by day and week: what is counted, and that it stays what the index holds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest

from bot.desk.daily import DailyNumber, percentile, rounded_up
from bot.desk.index import Desk
from bot.desk.search import DeskSearch
from bot.judging.figures import Span, figures
from rai.ledger.store import SqlLedger
from tests.bot.desk.test_index import turn
from tests.fakes.ledger import FakeLedger

TODAY = date(2026, 11, 27)
EVER = ("0000-01-01", "9999-12-31")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path / "home" / "review.db")
    yield made
    await made.close()


async def filled(ledger: FakeLedger | SqlLedger) -> list[str]:
    """Ids of three turns: answered, repaired with something struck, unanswered; and a thumb."""
    struck = turn("What does it cost?", outcome="repaired")
    claims = [
        {"kind": kind, "status": "absent", "rule": "role", "start": 0, "end": 1, "text": "€9"}
        for kind in ("money", "phone")
    ]
    struck["reply"]["draft"] = {"text": "It costs €9.", "claims": claims}
    slow = turn("Do you ship to Iceland?", outcome="insufficient")
    slow["reply"]["timings_ms"] = {"total": 2_000.0}
    made = [(await ledger.append("turn", body)).entry_id for body in (turn("When?"), struck, slow)]
    said = {"schema": 2, "user": "ada", "channel": "teams", "entry_id": made[0], "reaction": "dislike", "text": ""}
    await ledger.append("feedback", said)
    return made


async def test_what_is_counted_of_some_people_is_what_the_index_counted_of_them(desk: Desk) -> None:
    ledger = FakeLedger()
    await filled(ledger)
    every = {(each.day, each.what, each.name): each.number for each in await followed(desk, ledger)}
    theirs = {(d.day, d.what, d.name): d.number for d in await desk.daily(*EVER, frozenset({"ada"}))}
    assert {what for _, what, _ in every} == {"outcome", "ms", "struck", "feedback"}
    assert theirs == every
    await ledger.append("turn", turn("And mine?", "ben"))
    assert len(await followed(desk, ledger)) == len(every), "one number more, no further one"
    assert {(d.day, d.what, d.name): d.number for d in await desk.daily(*EVER, frozenset({"ada"}))} == every
    (day,) = {day for day, *_ in every}
    assert await desk.daily(day, day, frozenset({"ada"})) == await desk.daily(*EVER, frozenset({"ada"}))
    assert await desk.daily("2020-01-01", "2020-01-02", frozenset({"ada"})) == []
    assert {d.number for d in await desk.daily(*EVER, frozenset({"ben"})) if d.what == "outcome"} == {1}
    assert await desk.daily(*EVER, frozenset()) == []


async def followed(desk: Desk, ledger: FakeLedger) -> list[DailyNumber]:
    await desk.follow(ledger)
    return await desk.daily(*EVER)


async def counted(desk: Desk) -> dict[tuple[str, str], int]:
    return {(each.what, each.name): each.number for each in await desk.daily(*EVER)}


async def test_what_happened_is_counted_by_day_and_by_week(desk: Desk) -> None:
    ledger = FakeLedger()
    await filled(ledger)
    await desk.follow(ledger)
    for by, periods, at in (("day", 3, "2026-11-20"), ("week", 2, "2026-11-16")):
        found = (
            await figures(desk, Span.of("2026-11-20", "2026-11-22" if by == "day" else "2026-11-23", by))
        ).as_json()
        place = found["periods"].index(at)
        assert len(found["periods"]) == periods
        assert found["outcome"]["Answered"][place] == found["outcome"]["Repaired"][place] == 1
        assert found["struck"]["role"][place] == 1, "one turn, though two values"
        assert found["unanswered"]["Do you ship to Iceland?"][place] == 1
        assert found["feedback"]["thumbs down"][place] == 1
        assert found["ms"]["19 of 20 turns within"][place] == rounded_up(2_000)
    assert (await figures(desk, Span.of("2026-11-21", "2026-11-22", "day"))).as_json()["struck"] == {}


async def test_figures_are_those_of_what_the_index_holds_after_an_erasure_and_when_it_is_made_anew(
    desk: Desk, tmp_path: Path
) -> None:
    ledger = SqlLedger(tmp_path / "home" / "ledger.db", tmp_path / "ledger.key")
    made = await filled(ledger)
    await desk.follow(ledger)
    before = await counted(desk)
    assert (before[("outcome", "repaired")], before[("struck", "role")], before[("feedback", "dislike")]) == (1, 1, 1)
    await ledger.erase([made[1]], "asked for")
    await desk.settle(ledger)
    await desk.follow(ledger)
    after = await counted(desk)
    assert ("struck", "role") not in after
    assert ("outcome", "repaired") not in after
    await desk.close()
    (tmp_path / "home" / "review.db").unlink()
    await desk.follow(ledger)
    assert await counted(desk) == after
    assert (await desk.count(DeskSearch(kind="turn"))).total == 3
    await ledger.close()


async def test_rows_that_are_taken_away_are_counted_no_more(desk: Desk) -> None:
    ledger, other = FakeLedger(), FakeLedger()
    await filled(ledger)
    await desk.follow(ledger)
    await other.append("turn", turn("Another ledger"))
    await desk.follow(other)
    assert {name: n for (what, name), n in (await counted(desk)).items() if what == "outcome"} == {"answered": 1}


@pytest.mark.parametrize(
    ("given", "since", "until", "by"),
    [
        (("", "", ""), "2026-10-29", "2026-11-27", "day"),
        (("2026-11-01", "2026-11-07", "week"), "2026-11-01", "2026-11-07", "week"),
        (("2026-11-07", "2026-11-01", "day"), "2026-11-01", "2026-11-07", "day"),
        (("2026-01-01", "", "day"), "2026-01-01", "2026-11-27", "week"),
        (("0001-01-01", "2026-11-27", "day"), "2023-11-25", "2026-11-27", "week"),
        (("x", "2026-13-01", "year"), "2026-10-29", "2026-11-27", "day"),
        (("0001-01-01", "0001-01-02", "week"), "0001-01-01", "0001-01-02", "week"),
        (("9999-12-30", "9999-12-31", "week"), "9999-12-30", "9999-12-31", "week"),
    ],
)
def test_a_span_is_read_from_what_is_given(given: tuple[str, str, str], since: str, until: str, by: str) -> None:
    span = Span.of(*given, today=TODAY)
    assert (span.since.isoformat(), span.until.isoformat(), span.by) == (since, until, by)
    assert span.period_of(until) == span.periods[-1]


def test_times_are_kept_to_a_tenth() -> None:
    for ms in (0.4, 1, 9, 10, 99.5, 1_234, 60_000):
        assert ms <= rounded_up(ms) <= ms * 1.1 + 1
    assert rounded_up(0) == -1
    assert percentile({10: 19, 500: 1}, 0.95) == 10
    assert percentile({10: 19, 500: 1}, 0.96) == 500
    assert percentile({}, 0.5) is None


@pytest.mark.parametrize(
    ("since", "until", "says"),
    [
        ("", "", []),
        ("2026-11-01", "2026-11-20", []),
        ("2026-11-20", "2026-11-01", ["the first day was after the last: they changed places"]),
        ("2020-01-01", "2026-11-20", ["at most 3 years are shown, those up to 2026-11-20"]),
        ("soon", "2026-11-20", ["“soon” is no day"]),
    ],
)
def test_a_span_says_what_it_made_of_the_days_that_were_asked_for(since: str, until: str, says: list[str]) -> None:
    assert list(Span.of(since, until, "", today=TODAY).instead_of(since, until)) == says
