"""Labelled rows that the suites are run over, and what `attest eval --json` says of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.bot.commands.conftest import Attest


def write(path: Path, *rows: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def suites(attest: Attest, *arguments: str, code: int = 0) -> dict[str, dict[str, dict[str, float]]]:
    ran = attest("eval", *arguments, "--json")
    assert ran.code == code, ran.err
    document = ran.document
    assert set(document) >= {"suites", "seconds"}
    for suite in document["suites"]:
        assert all(set(part) >= {"name", "n", "metrics"} for part in suite["sets"])
    return {s["suite"]: {p["name"]: {**p["metrics"], "n": p["n"]} for p in s["sets"]} for s in document["suites"]}


def checked(row_id: str, answer: str, label: str, *tags: str) -> dict[str, Any]:
    return {"id": row_id, "answer": answer, "sources": [], "label": label, "tags": list(tags)}


GOLDEN = {"id": "g1", "history": [{"role": "customer", "text": "How long do refunds take?"}], "split": "dev"}


ASKED = (
    {"id": "1", "query": "refunds take days", "relevant": ["refunds.md"], "tags": ["money"]},
    {"id": "2", "query": "salaries of payroll", "relevant": ["salaries.md"], "as": "hanna", "tags": ["money", "hr"]},
    {"id": "3", "query": "waterproof metres", "relevant": ["gone.md", "trail.md"]},
    {"id": "4", "query": "unicorn refunds", "relevant": [], "answerability": "UNANSWERABLE"},
    {"id": "5", "query": "zzz", "relevant": ["refunds.md"], "answerability": ["ANSWERABLE"]},
)
