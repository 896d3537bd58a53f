"""The Merkle tree against the vectors of the certificate-transparency reference, and against the definition of RFC 6962 written down as it stands."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.errors import InputError
from rai.ledger.checkpoints.tree import (
    EMPTY,
    Frontier,
    consistency_proof,
    inclusion_proof,
    inclusion_proofs,
    leaf_hash,
    node_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)

DATA = [bytes.fromhex(d) for d in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657")]
DATA.append(bytes.fromhex("606162636465666768696a6b6c6d6e6f"))
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
"""Of the reference's trees of one to eight leaves."""
LEAVES = [leaf_hash(data) for data in DATA]
INCLUSION = {
    (0, 8): ["96a296d2", "5f083f0a", "6b47aaf2"],
    (5, 8): ["bc1a0643", "ca854ea1", "d37ee418"],
    (2, 3): ["fac54203"],
    (1, 5): ["6e340b9c", "5f083f0a", "bc1a0643"],
}
"""Index and size to the beginnings of the hashes of the reference's proofs."""
CONSISTENCY = {
    (1, 1): [],
    (1, 8): ["96a296d2", "5f083f0a", "6b47aaf2"],
    (6, 8): ["0ebc5d34", "ca854ea1", "d37ee418"],
    (2, 5): ["5f083f0a", "bc1a0643"],
}
"""Both sizes to the beginnings of the hashes of the reference's proofs."""


def naive_root(data: list[bytes]) -> bytes:
    """RFC 6962, 2.1."""
    if not data:
        return hashlib.sha256(b"").digest()
    if len(data) == 1:
        return hashlib.sha256(b"\x00" + data[0]).digest()
    k = max(2**i for i in range(64) if 2**i < len(data))
    return hashlib.sha256(b"\x01" + naive_root(data[:k]) + naive_root(data[k:])).digest()


def naive_path(m: int, data: list[bytes]) -> list[bytes]:
    """RFC 6962, 2.1.1."""
    if len(data) == 1:
        return []
    k = max(2**i for i in range(64) if 2**i < len(data))
    if m < k:
        return [*naive_path(m, data[:k]), naive_root(data[k:])]
    return [*naive_path(m - k, data[k:]), naive_root(data[:k])]


def naive_subproof(m: int, data: list[bytes], whole: bool) -> list[bytes]:
    """RFC 6962, 2.1.2."""
    if m == len(data):
        return [] if whole else [naive_root(data)]
    k = max(2**i for i in range(64) if 2**i < len(data))
    if m <= k:
        return [*naive_subproof(m, data[:k], whole), naive_root(data[k:])]
    return [*naive_subproof(m - k, data[k:], False), naive_root(data[:k])]


def leaves(count: int) -> tuple[list[bytes], list[bytes]]:
    data = [b"leaf %d" % n for n in range(count)]
    return data, [leaf_hash(d) for d in data]


def short(proof: list[bytes]) -> list[str]:
    return [step.hex()[:8] for step in proof]


@pytest.mark.parametrize("count", range(1, 9))
def test_roots_of_the_reference(count: int) -> None:
    assert root_of(LEAVES[:count]).hex() == ROOTS[count - 1]


def test_an_empty_tree_has_the_hash_of_nothing() -> None:
    assert root_of([]) == EMPTY
    assert EMPTY.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize(("index", "size"), INCLUSION)
def test_inclusion_proofs_of_the_reference(index: int, size: int) -> None:
    proof = inclusion_proof(LEAVES[:size], index)
    assert short(proof) == INCLUSION[index, size]
    assert verify_inclusion(LEAVES[index], index, size, proof, bytes.fromhex(ROOTS[size - 1]))


@pytest.mark.parametrize(("first", "second"), CONSISTENCY)
def test_consistency_proofs_of_the_reference(first: int, second: int) -> None:
    proof = consistency_proof(LEAVES[:second], first)
    assert short(proof) == CONSISTENCY[first, second]
    older, newer = bytes.fromhex(ROOTS[first - 1]), bytes.fromhex(ROOTS[second - 1])
    assert verify_consistency(first, second, older, newer, proof)


@given(st.lists(st.binary(max_size=8), max_size=40))
def test_a_frontier_has_the_root_of_the_definition(data: list[bytes]) -> None:
    frontier = Frontier()
    for count, d in enumerate(data):
        assert frontier.root() == naive_root(data[:count])
        frontier.append(leaf_hash(d))
    assert frontier.root() == naive_root(data) == root_of(leaf_hash(d) for d in data)


