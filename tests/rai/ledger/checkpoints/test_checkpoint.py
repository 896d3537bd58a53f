"""Checkpoints as signed notes: against the vectors of Go's note package, of C2SP and of RFC 8032, and against every change of a byte."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.errors import InputError, SettingsError
from rai.ledger.checkpoints.checkpoint import (
    Checkpoint,
    SigningKey,
    VerifierKey,
    checkpoint_text,
    load_signing_seed,
    open_checkpoint,
    open_note,
    origin_of,
    parse_checkpoint,
    parse_note,
    sign_checkpoint,
    sign_note,
)

posix = pytest.mark.skipif(os.name != "posix", reason="file modes are a POSIX matter")
PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETERS_SEED = base64.b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
SIGNED_BY_PETER = (
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
"""The example of golang.org/x/mod/sumdb/note."""
POEM = """Ognuno sta solo sul cuor della terra
trafitto da un raggio di sole:

ed è subito sera.

— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=
"""
"""The example of C2SP's signed-note; its key is not published."""
SOFA = """example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
"""
"""The example of C2SP's tlog-checkpoint; its key is not published."""

LEDGER_ID = "00112233445566778899aabbccddeeff"
ORIGIN = f"attest-ledger/{LEDGER_ID}"
OLD, NEW = SigningKey(ORIGIN, bytes(range(32))), SigningKey(ORIGIN, bytes(range(32, 64)))
POINT = Checkpoint(ORIGIN, 12, bytes(range(100, 132)))
NOTE = sign_checkpoint(POINT, [OLD])


def test_the_example_of_gos_note_is_made_to_the_byte() -> None:
    key = SigningKey("PeterNeumann", PETERS_SEED)
    assert key.verifier().line() == PETER
    assert sign_note(TEXT, [key]) == f"{TEXT}\n{SIGNED_BY_PETER}"


def test_the_example_of_gos_note_is_opened() -> None:
    note = f"{TEXT}\n{SIGNED_BY_PETER}".encode()
    assert open_note(note, [VerifierKey.from_line(PETER)]) == TEXT
    with pytest.raises(InputError, match="does not verify"):
        open_note(note.replace(b"answer", b"Answer"), [VerifierKey.from_line(PETER)])


def test_the_examples_of_c2sp_are_parsed() -> None:
    text, [(name, key_id, signature)] = parse_note(POEM.encode())
    assert text.endswith("\n\ned è subito sera.\n")
    assert (name, key_id.hex(), len(signature)) == ("quasimodo.example/salvatore", "367ba04b", 64)
    text, [(name, _, _)] = parse_note(SOFA.encode())
    point = parse_checkpoint(text)
    assert (point.origin, point.size, name) == ("example.com/behind-the-sofa", 20852163, "example.com/behind-the-sofa")
    assert checkpoint_text(point) == text


def test_a_key_of_rfc_8032_has_its_public_half() -> None:
    seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert SigningKey("x", seed).verifier().public.hex() == public


def test_a_checkpoint_is_the_text_that_the_form_says() -> None:
    root = base64.b64encode(POINT.root).decode()
    assert NOTE.startswith(f"{ORIGIN}\n12\n{root}\n\n— {ORIGIN} ")
    assert NOTE.count("\n") == 5
    assert open_checkpoint(NOTE.encode(), [OLD.verifier()]) == POINT


