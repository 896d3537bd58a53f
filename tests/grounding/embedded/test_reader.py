"""The reader of blocks: nearness across languages and words, its cache, and files that cannot be read."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import numpy as np
import pytest

from grounding.embedded.composer import ExtractiveComposer
from grounding.embedded.reader import E5Reader
from grounding.errors import StoreError
from rai.model_files import READER, READER_TOKENIZER
from tests.grounding.embedded.test_composer import passage, prompt

BLOCKS = [
    "Refunds are paid within five working days after the parcel has arrived.",
    "Our shops are open from 9 to 5.",
    "The battery of the camera lasts two years.",
]
TITLED = [f"{title}: {block}" for title, block in zip(("Refunds", "Opening hours", "Cameras"), BLOCKS, strict=True)]
"""As a turn gives them, which reads no block without what stands above it."""
BARE = pytest.mark.xfail(reason="a short question in another language needs the title since the reader was taught anew")


ASKED = [
    ("when do i get my money back", 0),
    ("Wann bekomme ich mein Geld zurück?", 0),
    ("Wie lange hält der Akku?", 2),
]


@pytest.mark.parametrize(("question", "nearest"), [*ASKED, pytest.param("à quelle heure fermez-vous ?", 1, marks=BARE)])
async def test_meaning_is_read_across_words_and_languages(reader: E5Reader, question: str, nearest: int) -> None:
    assert int((await reader.near([question], BLOCKS)).whole.argmax()) == nearest


@pytest.mark.parametrize(("question", "nearest"), [*ASKED, ("à quelle heure fermez-vous ?", 1)])
async def test_it_is_read_with_what_stands_above_a_block(reader: E5Reader, question: str, nearest: int) -> None:
    assert int((await reader.near([question], TITLED)).whole.argmax()) == nearest


async def test_what_was_read_before_is_told_alike(reader: E5Reader) -> None:
    first, again = await reader.near(["opening hours"], BLOCKS), await reader.near(["opening hours"], BLOCKS)
    assert np.array_equal(first.whole, again.whole)
    assert np.array_equal(first.pieces, again.pieces)


async def test_questions_read_side_by_side_are_told_as_alone(model_file: Path) -> None:
    """What is kept is shared by the threads of all turns, and drops what is oldest meanwhile."""
    narrow = E5Reader(model_file.with_name(READER), model_file.with_name(READER_TOKENIZER), kept=2)
    asked = [f"opening hours {n % 3}" for n in range(24)]
    alone = [await narrow.near([question], BLOCKS) for question in asked[:3]]
    beside = await asyncio.gather(*(narrow.near([question], BLOCKS) for question in asked))
    assert all(np.array_equal(near.whole, alone[n % 3].whole) for n, near in enumerate(beside))


async def test_a_lone_surrogate_is_no_text(reader: E5Reader) -> None:
    assert np.isfinite((await reader.near(["\ud800"], ["\udfff", "plain"])).whole).all()


async def test_files_that_cannot_be_read_are_told_and_quotes_go_by_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes(b"damaged")
    damaged = E5Reader(tmp_path / "model.onnx", tmp_path / "tokenizer.json")
    with pytest.raises(StoreError, match="make setup"):
        await damaged.near(["a"], ["b"])
    asked = prompt("how long do refunds take", [passage("Refunds take five days."), passage("Shops open at nine.")])
    composer = ExtractiveComposer(damaged)
    with caplog.at_level(logging.WARNING, "attest"):
        told = [(await composer.compose(asked)).text for _ in range(2)]
    assert told == [(await ExtractiveComposer(None).compose(asked)).text] * 2
    assert [r.message for r in caplog.records if "words alone" in r.message] != []
