"""The exported ledger can be checked with the key alone, and shows every alteration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grounding.errors import InputError
from rai.ledger.export import verify_export
from rai.ledger.key import load_key
from rai.ledger.store import SqlLedger


@pytest.fixture
async def exported(tmp_path: Path) -> tuple[list[str], bytes]:
    ledger = SqlLedger(tmp_path / "l.db", tmp_path / "k")
    first = await ledger.append("turn", {"ask": {"question": "Wann öffnen Sie?"}, "score": 0.1})
    for n in range(4):
        await ledger.append("turn", {"n": n, "x": 1e-7})
    await ledger.erase(first.entry_id, "asked for")
    return [line async for line in ledger.export()], load_key(tmp_path / "k")


def test_an_export_verifies(exported: tuple[list[str], bytes]) -> None:
    lines, key = exported
    found = verify_export([line + "\n" for line in lines], key)
    assert (found.ok, found.entries) == (True, 7)
    assert found.head == json.loads(lines[-1])["end"]["head"]


def test_every_line_is_an_object(exported: tuple[list[str], bytes]) -> None:
    assert all(isinstance(json.loads(line), dict) for line in exported[0])
    assert json.loads(exported[0][3])["body"] == {"n": 0, "x": 1e-7}


@pytest.mark.parametrize("line", range(1, 9))
def test_a_missing_line_is_found(exported: tuple[list[str], bytes], line: int) -> None:
    lines, key = exported
    assert not verify_export(lines[:line] + lines[line + 1 :], key).ok


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(line=st.integers(1, 8), at=st.integers(0, 5000), char=st.characters(min_codepoint=33, max_codepoint=126))
def test_a_changed_character_is_found(exported: tuple[list[str], bytes], line: int, at: int, char: str) -> None:
    lines, key = exported
    text = lines[line]
    changed = text[: at % len(text)] + char + text[at % len(text) + 1 :]
    try:
        same = json.loads(changed) == json.loads(text)
        ok = verify_export([*lines[:line], changed, *lines[line + 1 :]], key).ok
    except (ValueError, InputError):
        return
    assert ok == same


def test_another_key_or_another_file_is_refused(exported: tuple[list[str], bytes]) -> None:
    with pytest.raises(InputError, match="another key"):
        verify_export(exported[0], bytes(32))
    with pytest.raises(InputError, match="line 1"):
        verify_export(['{"hello": 1}'], exported[1])
    with pytest.raises(InputError, match="line 1"):
        verify_export([], exported[1])


def test_every_break_of_an_export_is_told_with_its_line(exported: tuple[list[str], bytes]) -> None:
    lines, key = exported
    lines = [json.dumps(json.loads(lines[0]) | {"note": 1}), *lines[1:3], "{", *lines[4:], "behind"]
    found = verify_export(lines, key)
    assert [(b.at, b.why) for b in found.breaks] == [
        (None, "changed: line 1: a field that is not sealed: 'note'"),
        (3, "changed: line 4: not a JSON object"),
        (None, "changed: there are lines after the sealed last one"),
    ]
    assert (found.ok, found.why, found.entries) == (False, found.breaks[0].why, 2)