@given(st.integers(0, 2**60), st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_what_is_signed_is_what_is_opened(size: int, root: bytes, seed: bytes) -> None:
    key, point = SigningKey(ORIGIN, seed), Checkpoint(ORIGIN, size, root)
    assert open_checkpoint(sign_checkpoint(point, [key]).encode(), [key.verifier()]) == point
    assert VerifierKey.from_line(key.verifier().line()) == key.verifier()


@pytest.mark.parametrize("at", range(len(NOTE.encode())))
def test_every_changed_byte_is_refused(at: int) -> None:
    raw = NOTE.encode()
    for change in (1, 2, 4, 0x20, 0x80):
        with pytest.raises(InputError):
            open_checkpoint(raw[:at] + bytes([raw[at] ^ change]) + raw[at + 1 :], [OLD.verifier()])
    for cut in (raw[:at], raw[:at] + raw[at + 1 :], raw[:at] + b"x" + raw[at:]):
        with pytest.raises(InputError):
            open_checkpoint(cut, [OLD.verifier()])


def test_a_note_of_two_keys_is_opened_with_either() -> None:
    both = sign_checkpoint(POINT, [OLD, NEW]).encode()
    for keys in ([OLD], [NEW], [NEW, OLD]):
        assert open_checkpoint(both, [key.verifier() for key in keys]) == POINT


def test_a_key_that_is_not_known_is_passed_over_and_signs_nothing() -> None:
    with pytest.raises(InputError, match=r"^no signature is of a key that was given$"):
        open_checkpoint(NOTE.encode(), [NEW.verifier()])
    with pytest.raises(InputError, match=r"^no signature is of a key that was given$"):
        open_checkpoint(NOTE.encode(), [VerifierKey("another", OLD.verifier().public)])


def test_one_bad_signature_of_a_known_key_refuses_the_note() -> None:
    other = sign_checkpoint(Checkpoint(ORIGIN, 13, POINT.root), [NEW]).splitlines(keepends=True)[-1]
    with pytest.raises(InputError, match="does not verify"):
        open_checkpoint((NOTE + other).encode(), [OLD.verifier(), NEW.verifier()])
    assert open_checkpoint((NOTE + other).encode(), [OLD.verifier()]) == POINT


NO_NOTE = {
    "not UTF-8": (b"\xff" + NOTE.encode(), "not UTF-8"),
    "control": (NOTE.replace("12\n", "12\r\n").encode(), "control character"),
    "no empty line": (NOTE.replace("\n\n", "\n").encode(), "no empty line"),
    "no end": (NOTE.rstrip("\n").encode(), "does not end"),
    "no signature": (NOTE[: NOTE.index("—")].encode(), "does not end, or no signature"),
    "hyphen": (NOTE.replace("—", "-").encode(), "signature 1 is not"),
    "no name": (NOTE.replace(f"— {ORIGIN}", "— ").encode(), "signature 1 is not"),
    "no bytes": (NOTE[: NOTE.rindex(" ") + 1].encode() + b"AAAAAA==\n", "signature 1 is not"),
    "no base64": (NOTE.replace("=\n", "\n").encode(), "signature 1 is not"),
    "text behind": (f"{NOTE}and more\n".encode(), "signature 2 is not"),
    "many": ((NOTE + NOTE.splitlines(keepends=True)[-1] * 100).encode(), "more than 100 signatures"),
    "long": (b"x" * (1 << 20) + NOTE.encode(), "longer than"),
}


@pytest.mark.parametrize("what", NO_NOTE)
def test_each_defect_of_a_note_has_its_line(what: str) -> None:
    raw, why = NO_NOTE[what]
    with pytest.raises(InputError, match=rf"^not a signed note: .*{why}") as caught:
        open_checkpoint(raw, [OLD.verifier()])
    assert "\n" not in str(caught.value)


ROOT = base64.b64encode(POINT.root).decode()
NO_CHECKPOINT = {
    "two lines": (f"{ORIGIN}\n12\n", "three lines"),
    "an extension": (f"{ORIGIN}\n12\n{ROOT}\nmore\n", "three lines"),
    "an empty line": (f"{ORIGIN}\n\n12\n{ROOT}\n", "three lines"),
    "no origin": (f"\n12\n{ROOT}\n", "line 1"),
    "a leading zero": (f"{ORIGIN}\n012\n{ROOT}\n", "line 2"),
    "a sign": (f"{ORIGIN}\n+12\n{ROOT}\n", "line 2"),
    "no number": (f"{ORIGIN}\nx\n{ROOT}\n", "line 2"),
    "other digits": (f"{ORIGIN}\n١٢\n{ROOT}\n", "line 2"),
    "a huge number": (f"{ORIGIN}\n1{'0' * 5000}\n{ROOT}\n", "line 2"),
    "a short root": (f"{ORIGIN}\n12\n{base64.b64encode(bytes(31)).decode()}\n", "line 3"),
    "another spelling": (f"{ORIGIN}\n12\n{ROOT[:-2]}{chr(ord(ROOT[-2]) + 1)}=\n", "line 3"),
}


@pytest.mark.parametrize("what", NO_CHECKPOINT)
def test_each_defect_of_a_checkpoint_has_its_line(what: str) -> None:
    text, why = NO_CHECKPOINT[what]
    with pytest.raises(InputError, match=rf"^not a checkpoint: .*{why}"):
        open_checkpoint(sign_note(text, [OLD]).encode(), [OLD.verifier()])


@pytest.mark.parametrize(
    "point",
    [
        Checkpoint("", 1, bytes(32)),
        Checkpoint("a\nb", 1, bytes(32)),
        Checkpoint("a", -1, bytes(32)),
        Checkpoint("a", 1, b""),
    ],
)
def test_what_is_no_checkpoint_is_not_signed(point: Checkpoint) -> None:
    with pytest.raises(InputError, match=r"^not a checkpoint"):
        sign_checkpoint(point, [OLD])


@pytest.mark.parametrize("text", ["", "no end", "control \x07\n"])
def test_a_text_that_no_reader_takes_is_not_signed(text: str) -> None:
    with pytest.raises(InputError):
        sign_note(text, [OLD])


def test_a_note_is_signed_with_a_key_that_has_a_name() -> None:
    with pytest.raises(InputError, match="needs a key"):
        sign_note(TEXT, [])
    for name in ("", "a b", "a+b", "a\u00a0b", "a\tb", "\udc80"):
        with pytest.raises(InputError, match="the name of a key"):
            sign_note(TEXT, [SigningKey(name, bytes(32))])


@pytest.mark.parametrize(
    "line",
    [
        "",
        "PeterNeumann",
        "PeterNeumann+c74f20a3",
        "+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        PETER.replace("c74f20a3", "c74f20a4"),
        PETER.replace("c74f20a3", "C74F20A3"),
        PETER.replace("Peter", "Petra"),
        PETER.replace("+AR", "+AS"),
        PETER.replace("+AR", "+Ah"),
        PETER[:-4],
        PETER + "AAAA",
        PETER + "\nmore",
    ],
)
def test_what_is_no_verifier_key_is_refused(line: str) -> None:
    with pytest.raises(InputError, match=r"^not a verifier key"):
        VerifierKey.from_line(line)


def test_a_base64_with_a_plus_belongs_to_the_key() -> None:
    keys = [SigningKey(ORIGIN, bytes([n]) * 32).verifier() for n in range(40)]
    with_plus = [key for key in keys if "+" in key.line().split("+", 2)[2]]
    assert with_plus
    assert [VerifierKey.from_line(key.line()) for key in with_plus] == with_plus


def test_an_origin_is_of_a_ledger() -> None:
    assert origin_of(LEDGER_ID) == ORIGIN
    for wrong in ("", LEDGER_ID.upper(), LEDGER_ID[:-1], f"{LEDGER_ID}\n"):
        with pytest.raises(InputError, match="not the id of a ledger"):
            origin_of(wrong)


def test_a_seed_is_made_once_and_shown_by_nothing(tmp_path: Path) -> None:
    seed = load_signing_seed(tmp_path / "keys" / "ledger-signing.key")
    assert load_signing_seed(tmp_path / "keys" / "ledger-signing.key", make=False) == seed
    assert seed.hex() not in repr(SigningKey(ORIGIN, seed))
    assert repr(seed)[2:-1] not in repr(SigningKey(ORIGIN, seed))


def test_a_seed_that_is_missing_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"^the ledger's signing key: .* is missing, but the ledger names its public key"
    ):
        load_signing_seed(tmp_path / "k", make=False)
    assert not list(tmp_path.iterdir())


@posix
def test_a_seed_that_others_can_read_is_refused(tmp_path: Path) -> None:
    load_signing_seed(tmp_path / "k")
    assert (tmp_path / "k").stat().st_mode & 0o777 == 0o600
    (tmp_path / "k").chmod(0o640)
    with pytest.raises(SettingsError, match="read by others"):
        load_signing_seed(tmp_path / "k")
