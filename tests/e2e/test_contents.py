"""What people wrote is in no content that turns share, and in no byte of the home when their turns are erased, deflated or not."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from bot.compose import system as composing
from bot.compose.system import compose
from bot.records import Ask
from grounding.records import Turn
from rai.ledger.chain import canonical
from rai.ledger.store import SqlLedger
from tests.e2e.processes import settings_over
from tests.e2e.test_canaries import PAGES, TABLES
from tests.e2e.test_erasure import canaries, left, plain
from tests.fakes.recorded_turn import recorded_turn
from tests.knowledge_base import take_in

ROWS: list[dict[str, Any]] = TABLES.tables["canaries"]
PLACES = ("question", "history", "context", "draft", "answer")
WINDOW = 24
"""Characters of a deflated rest that stand elsewhere by chance in none of some thousand tries."""


def blobs(home: Path) -> list[str]:
    return [path.read_bytes().decode("utf-8", "replace") for path in home.rglob("*") if path.is_file()]


def windows(rest: str) -> list[str]:
    return [rest[at : at + WINDOW] for at in range(0, len(rest) - WINDOW, WINDOW)]


async def stored(ledger: SqlLedger, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) async for line in ledger.export()]
    return [line for line in lines if line.get("kind") == kind and line["body"] is not None]


async def texts(ledger: SqlLedger) -> list[str]:
    """Every body that is left, as it is read: deflated text is no longer."""
    bodies = [entry.body async for entry in ledger.entries()]
    bodies += [line["body"] for line in await stored(ledger, "content")]
    return [plain(json.dumps(body, ensure_ascii=False)) for body in bodies]


async def assert_gone(ledger: SqlLedger, home: Path, turns: list[str]) -> None:
    """The deflated text of these turns is erased with them, in each file of the home."""
    rests = {line["entry_id"]: line["body"]["stored"]["rest"] for line in await stored(ledger, "turn")}
    kept = [rest for entry, rest in rests.items() if entry not in turns]
    # what two rests have in common stays in the other
    parts = [[part for part in windows(rests[name]) if not any(part in rest for rest in kept)] for name in turns]
    assert all(parts)
    before = blobs(home)
    assert all(any(part in blob for blob in before) for own in parts for part in own[:1])
    await ledger.erase(turns, "on request")
    after = blobs(home)
    assert not [part for own in parts for part in own if any(part in blob for blob in after)]


async def test_turns_of_the_program_leave_nothing_in_contents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kind of canary in question, history and context, with masking switched off."""
    monkeypatch.setattr(composing, "redaction", lambda _redactor: lambda body, _kind: body)
    settings = settings_over(tmp_path / "home", rate_per_minute=100_000)
    kb = tmp_path / "kb"
    kb.mkdir()
    for page in PAGES:
        (kb / page.doc_id).write_text(f"# {page.title}\n\n{page.text}\n", "utf-8")
    await take_in(settings, kb, lexical_only=True)
    system = await compose(settings)
    ledger = system.ledger
    assert isinstance(ledger, SqlLedger)
    turns = []
    for row in ROWS:
        history = tuple(Turn(role, text) for role, text in row.get("history") or ())
        reply = await system.answer(Ask(row["question"], history, row.get("context") or None), None)
        turns.append(str(reply.entry_id))
    assert left(await texts(ledger), ROWS).keys() == {row["id"] for row in ROWS}, "nothing was planted"
    contents = await stored(ledger, "content")
    assert contents
    assert left([plain(json.dumps(line["body"], ensure_ascii=False)) for line in contents], ROWS) == {}
    await assert_gone(ledger, settings.files.home, turns)
    assert left(await texts(ledger), ROWS) == {}
    assert left([plain(blob) for blob in blobs(settings.files.home)], ROWS) == {}
    assert (await ledger.verify()).ok
    await system.close()


def turn_that_says(canary: dict[str, str]) -> dict[str, Any]:
    """A turn with a canary in each place where somebody, or a model, can have written, and wherever the program repeats it."""
    told = canonical(recorded_turn())
    turn: dict[str, Any] = json.loads(told.replace("Zebedea", canary["question"]))
    turn = json.loads(
        canonical(turn).replace("history told", canary["history"]).replace("context told", canary["context"])
    )
    turn["reply"]["answer"] += f" Ask {canary['answer']}."
    drafted = hashlib.sha512(canary["draft"].encode()).hexdigest()  # what no other turn says, and no dictionary
    turn["reply"]["draft"] = {"text": f"Dear {canary['draft']}, from 10 to 4 on Saturdays. {drafted}", "claims": []}
    turn["regeneration"] = {"prompt": turn["prompt"]}
    return turn


async def test_drafts_and_answers_neither(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    ledger = SqlLedger(home / "ledger.db", home / "ledger.key", redact=lambda body, _kind: body)
    people = [{place: f"Quillfeather-{place}-{n:04}" for place in PLACES} for n in range(5)]
    turns = [(await ledger.append("turn", turn_that_says(person))).entry_id for person in people]
    rows = [
        {"id": person[place], "question": person[place], "masked": [person[place]]}
        for person in people
        for place in PLACES
    ]
    assert all(canaries(row) for row in rows)
    assert len(left(await texts(ledger), rows)) == len(rows) == 25
    contents = await stored(ledger, "content")
    assert len(contents) > 5
    assert "quillfeather" not in plain(json.dumps(contents))
    *erased, kept = turns
    await assert_gone(ledger, home, erased)
    assert left(await texts(ledger), rows).keys() == set(people[-1].values())
    raw = [plain(blob) for blob in blobs(home)]
    assert left(raw, rows).keys() <= set(people[-1].values())
    assert (await ledger.get(kept)) is not None
    await assert_gone(ledger, home, [kept])
    assert not [blob for blob in blobs(home) if "quillfeather" in plain(blob)]
    assert (await ledger.verify()).ok
    await ledger.close()
