"""Who runs a command: the account of the operating system, whatever the environment says."""

from __future__ import annotations

import os
import pwd

import pytest

from bot.operator import operator
from bot.records import Actor


def test_it_is_the_account_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "LOGNAME", "USERNAME", "LNAME"):
        monkeypatch.setenv(name, "somebody-else")
    assert operator() == Actor(pwd.getpwuid(os.getuid()).pw_name, "account")


def test_an_account_without_a_name_is_told_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs as any number."""
    nobody = next(n for n in range(2**31 - 2, 0, -1) if n not in {each.pw_uid for each in pwd.getpwall()})
    monkeypatch.setattr(os, "getuid", lambda: nobody)
    assert operator() == Actor(f"uid {nobody}", "account")
