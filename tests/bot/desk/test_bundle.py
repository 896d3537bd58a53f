"""What a search found as a bundle: `attest-verify` alone checks it, and finds every byte that was changed."""

from __future__ import annotations

import csv
import io
import json
import random
import zipfile
from collections.abc import AsyncIterator, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytest_aiohttp.plugin import AiohttpClient

from bot.desk.bundle import write_bundle
from bot.desk.index import Desk, Draw
from bot.desk.search import DeskSearch
from bot.desk.table import line
from bot.server.app import build_app
from grounding.errors import InputError
from rai.ledger.attest_verify import BROKEN, SOUND, main
from rai.ledger.store import SqlLedger
from rai.records import UNSUPPORTED
from tests.bot.desk.test_index import turn
from tests.fakes.system import fake_system


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[SqlLedger]:
    made = SqlLedger(tmp_path / "home" / "ledger.db", tmp_path / "ledger.key")
    for n in range(5):
        await made.append("turn", turn(f"When do kettles arrive, case {n}?", user=f"user-{n}"))
    yield made
    await made.close()


@pytest.fixture
async def desk(tmp_path: Path, ledger: SqlLedger) -> AsyncIterator[Desk]:
    made = Desk(tmp_path / "home" / "review.db")
    await made.follow(ledger)
    yield made
    await made.close()


async def unpacked(desk: Desk, ledger: SqlLedger, wanted: DeskSearch, folder: Path) -> Path:
    file = io.BytesIO()
    await write_bundle(file, desk, ledger, ledger.proven, wanted)
    zipfile.ZipFile(file).extractall(folder)
    return folder / "found"


