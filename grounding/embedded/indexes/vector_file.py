"""File format for arrays: written whole or not at all, and opened at once because it is memory-mapped, not read.

Magic, length of the header as 8 bytes, header as JSON, then each array at a multiple of 64 bytes. Arrays that are read at opening carry a
CRC-32; the large one that stays on disk is known by its length alone, and whoever opens the file compares some of its rows with where they
came from.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MAGIC = b"attest-vectors-1"
_ALIGN = 64
_MAX_HEADER = 16_000_000


class DamagedFileError(Exception):
    """The file is not as it was written. The message says in what."""


def write(path: Path, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, unchecked: str) -> None:
    """Write `facts` and `arrays` to `path`, put in place by a rename at the very end: a kill before it leaves what stood there.

    `unchecked` names the array that carries no checksum.
    """
    entries: dict[str, Any] = {}
    offset = 0
    for name, array in arrays.items():
        crc = None if name == unchecked else zlib.crc32(_bytes_of(array))
        entries[name] = {"dtype": array.dtype.str, "shape": array.shape, "offset": offset, "crc": crc}
        offset = _aligned(offset + array.nbytes)
    header = json.dumps({"facts": dict(facts), "arrays": entries, "size": offset}).encode()
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            file.write(_MAGIC + len(header).to_bytes(8, "little") + zlib.crc32(header).to_bytes(4, "little") + header)
            begin = _aligned(file.tell())
            for name, array in arrays.items():
                file.seek(begin + entries[name]["offset"])
                file.write(_bytes_of(array))
            file.truncate(begin + offset)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Facts and mapped arrays. Raises DamagedFileError, FileNotFoundError."""
    header, begin = _header(path)
    if path.stat().st_size != begin + header["size"]:
        raise DamagedFileError("it is not as long as it says")
    arrays: dict[str, NDArray[Any]] = {}
    for name, entry in header["arrays"].items():
        at, shape = begin + entry["offset"], tuple(entry["shape"])
        arrays[name] = np.memmap(path, np.dtype(entry["dtype"]), "r", at, shape)
        if entry["crc"] is not None and zlib.crc32(_bytes_of(arrays[name])) != entry["crc"]:
            raise DamagedFileError(f"its {name} have another checksum")
    return dict(header["facts"]), arrays


def remove_drafts(path: Path) -> None:
    """Delete the partial files that killed writers left beside `path`."""
    for draft in path.parent.glob(f"{path.name}.*.part"):
        draft.unlink(missing_ok=True)


def _header(path: Path) -> tuple[dict[str, Any], int]:
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise DamagedFileError("it begins otherwise")
        length, crc = int.from_bytes(file.read(8), "little"), int.from_bytes(file.read(4), "little")
        raw = file.read(min(length, _MAX_HEADER))
        if len(raw) != length or zlib.crc32(raw) != crc:
            raise DamagedFileError("its header is not whole")
        return json.loads(raw), _aligned(file.tell())


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGN) * _ALIGN


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).data.cast("B")
