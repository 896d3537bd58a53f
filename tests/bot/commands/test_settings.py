"""`attest settings`: all of them, those that speak of something, those that are set."""

from __future__ import annotations

import pytest

from bot.settings.forms import PREFIX
from bot.settings.settings import PLACES
from tests.bot.commands.conftest import Attest


def names(attest: Attest, *arguments: str) -> set[str]:
    ran = attest("settings", *arguments, "--json")
    assert ran.code == 0
    return {row["env"] for row in ran.document["settings"]}


def test_every_setting_is_listed_and_says_what_it_is_for(attest: Attest) -> None:
    ran = attest("settings", "--json")
    assert {row["name"] for row in ran.document["settings"]} == set(PLACES)
    assert all(len(row["meaning"]) > 10 for row in ran.document["settings"])


def test_words_choose_by_name_and_meaning(attest: Attest) -> None:
    assert names(attest, "breaker") == {"ATTEST_BREAKER_S"}
    searching = names(attest, "azure", "index")
    assert {"ATTEST_SEARCH"} <= names(attest, "search")
    assert searching < names(attest, "index")


def test_those_that_are_set(attest: Attest, monkeypatch: pytest.MonkeyPatch) -> None:
    before = names(attest, "--set")
    monkeypatch.setenv("ATTEST_COMPANY", "Halden")
    assert names(attest, "--set") - before == {f"{PREFIX}COMPANY"}
