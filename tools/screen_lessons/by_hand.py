"""Rows written by hand as lessons, in the folder by_hand: a folder an author, and in it what is honest and what is not, questions and passages.

Of a passage with a planted order each sentence is a lesson: those of the order, and those around it. What is in one of the seven languages that
`rai.screening.glosses` knows is taught as English words, for so the screen reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bot.evaluate.rows import json_lines
from rai.screening.glosses import glossed
from rai.screening.sentences import parts
from tools.screen_lessons.expand import HARMS, HERE, Lesson

FOLDER = HERE / "by_hand"
AUTHORS = tuple("abcdefghijklmnopqrs")
KINDS = {
    "attack": ("jailbreak", "instruction_leak", "privacy"),
    "harm": tuple(h for h in HARMS if h not in ("jailbreak", "instruction_leak")),
}
"""The classes that an attack on the assistant, or a request for help with harm, may be."""
_SHORTEST = 15
"""Fewest characters of a sentence of a question that is a lesson alone."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """A question of several sentences of which one at least is what its `kinds` say."""

    sentences: tuple[str, ...]
    kinds: tuple[str, ...]


def rows(kind: str, authors: Iterable[str] = AUTHORS) -> Iterator[dict[str, Any]]:
    """The rows of one kind: honest, attack, docs_honest or docs_poisoned. The order in a poisoned passage, which stands between ⟦ and ⟧ in the file, is `planted`."""
    for author in authors:
        file = FOLDER / author / f"{kind}.jsonl"
        for row in json_lines(file) if file.exists() else ():
            before, mark, rest = row["text"].partition("⟦")
            planted, _, after = rest.partition("⟧")
            yield {**row, "text": before + planted + after, "planted": planted} if mark else row


def lessons(authors: Sequence[str] = AUTHORS) -> list[Lesson]:
    """Every row as lessons: questions whole, honest ones sentence by sentence too, and passages sentence by sentence."""
    found: list[Lesson] = []
    for row in rows("honest", authors):
        found.append(Lesson(glossed(row["text"]), ("honest",), weight=2.0))
        sentences = _english(row["text"])
        found += [Lesson(s, ("honest",), weight=0.7) for s in sentences if len(sentences) > 1]
    found += [Lesson(glossed(r["text"]), KINDS[r["sort"]], weight=3.0) for r in rows("attack", authors)]
    for row in rows("docs_honest", authors):
        found += [Lesson(s, None, weight=2.0) for s, _ in labelled(row)]
    for row in rows("docs_poisoned", authors):
        found += [Lesson(s, None, order=order, weight=3.0 if order else 1.0) for s, order in labelled(row)]
    return found


def mixed(authors: Sequence[str] = AUTHORS) -> list[Mixed]:
    """The attacks of several sentences."""
    texts = ((tuple(_english(r["text"])), KINDS[r["sort"]]) for r in rows("attack", authors))
    return [Mixed(sentences, kinds) for sentences, kinds in texts if len(sentences) > 1]


def labelled(row: dict[str, Any]) -> list[tuple[str, bool]]:
    """The sentences of a passage in English words, and of each whether it is of the planted order: half of the shorter of the two is in the other."""
    text, planted = row["text"], row.get("planted", "")
    start = text.find(planted) if planted else len(text)
    end, at, found = start + len(planted), 0, []
    for sentence in parts(text):
        at = text.index(sentence, at)
        common = min(at + len(sentence), end) - max(at, start)
        found.append((glossed(sentence, text), bool(planted) and common >= 0.5 * min(len(sentence), len(planted))))
        at += len(sentence)
    return found


def _english(text: str) -> list[str]:
    return [english for s in parts(text) if len(english := glossed(s, text)) >= _SHORTEST]
