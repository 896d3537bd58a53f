"""`attest quarantine`: what is held, in full and in short, and what becomes of it."""

from __future__ import annotations

import pytest

from tests.bot.commands.conftest import Attest
from tests.bot.commands.fakes import FakeWorld
from tests.fakes.quarantine import HONEST, MemoryQuarantine, two


@pytest.fixture
def quarantine(small: FakeWorld) -> MemoryQuarantine:
    small.quarantine = two()
    return small.quarantine


def test_the_list_shows_passage_rule_and_score(attest: Attest, quarantine: MemoryQuarantine) -> None:
    ran = attest("quarantine", "list")
    assert ran.code == 0
    for part in ("honest.md", "CL-order", "0.72", "planted.eml", "JB-01", "0.90", HONEST[:40]):
        assert part in ran.out
    rows = attest("quarantine", "list", "--json").document["passages"]
    assert [row["state"] for row in rows] == ["held", "held"]
    fields = "id doc_id title chunk_id locator text rule score state decided_at note"
    assert set(rows[0]) == set(fields.split())


def test_an_empty_quarantine_says_so(attest: Attest) -> None:
    ran = attest("quarantine", "list")
    assert (ran.code, ran.err.strip()) == (0, "nothing in quarantine")
    assert attest("quarantine", "list", "--json").document == {"passages": []}


def test_one_is_shown_in_full(attest: Attest, quarantine: MemoryQuarantine) -> None:
    honest = quarantine.kept[0]
    ran = attest("quarantine", "show", honest.id[:4])
    assert HONEST in ran.out
    assert "rule CL-order, score 0.72" in ran.out
    assert attest("quarantine", "show", honest.id, "--json").document["text"] == HONEST


def test_release_and_confirm_are_recorded(attest: Attest, small: FakeWorld, quarantine: MemoryQuarantine) -> None:
    honest, planted = quarantine.kept
    ran = attest("quarantine", "release", honest.id, "--note", "our own steps")
    assert (ran.code, ran.out.split()[:2]) == (0, [honest.id, "released"])
    assert attest("quarantine", "confirm", planted.id, "--json").document["passages"][0]["new"] is True
    assert [p.state for p in quarantine.kept] == ["released", "confirmed"]
    assert [e.kind for e in small.ledger.held] == ["quarantine_decision"] * 2
    assert honest.id not in attest("quarantine", "list").out
    assert honest.id in attest("quarantine", "list", "--state", "released").out
    assert "was released before" in attest("quarantine", "release", honest.id, "--note", "our own steps").out


def test_nothing_is_decided_where_one_id_is_wrong(attest: Attest, quarantine: MemoryQuarantine) -> None:
    ran = attest("quarantine", "release", quarantine.kept[0].id, "zzzz")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "no passage in quarantine has the id zzzz" in ran.err
    assert [p.state for p in quarantine.kept] == ["held", "held"]
