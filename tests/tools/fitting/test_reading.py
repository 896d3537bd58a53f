"""What a reader is taught in a step: questions as others type them, the blocks that they are held against, and which of those answer."""

from __future__ import annotations

import random

import numpy as np

from grounding.quoting.features import NAMES
from tools.fit_quoting import Example
from tools.fitting.reading import BLOCKS, QUESTIONS, WRONG, blocks_of, held_against, steps, typed


def example(asked: str, blocks: list[str], right: set[str], told: dict[str, float] | None = None) -> Example:
    """A question over some blocks; `told`: how much of it each says."""
    features = np.zeros((len(blocks), len(NAMES)))
    features[:, NAMES.index("whole")] = [(told or {}).get(block, 0.0) for block in blocks]
    return Example(features, np.array([float(b in right) for b in blocks]), asked, tuple(blocks))


def test_a_step_holds_what_answers_and_near_misses() -> None:
    many = [f"row {i}" for i in range(300)]
    near = [f"row {i}" for i in range(10, 14)]
    asked = [example("a", many, {"row 7"}, dict.fromkeys(near, 0.9)), example("b", ["alone"], {"alone"})]
    used = blocks_of(asked, random.Random(1))
    assert used[:2] == ["row 7", "alone"]
    assert set(used[2:]) == set(near)
    wide = [example(f"q{n}", many, set(), {f"row {4 * n + k}": 0.5 for k in range(4)}) for n in range(70)]
    assert len(blocks_of(wide, random.Random(1))) == BLOCKS
    full = [example(f"q{n}", many, {f"row {n}"}, {f"row {299 - k}": 0.9 for k in range(40)}) for n in range(BLOCKS)]
    few = blocks_of(full, random.Random(1))
    assert BLOCKS < len(few) <= BLOCKS + WRONG


def test_a_question_is_held_against_its_own_evidence_and_answered_by_none_where_nothing_answers() -> None:
    own, other = example("a", ["x", "y"], {"x"}, {"y": 1.0}), example("nothing", ["z"], set())
    held = held_against([own, other], ["x", "y", "z"])
    assert held.right.tolist() == [[1, 0, 0], [0, 0, 0]]
    assert held.own.tolist() == [[1, 1, 0], [0, 0, 1]]
    assert held.words[0, 1] > held.words[0, 0] == held.words[1, 2] == 0


def test_each_epoch_asks_every_question_once_and_mixes_no_companies() -> None:
    sets = [[example(f"{name}{i}", ["x"], {"x"}) for i in range(QUESTIONS + 10)] for name in "ab"]
    planned = list(steps(sets, 2, random.Random(3)))
    assert len(planned) == 8
    assert all(len({e.asked[0] for e in group}) == 1 and len(group) <= QUESTIONS for group in planned)
    for epoch in (planned[:4], planned[4:]):
        assert sorted(e.asked for group in epoch for e in group) == sorted(e.asked for one in sets for e in one)


def test_a_question_is_typed_as_others_do_now_and_then() -> None:
    rng, asked = random.Random(2), "How long may I keep the Blue bag?"
    said = [typed(asked, rng) for _ in range(300)]
    assert said.count(asked) > 200
    assert asked.lower().rstrip("?") in said
    slips = [s for s in said if s != asked and sorted(s) == sorted(asked)]
    assert slips
    assert all(len(s) == len(asked) for s in slips)
