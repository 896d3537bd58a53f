"""attest-verify: an auditor's walk with an export, its checkpoints and a public key, and every change of them."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rai.ledger import attest_verify
from rai.ledger.attest_verify import (
    BROKEN,
    SOUND,
    UNUSABLE,
    AuditReport,
    Unusable,
    audit,
    audit_proof,
    cells_of,
    is_signed,
    main,
    notes_in,
)
from rai.ledger.checkpoints.checkpoint import Checkpoint, SigningKey, sign_checkpoint
from rai.ledger.checkpoints.tree import inclusion_proof, root_of, verify_inclusion
from rai.ledger.contents import sha256_of
from rai.ledger.store import SqlLedger
from tests.fakes.form2 import LEDGER_ID, NEXT_SIGNER, ORIGIN, SIGNER, Form2Ledger, Line, commitment, text_of
from tests.fakes.recorded_turn import recorded_turn
from tests.tables import Tables

TABLES = Tables(__file__)
PROGRAM = Path(attest_verify.__file__)
KEY = SIGNER.verifier().line()
SIZES = (8, 16, 22)


def ledger() -> Form2Ledger:
    """The one that attest_verify.yaml describes."""
    made = Form2Ledger(20)
    made.erase(3)
    made.add("turn", {"outcome": "answered"})
    return made


@dataclass(frozen=True)
class Given:
    """What an auditor holds, in a folder."""

    folder: Path

    def check(
        self, export: str, notes: Sequence[str] | None = None, keys: Sequence[str] = (KEY,), **more: Any
    ) -> AuditReport:
        (self.folder / "export.jsonl").write_text(export, "utf-8")
        found = [ledger().checkpoint(size) for size in SIZES] if notes is None else notes
        paths = [self.folder / f"{n}.txt" for n in range(len(found))]
        for path, note in zip(paths, found, strict=True):
            path.write_bytes(note.encode())
        return audit(self.folder / "export.jsonl", paths, keys, **more)


@pytest.fixture
def given_to(tmp_path: Path) -> Given:
    return Given(tmp_path)


def summary(report: AuditReport) -> list[tuple[str, int | None, int | None]]:
    return [(found.what, found.line, found.seq) for found in report.findings]


# Sound exports


def test_a_sound_export_is_sound(given_to: Given) -> None:
    report = given_to.check(text_of(ledger().lines()))
    assert report.breaks == 0
    assert (report.entries, report.erased, report.form_1, report.covered) == (23, 1, 0, 22)
    assert report.not_yet_covered == (23, 23)
    assert [point.state for point in report.points] == ["as signed"] * 3


def test_a_file_may_hold_several_checkpoints(given_to: Given) -> None:
    notes = [ledger().checkpoint(size) for size in (0, *SIZES, 23)]
    report = given_to.check(text_of(ledger().lines()), ["".join(notes)])
    assert [(p.size, p.state) for p in report.points] == [(size, "as signed") for size in (0, *SIZES, 23)]
    assert report.not_yet_covered is None
    assert [note.decode() for note in notes_in("".join(notes).encode())] == notes


def test_a_ledger_begun_with_form_1_says_what_needs_the_key(given_to: Given) -> None:
    made = Form2Ledger(3, upgraded=4)
    made.erase(2)
    report = given_to.check(text_of(made.lines()), [made.checkpoint()])
    assert (report.breaks, report.form_1, report.covered) == (0, 3, 9)
    assert "of form 1: 3 entries, whose bodies only the operator's key can check" in attest_verify.told(report)


def test_a_ledger_of_form_1_that_was_never_upgraded_says_not_which_it_is(given_to: Given) -> None:
    made = Form2Ledger(3, upgraded=4)
    lines = made.lines()[:5] + made.lines()[-1:]
    report = given_to.check(text_of(lines), [made.checkpoint(4)])
    assert [f.why for f in report.findings if f.what == "changed"] == [
        "no entry says which ledger this is: neither a genesis nor an upgrade"
    ]
    made.entries[1]["salt"] = "00" * 32
    found = given_to.check(text_of(made.lines()), [made.checkpoint()]).findings
    assert [(f.seq, f.why) for f in found] == [(2, "it has a salt, and entries before the upgrade have none")]


def test_one_erasure_may_name_several_entries_and_come_twice(given_to: Given) -> None:
    made = Form2Ledger(5)
    for seq in (2, 4):
        made.entries[seq - 1]["salt"] = made.entries[seq - 1]["body"] = None
    made.add("erase", {"entry_ids": [made.entries[1]["entry_id"], made.entries[3]["entry_id"]]})
    made.erase(2)
    report = given_to.check(text_of(made.lines()), [made.checkpoint()])
    assert (report.breaks, report.erased) == (0, 2)


@given(
    st.dictionaries(
        st.text(max_size=5), st.text(max_size=5) | st.floats(allow_nan=False, allow_infinity=False) | st.integers()
    )
)
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_body_opens_its_commitment(given_to: Given, body: dict[str, Any]) -> None:
    made = Form2Ledger()
    made.add("turn", body)
    assert given_to.check(text_of(made.lines()), [made.checkpoint()]).breaks == 0


# Keys


def test_during_a_change_of_keys_either_verifies(given_to: Given) -> None:
    made = ledger()
    both, new = made.checkpoint(22, [SIGNER, NEXT_SIGNER]), made.checkpoint(23, [NEXT_SIGNER])
    next_key = NEXT_SIGNER.verifier().line()
    for keys in ([KEY], [next_key], [KEY, next_key]):
        assert given_to.check(text_of(made.lines()), [both], keys).breaks == 0
    assert given_to.check(text_of(made.lines()), [both, new], [KEY, next_key]).breaks == 0
    assert summary(given_to.check(text_of(made.lines()), [both, new], [KEY])) == [("forged", None, None)]


def test_a_checkpoint_of_a_key_that_a_proven_entry_names_is_set_aside_and_not_forged(given_to: Given) -> None:
    made = Form2Ledger(3)
    made.add("key", {"verifier_key": NEXT_SIGNER.verifier().line()})
    both = made.checkpoint(5, [SIGNER, NEXT_SIGNER])
    made.add("turn", {"n": 1})
    new = made.checkpoint(6, [NEXT_SIGNER])
    report = given_to.check(text_of(made.lines()), [both, new], [KEY])
    assert (report.breaks, report.covered, len(report.aside)) == (0, 5, 1)
    assert "of the key that entry 5 names, which was not given: --key" in attest_verify.told(report)
    # a key that no signed entry names vouches for nothing
    assert summary(given_to.check(text_of(made.lines()), [made.checkpoint(4), new], [KEY])) == [("forged", None, None)]


def test_an_erasure_that_nobody_signed_takes_no_signed_body_away(given_to: Given) -> None:
    """Whoever passes an export on can empty an entry and add a record of that, without any key."""
    made = Form2Ledger(8)
    point = made.checkpoint()
    made.erase(5)
    report = given_to.check(text_of(made.lines()), [point])
    [found] = report.findings
    assert (found.what, found.seq, "covers yet entry 10" in found.why) == ("changed", 5, True)
    assert given_to.check(text_of(made.lines()), [point, made.checkpoint()]).breaks == 0


def test_a_heading_may_name_the_next_key_if_an_entry_does(given_to: Given) -> None:
    made = Form2Ledger(3)
    made.add("key", {"verifier_key": NEXT_SIGNER.verifier().line()})
    lines = made.lines()
    lines[0]["verifier_key"] = NEXT_SIGNER.verifier().line()
    report = given_to.check(text_of(lines), [made.checkpoint()])
    assert report.breaks == 0
    assert report.keys == [{"seq": 5, "verifier_key": NEXT_SIGNER.verifier().line()}]
    assert f"key named by entry 5, proven: {NEXT_SIGNER.verifier().line()}" in attest_verify.told(report)
    assert "key named by entry 5, not yet covered: " in attest_verify.told(
        given_to.check(text_of(lines), [made.checkpoint(4)])
    )


def test_what_is_no_key_of_this_ledger_is_not_told_as_one(given_to: Given) -> None:
    made = Form2Ledger(3)
    other = SigningKey("attest-ledger/" + "f" * 32, SIGNER.seed).verifier().line()
    for named in (None, 7, "nonsense", other):
        made.add("key", {"verifier_key": named})
    assert given_to.check(text_of(made.lines()), [made.checkpoint()]).keys == []


# Changed exports


def changed(row: Line) -> str:
    """The export with the change that a row of the table describes."""
    lines = ledger().lines()
    n = row["line"] - 1
    lines[n] = changed_line(row, lines[n]) if not row.get("restore") else Form2Ledger(20).lines()[n]
    texts = [json.dumps(line) + "\n" for line in lines]
    if row.get("replace"):
        assert row["replace"] in texts[n]
        texts[n] = texts[n].replace(row["replace"], row["by"], 1)
    if row.get("twice"):
        texts.insert(n, texts[n])
    if row.get("insert") is not None:
        texts.insert(n, row["insert"] + "\n")
    if row.get("after"):
        texts.insert(row["after"] - 1, texts.pop(n))
    if row.get("drop"):
        del texts[n]
    return "".join(texts[:n] if row.get("cut") else texts)


def changed_line(row: Line, line: Line) -> Line:
    for path, value in (row.get("set") or {}).items():
        *folders, name = path.split(".")
        target = line
        for folder in folders:
            target = target[folder]
        target[name] = value
    if row.get("commit"):
        line["digest"] = commitment(line["salt"], line["body"])
    return {name: value for name, value in line.items() if name != row.get("delete")}


TAMPERED = [
    pytest.param(row, id=f"{name}-{row['id']}")
    for name in ("changed", "erased", "moved", "strict", "heading")
    for row in TABLES.tables[name]
]


@pytest.mark.parametrize("row", TAMPERED)
def test_each_change_is_found_and_located(given_to: Given, row: Line) -> None:
    report = given_to.check(changed(row))
    assert summary(report) == [tuple(found[:3]) for found in row["found"]]
    for found, (*_, words) in zip(report.findings, row["found"], strict=True):
        assert words in found.why
        assert "\n" not in found.why


def test_the_table_is_not_small() -> None:
    assert len(TAMPERED) >= 29


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in TABLES.tables["newer"]])
def test_what_no_checkpoint_covers_may_pass_and_is_told(given_to: Given, row: Line) -> None:
    report = given_to.check(changed(row))
    assert (report.breaks, report.not_yet_covered) == (0, (23, 23))
    assert given_to.check(changed(row), [ledger().checkpoint()]).breaks == 1


def test_what_lies_before_and_after_is_told(given_to: Given) -> None:
    made = ledger()
    ids = [entry["entry_id"] for entry in made.entries]
    body, gone = [
        given_to.check(changed(r)).findings[0]
        for r in (TABLES.row("changed", "outcome"), TABLES.row("moved", "one-missing"))
    ]
    assert (body.before, body.after) == (f"entry 9 ({ids[8]}) in line 10", f"entry 11 ({ids[10]}) in line 12")
    assert (gone.before, gone.after) == (f"entry 9 ({ids[8]}) in line 10", f"entry 11 ({ids[10]}) in line 11")
    range_ = given_to.check(changed(TABLES.row("changed", "time"))).findings[0]
    assert (range_.before, range_.after) == ("as signed: entries 1 to 8", "no checkpoint vouches for entries 17 to 23")
    assert range_.checkpoint is not None
    assert range_.checkpoint.endswith("1.txt")


def test_all_breaks_are_found_and_not_the_first_alone(given_to: Given) -> None:
    lines = ledger().lines()
    for seq in (5, 9, 10, 23):
        lines[seq]["body"] = {"outcome": "blocked"}
    lines[12]["prev"] = "0" * 64
    report = given_to.check(text_of(lines))
    assert [found.seq for found in report.findings] == [5, 9, 10, 12, 23]
    assert report.covered == 22


def test_a_thousand_breaks_are_listed_and_all_are_counted(given_to: Given) -> None:
    made = Form2Ledger(3)
    text = text_of(made.lines()) + "x\n" * 700
    report = given_to.check(text, [made.checkpoint()])
    assert (report.breaks, len(report.findings)) == (1400, 1000)
    assert "and 400 more breaks, not listed" in attest_verify.told(report)


EXPORT = text_of(ledger().lines())


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, len(EXPORT) - 2), char=st.characters(min_codepoint=32, max_codepoint=126))
def test_a_changed_character_of_the_export_is_found(given_to: Given, at: int, char: str) -> None:
    """But for spaces between its parts, and but for what only the operator's key seals."""
    text = EXPORT[:at] + char + EXPORT[at + 1 :]
    line = EXPORT.count("\n", 0, at)
    try:
        report = given_to.check(text, [ledger().checkpoint()])
    except Unusable:
        assert line == 0
        return
    if report.breaks == 0:
        was, now = json.loads(EXPORT.splitlines()[line]), json.loads(text.splitlines()[line])
        if line == 0:
            was["key_id"] = now["key_id"]
        if line == len(ledger().entries) + 1:
            was["end"]["mac"] = now["end"]["mac"]
        assert was == now


