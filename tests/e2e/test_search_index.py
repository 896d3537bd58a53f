"""Another language of the index without a gap, as an administrator does it: ingest beside the index in use, ask it, take it into use, back, remove."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bot.cli import main
from tests.bot.commands.conftest import Ran
from tests.e2e.processes import environment_of
from tests.fakes.ai_search_server import KEY, AiSearchServer
from tests.knowledge_base import PAGE

TURNS = [
    {"id": "t1", "kind": "value", "question": "what does watch plus cost a month", "parts": [{"must": [["$9.99"]]}]},
    {"id": "t2", "kind": "value", "question": "support phone number", "parts": [{"must": [["020 7946 0018"]]}]},
]


Attest = Callable[..., Awaitable[Ran]]


@pytest.fixture
def attest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Attest:
    """`await attest(env, "index", "list")`: the program in a thread of its own, since it runs its own loop beside the server's."""
    for name in [name for name in os.environ if name.startswith("ATTEST_")]:
        monkeypatch.delenv(name)

    async def ran(env: dict[str, str], *arguments: str) -> Ran:
        with monkeypatch.context() as patched:
            for name, value in env.items():
                patched.setenv(name, value)
            capsys.readouterr()
            code = await asyncio.to_thread(main, arguments)
            return Ran(code, *capsys.readouterr())

    return ran


def company(folder: Path) -> Path:
    (folder / "kb").mkdir(parents=True)
    (folder / "kb" / "plans.md").write_text(PAGE, "utf-8")
    rows = [{"as": None, "history": [], "expect": "answered", **turn} for turn in TURNS]
    (folder / "turns.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder


def holding(server: AiSearchServer, home: Path, model_file: Path) -> dict[str, str]:
    return environment_of(
        home,
        model_file,
        ATTEST_SEARCH="azure",
        ATTEST_SEARCH_ENDPOINT=server.root,
        ATTEST_SEARCH_KEY=KEY,
        ATTEST_SEARCH_ALIAS="hold",
    )


async def test_an_administrator_changes_the_language_without_a_gap(
    attest: Attest, tmp_path: Path, quick_model_file: Path
) -> None:
    folder = company(tmp_path / "company")
    async with AiSearchServer() as server:
        english = holding(server, tmp_path / "home", quick_model_file)
        german = {**english, "ATTEST_SEARCH_LANGUAGE": "de"}
        empty = await attest(english, "index", "list")
        assert (empty.code, empty.out) == (0, "")
        assert "no index behind the alias yet" in empty.err

        first = await attest(english, "ingest", str(folder / "kb"), "--json")
        assert (first.code, first.document["held_index"]) == (0, ""), first.err
        (in_use,) = server.indexes

        second = await attest(german, "ingest", str(folder / "kb"))
        (held,) = set(server.indexes) - {in_use}
        assert second.code == 0
        assert f"attest index use {held}" in " ".join(second.err.split())
        assert server.aliases.held["attest"]["indexes"] == [in_use]

        listed = (await attest(german, "index", "list", "--json")).document["indexes"]
        assert [(one["name"], one["in_use"], one["fits_settings"]) for one in listed] == [
            (in_use, True, False),
            (held, False, True),
        ]
        table = await attest(german, "index", "list")
        assert held in table.out.replace("\n", "")

        server.bodies.clear()
        measured = await attest(german, "eval", "turns", "--data", str(folder), "--index", held, "--json")
        assert measured.code == 0, measured.err
        (whole, *_) = measured.document["suites"][0]["sets"]
        assert (whole["n"], whole["metrics"]["right"]) == (2, 1.0)
        searched = {path for path, _ in server.bodies if path.endswith("/docs/search.post.search")}
        assert searched == {f"/indexes('{held}')/docs/search.post.search"}

        used = await attest(german, "index", "use", held, "--json")
        assert used.document == {"in_use": held, "before": in_use}
        assert server.aliases.held["attest"]["indexes"] == [held]
        asked = await attest(english, "ask", "What does Watch Plus cost a month?", "--json")
        assert "$9.99" in asked.document["answer"]

        back = await attest(german, "index", "back")
        assert (back.code, back.out.split()[0]) == (0, in_use)
        assert "these settings make another index" in " ".join(back.err.split())
        refused = await attest(german, "index", "remove", in_use)
        assert (refused.code, "is in use" in refused.err) == (2, True)
        assert (await attest(german, "index", "remove", held, "--json")).document == {"removed": held}
        assert list(server.indexes) == [in_use]

        ledger = await attest(english, "ledger", "search", "--kind", "index", "--json")
        told = [e["question"] for e in reversed(ledger.document["entries"])]
        taken = "taken into use"
        assert told == [f"{in_use} {taken}", f"{held} {taken}", f"{in_use} {taken}", f"{held} removed"]


async def test_what_the_commands_cannot_do_is_told_in_a_line(attest: Attest, tmp_path: Path) -> None:
    env = environment_of(tmp_path / "home")
    ran = await attest(env, "index", "list")
    assert (ran.code, "ATTEST_SEARCH_ALIAS=on" in ran.err) == (2, True)
    folder = company(tmp_path / "company")
    ran = await attest(env, "eval", "turns", "--data", str(folder), "--index", "x1")
    assert (ran.code, "--index needs ATTEST_SEARCH=azure" in ran.err) == (2, True)
    ran = await attest(env, "eval", "golden", "--sample", "--index", "x1")
    assert (ran.code, "--index goes with the suite turns" in ran.err) == (2, True)
