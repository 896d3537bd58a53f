"""The ledger as lines of JSON that can be checked elsewhere, with the key and nothing else."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Iterator
from typing import Any

from grounding.errors import InputError
from rai.ledger.chain import GENESIS, SealedRow, Walk, canonical, key_id, seal, walk
from rai.records import Verification

FORMAT = "attest-ledger-1"
"""The name of the format, in the first line."""


def export_lines(key: bytes, rows: Iterable[SealedRow]) -> Iterator[str]:
    """The lines of an export: a heading, one for each entry, and a sealed last line with count and head. None ends in a newline."""
    yield json.dumps({"format": FORMAT, "key_id": key_id(key)})
    count, head = 0, GENESIS
    for row in rows:
        count, head = count + 1, row.mac
        yield json.dumps(_as_json(row), ensure_ascii=True)
    yield json.dumps({"end": {"count": count, "head": head, "mac": _end_seal(key, count, head)}})


def verify_export(lines: Iterable[str], key: bytes) -> Verification:
    """Checks exported `lines` in one pass. Raises InputError for text that is no export or is of another key."""
    reader = _ExportReader(lines, key)
    state = walk(key, reader.rows(), reader.seen.__contains__)
    broken, why = (state.broken.entry, state.broken.why) if state.broken else reader.ending(state)
    return Verification(not why, state.count, state.head, broken, why)


class _ExportReader:
    """The lines of an export as they are read. `seen`: the links of the entries so far."""

    def __init__(self, lines: Iterable[str], key: bytes) -> None:
        self._lines = iter(lines)
        self._key = key
        self._end: dict[str, Any] | None = None
        self.seen: set[str] = set()
        head = _parsed(next(self._lines, ""), 1)
        if head.get("format") != FORMAT:
            raise InputError(f"line 1: not an exported ledger; expected format {FORMAT}")
        if head.get("key_id") != key_id(key):
            raise InputError("line 1: this ledger was written with another key")

    def rows(self) -> Iterator[SealedRow]:
        for number, line in enumerate(self._lines, start=2):
            if not line.strip():
                continue
            data = _parsed(line, number)
            if "end" in data:
                self._end = data["end"] if isinstance(data["end"], dict) else {}
                return
            row = _from_json(data, number)
            self.seen.add(row.mac)
            yield row

    def ending(self, state: Walk) -> tuple[str | None, str]:
        if self._end is None:
            return None, f"truncated: the last line is missing after entry {state.count}"
        count, head = self._end.get("count"), str(self._end.get("head"))
        if not hmac.compare_digest(str(self._end.get("mac")), _end_seal(self._key, count, head)):
            return None, "changed: the last line does not match its seal"
        if (count, head) != (state.count, state.head):
            return None, f"truncated: {state.count} entries, but the last line counts {count}"
        return None, ""


def _end_seal(key: bytes, count: object, head: str) -> str:
    return seal(key, "attest-ledger-export-1", str(count), head)


def _as_json(row: SealedRow) -> dict[str, Any]:
    return {
        "seq": row.seq,
        "entry_id": row.entry_id,
        "at": row.at,
        "kind": row.kind,
        "body": None if row.body is None else json.loads(row.body),
        "digest": row.digest,
        "prev": row.prev,
        "mac": row.mac,
    }


def _from_json(data: dict[str, Any], number: int) -> SealedRow:
    try:
        texts = [data[k] for k in ("entry_id", "at", "kind", "digest", "prev", "mac")]
        if not all(isinstance(t, str) for t in texts) or not isinstance(data["seq"], int):
            raise TypeError
        entry_id, at, kind, digest, prev, mac = texts
        body = None if data["body"] is None else canonical(data["body"])
        return SealedRow(data["seq"], entry_id, at, kind, body, digest, prev, mac)
    except (KeyError, TypeError):
        raise InputError(f"line {number}: not an entry of a ledger") from None


def _parsed(line: str, number: int) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise InputError(f"line {number}: not a JSON object")
    return data
