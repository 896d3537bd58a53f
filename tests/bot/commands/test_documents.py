"""`attest documents`: what is in, what is out, bringing it back, and a copy."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bot.operator import operator
from tests.bot.commands.conftest import Attest
from tests.bot.commands.fakes import FakeWorld


def ids(document: Any) -> list[str]:
    return [d["doc_id"] for d in document["documents"]]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ["refunds.md", "salaries.md", "trail.md"]),
        (["*a*.md"], ["salaries.md", "trail.md"]),
        (["nothing*"], []),
        (["--as", "mallory"], ["refunds.md", "trail.md"]),
        (["--product", "Trail Pro"], ["refunds.md", "salaries.md", "trail.md"]),
        (["--product", "Wren"], ["refunds.md", "salaries.md"]),
        (["--as", "mallory", "--product", "Wren"], ["refunds.md"]),
    ],
)
def test_a_list_is_narrowed(attest: Attest, arguments: list[str], expected: list[str]) -> None:
    assert ids(attest("documents", "list", *arguments, "--json").document) == expected


def test_removed_listed_and_restored(attest: Attest, small: FakeWorld) -> None:
    assert attest("documents", "list", "--removed", "--json").document == {"removed": []}
    assert attest("documents", "remove", "refunds.md").code == 0
    [removed] = small.ledger.held
    assert (removed.kind, removed.body["actor"]) == ("remove", asdict(operator()))
    listed = attest("documents", "list", "--removed")
    assert "refunds.md" in listed.out
    assert "removed by hand" in listed.out
    row = attest("documents", "list", "--removed", "--json").document["removed"][0]
    assert row.keys() == {"doc_id", "title", "version", "root", "groups", "by_hand"}
    assert attest("documents", "list", "--removed", "--as", "x").code == 2
    assert attest("documents", "restore", "refunds.md", "--json").document == {"restored": "refunds.md"}
    assert "refunds.md" in small.library.held
    again = attest("documents", "restore", "refunds.md")
    assert again.code == 2
    assert again.err.count("\n") == 1


def test_versions_are_listed_and_named_by_their_beginning(attest: Attest, small: FakeWorld) -> None:
    version = small.library.held["refunds.md"].version
    shown = attest("documents", "show", "refunds.md", "--versions", "--json").document
    assert shown == {"doc_id": "refunds.md", "versions": [version], "current": version}
    assert attest("documents", "show", "refunds.md", "--version", version[:6]).code == 0
    assert attest("documents", "show", "refunds.md", "--version", version[:5]).code == 2
    assert attest("documents", "show", "none.md", "--versions").code == 2


def test_a_backup_says_what_is_not_in_it(attest: Attest, tmp_path: Path) -> None:
    ran = attest("documents", "backup", str(tmp_path / "kb.db"))
    assert ran.code == 0
    assert "ledger" in ran.err


def test_a_backup_is_an_entry_or_a_line_says_why_not(attest: Attest, small: FakeWorld, tmp_path: Path) -> None:
    attest("documents", "backup", str(tmp_path / "kb.db"))
    (entry,) = small.ledger.held
    assert (entry.kind, entry.body["file"], entry.body["bytes"]) == ("backup", "kb.db", len(b"everything"))
    assert entry.body["sha256"] == hashlib.sha256(b"everything").hexdigest()
    small.ledger.shut = True
    ran = attest("documents", "backup", str(tmp_path / "again.db"))
    assert ran.code == 0
    assert (tmp_path / "again.db").read_bytes() == b"everything"
    assert "the backup is not recorded in the ledger: the disk is full" in ran.err
