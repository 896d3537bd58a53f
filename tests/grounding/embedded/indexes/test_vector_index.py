"""Search by meaning, exact and approximate alike: what is found, who may find it, what follows the store, what survives."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grounding.embedded.indexes import approximate_search, vector_file
from grounding.embedded.indexes.vector_file import DamagedFileError
from grounding.embedded.indexes.vector_index import VectorIndex, is_behind
from grounding.errors import StoreError
from grounding.ports import Vectors
from grounding.records import Access
from grounding.store.store import Store
from grounding.store.vectors import VectorRow
from tests.grounding.embedded.vector_kb import FINGERPRINT, put_vectors, unit_vectors

COUNT, WIDTH = 1500, 384
ALL = Access("a", frozenset({"g0", "g1", "g2", "g3"}))
Rights = tuple[tuple[str, ...] | None, str | None]


def some_rights(count: int, seed: int = 1) -> list[Rights]:
    """Everyone, one or two of four groups, or nobody; of a product or of none."""
    rng = np.random.default_rng(seed)
    groups = [None, ("g0",), ("g1",), ("g2", "g3"), ("g0", "g3"), ()]
    products = [None, "x", "y"]
    return [(groups[rng.integers(6)], products[rng.integers(3)]) for _ in range(count)]


class Kb:
    """A store of vectors with what it should answer, searched in one of the two ways."""

    def __init__(self, folder: Path, way: str, like: Path | None = None) -> None:
        """`like`: the folder of one that was made in the same way and is closed."""
        self.folder, self.way, self.path = folder, way, folder / "test.vectors"
        if like is not None:
            shutil.copytree(like, folder, dirs_exist_ok=True)
        self.store = Store(folder / "store.db")
        self.vectors, self.rights = unit_vectors(COUNT), some_rights(COUNT)
        if like is None:
            put_vectors(self.store, 0, self.vectors, self.rights)
            if way == "approximate":
                self.build()
        self.index = self.opened()
        self.generation, self.known = self.store.generation(), self._read()

    def build(self) -> float:
        recall = approximate_search.build(self.store, FINGERPRINT, WIDTH, self.path)
        assert recall is not None
        return recall

    def opened(self) -> VectorIndex:
        index = VectorIndex(self.store, FINGERPRINT, WIDTH, self.path)
        index.refresh()
        return index

    def documents(self) -> dict[int, str]:
        """doc_id by primary key."""
        if self.generation != self.store.generation():
            self.generation, self.known = self.store.generation(), self._read()
        return self.known

    def _read(self) -> dict[int, str]:
        return {pk: row.chunk.doc_id for pk, row in self.store.rows(range(1, 20_000)).items()}

    def expected(self, vector: Vectors, access: Access, k: int) -> list[str]:
        """The plain reference: every document that may be read, sorted by cosine."""
        seen = [
            i
            for i, (groups, product) in enumerate(self.rights)
            if access.may_read(groups) and (access.product is None or product in (None, access.product))
        ]
        return [f"d{i}" for i in sorted(seen, key=lambda i: -float(self.vectors[i] @ vector))][:k]


Another = Callable[[Path, str], Kb]


@pytest.fixture(scope="module")
def another(tmp_path_factory: pytest.TempPathFactory) -> Another:
    """Gives knowledge bases of one's own in an empty folder: copies of the first that was made in the same way."""
    made: dict[str, Path] = {}

    def of(folder: Path, way: str) -> Kb:
        if way not in made:
            made[way] = tmp_path_factory.mktemp(way)
            Kb(made[way], way).store.close()
        return Kb(folder, way, made[way])

    return of


@pytest.fixture(scope="module", params=["exact", "approximate"])
def kb(request: pytest.FixtureRequest, another: Another, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kb]:
    made = another(tmp_path_factory.mktemp(request.param), request.param)
    yield made
    made.store.close()


@pytest.fixture(params=["exact", "approximate"])
def own(request: pytest.FixtureRequest, another: Another, tmp_path: Path) -> Iterator[Kb]:
    """A knowledge base that the test may change."""
    made = another(tmp_path, request.param)
    yield made
    made.store.close()


def shared(found: list[str], expected: list[str]) -> float:
    return len(set(found) & set(expected)) / max(1, len(expected))


def test_the_way_is_what_the_test_says(kb: Kb) -> None:
    assert (kb.index.recall is None) == (kb.way == "exact")
    assert len(kb.index) == COUNT


