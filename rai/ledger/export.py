"""The ledger as lines of JSON that can be checked elsewhere: here with the key and nothing else, by `attest_verify` with checkpoints and a public key.

An export of form 1, which is that of a ledger without an id, has neither ledger nor salts. It is read as what it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from grounding.errors import InputError, StoreError
from rai.ledger.chain import (
    BREAKS_MAX,
    GENESIS,
    Flaw,
    SealedRow,
    Walk,
    canonical,
    is_same,
    key_id,
    key_named,
    result_of,
    seal,
    walk,
)
from rai.records import Break, Verification

FORMAT, FORMAT_1 = "attest-ledger-2", "attest-ledger-1"
"""The names of the formats, in the first line."""
_SPACES = " \t\r\n"
"""What JSON takes for a space."""
ANOTHER_KEY = "this ledger was written with another key"
_DIGITS_MAX = 4_000
"""Digits of a whole number, which Python reads and writes up to 4,300 of."""
_HEADING_1: dict[str, type] = {"format": str, "key_id": str}
_HEADING: dict[str, type] = {**_HEADING_1, "ledger_id": str, "verifier_key": str}
_ENTRY_1: dict[str, type] = {
    "seq": int,
    "entry_id": str,
    "at": str,
    "kind": str,
    "body": dict,
    "digest": str,
    "prev": str,
    "mac": str,
}
_ENTRY: dict[str, type] = {**_ENTRY_1, "salt": str}
_ERASABLE = ("body", "salt")
_END: dict[str, type] = {"count": int, "head": str, "mac": str}


def export_lines(
    key: bytes, rows: Iterable[SealedRow], ledger_id: str | None, verifier_key: str | None
) -> Iterator[str]:
    """The lines of an export: a heading, one for each entry, and a sealed last line with count and head. None ends in a newline.

    `verifier_key`: the public key that the ledger names; of no use without `ledger_id`.
    """
    if ledger_id is None:
        yield json.dumps({"format": FORMAT_1, "key_id": key_id(key)})
    else:
        named = {"format": FORMAT, "ledger_id": ledger_id, "verifier_key": verifier_key or ""}
        yield json.dumps({**named, "key_id": key_id(key)})
    count, head = 0, GENESIS
    for row in rows:
        count, head = count + 1, row.mac
        yield json.dumps(_as_json(row, salted=ledger_id is not None), ensure_ascii=True)
    yield json.dumps({"end": {"count": count, "head": head, "mac": _end_seal(key, ledger_id, count, head)}})


def verify_export(lines: Iterable[str], key: bytes, ledger_id: str | None = None) -> Verification:
    """Checks exported `lines` in one pass, which are to be of the ledger `ledger_id` if that is given.

    Raises InputError for text that is no export or is of another key. A line that is not what `export_lines` writes is a break of its own: a
    key that stands twice, a field that is not sealed, NaN, another type.
    """
    reader = _ExportReader(lines, key)
    state = Walk(hints=tuple(name for name in (ledger_id, reader.ledger_id) if name))
    walk(key, reader.rows(), reader.seen.__contains__, state)
    ends = [] if len(state.breaks) >= BREAKS_MAX else reader.ending(state)
    if ledger_id is not None and state.read and state.ledger_id != ledger_id:
        ends.append(f"changed: this is another ledger, {state.ledger_id or 'without an id'}, not {ledger_id}")
    if reader.is_of_another_key and not state.count:  # else the key is the right one, and the line alone was changed
        raise InputError(f"line 1: {ANOTHER_KEY}", code="another_key")
    reader.heading = reader.heading or reader.unlike(state)
    found = replace(result_of(state, ends), ledger_id=state.ledger_id)
    if not reader.heading:
        return found
    breaks = (Break(None, reader.heading), *found.breaks)
    return replace(found, ok=False, broken=None, why=reader.heading, breaks=breaks)


class _ExportReader:
    """The lines of an export as they are read. `seen`: the links of the entries so far; `ledger_id`: as the first line names it; `heading`: what is
    wrong with that line.
    """

    def __init__(self, lines: Iterable[str], key: bytes) -> None:
        self._lines = enumerate(lines, start=1)
        self._key = key
        self._end: dict[str, Any] | None = None
        self._behind: list[str] = []
        self.seen: set[str] = set()
        _, line = next(self._lines, (1, ""))
        self.heading = ""
        self.is_of_another_key = False
        try:
            head = strict_json(line)
            _of_fields(head, _HEADING_1 if head.get("format") == FORMAT_1 else _HEADING)
        except ValueError as error:
            self.heading = f"changed: line 1: {error}"
            head = lenient_json(line)
        self._salted = head.get("format") != FORMAT_1
        self.ledger_id: str | None = str(head.get("ledger_id")) if self._salted else None
        self._told, self._named = head.get("verifier_key"), None if self._salted else head.get("verifier_key")
        if head.get("format") not in (FORMAT, FORMAT_1):
            raise InputError(f"line 1: not an exported ledger; expected format {FORMAT}")
        if head.get("key_id") != key_id(key):
            self.heading = self.heading or f"changed: line 1: {ANOTHER_KEY}"
            self.is_of_another_key = True

    def rows(self) -> Iterator[SealedRow | Flaw]:
        for number, line in self._lines:
            if not line.strip(_SPACES):
                continue
            if self._end is not None:
                self._behind.append(line[:1])
                return
            try:
                data = strict_json(line)
                if "end" in data:
                    self._end = _ending_of(data)
                    continue
                row = _from_json(data, salted=self._salted)
            except ValueError as error:
                yield Flaw(_id_of(line), f"changed: line {number}: {error}")
                continue
            self.seen.add(row.mac)
            self._named = key_named(row) or self._named
            yield row

    def unlike(self, state: Walk) -> str:
        """What the first line says otherwise than the entries do."""
        if self.ledger_id != state.ledger_id:
            return "changed: line 1: it names another ledger than the entries do"
        if self._told != self._named and not state.breaks:
            return "changed: line 1: it names another public key than the entries do"
        return ""

    def ending(self, state: Walk) -> list[str]:
        if self._end is None:
            return [f"truncated: the last line is missing after entry {state.seq}"]
        behind = ["changed: there are lines after the sealed last one"] if self._behind else []
        count, head = self._end["count"], self._end["head"]
        if not is_same(self._end["mac"], _end_seal(self._key, state.ledger_id, count, head)):
            return ["changed: the last line does not match its seal", *behind]
        if count != state.seq or state.last not in (None, head):
            return [f"truncated: {state.seq} entries, but the last line counts {count}", *behind]
        return behind


def _end_seal(key: bytes, ledger_id: str | None, count: object, head: str) -> str:
    if ledger_id is None:
        return seal(key, "attest-ledger-export-1", str(count), head)
    return seal(key, "attest-ledger-export-2", ledger_id, str(count), head)


def _as_json(row: SealedRow, *, salted: bool) -> dict[str, Any]:
    return {
        "seq": row.seq,
        "entry_id": row.entry_id,
        "at": row.at,
        "kind": row.kind,
        **({"salt": row.salt} if salted else {}),
        "body": None if row.body is None else json.loads(row.body),
        "digest": row.digest,
        "prev": row.prev,
        "mac": row.mac,
    }


def strict_json(line: str) -> dict[str, Any]:
    """The JSON object in `line`, read in one way only. Raises ValueError, whose text says why it cannot be."""
    try:
        line.encode()
        data = json.loads(line, object_pairs_hook=_once, parse_constant=_no_constant, parse_int=_whole)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("it is not UTF-8") from None
    except json.JSONDecodeError:
        raise ValueError("not a JSON object") from None
    if isinstance(data, dict):
        return data
    raise ValueError("not a JSON object")


def lenient_json(line: str) -> dict[str, Any]:
    """The JSON object in `line` as readers that are not strict take it; empty if there is none."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("a key stands twice in an object")
    return data


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS_MAX:
        raise ValueError("a number is too long")
    return int(digits)


def _of_fields(data: dict[str, Any], fields: dict[str, type]) -> None:
    if unknown := data.keys() - fields.keys():
        raise ValueError(f"a field that is not sealed: {min(unknown)[:40]!r}")
    if missing := fields.keys() - data.keys():
        raise ValueError(f"a field is missing: {min(missing)}")
    for name, kind in fields.items():
        # `type`, as True is an int too
        if type(data[name]) is not kind and not (name in _ERASABLE and data[name] is None):
            raise ValueError(f"{name} is of another type")


def _ending_of(data: dict[str, Any]) -> dict[str, Any]:
    _of_fields(data, {"end": dict})
    end: dict[str, Any] = data["end"]
    _of_fields(end, _END)
    return end


def _from_json(data: dict[str, Any], *, salted: bool) -> SealedRow:
    _of_fields(data, _ENTRY if salted else _ENTRY_1)
    try:
        body = None if data["body"] is None else canonical(data["body"])
    except StoreError:
        raise ValueError("the body holds a number that JSON cannot say") from None
    return SealedRow(**{"salt": None, **data, "body": body})


def _id_of(line: str) -> str | None:
    found = lenient_json(line).get("entry_id")
    return found if isinstance(found, str) else None
