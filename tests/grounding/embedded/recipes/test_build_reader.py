"""The reader's model is made of its pinned file: 4-bit blocks, pieces of the scripts that it reads, and a tokenizer that cuts as the pieces say."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from grounding.embedded.recipes import build_reader
from grounding.embedded.recipes.build_reader import BLOCK, Packed, is_read
from grounding.errors import InputError, StoreError
from rai.model_files import READER_TOKENIZER


def packed(weights: np.ndarray[tuple[int, int], np.dtype[np.int8]], scale: float) -> Packed:
    """One matrix as Q4_0, of whole numbers from -8 to 7 and one scale."""
    raw = b""
    for row in weights:
        for block in row.reshape(-1, BLOCK):
            low, high = (block[: BLOCK // 2] + 8).astype(np.uint8), (block[BLOCK // 2 :] + 8).astype(np.uint8)
            raw += struct.pack("<e", scale) + (low | high << 4).tobytes()
    return Packed(raw, (), np.zeros(0, np.float32), {"m": 0})


def test_a_block_of_four_bit_weights_is_read_back() -> None:
    weights = np.random.default_rng(7).integers(-8, 8, (3, 2 * BLOCK)).astype(np.int8)
    assert np.array_equal(packed(weights, 0.25).matrix("m", 3, 2 * BLOCK), weights * np.float32(0.25))


@pytest.mark.parametrize("piece", ["▁refund", "straße", "ção", "▁5", "€", ".", "▁", "<s>"])
def test_latin_and_signs_are_read(piece: str) -> None:
    assert is_read(piece)


@pytest.mark.parametrize("piece", ["▁привет", "返金", "ردّ", "Ωmega"])
def test_other_scripts_are_not(piece: str) -> None:
    assert not is_read(piece)


def test_weights_that_are_not_there_or_not_the_pinned_ones_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(build_reader, "weights_root", lambda: tmp_path)
    with pytest.raises(InputError, match="make setup"):
        build_reader.build_reader(tmp_path / "m.onnx", tmp_path / "t.json")
    (tmp_path / build_reader.WEIGHTS).parent.mkdir()
    (tmp_path / build_reader.WEIGHTS).write_bytes(b"E5S1" + bytes(64))
    with pytest.raises(StoreError, match="pinned"):
        build_reader.build_reader(tmp_path / "m.onnx", tmp_path / "t.json")
    assert not (tmp_path / "m.onnx").exists()


def test_text_is_cut_as_the_model_was_taught(model_file: Path) -> None:
    """Pieces as sentencepiece writes them; characters of another script are one unknown piece."""
    tokenizer = Tokenizer.from_file(str(model_file.with_name(READER_TOKENIZER)))
    assert tokenizer.encode("query: Wie lange dauert  eine Erstattung?").tokens == [
        *("<s>", "▁que", "ry", ":", "▁Wie", "▁lange", "▁dauert", "▁eine", "▁Er", "stattung", "?", "</s>")
    ]
    ids = tokenizer.encode("привет").ids
    assert tokenizer.id_to_token(ids[2]) in ("<unk>", "привет")
    assert tokenizer.token_to_id("<unk>") in ids
