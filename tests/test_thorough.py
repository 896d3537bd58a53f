"""What a run takes of many cases."""

from __future__ import annotations

import pytest

from tests.thorough import VARIABLE, some


@pytest.fixture(autouse=True)
def _a_usual_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def test_runs_of_other_seeds_take_others_and_between_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    for seed in range(40):
        monkeypatch.setenv("PYTHONHASHSEED", str(seed))
        taken.append(some(range(8), 3))
        assert taken[-1] == some(iter(range(8)), 3)
    assert all(len(cases) == 3 and cases == sorted(cases) for cases in taken)
    assert {case for cases in taken for case in cases} == set(range(8))


def test_all_are_taken_where_that_is_asked_for_or_there_are_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    assert some("abc", 3) == ["a", "b", "c"]
    monkeypatch.setenv(VARIABLE, "1")
    assert some(range(8), 3) == list(range(8))
