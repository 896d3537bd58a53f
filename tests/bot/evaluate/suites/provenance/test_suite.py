"""Labelled answers over a system whose verdicts are known: every figure can be worked out by hand."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from tests.bot.commands.conftest import Attest
from tests.bot.evaluate.labelled import checked, suites, write


def test_provenance(attest: Attest, tmp_path: Path) -> None:
    write(
        tmp_path / "provenance" / "mine.jsonl",
        checked("1", "wrong", "unsupported", "digits"),
        checked("2", "fine", "unsupported", "mine"),
        checked("3", "fine", "supported", "digits"),
        checked("4", "wrong", "supported"),
        checked("5", "fine", "supported"),
    )
    found = suites(attest, "provenance", "--data", str(tmp_path), "--mutations", "0")["provenance"]
    assert found["mine"] == pytest.approx(
        {"n": 5, "recall": 1 / 2, "false_flags": 1 / 3, "balanced_accuracy": 7 / 12, "auroc": 3.5 / 6}
    )
    assert found["mine:digits"] == {"n": 2, "recall": 1.0, "false_flags": 0.0, "balanced_accuracy": 1.0, "auroc": 1.0}
    union = {"n": 5, "recall": 1 / 2, "false_flags": 1 / 3, "balanced_accuracy": 7 / 12}
    assert found["mine:layer union"] == pytest.approx(union)
    layers = {f"mine:layer {name}" for name in ("values", "entities", "statements", "union")}
    assert set(found) == {"mine", "mine:digits"} | layers


def test_a_tag_of_an_edit_is_held_against_supported_rows_of_the_same_documents(attest: Attest, tmp_path: Path) -> None:
    one, other = ([{"id": "s", "text": text}] for text in ("document one", "document two"))
    rows = [checked(f"b{n}", "wrong", "unsupported", "edit") | {"sources": one} for n in range(11)]
    good = [
        checked("g1", "fine", "supported"),
        checked("g2", "wrong", "supported"),
        checked("g3", "wrong", "supported"),
    ]
    sources = (one, one, other)
    write(tmp_path / "provenance" / "m.jsonl", *rows, *(g | {"sources": s} for g, s in zip(good, sources, strict=True)))
    found = suites(attest, "provenance", "--data", str(tmp_path), "--mutations", "0")["provenance"]
    assert (found["m:edit"]["n"], found["m:edit"]["recall"], found["m:edit"]["false_flags"]) == (13, 1.0, 0.5)


def test_a_third_of_the_documents_is_told_apart_and_its_mistakes_are_not_written(
    attest: Attest, tmp_path: Path
) -> None:
    texts = [f"document {n}" for n in range(30)]
    aside = [t for t in texts if zlib.crc32(t.encode()) % 3 == 0]
    rows = [checked(t, "wrong", "supported") | {"sources": [{"id": "s", "text": t}]} for t in texts]
    write(tmp_path / "provenance" / "m.jsonl", *rows)
    out = tmp_path / "wrong.jsonl"
    arguments = ("--data", str(tmp_path), "--mutations", "0", "--errors", str(out))
    assert suites(attest, "provenance", *arguments)["provenance"]["m:kept_aside"]["n"] == len(aside)
    mistakes = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert {m["id"] for m in mistakes} == set(texts) - set(aside)
    assert all((m["set"], m["error"]) == ("m", "false_flag") for m in mistakes)
