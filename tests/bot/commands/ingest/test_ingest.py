"""`attest ingest`: what it takes, and what the sample brings along."""

from __future__ import annotations

from pathlib import Path

import pytest

from grounding.records import Refusal
from tests.bot.commands.conftest import Attest
from tests.bot.commands.fakes import FakeWorld


def test_a_rebuild_needs_no_path_and_a_watch_does(attest: Attest, small: FakeWorld, tmp_path: Path) -> None:
    assert attest("ingest", "--rebuild", "--json").document == {"rebuilt": True}
    assert small.ingests == []
    assert attest("ingest", "--rebuild", str(tmp_path)).code == 0
    assert len(small.ingests) == 1
    assert attest("ingest", "--watch", "--rebuild").code == 2


def test_a_dry_run_says_what_it_would_do_and_cost(
    attest: Attest, small: FakeWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kb").mkdir()
    for n in range(3):
        (tmp_path / "kb" / f"{n}.md").write_text("x" * 1000, "utf-8")
    told = attest("ingest", str(tmp_path / "kb"), "--dry-run").out
    assert "would be: added 3 · changed 0" in told
    assert "none: the model on this machine" in told
    assert "nothing was changed" in told
    assert small.ingests == []
    for name, value in SERVICE.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    told = attest("ingest", str(tmp_path / "kb"), "--dry-run").out
    assert "unknown: ATTEST_PRICE_EMBEDDING is not set" in told
    assert "9.2 kB" in told, "three vectors of 1,536 numbers"
    for name in ("INPUT", "OUTPUT"):
        monkeypatch.setenv(f"ATTEST_PRICE_{name}", "1")
    monkeypatch.setenv("ATTEST_PRICE_EMBEDDING", "0.02")
    plan = attest("ingest", str(tmp_path / "kb"), "--dry-run", "--json").document
    assert (plan["tokens"], plan["cost"], plan["currency"]) == (3000, "0.0001", "USD")
    assert (plan["vector_bytes"], plan["sent_bytes"]) == (3 * 1536 * 2, 0)
    assert plan["ceiling"] is None
    monkeypatch.setenv("ATTEST_INGEST_RUN_TOKENS", "2000")
    monkeypatch.setenv("ATTEST_INGEST_DAY_COST", "0.001")
    told = attest("ingest", str(tmp_path / "kb"), "--dry-run").err
    assert (
        "a run may take 2,000 tokens (ATTEST_INGEST_RUN_TOKENS), a day 50,000 (ATTEST_INGEST_DAY_COST), of which 0 are taken; about 1,000 would wait"
        in told
    )
    plan = attest("ingest", str(tmp_path / "kb"), "--dry-run", "--json").document
    assert plan["ceiling"] == {"run_tokens": 2000, "day_tokens": 50000, "spent_today": 0, "tokens_waiting": 1000}
    assert attest("ingest", "--rebuild", "--dry-run").code == 2


SERVICE = {
    "EMBEDDER": "openai",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "OPENAI_API_KEY": "k",
    "EMBEDDING_MODEL": "text-embedding-3-small",
}


def test_a_line_of_a_corpus_that_was_refused_is_exit_code_2_and_a_file_of_a_folder_is_not(
    attest: Attest, small: FakeWorld, tmp_path: Path
) -> None:
    small.refused = (Refusal("b", "empty", "b: no text"),)
    corpus, folder = tmp_path / "corpus.JSONL", tmp_path / "kb.jsonl"
    folder.mkdir()
    corpus.write_text("".join(f'{{"doc_id": "{name}", "title": "T", "text": "Text."}}\n' for name in "ab"), "utf-8")
    for name in "ab":
        (folder / f"{name}.md").write_text("Text.", "utf-8")
    assert attest("ingest", str(corpus)).code == 2
    assert attest("ingest", str(folder)).code == 0


def test_the_people_of_the_sample_stay_out_of_your_own_knowledge_base(attest: Attest, tmp_path: Path) -> None:
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "a.md").write_text("x", "utf-8")
    assert attest("ingest", str(tmp_path / "kb")).code == 0
    assert not (tmp_path / "home" / "directory.yaml").exists()