def test_the_best_are_found_with_their_cosines(kb: Kb) -> None:
    documents = kb.documents()
    for query in unit_vectors(20, seed=5):
        found = kb.index.search(query, ALL, 10)
        names = [documents[pk] for pk, _ in found]
        assert shared(names, kb.expected(query, ALL, 10)) == 1.0
        assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)
        for pk, score in found:
            assert score == pytest.approx(float(kb.vectors[int(documents[pk][1:])] @ query), abs=1e-5)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    groups=st.frozensets(st.sampled_from(["g0", "g1", "g2", "g3", "g9"])),
    product=st.sampled_from([None, "x", "z"]),
    k=st.sampled_from([1, 7, 50, 400]),
)
def test_a_reader_gets_as_many_as_he_may_read_and_nothing_else(
    kb: Kb, seed: int, groups: frozenset[str], product: str | None, k: int
) -> None:
    access = Access("u", groups, product)
    query = unit_vectors(1, seed)[0]
    expected = kb.expected(query, access, k)
    documents = kb.documents()
    found = [documents[pk] for pk, _ in kb.index.search(query, access, k)]
    assert len(found) == len(expected)
    assert set(found) <= set(kb.expected(query, access, COUNT))
    assert shared(found, expected) >= 0.97


def test_nobody_finds_what_is_for_nobody(kb: Kb) -> None:
    closed = {f"d{i}" for i, (groups, _) in enumerate(kb.rights) if groups == ()}
    documents = kb.documents()
    assert closed
    assert not closed & {documents[pk] for pk, _ in kb.index.search(kb.vectors[0], ALL, COUNT)}


def test_cosines_of_chunks_found_otherwise(kb: Kb) -> None:
    documents = kb.documents()
    pks = [*list(documents)[:30], 10**9]
    cosines = kb.index.cosines(kb.vectors[3], pks)
    assert set(cosines) == set(pks[:30])
    for pk, cosine in cosines.items():
        assert cosine == pytest.approx(float(kb.vectors[int(documents[pk][1:])] @ kb.vectors[3]), abs=1e-5)


def test_what_comes_and_goes_is_followed(own: Kb) -> None:
    """Added, removed and closed documents count at the next refresh, in the same order as in an index made anew."""
    more = unit_vectors(300, seed=8)
    put_vectors(own.store, COUNT, more, [(None, None)] * 300)
    own.store.drop([f"d{i}" for i in range(0, COUNT, 3)])
    put_vectors(own.store, 1, own.vectors[1:2], [(("hr",), None)])
    own.index.refresh()
    fresh = exact_index(own)
    assert len(own.index) == len(fresh) == COUNT - COUNT // 3 + 300
    for query in [own.vectors[0], own.vectors[1], more[0], *unit_vectors(10, seed=9)]:
        for access in (ALL, Access("n"), Access("hr", frozenset({"hr"}))):
            found, expected = (i.search(query, access, 20) for i in (own.index, fresh))
            assert len(found) == len(expected)
            assert len(dict(found).keys() & dict(expected).keys()) >= 0.97 * len(expected)
    documents = own.documents()
    assert documents[own.index.search(more[0], Access(), 1)[0][0]] == f"d{COUNT}"


