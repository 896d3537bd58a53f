"""The overlap of a query with the rewrite of a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bot.commands.conftest import Attest
from tests.bot.evaluate.labelled import suites, write


def test_query(attest: Attest, tmp_path: Path) -> None:
    said = [{"role": "user", "text": "Earlier words."}, {"role": "user", "text": "the cat sat"}]
    write(tmp_path / "query" / "q.jsonl", {"id": "1", "history": said, "rewrite": "the dog"})
    assert suites(attest, "query", "--data", str(tmp_path))["query"]["q"] == pytest.approx({"n": 1, "rouge_1_f": 0.4})


def test_the_query_is_compared_with_the_last_turn(attest: Attest, tmp_path: Path) -> None:
    said = [{"role": "user", "text": "the cat sat"}]
    write(tmp_path / "query" / "q.jsonl", {"id": "1", "history": said, "rewrite": "the dog"})
    (found,) = attest("eval", "query", "--data", str(tmp_path), "--json").document["suites"][0]["sets"]
    (gain,) = found["gains"]
    assert (gain["against"], gain["difference"], gain["value"]) == ("last turn", 0.0, pytest.approx(0.4))
