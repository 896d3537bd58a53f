"""Tables beside modules: each is read by its module, and says a thing once."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from grounding.tables import both_ways, slashed, table, yaml_table

ROOT = Path(__file__).parents[2]
READERS = sorted(
    p for p in (ROOT / "rai").rglob("*.py") if "table(__file__)" in p.read_text("utf-8") and p.name != "tables.py"
)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON takes the last of two equal keys without a word."""
    twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    assert not twice
    return dict(pairs)


@pytest.mark.parametrize("module", READERS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_a_table_has_each_key_once(module: Path) -> None:
    text = module.with_suffix(".json").read_text("utf-8")
    assert json.loads(text, object_pairs_hook=once) == table(str(module))


def test_a_key_that_stands_twice_is_seen() -> None:
    with pytest.raises(AssertionError):
        json.loads('{"en": ["a"], "en": ["b"]}', object_pairs_hook=once)


def test_pairs_are_looked_up_from_either_side() -> None:
    found = both_ways(slashed("with/without before/after until/after"))
    assert found["after"] == {"before", "until"}
    assert found["without"] == {"with"}
    assert "from" not in found


@pytest.mark.parametrize("without", ["", "CSafeLoader"])
def test_yaml_beside_a_module_or_below_it_is_read_with_libyaml_or_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without: str
) -> None:
    if without:
        monkeypatch.delattr(yaml, without, raising=False)
    (tmp_path / "below").mkdir()
    for name in ("words.yaml", "below/words.yaml"):
        (tmp_path / name).write_text("grün: [eins, 2]\n", "utf-8")
        assert yaml_table(str(tmp_path / "module.py"), name) == {"grün": ["eins", 2]}
