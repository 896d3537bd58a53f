"""When it is sure enough to quote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.quoting.features import candidates
from grounding.quoting.question_parts import read
from grounding.quoting.sureness import (
    COEFFICIENTS,
    LEAST,
    NAMES,
    NEAR,
    SURE,
    may_quote,
    needed,
    sure_features,
    sureness,
)
from grounding.records import Passage

PLAIN = "The desk opens at nine. It is in the hall.\n\nA lost key costs $240.\n\nDogs wait outside."
ROWS = "Key: red | Charge: $41\nKey: blue | Charge: $42\nKey: grey | Charge: $43"
STEPS = "1. Open the lid.\n2. Press the button.\n3. Close the lid."


def told(question: str, text: str, scores: list[float], near: float = NEAR) -> dict[str, float]:
    found, reading = candidates([Passage("c", "d", "Help", text)]), read(question)
    each = [scores[: len(found)]] * len(reading.parts)
    return dict(zip(NAMES, sure_features(reading, found, each, [near] * len(found)), strict=True))


def test_every_feature_has_a_coefficient() -> None:
    assert tuple(COEFFICIENTS) == NAMES
    assert [needed for _, needed in SURE] == sorted(needed for _, needed in SURE)


def test_dominance_is_the_share_of_the_odds_of_the_best_block() -> None:
    assert told("lost key", ROWS, [0.5, 0.5, 0.5])["dominance"] == pytest.approx(1 / 3)
    assert told("lost key", ROWS, [0.5, 0.0, 0.0])["dominance"] == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize(
    ("question", "text", "scores", "says"),
    [
        ("what does a lost key cost", ROWS, [0.1, 0.6, 0.1], {"row": 1, "step": 0, "list": 0, "typed": 1}),
        ("how do I open it", STEPS, [0.5, 0.1, 0.1], {"row": 0, "step": 1, "typed": 0}),
        ("which keys are there", ROWS, [0.5, 0.1, 0.1], {"list": 1}),
    ],
)
def test_what_the_features_say_of_question_and_block(
    question: str, text: str, scores: list[float], says: dict[str, float]
) -> None:
    features = told(question, text, scores)
    assert {name: features[name] for name in says} == says


def test_a_block_that_stands_out_is_quoted_and_one_of_many_alike_is_not() -> None:
    found, reading = candidates([Passage("c", "d", "Help", ROWS)]), read("what does a key cost")
    near = [NEAR] * 3
    assert may_quote(reading, found, [[0.6, 0.05, 0.05]], near, grade=0.0)
    assert may_quote(reading, found, [[0.6, 0.05, 0.05]], [NEAR + 0.05] * 3, grade=0.0)
    assert not may_quote(reading, found, [[0.6, 0.5, 0.5]], [NEAR - 0.2] * 3, grade=0.9)
    many = candidates([Passage("c", "d", "Help", "\n".join(f"Item: key {n} | Price: ${n}.00" for n in range(2, 10)))])
    assert not may_quote(reading, many, [[0.6] * 8], [NEAR] * 8, grade=0.0)


def test_what_is_near_in_meaning_is_surer() -> None:
    far, close = (told("lost key", ROWS, [0.5, 0.1, 0.1], near)["near"] for near in (NEAR - 0.05, NEAR + 0.05))
    assert [far, close] == pytest.approx([-0.5, 0.5])
    assert COEFFICIENTS["near"] > 0


def test_the_only_block_still_needs_a_score() -> None:
    found, reading = candidates([Passage("c", "d", "Help", "The office is shut.")]), read("what does a key cost")
    for grade in (0.9, 0.0):
        least = needed(LEAST, grade)
        assert not may_quote(reading, found, [[least / 2]], [NEAR], grade)
        assert may_quote(reading, found, [[least * 2]], [NEAR], grade)
    assert needed(LEAST, 0.0) > needed(LEAST, 0.9)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_sureness_is_a_probability(scores: list[float]) -> None:
    found, reading = candidates([Passage("c", "d", "Help", ROWS)]), read("what does a key cost")
    assert 0 < sureness(reading, found, [scores], [NEAR] * 3) < 1