def checked(found: Path, key: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(["--bundle", str(found), "--key", str(key)])
    said = capsys.readouterr()
    return code, said.out + said.err


async def test_it_holds_what_was_found_and_verifies_by_itself(
    desk: Desk, ledger: SqlLedger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = (await desk.find(DeskSearch(user="user-3"))).rows[0].entry_id
    await ledger.erase([gone], "asked for")
    await desk.settle(ledger)
    found = await unpacked(desk, ledger, DeskSearch(kind="turn"), tmp_path)
    key = tmp_path / "auditor.txt"
    key.write_text(str(await ledger.verifier_key()), "utf-8")
    code, said = checked(found, key, capsys)
    assert code == SOUND, said
    assert "entries: 5, of them 1 without a body" in said
    lines = [json.loads(line) for line in (found / "entries.jsonl").read_text("utf-8").splitlines()]
    assert [line["kind"] for line in lines] == ["turn"] * 5
    assert lines[0]["seq"] > lines[4]["seq"], "the newest first"
    whole = await ledger.get(lines[0]["entry_id"])
    assert whole is not None
    assert lines[0]["body"] == whole.body, "put together, as the desk shows it"
    assert (found / "found.csv").read_text("utf-8").count("kettles arrive") == 4
    assert (found / "found.csv").read_bytes().startswith(b"\xef\xbb\xbf"), "for a spreadsheet"
    assert "attest-verify --bundle . --key key.txt" in (found / "README.md").read_text("utf-8")


async def test_of_a_team_it_holds_its_turns_and_says_so(desk: Desk, ledger: SqlLedger, tmp_path: Path) -> None:
    found = await unpacked(desk, ledger, DeskSearch(among=frozenset({"user-1", "user-4"})), tmp_path)
    lines = (found / "entries.jsonl").read_text("utf-8")
    assert (lines.count("case 4"), lines.count("case 1"), len(lines.splitlines())) == (1, 1, 2)
    assert len(list((found / "proofs").iterdir())) == 2
    for path in found.rglob("*"):
        assert path.is_dir() or "user-2" not in path.read_text("utf-8"), path
    assert "those of a team" in (found / "README.md").read_text("utf-8")


async def test_a_changed_byte_is_found_wherever_it_is(
    desk: Desk, ledger: SqlLedger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = await unpacked(desk, ledger, DeskSearch(kind="turn", user="user-1"), tmp_path)
    key = tmp_path / "auditor.txt"
    key.write_text(str(await ledger.verifier_key()), "utf-8")
    files = [found / "checkpoint.txt", found / "entries.jsonl", *(found / "proofs").iterdir()]
    chance = random.Random(17)
    for path in files:
        raw = path.read_bytes()
        # the last byte of a line of JSON, its end, is nothing that it says
        for at in [*chance.sample(range(len(raw) - 1), 12), 0]:
            other = bytes([raw[at] ^ 1])
            path.write_bytes(raw[:at] + other + raw[at + 1 :])
            code, said = checked(found, key, capsys)
            assert code != SOUND, (path.name, at, raw[max(0, at - 20) : at + 20], said)
        path.write_bytes(raw)
    assert checked(found, key, capsys)[0] == SOUND


async def test_what_is_missing_or_more_is_found(
    desk: Desk, ledger: SqlLedger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = await unpacked(desk, ledger, DeskSearch(kind="turn"), tmp_path)
    key = found / "key.txt"
    proof = next((found / "proofs").iterdir())
    kept = proof.read_bytes()
    proof.unlink()
    code, said = checked(found, key, capsys)
    assert (code, "no proof is there" in said) == (BROKEN, True)
    proof.write_bytes(kept)
    lines = (found / "entries.jsonl").read_text("utf-8").splitlines(keepends=True)
    (found / "entries.jsonl").write_text("".join(lines[1:]), "utf-8")
    code, said = checked(found, key, capsys)
    assert (code, "entries.jsonl does not have it" in said) == (BROKEN, True)


def table_of(found: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO((found / "found.csv").read_bytes().decode("utf-8-sig"), newline="")))


def write_table(found: Path, rows: list[list[str]]) -> None:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    (found / "found.csv").write_text(out.getvalue(), "utf-8", newline="")


LONG = "kettle " * 30_000
ODD = '-5 °C: \r\n"quoted", a\tb;\nénd £9 \ud800'


async def test_the_table_says_what_the_entries_say_of_every_kind_and_spelling(
    desk: Desk, ledger: SqlLedger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for question in ("", ODD, LONG, *(f"{begin}cmd" for begin in "=+-@\t\r")):
        await ledger.append("turn", turn(question))
    failed = turn("Why?") | {"evidence": [], "reply": {"outcome": "failed", "code": "screen_unavailable"}}
    kept = await ledger.append("turn", failed)
    for status in [*sorted(UNSUPPORTED), "exact"]:
        struck = turn("What does it cost?", "Bo", "repaired")
        claim = {"kind": "money", "status": status, "rule": "role", "start": 0, "end": 1, "text": "€9"}
        struck["reply"]["draft"] = {"text": "It costs €9.", "claims": [claim, claim | {"struck": status == "exact"}]}
        struck["ask"]["product"] = "+Lamp"
        await ledger.append("turn", struck)
    verdict = {"schema": 2, "entry_id": kept.entry_id, "verdict": "wrong", "comment": "=no", "actor": {"user": "rita"}}
    await ledger.append("verdict", verdict)
    said = {"schema": 2, "user": "ada", "channel": "teams", "entry_id": kept.entry_id}
    await ledger.append("feedback", said | {"reaction": "like", "text": "thanks"})
    await ledger.append(
        "delivery", {n: v for n, v in said.items() if n != "user"} | {"delivered": "2026-11-25T09:00:00Z"}
    )
    await ledger.append("refusal_report", said | {"comment": "why?"})
    await ledger.erase([kept.entry_id], "asked for")
    await desk.follow(ledger)
    found = await unpacked(desk, ledger, DeskSearch(kind="all"), tmp_path)
    key = tmp_path / "key.txt"
    key.write_text(str(await ledger.verifier_key()), "utf-8")
    assert checked(found, key, capsys)[0] == SOUND
    write_table(found, table_of(found))
    assert checked(found, key, capsys)[0] == SOUND, "a bundle of an older form has no byte order mark"
    heads, *rows = table_of(found)
    by_desk = "".join([line(row, "csv") async for row in desk.rows(DeskSearch(kind="turn"))])
    turns = [row for row in rows if row[heads.index("kind")] == "turn"]
    assert turns == list(csv.reader(io.StringIO(by_desk, newline=""))), "what the desk itself offers as CSV"
    assert [row[heads.index("struck")] for row in rows].count("yes") == len(UNSUPPORTED) + 1
    assert len(rows) == len((found / "entries.jsonl").read_text("utf-8").splitlines()) > 10
    at = heads.index("verdict")
    write_table(found, [[*row[:at], *row[at + 1 :]] for row in (heads, *rows)])
    assert checked(found, key, capsys)[0] == SOUND, "nor a column of verdicts, in the oldest"


async def test_a_table_that_says_anything_else_is_found(
    desk: Desk, ledger: SqlLedger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = await unpacked(desk, ledger, DeskSearch(kind="turn"), tmp_path)
    key, whole = found / "key.txt", table_of(found)
    heads, first = whole[0], whole[1]
    entry_id = first[heads.index("entry_id")]

    def told(rows: list[list[str]]) -> str:
        write_table(found, rows)
        code, said = checked(found, key, capsys)
        assert code == BROKEN, said
        return said

    assert checked(found, key, capsys)[0] == SOUND
    for column in set(heads) - {"arrived", "verdict", "entry_id"}:
        at = heads.index(column)
        said = told([heads, [*first[:at], f"{first[at]}x", *first[at + 1 :]], *whole[2:]])
        assert f"{entry_id}: changed: found.csv, row 2: another {column}\n" in said
    assert f"{entry_id}: missing: found.csv has no row of it" in told([heads, *whole[2:]])
    assert "row 7: the same entry once more" in told([*whole, first])
    other = [cell.replace(entry_id, "01ARZ3NDEKTSV4RRFFQ69G5FAV") for cell in first]
    assert "row 7: entries.jsonl has no entry of this id" in told([*whole, other])
    assert "row 3 has 1 cells, and the heading 15" in told([heads, first, ["note"], *whole[2:]])
    assert "the column 'answer' is missing" in told([[c.replace("answer", "Answer") for c in heads], *whole[1:]])
    assert "the column 'note' does not belong here" in told([[*row, "note"] for row in whole])
    assert "the column 'answer' stands twice" in told([[*row, row[-1]] for row in whole])
    assert "the column 'seq' is missing" in told([])
    for raw, why in ((b"\xff", "'utf-8' codec"), (b'"seq', "unexpected end of data")):
        (found / "found.csv").write_bytes(raw)
        code, said = checked(found, key, capsys)
        assert (code, f"found.csv cannot be read: {why}" in said) == (BROKEN, True), said
    (found / "found.csv").unlink()
    code, said = checked(found, key, capsys)
    assert (code, "found.csv is not there" in said) == (BROKEN, True)
    (found / "found.csv").mkdir()
    assert checked(found, key, capsys)[0] == BROKEN


async def test_a_formula_that_lost_its_apostrophe_is_found(
    desk: Desk, ledger: SqlLedger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await ledger.append("turn", turn("=HYPERLINK(1)", user="eve"))
    await desk.follow(ledger)
    found = await unpacked(desk, ledger, DeskSearch(user="eve"), tmp_path)
    assert checked(found, found / "key.txt", capsys)[0] == SOUND
    write_table(found, [[cell.replace("'=", "=") for cell in row] for row in table_of(found)])
    code, said = checked(found, found / "key.txt", capsys)
    assert (code, "row 2: another question" in said) == (BROKEN, True)


async def test_what_is_erased_while_it_is_bundled_is_in_none_of_its_files(
    desk: Desk, ledger: SqlLedger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def prove(entries: Collection[str]) -> Any:
        await ledger.erase(list(entries), "asked for")
        return await ledger.proven(entries)

    file = io.BytesIO()
    await write_bundle(file, desk, ledger, prove, DeskSearch(user="user-1"))
    zipfile.ZipFile(file).extractall(tmp_path)
    found = tmp_path / "found"
    assert "case 1" not in "".join(p.read_text("utf-8") for p in found.rglob("*.*") if p.is_file())
    assert checked(found, found / "key.txt", capsys)[0] == SOUND


async def test_a_sample_is_bundled_and_its_readme_says_how_it_was_drawn(
    desk: Desk, ledger: SqlLedger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = io.BytesIO()
    draw = Draw(2, "", 5)
    assert await write_bundle(file, desk, ledger, ledger.proven, DeskSearch(kind="turn"), draw=draw) == 2
    zipfile.ZipFile(file).extractall(tmp_path)
    found = tmp_path / "found"
    assert checked(found, found / "key.txt", capsys)[0] == SOUND
    assert len(list((found / "proofs").iterdir())) == 2
    assert f"Searched for: kind 'turn'; of what was found a sample: {draw}\n" in (found / "README.md").read_text(
        "utf-8"
    )


async def test_what_cannot_be_bundled_is_said(desk: Desk, ledger: SqlLedger) -> None:
    with pytest.raises(InputError, match="nothing"):
        await write_bundle(io.BytesIO(), desk, ledger, ledger.proven, DeskSearch(words="teapot"))
    with pytest.raises(InputError, match="more than 4"):
        await write_bundle(io.BytesIO(), desk, ledger, ledger.proven, DeskSearch(kind="turn"), most=4)


async def test_the_page_hands_it_out_and_records_that_first(
    aiohttp_client: AiohttpClient, ledger: SqlLedger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = replace(fake_system().system, ledger=ledger, prove=ledger.proven)
    client = await aiohttp_client(build_app(system, review_token="once"))
    assert (await client.get("/review/found.zip")).status == 403
    assert "found.zip" in await (await client.get("/review?token=once")).text()
    response = await client.get("/review/found.zip?user=user-2")
    assert response.headers["Content-Disposition"] == 'attachment; filename="found.zip"'
    zipfile.ZipFile(io.BytesIO(await response.read())).extractall(tmp_path)
    assert checked(tmp_path / "found", tmp_path / "found" / "key.txt", capsys)[0] == SOUND
    (last,) = [e async for e in ledger.entries(newest_first=True, limit=1)]
    assert (last.kind, last.body["page"], last.body["wanted"]) == ("read", "download zip", {"user": "user-2"})
    assert (await client.get("/review/found.zip?words=teapot")).status == 409
    await client.close()
