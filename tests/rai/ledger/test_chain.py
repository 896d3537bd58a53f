"""The chain as pure functions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.errors import StoreError
from rai.ledger.chain import (
    BREAKS_MAX,
    ERASE,
    GENESIS,
    UPGRADE,
    Flaw,
    SealedRow,
    Walk,
    canonical,
    commitment,
    keyed_digest,
    leaf_data,
    link,
    mac_of,
    new_entry_id,
    result_of,
    seal,
    walk,
)

KEY = bytes(range(32))
ID = "ab" * 16
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def chain(bodies: list[str]) -> list[SealedRow]:
    rows: list[SealedRow] = []
    for n, body in enumerate(bodies, start=1):
        prev = rows[-1] if rows else None
        entry_id = new_entry_id(1_700_000_000_000, prev.entry_id if prev else None)
        rows.append(
            link(KEY, ID, seq=n, entry_id=entry_id, at="t", kind="k", body=body, prev=prev.mac if prev else GENESIS)
        )
    return rows


def walked(rows: Iterable[SealedRow | Flaw], known: Callable[[str], bool], *hints: str) -> Walk:
    """The walk along rows of the ledger ID, which is known from elsewhere."""
    return walk(KEY, rows, known, Walk(hints=hints or (ID,)))


def older(bodies: list[str]) -> list[SealedRow]:
    """The same as older programs wrote it, in form 1."""
    rows: list[SealedRow] = []
    for row in chain(bodies):
        digest = keyed_digest(KEY, row.entry_id, row.body or "")
        unsealed = replace(row, salt=None, digest=digest, prev=rows[-1].mac if rows else GENESIS)
        rows.append(replace(unsealed, mac=mac_of(KEY, unsealed, None)))
    return rows


def then(rows: list[SealedRow], kind: str, body: str) -> list[SealedRow]:
    """`rows`, and one of form 2 behind them."""
    seq, prev = len(rows) + 1, rows[-1].mac if rows else GENESIS
    return [*rows, link(KEY, ID, seq=seq, entry_id=f"{seq:026d}", at="t", kind=kind, body=body, prev=prev)]


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_canonical_form_is_stable_and_loses_nothing(body: dict[str, object]) -> None:
    text = canonical(body)
    assert canonical(json.loads(text)) == text
    assert json.loads(text) == body
    assert text.isascii()


@pytest.mark.parametrize("body", [{"a": float("inf")}, {"a": object()}])
def test_what_json_cannot_say_is_refused(body: dict[str, object]) -> None:
    with pytest.raises(StoreError, match="not JSON"):
        canonical(body)


@given(st.lists(st.text(max_size=6), max_size=4), st.lists(st.text(max_size=6), max_size=4))
def test_a_seal_tells_lists_of_parts_apart(a: list[str], b: list[str]) -> None:
    assert (seal(KEY, "t", *a) == seal(KEY, "t", *b)) == (a == b)


def test_a_seal_needs_the_key() -> None:
    assert seal(KEY, "t", "x") != seal(bytes(32), "t", "x")


@given(st.lists(st.integers(0, 2**47), min_size=2, max_size=20))
def test_ids_ascend_whatever_the_clock_does(times: list[int]) -> None:
    last: str | None = None
    for ms in times:
        entry = new_entry_id(ms, last)
        assert len(entry) == 26
        assert last is None or entry > last
        last = entry


@given(st.lists(st.text(max_size=8).map(lambda t: canonical({"t": t})), min_size=2, max_size=8), st.data())
def test_every_order_but_the_right_one_is_found(bodies: list[str], data: st.DataObject) -> None:
    rows = chain(bodies)
    macs = {r.mac for r in rows}
    assert walked(rows, macs.__contains__).broken is None
    order = data.draw(st.permutations(range(len(rows))))
    moved = [replace(r, seq=n) for n, r in enumerate((rows[i] for i in order), start=1)]
    broken = walked(moved, macs.__contains__).broken
    assert (broken is None) == (list(order) == sorted(order))


def test_an_entry_entered_twice_is_found() -> None:
    rows = chain([canonical({"n": n}) for n in range(3)])
    again = SealedRow(4, *[getattr(rows[2], f) for f in SealedRow.__slots__[1:]])
    broken = walked([*rows, again], lambda _: True).broken
    assert broken is not None
    assert broken.why.startswith("reordered")


@pytest.mark.parametrize(
    ("part", "held"), [("seq", "01M8"), ("mac", 7), ("prev", None), ("body", b"x"), ("kind", 1.5), ("salt", 3)]
)
def test_a_part_of_another_type_is_reported_as_changed(part: str, held: object) -> None:
    rows = chain(["a", "b"])
    parts: dict[str, Any] = {part: held}
    damaged = replace(rows[1], **parts)
    state = walked([rows[0], damaged], lambda mac: False)
    assert state.broken is not None
    assert state.broken.why.startswith("changed")


def test_every_break_is_told_once_with_what_holds_around_it() -> None:
    rows = chain([canonical({"n": n}) for n in range(12)])
    rows[2] = replace(rows[2], body="{}")
    rows[9] = replace(rows[9], mac=rows[9].mac[::-1])
    del rows[6]
    found = result_of(walked(rows, lambda mac: False), ["changed: the store has a view", "truncated: it is cut"])
    assert [(b.at, b.before, b.after, b.why) for b in found.breaks] == [
        (3, 2, 3, "changed: the body of entry 3 does not match its seal"),
        (7, 3, 1, "missing: entry 7 is not there, the next is 8"),
        (9, 1, 2, "changed: entry 10 does not match its seal"),
        (12, 2, 0, "truncated: it is cut"),
        (None, 0, 0, "changed: the store has a view"),
    ]
    assert (found.ok, found.entries, found.head, found.broken) == (False, 2, rows[1].mac, rows[2].entry_id)
    assert [b.entry for b in found.breaks] == [rows[2].entry_id, rows[6].entry_id, rows[8].entry_id, None, None]


def test_an_entry_put_between_others_leaves_those_whole() -> None:
    rows = chain(["a", "b", "c"])
    found = walked([rows[0], replace(rows[2], seq=0), rows[1], rows[2]], lambda mac: True)
    assert [(b.at, b.why) for b in found.breaks] == [(2, "reordered: entry 0 stands where 2 belongs")]


def test_a_walk_ends_at_the_last_break_that_is_named() -> None:
    rows = [replace(row, body="") for row in chain(["a"] * (BREAKS_MAX + 5))]
    state = walked(rows, lambda mac: False)
    assert (state.read, len(state.breaks)) == (BREAKS_MAX, BREAKS_MAX)
    found = result_of(state, [])
    assert found.notes == (f"only the first {BREAKS_MAX} breaks are named",)


def test_a_commitment_is_opened_by_salt_and_body_alone() -> None:
    (row,) = chain([canonical({"n": 1})])
    assert row.salt is not None
    assert (
        row.digest
        == hashlib.sha256(bytes.fromhex(row.salt) + b'{"n":1}').hexdigest()
        == commitment(row.salt, '{"n":1}')
    )
    assert row.salt != chain([canonical({"n": 1})])[0].salt


def test_a_leaf_holds_no_body() -> None:
    (row,) = chain([canonical({"n": 1})])
    assert json.loads(leaf_data(ID, row)) == [ID, 1, row.entry_id, "t", "k", row.digest]
    assert leaf_data(ID, replace(row, salt=None, body=None)) == leaf_data(ID, row)


def test_entries_of_form_1_are_followed_by_those_of_form_2() -> None:
    rows = then(then(older(["{}", '{"n":1}']), UPGRADE, canonical({"ledger_id": ID})), "turn", "{}")
    state = walk(KEY, rows, lambda _: False)
    assert (state.broken, state.count, state.ledger_id) == (None, 4, ID)
    first = rows[:2]
    assert (walk(KEY, first, lambda _: False).broken, walk(KEY, first, lambda _: False).ledger_id) == (None, None)
    # behind the upgrade nothing of form 1 is taken, and before it nothing that form 1 has not
    late = older(["{}"] * 5)[4]
    late = replace(late, prev=rows[3].mac)
    late = replace(late, mac=mac_of(KEY, late, None))
    assert [b.why for b in walk(KEY, [*rows, late], lambda _: False).breaks] == [
        "changed: entry 5 does not match its seal"
    ]
    salted = replace(rows[1], salt="ab" * 32)
    (found,) = walk(KEY, [rows[0], salted, *rows[2:]], lambda _: False).breaks
    assert (found.at, found.why) == (2, "changed: entry 2 has a salt, which its form has not")


def test_entries_of_another_ledger_of_the_key_do_not_match() -> None:
    rows = chain(["{}", "{}"])
    assert walked(rows, lambda _: False).broken is None
    found = walked(rows, lambda _: False, "cd" * 16).broken
    assert found is not None
    assert found.why == "changed: entry 1 does not match its seal"
    mixed = [rows[0], replace(rows[1], mac=mac_of(KEY, rows[1], "cd" * 16))]
    (told,) = walked(mixed, lambda _: False, ID, "cd" * 16).breaks
    assert told.at == 2


@pytest.mark.parametrize("salt", [None, "", "zz" * 32, "ab" * 31])
def test_a_body_without_its_salt_is_a_break(salt: str | None) -> None:
    rows = chain(["{}", "{}"])
    found = walked([rows[0], replace(rows[1], salt=salt)], lambda _: False).broken
    assert found is not None
    assert found.why == "changed: the body of entry 2 does not match its seal"


def test_an_erased_entry_that_keeps_its_salt_is_a_break() -> None:
    rows = chain(["{}", "{}"])
    rows = then(rows, ERASE, canonical({"entry_ids": [rows[0].entry_id, rows[1].entry_id]}))
    gone = [replace(row, salt=None, body=None) for row in rows[:2]]
    assert walked([*gone, rows[2]], lambda _: False).broken is None
    found = walked([gone[0], replace(gone[1], salt=rows[1].salt), rows[2]], lambda _: False).broken
    assert found is not None
    assert found.why.startswith("changed: entry 2 was erased, but its salt is there")
    back = walked([gone[0], rows[1], rows[2]], lambda _: False).broken
    assert back is not None
    assert back.why == "changed: entry 2 has a body, but entry 3 records its erasure"


def test_what_says_which_ledger_it_is_cannot_be_erased() -> None:
    rows = then(then([], "genesis", canonical({"ledger_id": ID})), "turn", "{}")
    found = walk(KEY, [replace(rows[0], salt=None, body=None), rows[1]], lambda _: False, Walk(hints=(ID,))).broken
    assert found is not None
    assert found.why == "changed: the body of entry 1 is gone, which says which ledger this is"