def test_a_ledger_written_anew_with_the_operators_key_is_found(given_to: Given) -> None:
    """Whoever holds the key that seals can make the chain whole again, but not the checkpoints."""
    made = ledger()
    forged = Form2Ledger()
    for entry in made.entries[1:]:
        forged.add(entry["kind"], {"outcome": "withheld"} if entry["seq"] == 10 else entry["body"] or {})
    report = given_to.check(text_of(forged.lines()))
    assert ("changed", None, None) in summary(report)
    assert report.covered == 0


# Proofs of one entry


@pytest.fixture
def proven(given_to: Given) -> Callable[..., AuditReport]:
    """Checks a proof, an object or a text, against checkpoints of the ledger over 8, 16 and 22 entries, or other notes."""

    def check(proof: Line | str, notes: Sequence[str] | None = None, keys: Sequence[str] = (KEY,)) -> AuditReport:
        path = given_to.folder / "proof.json"
        path.write_text(proof if isinstance(proof, str) else json.dumps(proof), "utf-8")
        found = [ledger().checkpoint(size) for size in SIZES] if notes is None else notes
        paths = [given_to.folder / f"{n}.txt" for n in range(len(found))]
        for at, note in zip(paths, found, strict=True):
            at.write_bytes(note.encode())
        return audit_proof(path, paths, keys)

    return check


