"""Rows of the public sets as lessons, each set split by category or by kind of attack into a part that teaches and a part kept aside."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bot.evaluate.rows import json_lines
from rai.screening.sentences import addressed
from tools.screen_lessons.expand import HARMS, Lesson

_HARM = tuple(h for h in HARMS if h not in ("jailbreak", "instruction_leak"))
_ATTACK = ("jailbreak", "instruction_leak", "privacy")
_XSTEST_ASIDE = ("figurative_language", "safe_contexts", "definitions", "discr")
_CYBERSEC_ASIDE = ("persuasion", "virtualization", "payload_splitting")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")

LABELLED = (
    "xstest",
    "advbench",
    "do_not_answer",
    "cyberseceval_injection",
    "banking77_train",
    "benign_it",
    "general_benign",
)
"""Sets of requests that both teach and measure."""


def read(path: Path) -> Iterator[dict[str, Any]]:
    """JSON lines; nothing if there is no such file."""
    if path.exists():
        yield from json_lines(path)


def is_aside(name: str, row: dict[str, Any]) -> bool:
    """Whether the row is kept aside: whole kinds of XSTest and of attacks, whole intents of Banking77, else by the act that is named.

    AdvBench and Do-Not-Answer repeat the same acts in other words, so rows go by the rarest long word of the text and not at random.
    """
    category = str(row.get("category") or "")
    if name == "xstest":
        return any(category.endswith(kind) for kind in _XSTEST_ASIDE)
    if name == "cyberseceval_injection":
        return category in _CYBERSEC_ASIDE
    if name == "banking77_train":
        return _odd(category)
    if name == "bipia_train":
        return _odd(category) if row["label"] == "block" else _odd(row["id"].rsplit("-", 1)[0])
    if name == "general_benign" and category == "expertqa":
        return True
    return _odd(_subject(row["text"]))


def _odd(key: str) -> bool:
    return zlib.crc32(key.encode()) % 2 == 1


def _subject(text: str) -> str:
    """The longest word of the text, cut to its stem: rows on one act mostly share it."""
    words = re.findall(r"[a-z]{4,}", text.lower())
    return max(words, key=lambda w: (len(w), w), default="")[:6]


def kinds_of(name: str, row: dict[str, Any]) -> tuple[str, ...]:
    """The classes that a row may be: one where the set says so, else any of its sort."""
    if row["label"] == "allow":
        return ("honest",)
    category = str(row.get("category") or "")
    if name == "cyberseceval_injection":
        return _ATTACK
    if "privacy" in category:
        return ("privacy",)
    if category.startswith("discrimination") or category.endswith("discr"):
        return ("hate", "sexual")
    return _HARM


def teaching(data: Path) -> Iterator[Lesson]:
    """Requests of the public sets that are not kept aside; small sets weigh more."""
    weights = {
        "xstest": 4.0,
        "cyberseceval_injection": 3.0,
        "advbench": 1.5,
        "do_not_answer": 2.0,
        "banking77_train": 1.0,
        "benign_it": 1.5,
        "general_benign": 1.0,
    }
    for name in LABELLED:
        for row in read(data / "screen" / f"{name}.jsonl"):
            if not is_aside(name, row) and (name != "banking77_train" or _odd(row["id"])):
                yield Lesson(row["text"], kinds_of(name, row), weight=weights[name])


def document_lessons(data: Path, *, corpus_rows: int = 1200) -> Iterator[Lesson]:
    """Sentences of documents: of e-mails and tables with and without an order, and of knowledge bases, which hold none."""
    clean: dict[str, set[str]] = {}
    poisoned = []
    for row in read(data / "injection" / "bipia_train.jsonl"):
        group = row["id"].rsplit("-", 1)[0]
        if row["label"] == "allow":
            clean[group] = set(sentences(row["text"]))
            if not is_aside("bipia_train", row):
                yield from (Lesson(s, None) for s in clean[group])
        elif not is_aside("bipia_train", row):
            poisoned.append((group, row["text"]))
    for group, text in poisoned:
        yield from (
            Lesson(s, None, order=True) for s in sentences(text) if s not in clean.get(group, {s}) and len(s) > 12
        )
    for name in ("mtrag_un", "dstc11"):
        for i, row in enumerate(read(data / "retrieval" / name / "corpus.jsonl")):
            if i % 2 == 0 and i < 2 * corpus_rows:
                yield from (Lesson(s, None) for s in sentences(row["text"])[:2])


def honest_sentences(data: Path) -> Iterator[Lesson]:
    """Of every other passage of the knowledge bases the sentences that could be orders, and are none."""
    for name in ("mtrag_un", "dstc11"):
        for i, row in enumerate(read(data / "retrieval" / name / "corpus.jsonl")):
            if i % 2 == 0:
                yield from (Lesson(s, None) for s in addressed(row["text"]))


def sentences(text: str) -> list[str]:
    """Sentences and lines of a text, by full stops and breaks."""
    return [s.strip() for s in _SENTENCE.split(text) if s.strip()]
