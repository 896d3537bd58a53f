"""The file of a proof. What is found when one is changed: test_attest_verify.py."""

from __future__ import annotations

from rai.ledger import attest_verify
from rai.ledger.checkpoints.proof_file import FORMAT, proof_document
from tests.fakes.form2 import LEDGER_ID, Form2Ledger


def test_a_proof_holds_what_is_in_a_leaf_and_opens_it_and_nothing_else() -> None:
    entry = Form2Ledger(1).entries[1]
    made = proof_document(LEDGER_ID, 2, ["ab"], entry)
    assert (made["format"], made["ledger_id"], made["size"], made["hashes"]) == (FORMAT, LEDGER_ID, 2, ["ab"])
    assert made["entry"] == {name: value for name, value in entry.items() if name not in ("prev", "mac")}


def test_a_body_that_nobody_outside_could_check_stays_out() -> None:
    entry = Form2Ledger(upgraded=1).entries[0]
    assert (entry["salt"], entry["body"]) == (None, {"n": 0})
    assert proof_document(LEDGER_ID, 1, [], entry)["entry"]["body"] is None
    assert entry["body"] == {"n": 0}


def test_both_sides_speak_of_the_same_form() -> None:
    assert attest_verify.PROOF_FORMAT == FORMAT