@pytest.mark.parametrize("seq", [1, 2, 9, 16])
def test_an_entry_is_proven_without_the_export(proven: Callable[..., AuditReport], seq: int) -> None:
    report = proven(ledger().proof(seq, 16))
    assert (report.breaks, report.covered) == (0, 16)
    assert [point.state for point in report.points] == ["not comparable", "as signed", "not comparable"]
    entry = ledger().entries[seq - 1]
    assert report.entry is not None
    assert (report.entry["entry_id"], report.entry["body"]) == (entry["entry_id"], "as committed")
    assert report.entry["proof"]["verified"] is True
    assert f"entry {seq} ({entry['entry_id']})" in attest_verify.told_of_proof(report)


def test_the_entry_is_the_one_that_an_export_proves(proven: Callable[..., AuditReport], given_to: Given) -> None:
    alone = proven(ledger().proof(10, 22)).entry
    whole = given_to.check(text_of(ledger().lines()), asked="10").entry
    assert alone is not None
    assert whole is not None
    assert {**whole["proof"], "checkpoint": ""} == {**alone["proof"], "checkpoint": ""}
    assert whole["leaf"] == alone["leaf"]


def test_an_entry_without_body_is_proven_and_the_proof_says_so(proven: Callable[..., AuditReport]) -> None:
    """It was erased, or is of form 1, whose body only the operator's key can check."""
    erased = proven(ledger().proof(3, 22))
    assert erased.breaks == 0
    assert "not in the proof (it was erased" in attest_verify.told_of_proof(erased)
    made = Form2Ledger(3, upgraded=4)
    assert made.proof(2)["entry"]["body"] is None
    old = proven(made.proof(2), [made.checkpoint()])
    assert old.entry is not None
    assert (old.breaks, old.entry["body"]) == (0, "none")


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in TABLES.tables["proof"]])
def test_each_change_of_a_proof_is_found(proven: Callable[..., AuditReport], row: Line) -> None:
    proof = ledger().proof(10, 16)
    target = proof["entry"] if row["at"] == "entry" else proof
    if row.get("delete"):
        del target[row["delete"]]
    for path, value in (row.get("set") or {}).items():
        *folders, name = path.split(".")
        inner = target
        for folder in folders:
            inner = inner[folder]
        inner[name] = value
    for name in row.get("of") or ():
        target[name] = (ledger().proof(11, 16)["entry"] if row["at"] == "entry" else ledger().proof(11, 16))[name]
    if row.get("commit"):
        proof["entry"]["digest"] = commitment(proof["entry"]["salt"], proof["entry"]["body"])
    report = proven(proof)
    assert [found.what for found in report.findings] == [found[0] for found in row["found"]]
    for found, (_, words) in zip(report.findings, row["found"], strict=True):
        assert words in found.why
    assert "SOUND" not in attest_verify.told_of_proof(report)


