"""The index of the desk beside a ledger: it follows, finds, forgets and is made anew."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import sqlite3
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.desk import sql
from bot.desk.index import BATCH, HELD_S, MOST_AT_ONCE, Desk, Draw, batch_after, finished
from bot.desk.search import DeskSearch
from grounding.bounded.pool import Pool, Run
from grounding.errors import ServiceUnavailable, StoreError, WorkFailed
from rai.ledger.store import SqlLedger
from rai.records import Entry
from tests.fakes.ledger import FakeLedger
from tests.fakes.recorded_turn import recorded_turn


def turn(question: str, user: str = "ada", outcome: str = "answered", **other: Any) -> dict[str, Any]:
    body = deepcopy(recorded_turn()) | {"delivery": "follows"} | other
    body["ask"] |= {"question": question, "user": user}
    body["actor"]["user"] = user
    body["reply"]["outcome"] = outcome
    return body


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[SqlLedger]:
    made = SqlLedger(tmp_path / "home" / "ledger.db", tmp_path / "ledger.key")
    yield made
    await made.close()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path / "home" / "review.db")
    yield made
    await made.close()


async def ids(desk: Desk, wanted: DeskSearch) -> list[str]:
    return [row.entry_id for row in (await desk.find(wanted)).rows]


async def seqs(desk: Desk, **wanted: Any) -> list[int]:
    return [row.seq for row in (await desk.find(DeskSearch(**wanted))).rows]


async def test_every_condition_finds_what_it_says(desk: Desk, ledger: SqlLedger) -> None:
    first = await ledger.append("turn", turn("When do kettles arrive?"))
    struck = turn("What does a kettle cost?", "Bo", "repaired")
    claim = {"kind": "money", "status": "absent", "rule": "role", "start": 0, "end": 1, "text": "€9"}
    struck["reply"]["draft"] = {"text": "It costs €9.", "claims": [claim]}
    second = await ledger.append("turn", struck)
    other = turn("Do you sell lamps?")
    other["evidence"], other["reply"]["citations"], other["ask"]["product"] = [], [], "Lamp"
    third = await ledger.append("turn", other)
    said = {"schema": 2, "user": "ada", "channel": "teams"}
    await ledger.append("feedback", said | {"entry_id": first.entry_id, "reaction": "like", "text": "thanks a lot"})
    await ledger.append("feedback", said | {"entry_id": first.entry_id, "reaction": "dislike", "text": ""})
    await ledger.append(
        "delivery", {"schema": 2, "entry_id": first.entry_id, "channel": "teams", "delivered": "2026-11-25T09:00:00Z"}
    )
    await ledger.append("refusal_report", said | {"entry_id": third.entry_id, "comment": "why?"})
    assert (await desk.follow(ledger)).is_whole
    one, two, three = ([e.seq] for e in (first, second, third))
    for wanted, found in (
        ({"words": "kettle"}, two),
        ({"words": "KETTL*"}, two + one),
        ({"words": '"kettles arrive"'}, one),
        ({"words": '"arrive kettles"'}, []),
        ({"words": "lamps sell"}, three),
        ({"words": '" OR NEAR( ^'}, []),
        ({"words": "* ("}, []),
        ({"words": "costs €9"}, two),
        ({"user": "BO "}, two),
        ({"outcome": "repaired"}, two),
        ({"status": "absent"}, two),
        ({"status": "unsupported", "claim": "money", "rule": "role"}, two),
        ({"status": "absent", "claim": "time"}, []),
        ({"struck": "yes"}, two),
        ({"document": "hours.md"}, two + one),
        ({"document": "hours.md", "version": "other"}, []),
        ({"document": "other.md"}, []),
        ({"product": "lamp"}, three),
        ({"feedback": "dislike"}, one),
        ({"feedback": "like"}, []),
        ({"feedback": "reported"}, three),
        ({"arrived": "no"}, three + two),
        ({"entry": first.entry_id.lower()}, one),
        ({"kind": "feedback", "words": "thanks"}, [first.seq + 3]),
        ({"since": first.at[:10], "until": first.at[:10], "kind": "turn"}, three + two + one),
        ({"until": "2020-01-01"}, []),
        ({"since": "2199-01-01"}, []),
    ):
        assert await seqs(desk, **wanted) == found, wanted
    await ledger.append("refusal_decision", {"schema": 2, "entry_id": third.entry_id, "decision": "wrong", "note": "n"})
    await desk.follow(ledger)
    assert await seqs(desk, feedback="reported") == []
    assert await seqs(desk, feedback="wrong") == three
    counts = await desk.count(DeskSearch(kind="turn"))
    assert (counts.by_outcome, counts.total, counts.more) == ({"answered": 2, "repaired": 1}, 3, False)


async def test_quiet_entries_and_contents_are_left_out_until_they_are_asked_for(desk: Desk, ledger: SqlLedger) -> None:
    made = await ledger.append("turn", turn("x"))
    await ledger.append("delivery", {"schema": 2, "entry_id": made.entry_id, "channel": "cli", "failed": "500"})
    await desk.follow(ledger)
    kinds = {row.kind for row in (await desk.find(DeskSearch())).rows}
    assert kinds == {"genesis", "turn"}
    assert "delivery" in {row.kind for row in (await desk.find(DeskSearch(kind="all"))).rows}
    assert (await desk.find(DeskSearch(arrived="no"))).rows[0].arrived == "failed 500"


async def test_pages_follow_each_other_without_gap_or_repetition(desk: Desk) -> None:
    ledger = FakeLedger()
    for n in range(60):
        await ledger.append("turn", turn(f"question {n}"))
    await desk.follow(ledger)
    seen, before = list[int](), 0
    while True:
        found = await desk.find(DeskSearch(words="question", before=before))
        seen += [row.seq for row in found.rows]
        if not found.older:
            break
        before = found.rows[-1].seq
    assert seen == list(range(60, 0, -1))
    assert [row.row.seq async for row in desk.rows(DeskSearch(words="question"))] == seen


async def test_it_follows_what_is_new_and_reads_nothing_twice(desk: Desk) -> None:
    ledger = FakeLedger()
    for n in range(250):
        await ledger.append("turn", turn(f"question {n}"))
    reach = await desk.follow(ledger, budget_s=0)
    assert 0 < reach.seq < reach.last == 250
    assert (await desk.follow(ledger)).is_whole
    await ledger.append("turn", turn("the last of all"))
    assert (await desk.follow(ledger)).seq == 251
    assert await seqs(desk, words="last") == [251]
    assert await desk.check(ledger) == 0


async def test_a_day_is_found_whatever_the_clock_did(desk: Desk) -> None:
    """The clock was set back by two days in between: entries of the days before stand behind later ones."""
    ledger = FakeLedger()
    days = ["01", "02", "05", "03", "03", "05", "06", "07"]
    for n, day in enumerate(days):
        entry = await ledger.append("turn", turn(f"question {n}"))
        ledger.kept[-1] = replace(entry, at=f"2026-11-{day}T12:00:00Z")
    await desk.follow(ledger)
    for since, until in (("03", "03"), ("02", "05"), ("05", "05"), ("06", "09"), ("01", "01")):
        expected = [n for n, day in enumerate(days, 1) if since <= day <= until]
        found = await seqs(desk, since=f"2026-11-{since}", until=f"2026-11-{until}")
        assert found == expected[::-1], (since, until)


async def test_what_is_not_as_in_the_ledger_is_read_anew(desk: Desk, tmp_path: Path) -> None:
    ledger, other = FakeLedger(), FakeLedger()
    for n in range(3):
        await ledger.append("turn", turn(f"old question {n}"))
        await other.append("turn", turn(f"new question {n}"))
    await desk.follow(ledger)
    reach = await desk.follow(other)
    assert (reach.seq, reach.rebuilt) == (3, 3)
    assert await seqs(desk, words="old") == []
    assert await seqs(desk, words="new") == [3, 2, 1]


async def test_an_old_part_that_differs_is_found_by_the_check_of_all(desk: Desk, tmp_path: Path) -> None:
    ledger = FakeLedger()
    for n in range(2_100):
        await ledger.append("start", {"schema": 2, "program": str(n)})
    await desk.follow(ledger)
    with closing(sqlite3.connect(tmp_path / "home" / "review.db")) as db, db:
        db.execute("DELETE FROM entries WHERE seq = 1500")
    assert (await desk.follow(ledger)).rebuilt == 0
    assert await desk.check(ledger) == 2_100 - 999 - 1
    await desk.follow(ledger)
    assert await desk.check(ledger) == 0
    assert (await desk.count(DeskSearch(kind="start"))).total == 2_100


@pytest.mark.parametrize("content", [b"this is no database at all" * 100, b"SQLite format 3\x00" + bytes(4000)])
async def test_a_file_that_is_damaged_or_of_another_form_is_made_anew(
    tmp_path: Path, ledger: SqlLedger, content: bytes
) -> None:
    path = tmp_path / "home" / "review.db"
    path.write_bytes(content)
    await ledger.append("turn", turn("kettles"))
    desk = Desk(path)
    await desk.follow(ledger)
    assert len(await seqs(desk, words="kettles")) == 1
    await desk.close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE about SET value = 'older' WHERE name = 'form'")
    desk = Desk(path)
    assert (await desk.find(DeskSearch(kind="all"))).rows == ()
    await desk.close()
    assert path.stat().st_mode & 0o777 == 0o600


def spoiled(path: Path) -> None:
    """Overwrite the middle of the file, beyond what opening it reads."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 3)
        file.write(b"\xa5" * (size // 3))


def without_a_row(path: Path) -> None:
    """Take a row of entries away and leave its words."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM entries WHERE seq = 40")


def without_a_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TABLE said")


@pytest.mark.parametrize("harm", [spoiled, without_a_row, without_a_table])
async def test_a_file_that_is_harmed_inside_is_made_anew(
    harm: Callable[[Path], None], tmp_path: Path, ledger: SqlLedger
) -> None:
    path = tmp_path / "home" / "review.db"
    for n in range(60):
        await ledger.append("turn", turn(f"kettle {n}"))
    desk = Desk(path)
    whole = await everything(desk, ledger)
    await desk.close()
    harm(path)
    desk = Desk(path)
    try:
        await desk.check(ledger)
        assert await everything(desk, ledger) == whole
        assert await desk.check(ledger) == 0
    finally:
        await desk.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET outcome = 'blocked', user = 'mallory' WHERE seq = 40",
        "UPDATE entries SET title = 'another' WHERE seq = 1040",
        "UPDATE words SET answered = 'another' WHERE rowid = 1040",
        "DELETE FROM documents WHERE seq = 40",
        "UPDATE documents SET quoted = 0 WHERE seq = 40",
        "DELETE FROM claims WHERE seq = 1040",
    ],
)
async def test_a_row_that_was_changed_is_found_by_reading_the_ledger_again(
    change: str, desk: Desk, tmp_path: Path
) -> None:
    ledger = FakeLedger()
    for n in range(1_060):
        await ledger.append("turn", turn(f"question {n}") if n in (39, 1_039) else {"n": n})
    await desk.follow(ledger)
    assert [await desk.compare(ledger) for _ in range(3)] == [0, 0, 0]
    with closing(sqlite3.connect(tmp_path / "home" / "review.db")) as db, db:
        db.execute(change)
    assert sum([await desk.compare(ledger) for _ in range(2)]) > 0
    await desk.follow(ledger)
    assert [await desk.compare(ledger) for _ in range(2)] == [0, 0]
    assert await seqs(desk, user="mallory") == []
    assert await seqs(desk, words="another") == []


async def test_what_was_erased_is_as_in_the_ledger(desk: Desk, ledger: SqlLedger) -> None:
    made = [await ledger.append("turn", turn(f"kettle {n}")) for n in range(3)]
    await ledger.append("feedback", {"schema": 2, "entry_id": made[0].entry_id, "reaction": "like"})
    await desk.follow(ledger)
    await ledger.erase([made[1].entry_id], "request")
    assert await desk.compare(ledger) == 0
    await desk.follow(ledger)
    assert await desk.compare(ledger) == 0


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_file_that_is_taken_away_is_made_anew_while_it_is_in_use(
    replaced: bool, tmp_path: Path, desk: Desk, ledger: SqlLedger
) -> None:
    path = tmp_path / "home" / "review.db"
    await ledger.append("turn", turn("kettles"))
    whole = await everything(desk, ledger)
    for file in path.parent.glob("review.db*"):
        file.unlink()
    if replaced:
        other = Desk(path)
        await other.follow(ledger)
        await other.close()
    assert await everything(desk, ledger) == whole
    again = Desk(path)
    assert [row.as_json() async for row in again.rows(DeskSearch(kind="all"))] == whole
    await again.close()


async def test_nothing_of_what_was_erased_stays_in_the_file(desk: Desk, ledger: SqlLedger, tmp_path: Path) -> None:
    """Neither in the tables nor among the words, whether the index followed before or behind the erasure, also beside words that stay."""
    names = [
        hashlib.sha256(str(n).encode()).hexdigest()[:20] for n in range(120)
    ]  # words share their beginnings in the file
    erased = []
    for n, name in enumerate(names):
        made = await ledger.append("turn", turn(f"{name} asks about kettles", f"person-{name}"))
        erased += [made.entry_id] if n % 3 == 0 else []
        if n % 40 == 0:
            await desk.follow(ledger)
    await desk.follow(ledger)
    await ledger.erase(erased, "request")
    assert await desk.settle(ledger) == len(erased)
    path = tmp_path / "home" / "review.db"
    content = path.read_bytes() + path.with_name("review.db-wal").read_bytes()
    for n, name in enumerate(names):
        there = name[6:].encode() in content  # nor what is left of a word behind a beginning that it shares
        assert there is (n % 3 != 0), n
    assert len(await seqs(desk, words=names[0])) == 0
    assert await seqs(desk, entry=erased[0]), "that there was an entry stays"
    await desk.follow(ledger)
    assert await desk.check(ledger) == 0
    assert await desk.settle(ledger) == 0


async def test_a_document_that_erased_entries_alone_used_is_forgotten_with_them(
    desk: Desk, ledger: SqlLedger, tmp_path: Path
) -> None:
    """Documents and sorts of claims stand once in the index, whoever used them: an address of the web can hold what was asked."""
    shared, own = (turn(f"{name} asks about kettles") for name in ("Ada", "Zebedea"))
    own["evidence"][0] |= {"doc_id": "https://search.example/zebedea", "origin": "web"}
    own["reply"]["claims"][0]["rule"] = "zebedeas-rule"
    both = [await ledger.append("turn", body) for body in (shared, own)]
    await desk.follow(ledger)
    assert await seqs(desk, document="https://search.example/zebedea", use="evidence")
    assert await seqs(desk, rule="zebedeas-rule")
    await ledger.erase([both[1].entry_id], "request")
    await desk.follow(ledger)
    path = tmp_path / "home" / "review.db"
    assert b"zebedea" not in path.read_bytes() + path.with_name("review.db-wal").read_bytes()
    assert await seqs(desk, document="hours.md") == await seqs(desk, rule="verbatim") == [both[0].seq]
    assert await desk.similar_documents("search.example") == []


async def test_the_beginning_of_a_version_is_enough(desk: Desk, ledger: SqlLedger) -> None:
    made = await ledger.append("turn", turn("kettles"))
    version = made.body["evidence"][0]["version"]
    await desk.follow(ledger)
    for said in (version, version[:8]):
        assert await seqs(desk, document="hours.md", version=said) == [made.seq]
    assert await seqs(desk, document="hours.md", version=f"{version[:7]}%") == []


async def test_following_an_erasure_empties_too(desk: Desk, ledger: SqlLedger, tmp_path: Path) -> None:
    made = await ledger.append("turn", turn("Zebedea asks about kettles"))
    report = await ledger.append(
        "delivery", {"schema": 2, "entry_id": made.entry_id, "channel": "teams", "failed": "500"}
    )
    await desk.follow(ledger)
    await ledger.erase([report.entry_id], "request")
    await desk.follow(ledger)
    assert (await desk.find(DeskSearch(words="zebedea"))).rows[0].arrived == "recorded"
    await ledger.erase([made.entry_id], "request")
    await desk.follow(ledger)
    assert b"zebedea" not in (tmp_path / "home" / "review.db").read_bytes().lower()
    assert (await desk.find(DeskSearch(kind="turn"))).rows[0].erased


async def test_what_is_erased_between_reading_and_writing_is_not_written(
    desk: Desk, ledger: SqlLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await ledger.append("turn", turn("Zebedea asks about kettles"))
    each = ledger.each

    async def erased_meanwhile(*asked: Any, **named: Any) -> list[Any]:
        rows = await each(*asked, **named)
        monkeypatch.setattr(ledger, "each", each)
        await ledger.erase([made.entry_id], "request")
        return rows

    monkeypatch.setattr(ledger, "each", erased_meanwhile)
    await desk.follow(ledger, budget_s=0)
    assert await ids(desk, DeskSearch(words="zebedea")) == []
    assert (await desk.find(DeskSearch(kind="turn"))).rows[0].erased
    assert b"zebedea" not in (tmp_path / "home" / "review.db").read_bytes().lower()
    assert b"zebedea" not in (tmp_path / "home" / "review.db-wal").read_bytes().lower()


async def everything(desk: Desk, ledger: SqlLedger) -> list[dict[str, Any]]:
    assert (await desk.follow(ledger)).is_whole
    return [row.as_json() async for row in desk.rows(DeskSearch(kind="all"))]


async def no_process(*_asked: Any, **_named: Any) -> Any:
    raise ServiceUnavailable("text worker", "no process can be started")


async def dies(*_asked: Any, **_named: Any) -> Any:
    raise WorkFailed("its process ended by itself")


@pytest.mark.parametrize("how", ["process", "none can be started", "dies"])
async def test_entries_that_another_process_reads_are_the_same(
    how: str, desk: Desk, ledger: SqlLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(2 * BATCH):
        await ledger.append("turn", turn(f"question {n}", user=f"person-{n % 7}"))
    here = await everything(desk, ledger)
    monkeypatch.setattr("bot.desk.index.MANY", 10)
    pool, sent = Pool(), list[str]()

    async def run(function: Callable[..., Any], /, *asked: Any, **named: Any) -> Any:
        sent.append(function.__name__)
        other: Run = {"process": pool.run, "none can be started": no_process, "dies": dies}[how]
        return await other(function, *asked, **named)

    others = Desk(tmp_path / "others.db", run)
    reached = list[int]()
    try:
        await others.follow(ledger, on_reach=lambda reach: reached.append(reach.seq))
        assert await everything(others, ledger) == here
        assert await others.check(ledger) == 0
    finally:
        await others.close()
        pool.close()
    assert sent
    assert reached == sorted(reached)
    assert len(reached) > 1


@pytest.fixture
def nothing_frozen() -> Iterator[None]:
    """The suite leaves its own heap out of the collector's rounds."""
    frozen = gc.get_freeze_count()
    gc.unfreeze()
    yield
    if frozen:
        gc.freeze()


async def frozen_while_following(desk: Desk, entries: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """The most objects that the collector leaves out while so many entries are followed."""
    ledger, frozen = FakeLedger(), list[int]()
    for n in range(entries):
        await ledger.append("start", {"n": n})
    each = ledger.each

    async def looked(*asked: Any, **named: Any) -> list[Any]:
        frozen.append(gc.get_freeze_count())
        return await each(*asked, **named)

    monkeypatch.setattr(ledger, "each", looked)
    await desk.follow(ledger)
    return max(frozen)


@pytest.mark.usefixtures("nothing_frozen")
async def test_the_collector_is_spared_only_while_many_are_followed(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await frozen_while_following(desk, 3, monkeypatch) == 0
    many = Desk(tmp_path / "many.db")
    assert await frozen_while_following(many, 3 * BATCH, monkeypatch) > 0
    await many.close()
    assert gc.get_freeze_count() == 0
    gc.freeze()
    others = Desk(tmp_path / "others.db")
    await frozen_while_following(others, 3 * BATCH, monkeypatch)
    await others.close()
    assert gc.get_freeze_count() > 0  # somebody else's is not undone


async def test_a_file_that_fails_again_at_once_is_not_made_anew_for_ever(
    desk: Desk, ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ledger.append("turn", turn("kettles"))
    removed = list[Path]()
    remove = sql.remove

    def failing(*_asked: Any) -> list[str]:
        raise sql.DamagedError("constraint failed")

    def counted(path: Path) -> None:
        removed.append(path)
        remove(path)

    monkeypatch.setattr(sql, "add", failing)
    monkeypatch.setattr(sql, "remove", counted)
    for _ in range(3):
        with pytest.raises(StoreError, match="constraint failed"):
            await desk.follow(ledger)
    assert len(removed) == 1


async def test_several_may_fill_it_at_once(desk: Desk, tmp_path: Path) -> None:
    ledger = FakeLedger()
    for n in range(300):
        await ledger.append("turn", turn(f"question {n}"))
    others = [Desk(tmp_path / "home" / "review.db") for _ in range(3)]
    await asyncio.gather(*(each.follow(ledger) for each in (desk, *others)))
    assert (await desk.count(DeskSearch(kind="turn"))).total == 300
    assert await desk.check(ledger) == 0
    for other in others:
        await other.close()


async def test_a_sample_takes_of_every_stratum_and_is_the_same_again(desk: Desk) -> None:
    ledger = FakeLedger()
    for n in range(100):
        await ledger.append("turn", turn(f"question {n}", outcome="withheld" if n % 20 == 0 else "answered"))
    await desk.follow(ledger)
    picked = await desk.sample(DeskSearch(kind="turn"), Draw(4, "outcome", 7))
    assert Counter(row.outcome for row in picked) == {"withheld": 4, "answered": 4}
    assert await desk.sample(DeskSearch(kind="turn"), Draw(4, "outcome", 7)) == picked
    assert await desk.sample(DeskSearch(kind="turn"), Draw(4, "outcome", 8)) != picked
    assert len(await desk.sample(DeskSearch(kind="turn"), Draw(10, "", 1))) == 10
    assert len(await desk.sample(DeskSearch(kind="turn"), Draw(500, "", 1))) == 100


async def test_a_download_says_what_was_asked_and_answered(desk: Desk, ledger: SqlLedger) -> None:
    made = await ledger.append("turn", turn("When do kettles arrive?"))
    await desk.follow(ledger)
    (row,) = [row.as_json() async for row in desk.rows(DeskSearch(words="kettles"))]
    assert (row["entry_id"], row["question"], row["user"]) == (made.entry_id, "When do kettles arrive?", "ada")
    assert row["documents"] == ["hours.md"]
    assert "10 to 4" in row["answer"]
    assert json.loads(json.dumps(row)) == row


async def test_text_that_no_database_takes_is_no_obstacle(desk: Desk) -> None:
    ledger = FakeLedger()
    await ledger.append("turn", turn("half \ud83d a pair", user="\udc80"))
    await desk.follow(ledger)
    assert await seqs(desk, words="pair") == [1]


async def test_a_reader_holds_back_no_page_but_an_erasure_says_so(
    desk: Desk, ledger: SqlLedger, tmp_path: Path
) -> None:
    """Who follows goes on and flushes later; who erases is told that the text may still lie in the log."""
    path = tmp_path / "home" / "review.db"
    made = [await ledger.append("turn", turn(f"Zebedea{n} asks")) for n in range(2)]
    await desk.follow(ledger)
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entries").fetchone()
        await ledger.erase([made[0].entry_id], "request")
        assert (await desk.follow(ledger)).is_whole
        await ledger.erase([made[1].entry_id], "request")
        with pytest.raises(StoreError, match="until whoever reads it has ended"):
            await desk.settle(ledger)
        reader.execute("COMMIT")
    await desk.follow(ledger)
    content = path.read_bytes() + path.with_name("review.db-wal").read_bytes()
    assert b"ebedea" not in content


async def test_who_is_cancelled_waits_for_the_thread_and_undoes_what_it_did() -> None:
    """A connection that is closed while another thread uses it ends the process."""
    started, go, order = threading.Event(), threading.Event(), list[str]()

    def work() -> str:
        started.set()
        go.wait(5)
        order.append("worked")
        return "it"

    task = asyncio.create_task(finished(work, undo=lambda what: order.append(f"undid {what}")))
    await asyncio.to_thread(started.wait, 5)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0.02)
    assert not task.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    order.append("ended")
    assert order == ["worked", "undid it", "ended"]


async def test_an_index_that_is_cancelled_at_any_moment_is_whole_afterwards(tmp_path: Path) -> None:
    ledger = FakeLedger()
    for n in range(30):
        await ledger.append("start", {"n": n})
    for pause in range(12):
        desk = Desk(tmp_path / f"{pause}.db")
        task = asyncio.create_task(desk.follow(ledger))
        await asyncio.sleep(pause / 400)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await desk.close()
        again = Desk(tmp_path / f"{pause}.db")
        assert (await again.follow(ledger)).seq == 30
        await again.close()


@pytest.mark.parametrize(
    ("size", "took_s", "after"),
    [
        (BATCH, 0.01, 2 * BATCH),
        (MOST_AT_ONCE, 0.01, MOST_AT_ONCE),  # no more at once, however fast
        (800, HELD_S * 0.75, 800),
        (800, HELD_S * 2, 400),
        (BATCH, HELD_S * 9, BATCH),  # no fewer, however slow
    ],
)
def test_a_batch_is_as_large_as_it_may_hold_the_lock(size: int, took_s: float, after: int) -> None:
    assert batch_after(size, took_s) == after


async def test_batches_grow_while_they_are_fast(desk: Desk, ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(2 * BATCH):
        await ledger.append("reload", {"n": n})
    read = list[int]()
    each = ledger.each

    async def counted(make: Callable[[Entry], Any], *, limit: int, **asked: Any) -> list[Any]:
        read.append(limit)
        return await each(make, limit=limit, **asked)

    monkeypatch.setattr(ledger, "each", counted)
    monkeypatch.setattr("bot.desk.index.time.monotonic", lambda: 0.0)
    assert (await desk.follow(ledger)).is_whole
    assert read[0] == BATCH
    assert max(read) > BATCH


async def test_documents_are_known_by_a_part_of_their_id_and_the_record_by_its_beginning(
    desk: Desk, ledger: SqlLedger
) -> None:
    assert (await desk.similar_documents("hours"), await desk.began()) == ([], "")
    await ledger.append("turn", turn("when?"))
    await ledger.append("turn", turn("again?"))
    await desk.follow(ledger)
    (first,) = [entry async for entry in ledger.entries(limit=1)]
    assert await desk.similar_documents("HOURS") == ["hours.md"]
    assert await desk.similar_documents("%") == []
    assert await desk.similar_documents("hours.md") == []  # it is there: nothing else is meant
    assert await desk.began() == first.at


async def test_a_word_of_every_turn_is_paged_and_counted_without_reading_them_all(
    desk: Desk, ledger: SqlLedger
) -> None:
    """Only as many of the newest as a page needs are taken from the table of words; pages follow each other without gap, and a sample still is of all."""
    for n in range(60):
        await ledger.append("turn", turn(f"hello number{n}", user="ada" if n % 2 else "bob"))
        await ledger.append("reload", {"n": n})
    await desk.follow(ledger)
    wanted, seen = DeskSearch(words="hello"), list[int]()
    while True:
        page = await desk.find(wanted)
        seen += [row.seq for row in page.rows]
        if not page.older:
            break
        wanted = replace(wanted, before=page.rows[-1].seq)
    every = [e.seq async for e in ledger.entries(kinds=("turn",))]
    assert seen == sorted(every, reverse=True)
    assert (await desk.count(DeskSearch(words="hello"))).total == 60
    assert len(await desk.sample(DeskSearch(words="hello"), Draw(50, "user", 1))) == 60
    assert (await desk.count(DeskSearch(words="hello", user="ada"))).total == 30
