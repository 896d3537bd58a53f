"""Checkpoints are published when something was added, and what contradicts those that are there is told."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grounding.errors import ServiceRejected, ServiceUnavailable, StoreError
from rai.embedded.checkpoint_folder import FolderSink
from rai.ledger.checkpoints.publish import ContradictionError, Publisher, name_of, size_in
from rai.records import KeptCheckpoint
from tests.fakes.form2 import LEDGER_ID, NEXT_SIGNER, SIGNER, Form2Ledger
from tests.fakes.signed_ledger import SignedLedger


class WriteOnly:
    """A place that lets nobody look."""

    place = "nowhere"

    def __init__(self) -> None:
        self.put_names: list[str] = []

    async def put(self, name: str, note: str) -> str | None:
        self.put_names.append(name)
        return note if self.put_names.count(name) == 1 else None

    async def read(self, name: str) -> str | None:
        raise ServiceRejected("checkpoints", f"no look at {name}")

    async def newest(self, prefix: str) -> KeptCheckpoint | None:
        raise ServiceRejected("checkpoints", f"no look at {prefix}")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_names_sort_by_size() -> None:
    sizes = [0, 9, 10, 99_999, 10**12 - 1]
    assert sorted(name_of(LEDGER_ID, size) for size in sizes) == [name_of(LEDGER_ID, size) for size in sizes]
    assert [size_in(name_of(LEDGER_ID, size)) for size in sizes] == sizes
    assert [size_in(name) for name in ("", "x.txt", f"{LEDGER_ID}-12.txt", f"{LEDGER_ID}-000000000012.txt.new")] == [
        None
    ] * 4


async def test_a_checkpoint_is_published_when_something_was_added(tmp_path: Path) -> None:
    ledger = SignedLedger(Form2Ledger(3))
    publisher = Publisher(ledger, FolderSink(tmp_path))
    first = await publisher.publish()
    assert first is not None
    assert (first.name, first.size) == (name_of(LEDGER_ID, 4), 4)
    assert (tmp_path / first.name).read_text("utf-8") == ledger.made.checkpoint()
    assert await publisher.publish() is None
    ledger.made.add("turn", {})
    assert await publisher.publish() is not None
    assert names(tmp_path) == [name_of(LEDGER_ID, 4), name_of(LEDGER_ID, 5)]
    assert ledger.signed == 2


async def test_an_empty_ledger_publishes_nothing(tmp_path: Path) -> None:
    empty = Form2Ledger()
    empty.entries.clear()
    assert await Publisher(SignedLedger(empty), FolderSink(tmp_path)).publish() is None
    assert names(tmp_path) == []


async def test_what_is_there_counts_after_a_restart(tmp_path: Path) -> None:
    await Publisher(SignedLedger(Form2Ledger(3)), FolderSink(tmp_path)).publish()
    again = SignedLedger(Form2Ledger(3))
    publisher = Publisher(again, FolderSink(tmp_path))
    assert await publisher.publish() is None
    assert again.signed == 0
    assert publisher.last is not None
    assert publisher.last.size == 4


async def test_what_another_process_has_just_published_is_enough(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    await Publisher(SignedLedger(Form2Ledger(3)), FolderSink(tmp_path)).publish()
    other = Publisher(SignedLedger(Form2Ledger(5)), FolderSink(tmp_path), now=lambda: now)
    assert await other.publish(younger_than_s=60) is None
    now += timedelta(seconds=61)
    assert await other.publish(younger_than_s=60) is not None


async def test_a_clock_that_was_set_back_keeps_no_checkpoint_from_being_published(tmp_path: Path) -> None:
    await Publisher(SignedLedger(Form2Ledger(3)), FolderSink(tmp_path)).publish()
    a_year_back = datetime.now(UTC) - timedelta(days=365)
    other = Publisher(SignedLedger(Form2Ledger(5)), FolderSink(tmp_path), now=lambda: a_year_back)
    assert await other.publish(younger_than_s=60) is not None


async def test_two_at_once_publish_one(tmp_path: Path) -> None:
    ledger = SignedLedger(Form2Ledger(3))
    publisher = Publisher(ledger, FolderSink(tmp_path))
    done = await asyncio.gather(publisher.publish(), publisher.publish())
    assert [found is not None for found in done] == [True, False]
    assert ledger.signed == 1


async def test_a_ledger_that_was_cut_contradicts_what_is_published(tmp_path: Path) -> None:
    await Publisher(SignedLedger(Form2Ledger(5)), FolderSink(tmp_path)).publish()
    cut = SignedLedger(Form2Ledger(3))
    with pytest.raises(StoreError, match="has 4 entries, but a checkpoint of 6 is published"):
        await Publisher(cut, FolderSink(tmp_path)).publish()
    assert (cut.signed, names(tmp_path)) == (0, [name_of(LEDGER_ID, 6)])


@pytest.mark.parametrize(
    "forged",
    ["", "not a note\n", Form2Ledger(6).checkpoint(keys=[NEXT_SIGNER]), Form2Ledger(3).checkpoint()],
    ids=["empty", "no note", "another key", "of another size"],
)
async def test_a_file_of_a_greater_size_that_this_ledger_did_not_sign_is_told_as_that(
    tmp_path: Path, forged: str
) -> None:
    """Not as a ledger that was cut: whoever may write there could say so by a name alone."""
    (tmp_path / name_of(LEDGER_ID, 7)).write_text(forged, "utf-8")
    ledger = SignedLedger(Form2Ledger(3))
    publisher = Publisher(ledger, FolderSink(tmp_path))
    with pytest.raises(StoreError, match=r"000007.txt in .* is no checkpoint that this ledger signed .* move it away"):
        await publisher.publish()
    assert (ledger.signed, publisher.last) == (0, None)


async def test_a_published_checkpoint_that_was_altered_is_told_though_nothing_is_new(tmp_path: Path) -> None:
    publisher = Publisher(SignedLedger(Form2Ledger(3)), FolderSink(tmp_path))
    assert await publisher.publish() is not None
    path = tmp_path / name_of(LEDGER_ID, 4)
    path.write_text(path.read_text("utf-8").replace("\n4\n", "\n5\n"), "utf-8")
    with pytest.raises(StoreError, match="was put there or altered"):
        await publisher.publish()


async def test_a_ledger_of_other_entries_is_told_though_none_is_due(tmp_path: Path) -> None:
    """As of a copy of before that was put back and written on: nobody waits for the next checkpoint to hear of it."""
    await Publisher(SignedLedger(Form2Ledger(3)), FolderSink(tmp_path)).publish()
    other = Form2Ledger(2)
    for _ in range(3):
        other.add("turn", {"another": "history"})
    ledger = SignedLedger(other)
    publisher = Publisher(ledger, FolderSink(tmp_path))
    for call in (publisher.publish(younger_than_s=3600), publisher.publish(), publisher.compare()):
        with pytest.raises(ContradictionError, match="over other entries"):
            await call
    assert (ledger.signed, names(tmp_path)) == (0, [name_of(LEDGER_ID, 4)])


async def test_the_ledger_is_told_what_is_published(tmp_path: Path) -> None:
    """So that it can say whether its entries are those of then."""
    await Publisher(SignedLedger(Form2Ledger(3)), FolderSink(tmp_path)).publish()
    grown = SignedLedger(Form2Ledger(5))
    await Publisher(grown, FolderSink(tmp_path)).publish()
    assert grown.published is not None
    assert grown.published.size == 4


async def test_two_histories_of_one_size_are_told(tmp_path: Path) -> None:
    other = Form2Ledger(2)
    other.add("turn", {"another": "history"})
    (tmp_path / name_of(LEDGER_ID, 4)).write_text(other.checkpoint(), "utf-8")

    class Blind(FolderSink):
        """Says that nothing is there, as a place does that lags behind."""

        async def newest(self, prefix: str) -> KeptCheckpoint | None:
            assert prefix == f"{LEDGER_ID}-"
            return None

    with pytest.raises(StoreError, match="another checkpoint of 4 entries is published already"):
        await Publisher(SignedLedger(Form2Ledger(3)), Blind(tmp_path)).publish()
    same = SignedLedger(Form2Ledger(3))
    (tmp_path / name_of(LEDGER_ID, 4)).write_text(same.made.checkpoint(keys=[SIGNER]), "utf-8")
    same.keys = [SIGNER, NEXT_SIGNER]
    assert await Publisher(same, Blind(tmp_path)).publish() is not None  # the same words, with one signature more
    (tmp_path / name_of(LEDGER_ID, 4)).write_text(same.made.checkpoint()[:60], "utf-8")
    with pytest.raises(StoreError, match="is there already and is no whole checkpoint"):
        await Publisher(same, Blind(tmp_path)).publish()


async def test_a_place_that_nobody_may_look_into_is_written_to() -> None:
    place, ledger = WriteOnly(), SignedLedger(Form2Ledger(3))
    publisher = Publisher(ledger, place)
    assert await publisher.publish() is not None
    assert await publisher.publish() is None  # as far as this process knows
    assert await Publisher(ledger, place).publish() is not None  # another one tries, and it stands there
    assert place.put_names == [name_of(LEDGER_ID, 4)] * 2
    with pytest.raises(ServiceRejected):
        await publisher.look()


async def test_a_place_that_fails_is_no_reason_to_sign() -> None:
    class Gone(WriteOnly):
        async def newest(self, prefix: str) -> KeptCheckpoint | None:
            raise ServiceUnavailable("checkpoints", f"failed {prefix}")

    ledger = SignedLedger(Form2Ledger(3))
    with pytest.raises(ServiceUnavailable):
        await Publisher(ledger, Gone()).publish()
    assert ledger.signed == 0