def test_no_field_of_a_proof_can_be_changed_unseen(proven: Callable[..., AuditReport]) -> None:
    """Each is in the table of changes."""
    rows = TABLES.tables["proof"]
    proof = ledger().proof(10, 16)
    told = {
        (row["at"], path.split(".")[0]) for row in rows for path in [*(row.get("set") or {}), *(row.get("of") or ())]
    }
    fields = {("proof", name) for name in proof if name not in ("entry", "format")}
    assert fields | {("entry", name) for name in proof["entry"]} <= told
    with pytest.raises(Unusable, match="expected format attest-ledger-proof-1"):
        proven({**proof, "format": "attest-ledger-proof-2"})


PROOF = json.dumps(ledger().proof(10, 16))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, len(PROOF) - 1), char=st.characters(min_codepoint=32, max_codepoint=126))
def test_a_changed_character_of_a_proof_is_found(proven: Callable[..., AuditReport], at: int, char: str) -> None:
    """But for spaces between its parts."""
    text = PROOF[:at] + char + PROOF[at + 1 :]
    try:
        report = proven(text)
    except Unusable:
        return
    assert report.breaks or json.loads(text) == json.loads(PROOF)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expected a proof of one entry"),
        ("[]", "not a proof of one entry"),
        ("{nope", "not JSON"),
        ('{"format": NaN}', "NaN is not JSON"),
        (text_of(ledger().lines()), "expected a proof of one entry"),
    ],
)
def test_what_is_no_proof_is_refused(proven: Callable[..., AuditReport], text: str, why: str) -> None:
    with pytest.raises(Unusable, match=why):
        proven(text)


def test_a_key_that_stands_twice_in_a_proof_is_a_break(proven: Callable[..., AuditReport]) -> None:
    text = PROOF.replace('"outcome": "answered"', '"outcome": "withheld", "outcome": "answered"')
    assert text != PROOF
    assert [found.why for found in proven(text).findings] == [
        "the key 'outcome' stands twice: two readers could read two things"
    ]


def test_a_proof_needs_a_checkpoint_of_its_size(proven: Callable[..., AuditReport]) -> None:
    with pytest.raises(Unusable, match=r"leads to a tree of 12 entries; those given are of 8, 16, 22"):
        proven(ledger().proof(10, 12))
    assert proven(ledger().proof(10, 12), [ledger().checkpoint(12)]).breaks == 0


def test_a_checkpoint_that_contradicts_the_proven_one_is_told(proven: Callable[..., AuditReport]) -> None:
    report = proven(ledger().proof(10, 16), [ledger().checkpoint(16), note(16, bytes(32)), "no note\n"])
    assert [found.what for found in report.findings] == ["forged", "forked"]
    assert report.covered == 16


def test_a_proof_during_a_change_of_keys(proven: Callable[..., AuditReport]) -> None:
    next_key = NEXT_SIGNER.verifier().line()
    both, new = ledger().checkpoint(16, [SIGNER, NEXT_SIGNER]), ledger().checkpoint(16, [NEXT_SIGNER])
    for notes, keys in (([both], [KEY]), ([both], [next_key]), ([new], [next_key]), ([new], [KEY, next_key])):
        assert proven(ledger().proof(10, 16), notes, keys).breaks == 0
    assert [found.what for found in proven(ledger().proof(10, 16), [new, both]).findings] == ["forged"]


# Checkpoints


def note(size: int, root: bytes, key: SigningKey = SIGNER, origin: str = ORIGIN) -> str:
    return sign_checkpoint(Checkpoint(origin, size, root), [key])


def test_a_checkpoint_that_goes_further_than_the_export_shows_the_cut(given_to: Given) -> None:
    made = ledger()
    made.add("turn", {})
    report = given_to.check(text_of(ledger().lines()), [ledger().checkpoint(8), made.checkpoint()])
    assert [(f.what, f.before) for f in report.findings] == [("truncated", "as signed: entries 1 to 8")]
    assert "24 entries were signed, but the export ends after entry 23" in report.findings[0].why