@given(st.integers(0, 300), st.integers(0, 40))
def test_a_frontier_is_gone_on_with_from_its_text(count: int, more: int) -> None:
    _, hashes = leaves(count + more)
    frontier = Frontier()
    for leaf in hashes[:count]:
        frontier.append(leaf)
    again = Frontier.from_text(frontier.to_text())
    for leaf in hashes[count:]:
        again.append(leaf)
    assert (again.size, again.root()) == (count + more, root_of(hashes))


H = "ab" * 32


@pytest.mark.parametrize(
    "text",
    ["", "1", "x", "-1", f"2 {H} {H}", f"1 {H}ab", f"1 {H[:-1]}x", f"01 {H}", f"1 {H.upper()}", f"1  {H}", f"1 {H}\n"],
)
def test_what_is_no_frontier_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not the frontier of a tree"):
        Frontier.from_text(text)


@given(st.integers(1, 70), st.data())
def test_inclusion_proofs_are_those_of_the_definition(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    texts, hashes = leaves(size)
    proof, root = inclusion_proof(hashes, index), root_of(hashes)
    assert proof == naive_path(index, texts)
    assert verify_inclusion(hashes[index], index, size, proof, root)
    other = data.draw(st.integers(-1, size + 1).filter(lambda n: n != index))
    assert not verify_inclusion(hashes[index], other, size, proof, root)
    assert not verify_inclusion(leaf_hash(b"another"), index, size, proof, root)
    assert not verify_inclusion(hashes[index], index, size, [*proof, EMPTY], root)
    assert not verify_inclusion(hashes[index], index, size, proof, EMPTY)
    if proof:
        assert not verify_inclusion(hashes[index], index, size, proof[:-1], root)
        place = data.draw(st.integers(0, len(proof) - 1))
        changed = [*proof[:place], node_hash(EMPTY, EMPTY), *proof[place + 1 :]]
        assert not verify_inclusion(hashes[index], index, size, changed, root)


@given(st.integers(0, 70), st.data())
def test_consistency_proofs_are_those_of_the_definition(second: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, second))
    texts, hashes = leaves(second)
    proof, older, newer = consistency_proof(hashes, first), root_of(hashes[:first]), root_of(hashes)
    assert proof == (naive_subproof(first, texts, True) if first else [])
    assert verify_consistency(first, second, older, newer, proof)
    assert not verify_consistency(first, second, node_hash(older, older), newer, proof)
    assert not verify_consistency(first, second, older, newer, [*proof, EMPTY])
    if first:
        assert not verify_consistency(first, second, older, node_hash(newer, newer), proof)
    if proof:
        assert not verify_consistency(first, second, older, newer, proof[:-1])
        place = data.draw(st.integers(0, len(proof) - 1))
        changed = [*proof[:place], node_hash(EMPTY, EMPTY), *proof[place + 1 :]]
        assert not verify_consistency(first, second, older, newer, changed)


def test_a_tree_that_was_rewritten_has_no_consistency_proof() -> None:
    _, hashes = leaves(13)
    rewritten = [*hashes[:3], leaf_hash(b"another"), *hashes[4:]]
    for proof in (consistency_proof(hashes, 7), consistency_proof(rewritten, 7)):
        assert not verify_consistency(7, 13, root_of(hashes[:7]), root_of(rewritten), proof)


@pytest.mark.parametrize(("first", "second"), [(-1, 4), (5, 4), (3, 4)])
def test_sizes_that_cannot_be_are_no_proof(first: int, second: int) -> None:
    assert not verify_consistency(first, second, EMPTY, EMPTY, [])


def test_a_proof_of_what_is_not_in_the_tree_is_refused() -> None:
    for index in (-1, 8):
        with pytest.raises(InputError, match="has no leaf"):
            inclusion_proof(LEAVES, index)
    for first in (-1, 9):
        with pytest.raises(InputError, match="does not begin with"):
            consistency_proof(LEAVES, first)


@given(st.integers(1, 70))
def test_many_proofs_at_once_are_those_of_each(size: int) -> None:
    leaves = [leaf_hash(bytes([n])) for n in range(size)]
    assert inclusion_proofs(leaves, range(size)) == [inclusion_proof(leaves, n) for n in range(size)]
    with pytest.raises(InputError):
        inclusion_proofs(leaves, [size])
