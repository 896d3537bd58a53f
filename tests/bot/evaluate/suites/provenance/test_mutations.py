"""Changed answers measured beside the originals."""

from __future__ import annotations

from pathlib import Path

from tests.bot.commands.conftest import Attest
from tests.bot.evaluate.labelled import checked, suites, write


def test_mutations_give_sets_of_each_kind_and_of_the_originals(attest: Attest, tmp_path: Path) -> None:
    write(tmp_path / "provenance" / "m.jsonl", checked("1", "fine", "supported"))
    found = suites(attest, "provenance", "--data", str(tmp_path), "--mutations", "10")["provenance"]
    for kind in ("digit", "sibling", "plan", "date", "unit", "name", "phone", "host", "negation"):
        part = found[f"mutation:{kind}"]
        assert part["n"] == 10
        assert {"recall", "flagged", "false_flags", "rounded", "derived"} <= set(part)
    assert found["mutation:originals"]["false_flags"] < 0.2
    assert found["mutation:digit"]["recall"] > 0.8