def test_two_histories_that_were_signed_are_told_apart_from_a_change(given_to: Given) -> None:
    good, other = ledger().checkpoint(22), note(8, bytes(32))
    report = given_to.check(text_of(ledger().lines()), [good, other])
    assert [(f.what, f.why[:21]) for f in report.findings] == [("forked", "two histories were si")]
    assert (report.covered, [p.state for p in report.points]) == (22, ["differs", "as signed"])
    assert summary(given_to.check(text_of(ledger().lines()), [good, note(22, bytes(32))])) == [("forked", None, None)]
    neither = given_to.check(text_of(ledger().lines()), [note(22, bytes(32)), note(22, bytes(range(32)))])
    assert [f.what for f in neither.findings] == ["changed", "forked"]
    assert "0.txt has another root for 22 entries" in neither.findings[1].why


@pytest.mark.parametrize("depth", [500, 900, 990, 2000, 100_000])
def test_a_body_of_any_depth_is_a_break_and_no_failure(given_to: Given, depth: int) -> None:
    deep = '{"outcome": ' + "[" * depth + "]" * depth
    texts = text_of(ledger().lines()).splitlines(keepends=True)
    texts[10] = texts[10].replace('{"ask"', deep + ', "ask"')
    texts[24] = texts[24].replace('"count": 23', '"count": ' + "[" * depth + "]" * depth)
    report = given_to.check("".join(texts))
    assert [found.line for found in report.findings][:2] == [11, 25]


def test_only_the_first_checkpoint_after_a_change_says_where(given_to: Given) -> None:
    report = given_to.check(
        text_of(ledger().lines()), [ledger().checkpoint(8), note(12, bytes(32)), note(22, bytes(32))]
    )
    assert [f.why[:16] for f in report.findings] == ["entries 9 to 12:"]
    assert [p.state for p in report.points] == ["as signed", "differs", "differs"]