def test_documents_that_change_often_do_not_make_it_grow(tmp_path: Path) -> None:
    store, count, changes = Store(tmp_path / "store.db"), 120, 16
    index = VectorIndex(store, FINGERPRINT, WIDTH)
    put_vectors(store, 0, unit_vectors(count), [(None, None)] * count)
    index.refresh()
    tracemalloc.start()
    for n in range(1, changes + 1):
        put_vectors(store, 0, unit_vectors(count, seed=n), [(None, None)] * count)
        index.refresh()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    vectors, documents = unit_vectors(count, seed=changes), store.rows(range(1, 20_000))
    assert len(index) == count
    for n in (0, count // 2, count - 1):
        ((best, _),) = index.search(vectors[n], Access(), 1)
        assert documents[best].chunk.doc_id == f"d{n}"
        assert index.cosines(vectors[n], [best]) == pytest.approx({best: 1.0}, abs=1e-3)
    assert held < changes / 2 * count * WIDTH * 4, "bytes of half of the vectors that came"
    store.close()


def test_a_vector_that_comes_after_its_chunk_is_found(own: Kb) -> None:
    put_vectors(own.store, COUNT, unit_vectors(1, seed=3), [(None, None)])
    own.index.refresh()
    assert own.documents()[own.index.search(unit_vectors(1, seed=3)[0], Access(), 1)[0][0]] == f"d{COUNT}"


def test_a_reader_sees_a_new_file_without_a_pause(own: Kb) -> None:
    """A file that another process writes is opened at the next refresh, and holds the same."""
    put_vectors(own.store, COUNT, unit_vectors(50, seed=4), [(None, None)] * 50)
    before = len(own.index)
    approximate_search.build(own.store, FINGERPRINT, WIDTH, own.path)
    own.index.refresh()
    assert (before, len(own.index)) == (COUNT, COUNT + 50)
    assert own.index.recall is not None
    assert own.index.recall >= 0.97


def test_what_fails_in_the_middle_of_following_is_followed_whole_the_next_time(
    own: Kb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store goes away between two parts of what is new, and where a new file is opened, behind it."""
    rows, broken = Store.vector_rows, [True]

    def losing(*args: Any, **kwargs: Any) -> Iterator[list[VectorRow]]:
        for part in rows(*args, **kwargs):
            yield part
            if broken[0]:
                raise StoreError("the store cannot be used: the connection was lost")

    monkeypatch.setattr(Store, "vector_rows", losing)
    monkeypatch.setattr("grounding.store.vectors.AT_ONCE", 20)
    fresh = VectorIndex(own.store, FINGERPRINT, WIDTH, own.path)
    put_vectors(own.store, COUNT, unit_vectors(50, seed=4), [(None, None)] * 50)
    own.store.drop([f"d{COUNT + 3}"])
    for index in (own.index, fresh):
        with pytest.raises(StoreError):
            index.refresh()
    assert (len(own.index), len(fresh)) == (COUNT, 0)
    own.store.drop([f"d{COUNT + 7}"])
    broken[0] = False
    wanted = unit_vectors(50, seed=4)[20]
    for index in (own.index, fresh):
        index.refresh()
        assert len(index) == COUNT + 48
        assert (index.recall is None) == (own.way == "exact")
        ((best, cosine),) = index.search(wanted, Access(), 1)
        assert own.documents()[best] == f"d{COUNT + 20}"
        assert index.cosines(wanted, [best]) == pytest.approx({best: cosine})


def test_numbers_of_chunks_are_never_given_twice(own: Kb) -> None:
    newest = max(own.documents())
    own.store.drop([f"d{COUNT - 1}"])
    put_vectors(own.store, COUNT, unit_vectors(1, seed=3), [(None, None)])
    assert max(own.documents()) > newest


@pytest.mark.parametrize(
    "harm", ["empty", "cut", "header", "codes", "other vectors", "another form", "not a file of ours", "gone"]
)
def test_a_damaged_file_is_refused_and_built_again(another: Another, tmp_path: Path, harm: str) -> None:
    kb = another(tmp_path, "approximate")
    path = kb.path
    _harm(path, harm)
    with pytest.raises((DamagedFileError, FileNotFoundError)):
        approximate_search.load(kb.store, FINGERPRINT, WIDTH, path)
    index = kb.opened()
    assert (index.recall, len(index)) == (None, COUNT)
    assert index.search(kb.vectors[0], ALL, 5) == exact_index(kb).search(kb.vectors[0], ALL, 5)
    assert is_behind(kb.store, FINGERPRINT, WIDTH, path, at=COUNT)
    kb.build()
    index.refresh()
    assert (index.recall or 0.0) > 0.9
    kb.store.close()


def exact_index(kb: Kb) -> VectorIndex:
    """An exact index over the same store."""
    index = VectorIndex(kb.store, FINGERPRINT, WIDTH, kb.folder / "none.vectors")
    index.refresh()
    return index


def _harm(path: Path, harm: str) -> None:
    data = bytearray(path.read_bytes())
    _, arrays = vector_file.read(path)
    at = {name: int(array.offset) for name, array in arrays.items()}  # type: ignore[attr-defined]  # a memmap has it
    if harm == "empty":
        data.clear()
    elif harm == "cut":
        del data[len(data) // 2 :]
    elif harm == "header":
        data[40] ^= 1
    elif harm == "codes":
        data[at["codes"] + 5000] ^= 1
    elif harm == "other vectors":
        data[at["full"] :] = bytes(len(data) - at["full"])
    elif harm == "another form":
        facts, _ = vector_file.read(path)
        vector_file.write(path, facts | {"form": 0}, arrays, unchecked="full")
        return
    elif harm == "not a file of ours":
        data[:] = b"something else" * 1000
    path.unlink()
    if harm != "gone":
        path.write_bytes(data)


def test_a_file_does_not_outlive_the_store_it_was_made_from(tmp_path: Path) -> None:
    """A store that was put back from a copy knows nothing of the newer file."""
    kb = Kb(tmp_path / "a", "exact")
    kb.store.close()
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    kb.store = Store(tmp_path / "a" / "store.db")
    kb.build()
    shutil.copy(kb.path, tmp_path / "copy" / kb.path.name)
    restored = Store(tmp_path / "copy" / "store.db")
    put_vectors(restored, COUNT, unit_vectors(1, seed=3), [(("hr",), None)])
    index = VectorIndex(restored, FINGERPRINT, WIDTH, tmp_path / "copy" / kb.path.name)
    index.refresh()
    assert index.recall is None
    assert len(index) == COUNT + 1


def test_a_file_is_written_when_there_are_many_and_again_when_it_is_behind(tmp_path: Path) -> None:
    kb = Kb(tmp_path, "exact")
    assert not is_behind(kb.store, FINGERPRINT, WIDTH, kb.path, at=COUNT + 1)
    assert is_behind(kb.store, FINGERPRINT, WIDTH, kb.path, at=COUNT)
    kb.build()
    assert not is_behind(kb.store, FINGERPRINT, WIDTH, kb.path, at=COUNT)
    facts, arrays = vector_file.read(kb.path)
    vector_file.write(kb.path, facts | {"changes": -30_000}, arrays, unchecked="full")
    assert is_behind(kb.store, FINGERPRINT, WIDTH, kb.path, at=COUNT)


def test_too_few_vectors_are_left_to_exact_search(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.db")
    put_vectors(store, 0, unit_vectors(3), [(None, None)] * 3)
    assert approximate_search.build(store, FINGERPRINT, WIDTH, tmp_path / "x.vectors") is None
    assert not (tmp_path / "x.vectors").exists()


_BUILDER = """
import sys
from pathlib import Path
from grounding.embedded.indexes import approximate_search
from grounding.store.store import Store
store = Store(Path(sys.argv[1]) / "store.db")
print("ready", flush=True)
while True:
    approximate_search.build(store, "test-1", 384, Path(sys.argv[1]) / "test.vectors")
"""


def test_killed_builds_leave_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """kill -9 at any moment: what the store names is opened or refused, never searched half; the next build is whole."""
    kb = Kb(tmp_path, "approximate")
    expected = [kb.expected(query, ALL, 10) for query in unit_vectors(5, seed=6)]
    for turn in range(5):
        with subprocess.Popen([sys.executable, "-c", _BUILDER, str(tmp_path)], stdout=subprocess.PIPE) as builder:
            assert builder.stdout
            builder.stdout.readline()
            time.sleep(0.05 + 0.13 * turn)
            builder.send_signal(signal.SIGKILL)
        index = kb.opened()
        documents = kb.documents()
        for query, names in zip(unit_vectors(5, seed=6), expected, strict=True):
            assert {documents[pk] for pk, _ in index.search(query, ALL, 10)} == set(names)
    kb.build()
    assert kb.opened().recall is not None
    assert not list(tmp_path.glob("*.part"))


def test_a_store_of_the_first_schema_is_carried_over(tmp_path: Path) -> None:
    """Its chunks are found, and what changes from now on is followed."""
    import sqlite3

    kb = Kb(tmp_path, "exact")
    kb.store.close()
    with sqlite3.connect(tmp_path / "store.db") as db:
        db.executescript(
            "DROP TABLE changes; DELETE FROM meta WHERE name = 'next_pk'; UPDATE meta SET value = '1' WHERE name = 'schema'"
        )
    store = Store(tmp_path / "store.db")
    index = VectorIndex(store, FINGERPRINT, WIDTH, kb.path)
    index.refresh()
    assert len(index) == COUNT
    store.drop(["d0"])
    put_vectors(store, COUNT, unit_vectors(2, seed=3), [(None, None)] * 2)
    index.refresh()
    assert len(index) == COUNT + 1


@pytest.mark.parametrize(("width", "parts"), [(64, 32), (33, 33)])
def test_codes_follow_the_width_of_the_embedder(tmp_path: Path, width: int, parts: int) -> None:
    """Pairs of dimensions; an odd width has none."""
    vectors = unit_vectors(600)[:, :width]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store = Store(tmp_path / "store.db")
    put_vectors(store, 0, vectors, some_rights(600))
    recall = approximate_search.build(store, FINGERPRINT, width, tmp_path / "test.vectors")
    assert approximate_search.subvectors(width) == parts
    assert recall is not None
    assert recall > 0.9
    index = VectorIndex(store, FINGERPRINT, width, tmp_path / "test.vectors")
    index.refresh()
    ((best, cosine),) = index.search(vectors[7], Access("a", frozenset({"g0", "g1", "g2", "g3"})), 1)
    assert cosine == pytest.approx(float(vectors[best - 1] @ vectors[7]), abs=1e-2)
