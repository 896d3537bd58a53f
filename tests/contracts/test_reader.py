"""What every BlockReader promises, run over the real model and the one that tests use."""

from __future__ import annotations

import numpy as np
import pytest

from grounding.ports import BlockReader
from tests.fakes.reader import WordReader

QUESTION = "How long do refunds take?"
BLOCKS = ["Refunds take five working days.", "Our shops are open from 9 to 5.", "", "x" * 4000, "Prix : 5 €"]


@pytest.fixture(params=["e5", "words"])
def near_by(request: pytest.FixtureRequest) -> BlockReader:
    return request.getfixturevalue("reader") if request.param == "e5" else WordReader()


async def test_each_block_is_held_against_each_question(near_by: BlockReader) -> None:
    near = await near_by.near([QUESTION, "opening hours of the shops"], BLOCKS)
    assert near.whole.shape == near.pieces.shape == (2, len(BLOCKS))
    assert near.whole.dtype == near.pieces.dtype == np.float32
    assert max(np.abs(near.whole).max(), np.abs(near.pieces).max()) <= 1 + 1e-3


async def test_what_says_it_is_nearest(near_by: BlockReader) -> None:
    near = await near_by.near([QUESTION, "opening hours of the shops"], BLOCKS[:2])
    assert near.whole.argmax(axis=1).tolist() == near.pieces.argmax(axis=1).tolist() == [0, 1]


async def test_nothing_is_near_nothing(near_by: BlockReader) -> None:
    assert (await near_by.near([QUESTION], [])).whole.shape == (1, 0)
    assert (await near_by.near([], BLOCKS)).pieces.shape == (0, len(BLOCKS))


async def test_a_block_says_the_same_whatever_stands_beside_it(near_by: BlockReader) -> None:
    """As a whole; piece by piece it counts how rare a piece is among them."""
    alone = await near_by.near([QUESTION], BLOCKS[:1])
    among = await near_by.near([QUESTION], BLOCKS)
    assert alone.whole[0, 0] == among.whole[0, 0]