FORGED = {
    "another key": note(8, bytes(32), SigningKey(ORIGIN, bytes(32))),
    "another name": note(8, bytes(32), SigningKey("attest-ledger/x", SIGNER.seed)),
    "another origin": note(8, bytes(32), origin="attest-ledger/" + "f" * 32),
    "no note": "hello\n",
    "nothing": "",
    "no signature": note(8, bytes(32)).split("—")[0],
    "windows line ends": note(8, bytes(32)).replace("\n", "\r\n"),
    "text behind": ledger().checkpoint(8) + "and more\n",
    "many signatures": ledger().checkpoint(8) + note(8, bytes(32)).splitlines(keepends=True)[-1] * 101,
    "long": "x" * (1 << 20) + note(8, bytes(32)),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_checkpoint_that_is_none_is_a_break(given_to: Given, what: str) -> None:
    report = given_to.check(text_of(ledger().lines()), [ledger().checkpoint(22), FORGED[what]])
    assert [found.what for found in report.findings] == ["forged"]
    assert report.findings[0].checkpoint is not None
    assert "1.txt" in report.findings[0].checkpoint
    assert report.covered == 22


@pytest.mark.parametrize("at", range(0, len(ledger().checkpoint(8).encode()), 3))
def test_every_changed_byte_of_a_checkpoint_is_a_break(tmp_path: Path, at: int) -> None:
    raw = ledger().checkpoint(8).encode()
    (tmp_path / "e").write_text(text_of(ledger().lines()))
    (tmp_path / "c").write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
    assert audit(tmp_path / "e", [tmp_path / "c"], [KEY]).breaks >= 1


# Proof of one entry


@pytest.mark.parametrize("seq", range(1, 23))
def test_an_entry_is_proven(given_to: Given, seq: int) -> None:
    """With the hashes that rai/ledger/checkpoints/tree.py finds, which anybody can verify against the signed root."""
    made = ledger()
    entry = given_to.check(text_of(made.lines()), asked=str(seq)).entry
    assert entry is not None
    proof = entry["proof"]
    hashes = [bytes.fromhex(step) for step in proof["hashes"]]
    assert (entry["entry_id"], proof["size"], proof["verified"]) == (made.entries[seq - 1]["entry_id"], 22, True)
    assert hashes == inclusion_proof(made.leaves()[:22], seq - 1)
    leaf, root = bytes.fromhex(proof["leaf_hash"]), root_of(made.leaves()[:22])
    assert verify_inclusion(leaf, proof["index"], proof["size"], hashes, root)
    assert proof["root"] == root.hex()


def test_an_entry_is_proven_by_its_id_against_the_newest_checkpoint_that_holds(given_to: Given) -> None:
    name = ledger().entries[4]["entry_id"]
    entry = given_to.check(text_of(ledger().lines()), [ledger().checkpoint(8), note(16, bytes(32))], asked=name).entry
    assert entry is not None
    assert (entry["seq"], entry["proof"]["size"], entry["proof"]["verified"]) == (5, 8, True)


def test_an_entry_that_is_not_covered_has_no_proof(given_to: Given) -> None:
    report = given_to.check(text_of(ledger().lines()), asked="23")
    assert report.entry is not None
    assert report.entry["proof"] is None
    assert "not covered by a checkpoint that holds: no proof" in attest_verify.told(report)


def test_an_entry_that_is_not_there_is_told(given_to: Given) -> None:
    with pytest.raises(Unusable, match="no entry 99"):
        given_to.check(text_of(ledger().lines()), asked="99")


# Ed25519


def test_the_vectors_of_rfc_8032_verify() -> None:
    assert attest_verify.self_test()
    assert len(attest_verify.VECTORS) == 3


@settings(deadline=None, max_examples=30)
@given(seed=st.binary(min_size=32, max_size=32), text=st.binary(max_size=200), at=st.integers(0, 511))
def test_signatures_are_those_of_another_implementation(seed: bytes, text: bytes, at: int) -> None:
    key = Ed25519PrivateKey.from_private_bytes(seed)
    public, signature = key.public_key().public_bytes_raw(), key.sign(text)
    assert is_signed(public, text, signature)
    changed_signature = bytearray(signature)
    changed_signature[at // 8] ^= 1 << at % 8
    assert not is_signed(public, text, bytes(changed_signature))
    assert not is_signed(public, text + b"\0", signature)


def test_what_is_no_signature_is_refused() -> None:
    public, text, signature = (bytes.fromhex(part) for part in attest_verify.VECTORS[0])
    order = 2**252 + 27742317777372353535851937790883648493
    again = int.from_bytes(signature[32:], "little") + order
    assert not is_signed(
        public, text, signature[:32] + again.to_bytes(32, "little")
    )  # the same number, spelled otherwise
    assert not is_signed(public, text, signature[:63])
    assert not is_signed(public, text, b"\xff" * 32 + signature[32:])
    assert not is_signed(b"\xff" * 32, text, signature)
    assert not is_signed(public[:31], text, signature)


# The command


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Arguments of a sound run in the working folder, which holds the program as well."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(PROGRAM, tmp_path)
    (tmp_path / "e.jsonl").write_text(text_of(ledger().lines()))
    (tmp_path / "c.txt").write_text("".join(ledger().checkpoint(size) for size in SIZES), "utf-8")
    (tmp_path / "key.txt").write_text(KEY + "\n")
    return ["e.jsonl", "--checkpoint", "c.txt", "--key", "key.txt"]


def run(folder: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """The program alone in an empty environment: isolated, without any package, this project's neither."""
    command = [sys.executable, "-I", "-S", "attest_verify.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env={})


def test_the_file_runs_alone_where_nothing_is_installed(tmp_path: Path, files: list[str]) -> None:
    ran = run(tmp_path, [*files, "--entry", "5"])
    assert (ran.returncode, ran.stderr) == (SOUND, "")
    assert ran.stdout.startswith(f"ledger {LEDGER_ID}: SOUND\n")
    assert "proven: entries 1 to 22\nnot yet covered by a checkpoint that holds: entry 23\n" in ran.stdout
    assert ran.stdout.endswith("inclusion: verified\n")
    assert run(tmp_path, ["--self-test"]).stdout == "Ed25519: as RFC 8032 says\n"


def test_it_imports_the_standard_library_alone() -> None:
    lines = [
        line.split()[1] for line in PROGRAM.read_text("utf-8").splitlines() if line.startswith(("import ", "from "))
    ]
    assert {name.split(".")[0] for name in lines} <= sys.stdlib_module_names


def test_the_installed_package_has_the_command() -> None:
    project = tomllib.loads((PROGRAM.parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["scripts"]["attest-verify"] == f"{main.__module__}:{main.__name__}"


def test_a_broken_export_ends_with_1_and_names_every_break(tmp_path: Path, files: list[str]) -> None:
    (tmp_path / "e.jsonl").write_text(changed(TABLES.row("changed", "outcome")))
    ran = run(tmp_path, files)
    assert (ran.returncode, ran.stderr) == (BROKEN, "")
    name = ledger().entries[9]["entry_id"]
    assert ran.stdout.splitlines()[0].endswith("BROKEN, 1 break")
    assert (
        f"\nline 11, entry 10 ({name}): changed: its salt and body do not open its commitment\n    before: entry 9 ("
        in ran.stdout
    )


def test_the_report_as_json(tmp_path: Path, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*files, "--json", "--entry", "5"]) == SOUND
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], found["covered"], found["not_yet_covered"]) == (True, 22, [23, 23])
    assert found["entry"]["proof"]["verified"] is True
    (tmp_path / "e.jsonl").write_text(changed(TABLES.row("moved", "one-missing")))
    assert main([*files, "--json"]) == BROKEN
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], found["breaks"], found["findings"][0]["what"]) == (False, 2, "missing")
    assert [point["state"] for point in found["points"]] == ["as signed", "not comparable", "not comparable"]


@TABLES.each("unusable")
def test_what_is_no_export_ends_with_2(
    tmp_path: Path,
    files: list[str],
    capsys: pytest.CaptureFixture[str],
    text: str,
    why: str,
) -> None:
    (tmp_path / "e.jsonl").write_text(text)
    assert main(files) == UNUSABLE
    out = capsys.readouterr()
    assert (out.out, out.err.count("\n")) == ("", 1)
    assert why in out.err


WRONG = {
    "no such export": (["none.jsonl", "--checkpoint", "c.txt", "--key", "key.txt"], "none.jsonl: cannot be read"),
    "no such checkpoint": (["e.jsonl", "--checkpoint", "none", "--key", "key.txt"], "none: cannot be read"),
    "no such key": (["e.jsonl", "--checkpoint", "c.txt", "--key", "none"], "neither a key nor a file"),
    "a key of something else": (
        ["e.jsonl", "--checkpoint", "c.txt", "--key", "x+00000000+AAAA"],
        "not the key of a ledger",
    ),
    "a key that was cut": (["e.jsonl", "--checkpoint", "c.txt", "--key", KEY[:-4]], "was it cut?"),
    "a key that was mistyped": (["e.jsonl", "--checkpoint", "c.txt", "--key", KEY.replace("0", "1", 1)], "mistyped?"),
    "keys of two ledgers": (
        [
            "e.jsonl",
            "--checkpoint",
            "c.txt",
            "--key",
            KEY,
            "--key",
            SigningKey("attest-ledger/" + "f" * 32, SIGNER.seed).verifier().line(),
        ],
        "different ledgers",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_checked_ends_with_2(
    tmp_path: Path, files: list[str], capsys: pytest.CaptureFixture[str], what: str
) -> None:
    assert files
    arguments, why = WRONG[what]
    assert main(arguments) == UNUSABLE
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [[], ["e.jsonl"], ["e.jsonl", "--checkpoint", "c.txt"], ["e.jsonl", "--key", "key.txt"]]
)
def test_what_is_missing_is_asked_for(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == UNUSABLE
    assert "needed: EXPORT, --checkpoint FILE and --key VERIFIER_KEY" in capsys.readouterr().err


def test_the_help_says_what_is_needed_and_what_cannot_be_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == SOUND
    out = capsys.readouterr().out
    for part in ("What you need", "What is checked", "What it cannot tell", "Exit codes", "Examples"):
        assert f"\n{part}\n" in out


def test_the_program_checks_a_proof(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """With the checkpoint and the key of a walk, and no export."""
    made = ledger()
    Path("proof.json").write_text(json.dumps(made.proof(10, 16)), "utf-8")
    Path("at16.txt").write_text(made.checkpoint(16), "utf-8")
    arguments = ["--proof", "proof.json", "--checkpoint", "at16.txt", "--key", KEY]
    assert files
    assert main(arguments) == SOUND
    out = capsys.readouterr().out
    assert out.startswith(f"ledger {LEDGER_ID}: SOUND\n")
    assert "body: as it was committed to" in out
    assert "inclusion: verified" in out
    assert main([*arguments, "--json"]) == SOUND
    assert json.loads(capsys.readouterr().out)["entry"]["body"] == "as committed"
    Path("proof.json").write_text(json.dumps({**made.proof(10, 16), "size": 8}), "utf-8")
    Path("at16.txt").write_text(made.checkpoint(16) + made.checkpoint(8), "utf-8")
    assert main(arguments) == BROKEN
    assert "checkpoint at16.txt #2, entry 10" in capsys.readouterr().out


@pytest.mark.parametrize("more", [["e.jsonl"], ["--entry", "17"]])
def test_a_proof_takes_no_export_and_no_entry(capsys: pytest.CaptureFixture[str], more: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--proof", "p.json", "--checkpoint", "c.txt", "--key", KEY, *more])
    assert ended.value.code == UNUSABLE
    assert "error: " in capsys.readouterr().err


# Reading one entry


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The lines of an export with two turns over the same passages, and the body that the second was recorded with."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(PROGRAM, tmp_path)

    async def lines() -> tuple[list[dict[str, Any]], dict[str, Any]]:
        ledger = SqlLedger(tmp_path / "ledger.db", tmp_path / "ledger.key")
        await ledger.append("turn", recorded_turn())
        turn = await ledger.append("turn", recorded_turn())
        exported = [json.loads(line) async for line in ledger.export()]
        (tmp_path / "c.txt").write_bytes((await ledger.checkpoint()).encode())
        (tmp_path / "key.txt").write_text(await ledger.verifier_key() or "", "utf-8")
        await ledger.close()
        return exported, turn.body

    return asyncio.run(lines())


def written(lines: Sequence[dict[str, Any]]) -> str:
    Path("export.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return "export.jsonl"


def a_passage(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    contents = [line for line in lines if line.get("kind") == "content" and isinstance(line["body"]["value"], dict)]
    return next(line for line in contents if "text" in line["body"]["value"])


def test_a_turn_is_read_whole_by_the_file_alone(
    tmp_path: Path, recorded: tuple[list[dict[str, Any]], dict[str, Any]]
) -> None:
    lines, body = recorded
    assert "stored" in lines[-2]["body"]
    for asked in (lines[-2]["entry_id"], str(lines[-2]["seq"])):
        ran = run(tmp_path, [written(lines), "--show", asked])
        assert ran.returncode == SOUND
        assert json.loads(ran.stdout) == body
        assert ran.stderr == "read, not verified: give --checkpoint and --key for that\n"


def test_with_checkpoints_and_key_what_is_read_is_verified_too(
    recorded: tuple[list[dict[str, Any]], dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    lines, body = recorded
    checks = ["--checkpoint", "c.txt", "--key", "key.txt", "--show", str(lines[-2]["seq"])]
    assert main([written(lines), *checks]) == SOUND
    told = capsys.readouterr()
    assert json.loads(told.out) == body
    assert ": SOUND\n" in told.err
    lines[1]["at"] = "2020-01-01T00:00:00.000Z"  # the turn itself is as it was
    assert main([written(lines), *checks]) == BROKEN
    told = capsys.readouterr()
    assert json.loads(told.out) == body
    assert ": BROKEN" in told.err


def _another_text(content: dict[str, Any]) -> None:
    content["body"]["value"]["text"] += " Closed on Mondays."


def _another_content(content: dict[str, Any]) -> None:
    """One that fits all hashes but that over the whole turn: whoever has the export can make it."""
    _another_text(content)
    content["body"]["sha256"] = sha256_of(content["body"]["value"])
    content["digest"] = commitment(content["salt"], content["body"])


def _erased(content: dict[str, Any]) -> None:
    content["body"] = content["salt"] = None


CONTENT_CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "another text": (_another_text, "is not the one that was sealed"),
    "another content": (_another_content, "what this entry refers to is not what was recorded"),
    "no salt": (lambda content: content.update(salt=None), "is not the one that was sealed"),
    "no object": (lambda content: content.update(body=[1]), "is not the one that was sealed"),
    "no value": (lambda content: content["body"].pop("value"), "is not the one that was sealed"),
    "another kind": (lambda content: content.update(kind="turn"), "is none"),
    "erased": (_erased, "was erased"),
    "missing": (lambda content: content.update(seq=10_000), "is not in the export"),
}


@pytest.mark.parametrize("what", CONTENT_CHANGES)
def test_a_content_that_is_not_there_or_another_is_told_and_the_rest_is_read(
    what: str, recorded: tuple[list[dict[str, Any]], dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    lines, body = recorded
    content = a_passage(lines)
    change, why = CONTENT_CHANGES[what]
    number = content["seq"]
    change(content)
    assert main([written(lines), "--show", lines[-2]["entry_id"]]) == BROKEN
    told = capsys.readouterr()
    assert why in told.err
    if what != "another content":
        assert f"entry {number}, a content" in told.err
    left = json.loads(told.out)
    assert why in left["unreadable"]
    assert left["ask"]["question"] == body["ask"]["question"]
    assert left["reply"]["answer"] == body["reply"]["answer"]
    assert left["contents"]["policy"] == [body["policy"]]


def test_a_turn_that_was_changed_is_told(
    recorded: tuple[list[dict[str, Any]], dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    lines, _ = recorded
    turn = lines[-2]
    turn["body"]["reply"]["outcome"] = "withheld"
    assert main([written(lines), "--show", turn["entry_id"]]) == BROKEN
    told = capsys.readouterr().err
    assert "the entry is not what was sealed" in told
    assert "what this entry refers to is not what was recorded" in told


@pytest.mark.parametrize("stored", [{}, {"form": 2}, {"form": 1, "sha256": "", "rest": "!"}, {"policy": [[{}]]}])
def test_what_stands_under_stored_may_be_anything(
    stored: dict[str, Any],
    recorded: tuple[list[dict[str, Any]], dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines, _ = recorded
    lines[-2]["body"]["stored"] = stored
    assert main([written(lines), "--show", lines[-2]["entry_id"]]) == BROKEN
    assert "unreadable" in json.loads(capsys.readouterr().out)


def test_an_entry_that_is_stored_whole_is_shown_as_it_is(
    recorded: tuple[list[dict[str, Any]], dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    lines, _ = recorded
    assert main([written(lines), "--show", "1"]) == SOUND
    assert json.loads(capsys.readouterr().out) == lines[1]["body"]


def test_an_entry_that_is_not_there_or_was_erased_cannot_be_shown(
    recorded: tuple[list[dict[str, Any]], dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    lines, _ = recorded
    assert main([written(lines), "--show", "99"]) == UNUSABLE
    assert capsys.readouterr().err == "attest-verify: --show: the export has no entry 99\n"
    _erased(lines[-2])
    assert main([written(lines), "--show", lines[-2]["entry_id"]]) == UNUSABLE
    assert "it was erased" in capsys.readouterr().err


@pytest.mark.parametrize(
    "more", [["--entry", "1"], ["--json"], ["--proof", "p.json"], ["--checkpoint", "c.txt"], ["--key", "key.txt"]]
)
def test_what_does_not_go_with_show_is_refused(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["e.jsonl", "--show", "1", *more])
    assert ended.value.code == UNUSABLE
    assert "--show" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    "odd", [None, "text", 7, [1], [{"doc_id": 1}], {"text": []}, {"claims": [{"status": ["absent"]}]}]
)
@pytest.mark.parametrize("name", ["ask", "reply", "actor", "evidence"])
def test_the_row_of_a_turn_of_another_shape_has_what_can_be_read_of_it(name: str, odd: object) -> None:
    body = {"ask": {"question": "=1+1", "user": "ada"}, "reply": {"answer": "two"}, name: odd}
    cells = cells_of({"seq": 7, "entry_id": "E", "at": "now", "kind": "turn", "body": body})
    assert (cells["seq"], cells["question"]) == ("7", "" if name == "ask" else "'=1+1")
    assert cells["answer"] == ("" if name == "reply" else "two")


def test_the_row_of_an_entry_without_body_has_its_place_alone() -> None:
    for kind in ("turn", "feedback"):
        cells = cells_of({"seq": 7, "entry_id": "E", "at": "now", "kind": kind, "body": None})
        assert [text for text in cells.values() if text] == ["7", "E", "now", kind]


def test_the_row_of_an_entry_that_is_no_turn_has_the_first_that_it_tells() -> None:
    entry = {"seq": 7, "entry_id": "E", "at": "now", "kind": "feedback"}
    cells = cells_of(entry | {"body": {"schema": 2, "text": "", "reaction": "like", "user": "ada", "channel": "teams"}})
    assert (cells["question"], cells["user"], cells["channel"], cells["answer"]) == (
        "reaction: like",
        "ada",
        "teams",
        "",
    )
    assert cells_of(entry | {"body": {}})["question"] == "feedback"
    assert len(cells_of(entry | {"body": {"text": "x" * 300}})["question"]) == 240
