"""Parallel sentences: one but for a name and what it is said of."""

from __future__ import annotations

import pytest

from rai.check.reading.parallel import another_subject, siblings
from rai.check.reading.sources import Place, prepare
from rai.records import Source


def _names(text: str) -> list[Place]:
    return [p for p in prepare(Source("s1", text), ("GB",)).places if p.found.kind == "entity"]


def _subjects(text: str, name: str) -> list[tuple[str, frozenset[str], frozenset[str]]]:
    places = _names(text)
    mine = next(p for p in places if p.span().text.endswith(name))
    return [(o.span().text, a, b) for o, a, b in siblings(mine, [p for p in places if p is not mine])]


@pytest.mark.parametrize(
    ("text", "mine", "theirs"),
    [
        (
            "The manager of York is Anna Weber. The manager of Leeds is John Lopez.",
            frozenset({"york"}),
            frozenset({"leed"}),
        ),
        (
            "Anna Weber manages the York store. John Lopez manages the Leeds store.",
            frozenset({"york"}),
            frozenset({"leed"}),
        ),
        (
            "Call Anna Weber about version 5.1. Call John Lopez about version 6.0.",
            frozenset({"=5.1"}),
            frozenset({"=6.0", "=6"}),
        ),
    ],
)
def test_a_subject_is_what_the_other_sentence_lacks(text: str, mine: frozenset[str], theirs: frozenset[str]) -> None:
    found = [(a, b) for other, a, b in _subjects(text, "Anna Weber") if other == "John Lopez"]
    assert found == [(mine, theirs)]


@pytest.mark.parametrize(
    "text",
    [
        "The manager of York is Anna Weber. The deputy in our Leeds branch was John Lopez.",
        "The manager of York is Anna Weber. The manager of York is John Lopez.",
        "Anna Weber came. John Lopez left.",
        "The manager of York is Anna Weber, and the manager of Leeds is John Lopez.",
    ],
    ids=["two stretches differ", "no subject differs", "no word is shared", "one sentence"],
)
def test_other_sentences_are_not_parallel(text: str) -> None:
    assert [other for other, _, _ in _subjects(text, "Anna Weber") if other == "John Lopez"] == []


def test_the_first_layer_that_names_a_subject_decides() -> None:
    york, leeds = _names("The manager of York is Anna Weber. The manager of Leeds is John Lopez.")[1::2]
    found = siblings(york, [leeds])
    assert another_subject(found, [frozenset({"leed"}), frozenset({"york"})]) is leeds
    assert another_subject(found, [frozenset({"york"}), frozenset({"leed"})]) is None
    assert another_subject(found, [frozenset(), frozenset()]) is None
