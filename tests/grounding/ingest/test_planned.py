"""Taking part in planned runs over real folders: on one machine or several, mounted here or there, with processes that die, stand still or come with something else."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from grounding.embedded.index import EmbeddedIndex
from grounding.errors import InputError, ServiceUnavailable, StoreError
from grounding.ingest.chunk_settings import DEFAULT, Chunking
from grounding.ingest.ingest import ingest
from grounding.ingest.planned import BATCH, Job, RunPart, RunWorker, held, report_of, summed
from grounding.ingest.runs import LEASE_S, WHOLE, Lease, LeaseLost
from grounding.records import IngestReport, Refusal
from grounding.store.databases.form import StoreDatabase
from grounding.store.databases.places import opened as opened_place
from grounding.store.runs import SharedRuns
from tests.fakes.embedder import HashEmbedder
from tests.postgres.store import made

FILES = 2 * BATCH + 30
LOOK_S = 0.02


def fill(folder: Path, count: int = FILES) -> Path:
    (folder / "part").mkdir(parents=True)
    for n in range(count):
        (folder / "part" / f"r{n:03}.md").write_text(f"# Rule {n}\n\nThe refund of case {n} takes {n} days.\n", "utf-8")
    return folder


@dataclass
class Machine:
    """A home of its own, or one of several processes of one home, with what it was asked to send."""

    index: EmbeddedIndex
    database: StoreDatabase
    path: Path
    embedder: HashEmbedder
    lease_s: float = LEASE_S
    sent: list[str] = field(default_factory=list)
    prepared: int = 0

    @property
    def book(self) -> SharedRuns:
        return self.index.store.runs(self.lease_s)

    def run(
        self, *, chunking: Chunking = DEFAULT, acl: Path | None = None, book: SharedRuns | None = None
    ) -> RunWorker:
        job = Job("rules", self.path, acl, lexical_only=False, chunking=chunking)
        return RunWorker(
            self.index,
            book or self.book,
            job,
            embedder=self.embedder.fingerprint,
            send=self.send,
            prepare=self.prepare,
            look_s=LOOK_S,
        )

    async def send(self, doc_ids: Sequence[str]) -> None:
        self.sent += doc_ids

    async def prepare(self) -> None:
        self.prepared += 1

    async def part(self) -> RunPart:
        return await worked(self.run())

    async def ended(self, part: RunPart) -> IngestReport:
        """What whoever ends a run does of what comes once, and its report."""
        assert part.lease is not None
        gone = self.book.gone(part.run)
        self.index.drop(gone, part.lease)
        report = summed(self.book.results(part.run), DEFAULT, self.index.vectors())
        report = replace(report, deleted=len(gone))
        self.book.end(part.lease, "{}")
        return report


async def worked(run: RunWorker) -> RunPart:
    return await run.work(await run.join())


@pytest.fixture(params=["sqlite", "postgres"])
def machines(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Machine]]:
    """Two processes of one home over one folder, or two machines over one database, each with a mount of its own."""
    shared = made(request.getfixturevalue("database_url")) if request.param == "postgres" else None
    here = fill(tmp_path / "here")
    there = here if shared is None else shutil.copytree(here, tmp_path / "mnt" / "there")
    homes = [tmp_path / "one", tmp_path / ("one" if shared is None else "two")]
    embedders = [HashEmbedder(), HashEmbedder()]
    opened = [EmbeddedIndex(home, e, shared) for home, e in zip(homes, embedders, strict=True)]
    databases = [opened_place(i.store.place, i.store.folder) for i in opened]
    yield [Machine(*one) for one in zip(opened, databases, (here, there), embedders, strict=True)]
    for index in opened:
        index.close()


def counts(report: IngestReport) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.unchanged, report.deleted


async def test_two_do_one_run_together_wherever_the_folder_is(machines: list[Machine]) -> None:
    one, two = machines
    runs = [machine.run() for machine in machines]
    ids = [await run.join() for run in runs]
    assert ids[0] == ids[1]
    assert [one.prepared, two.prepared] == [1, 0]
    both = [asyncio.create_task(run.work(ids[0])) for run in runs]
    done, waiting = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    (first,) = (task.result() for task in done)
    machine = machines[both.index(next(iter(done)))]
    report = await machine.ended(first)
    (last,) = [await task for task in waiting]
    assert last.lease is None, "it is ended once"
    assert first.batches + last.batches == 3
    assert counts(report) == (FILES, 0, 0, 0)
    assert report.embedded == one.index.vectors() == one.embedder.seen + two.embedder.seen == FILES
    assert sorted(one.sent + two.sent) == sorted(one.index.stamps())
    assert {root for root, _, _ in one.index.stamps().values()} == {"root:rules"}


async def test_what_did_not_change_is_not_read_again_and_what_is_gone_is_deleted_once_at_the_end(
    machines: list[Machine],
) -> None:
    one, two = machines
    await one.ended(await one.part())
    part = await two.part()
    assert (part.batches, two.prepared) == (0, 1)
    assert counts(await two.ended(part)) == (0, 0, FILES, 0)
    for machine in {m.path: m for m in machines}.values():
        (machine.path / "part" / "r000.md").unlink()
        (machine.path / "part" / "r001.md").write_bytes(b"%PDF-1.7 no")
        (machine.path / "part" / "r002.md").write_text("# Rule 2\n\nAnother.\n", "utf-8")
    part = await one.part()
    assert "part/r000.md" in one.index.stamps(), "not before all is done"
    assert one.book.gone(part.run) == ["part/r000.md", "part/r001.md"]
    report = await one.ended(part)
    assert counts(report) == (0, 1, FILES - 3, 2)
    assert [(r.doc, r.code) for r in report.refused] == [("part/r001.md", "corrupt")]
    assert len(one.index.stamps()) == FILES - 2


async def test_what_a_person_removes_just_before_a_batch_is_stored_stays_out(machines: list[Machine]) -> None:
    one, two = machines
    await one.ended(await one.part())
    for file in (one.path / "part").iterdir():
        file.write_text(file.read_text("utf-8") + "\nMore.\n", "utf-8")
    put = one.index.put

    def overtaken(*args: Any, **more: Any) -> set[str]:
        if "part/r007.md" in two.index.stamps():
            two.index.store.drop(["part/r007.md"], pulled=True)
        return put(*args, **more)

    one.index.put = overtaken  # type: ignore[method-assign]
    report = await one.ended(await one.part())
    assert counts(report) == (0, FILES - 1, 0, 0)
    assert [(r.doc, r.code) for r in report.refused] == [("part/r007.md", "removed")]
    assert list(one.index.pulled()) == ["part/r007.md"]


async def test_a_batch_whose_worker_died_is_taken_over_and_counted_once(machines: list[Machine]) -> None:
    one, two = machines
    one.lease_s = two.lease_s = 0.6
    died = asyncio.Event()

    class Dead(SharedRuns):
        """One that neither holds what it has nor gives it back."""

        def renew(self, lease: Lease) -> bool:
            return True

        def give_back(self, lease: Lease) -> None:
            pass

    async def dies(*_: object) -> int:
        died.set()
        return await asyncio.Future()

    one.index.embed = dies  # type: ignore[method-assign,assignment]
    task = asyncio.ensure_future(worked(one.run(book=Dead(one.database, one.lease_s))))
    await died.wait()  # its documents are stored, and nothing of them is embedded
    task.cancel()
    part = await two.part()
    assert part.batches == 3
    assert counts(await two.ended(part)) == (FILES, 0, 0, 0)
    assert two.index.vectors() == FILES
    assert one.embedder.seen == 0


async def test_a_worker_that_stood_still_writes_nothing_and_goes_on_with_another_batch(
    machines: list[Machine], caplog: pytest.LogCaptureFixture
) -> None:
    one, two = machines
    run = one.run()
    run_id = await run.join()
    embed, stood = one.index.embed, asyncio.Event()

    async def stands_still(doc_ids: Sequence[str], lease: Lease, batch: int) -> int:
        one.index.embed = embed  # type: ignore[method-assign]
        one.index.store.runs().give_back(lease)
        taken = two.book.lease(run_id, "two")
        assert taken is not None
        assert taken.batch == lease.batch
        two.book.give_back(taken)
        stood.set()
        return await embed(doc_ids, lease, batch)

    one.index.embed = stands_still  # type: ignore[method-assign]
    part = await run.work(run_id)
    assert stood.is_set()
    assert "was taken over or ended" in caplog.text
    assert part.batches == 4, "the lost one counts, and was done again"
    assert counts(await one.ended(part)) == (FILES, 0, 0, 0)
    assert one.index.vectors() == FILES


async def test_a_service_that_is_down_ends_the_part_and_the_same_again_goes_on(machines: list[Machine]) -> None:
    one, two = machines

    async def down(_: Sequence[str]) -> None:
        raise ServiceUnavailable("search", "it does not answer")

    run = RunWorker(
        one.index,
        one.book,
        Job("rules", one.path, None, lexical_only=False, chunking=DEFAULT),
        embedder=one.embedder.fingerprint,
        send=down,
        prepare=one.prepare,
        look_s=LOOK_S,
    )
    run_id = await run.join()
    with pytest.raises(ServiceUnavailable):
        await run.work(run_id)
    assert one.book.counts(run_id) == (0, FILES)
    part = await two.part()
    assert (part.run, part.batches) == (run_id, 3), "at once: what it had in hand was given back"
    assert counts(await two.ended(part)) == (FILES, 0, 0, 0)


async def test_a_run_that_was_planned_otherwise_is_told_in_a_line(machines: list[Machine], tmp_path: Path) -> None:
    one, two = machines
    await one.run().join()
    acl = tmp_path / "acl.yaml"
    acl.write_text('"**": [hr]\n', "utf-8")
    other = two.run(chunking=Chunking("tokens", 50, 0), acl=acl)
    with pytest.raises(
        InputError,
        match=r"^--root rules: run \w{8}, begun 20\d\d-\d\d-\d\d \d\d:\d\d UTC by \S+:\d+, is not done yet and was planned with another value of how documents are cut "
        r"\(ATTEST_CHUNKS\), who may read what \(--acl, attest.yaml\); the same command and settings join it, attest ingest --root rules --end ends it$",
    ):
        await other.join()


async def test_a_folder_without_the_files_of_the_run_deletes_nothing(machines: list[Machine], tmp_path: Path) -> None:
    one, two = machines
    await one.ended(await one.part())
    for file in (one.path / "part").iterdir():
        file.write_text(file.read_text("utf-8") + "\nMore.\n", "utf-8")
    run = one.run()
    run_id = await run.join()
    two.path = tmp_path / "empty"
    two.path.mkdir()
    with pytest.raises(
        InputError, match=rf"^PATH {two.path}: holds no file of run {run_id} of --root rules; allowed is"
    ):
        await two.run().join()
    shutil.move(one.path, tmp_path / "unmounted")
    one.path.mkdir()
    with pytest.raises(InputError, match="holds no file of run"):
        await run.work(run_id)
    assert (one.book.counts(run_id), one.book.gone(run_id)) == ((0, FILES), [])
    shutil.rmtree(one.path)
    shutil.move(tmp_path / "unmounted", one.path)
    assert counts(await one.ended(await one.part())) == (0, FILES, 0, 0)


async def test_what_a_copy_of_the_folder_lacks_stays_as_it_was_until_the_next_run(
    machines: list[Machine], tmp_path: Path
) -> None:
    """A file that whoever reads it does not have may stand on the machine that planned the run."""
    one, two = machines
    await one.ended(await one.part())
    for file in (one.path / "part").iterdir():
        file.write_text(file.read_text("utf-8") + "\nMore.\n", "utf-8")
    run_id = await one.run().join()
    two.path = tmp_path / "syncing"
    (two.path / "part").mkdir(parents=True)
    for file in (one.path / "part").glob("*0.md"):
        shutil.copy(file, two.path / "part")
    run = two.run()
    assert await run.join() == run_id
    report = await two.ended(await run.work(run_id))
    assert counts(report) == (0, FILES // 10, 0, 0)
    assert {r.code for r in report.refused} == {"missing"}
    assert len(two.index.stamps()) == FILES
    (one.path / "part" / "r001.md").unlink()
    assert counts(await one.ended(await one.part())) == (0, FILES - FILES // 10 - 1, FILES // 10, 1)


async def test_a_corpus_is_read_where_its_lines_stand(machines: list[Machine], tmp_path: Path) -> None:
    one, _ = machines
    one.path = tmp_path / "corpus.jsonl"
    lines = [json.dumps({"doc_id": f"é{n}", "title": "T", "text": f"It takes {n} days."}) for n in range(BATCH + 5)]
    one.path.write_text("\n".join([lines[0], "", *lines[1:]]) + "\n", "utf-8")
    assert counts(await one.ended(await one.part())) == (BATCH + 5, 0, 0, 0)
    assert one.index.store.document(f"é{BATCH + 3}").text == f"It takes {BATCH + 3} days."  # type: ignore[union-attr]
    lines[4] = json.dumps({"doc_id": "é4", "title": "T", "text": "Changed.", "groups": ["hr"]})
    del lines[7]
    one.path.write_text("\n".join(lines) + "\n", "utf-8")
    assert counts(await one.ended(await one.part())) == (0, 1, BATCH + 3, 1)
    await asyncio.to_thread(one.path.write_text, "\n".join([*lines[:4], lines[4].replace("Changed", "Again")]), "utf-8")
    run = one.run()
    run_id = await run.join()
    one.path.write_text("\n" * 30 + one.path.read_text("utf-8"), "utf-8")
    with pytest.raises(InputError, match=r"^corpus.jsonl: is another corpus than the run was planned for; end the run"):
        await run.work(run_id)


async def test_a_folder_that_was_taken_in_by_its_path_comes_under_the_name(machines: list[Machine]) -> None:
    one, _ = machines
    await ingest(one.index, [one.path])
    seen = one.embedder.seen
    (one.path / "part" / "r000.md").unlink()
    report = await one.ended(await one.part())
    assert counts(report) == (0, FILES - 1, 0, 1)
    assert one.embedder.seen == seen, "its vectors stay"
    again = await ingest(one.index, [one.path])
    assert {r.code for r in again.refused} == {"duplicate_id"}
    assert "--root rules" in again.refused[0].reason
    assert len(one.index.stamps()) == FILES - 1


async def test_what_has_no_vector_yet_is_part_of_the_plan(machines: list[Machine]) -> None:
    one, _ = machines
    job = Job("rules", one.path, None, lexical_only=True, chunking=DEFAULT)
    run = RunWorker(one.index, one.book, job, embedder=None, send=one.send, prepare=one.prepare, look_s=LOOK_S)
    await one.ended(await worked(run))
    assert (one.index.vectors(), one.embedder.seen) == (0, 0)
    part = await one.part()
    assert part.batches == 3
    report = await one.ended(part)
    assert (counts(report), report.embedded, one.index.vectors()) == ((0, 0, FILES, 0), FILES, FILES)


async def test_a_run_that_is_ended_meanwhile_is_left(machines: list[Machine]) -> None:
    one, two = machines
    run = one.run()
    run_id = await run.join()
    two.book.break_off("root:rules")
    assert await run.work(run_id) == RunPart(run_id, 0, None)
    assert (await one.part()).lease is not None


async def test_a_lease_is_renewed_while_it_is_held(machines: list[Machine]) -> None:
    one, two = machines
    one.lease_s = two.lease_s = 0.4
    run_id = await one.run().join()
    lease = one.book.lease(run_id, "one")
    assert lease is not None
    async with held(one.book, lease):
        await asyncio.sleep(1.0)
        assert two.book.renew(lease)
    with suppress(RuntimeError):
        async with held(one.book, lease):
            raise RuntimeError
    assert two.book.lease(run_id, "two") == replace(lease, fence=lease.fence + 1), "an error gives it back at once"


async def test_words_of_one_home_do_not_catch_up_while_a_batch_is_stored(tmp_path: Path) -> None:
    """The marks of a file say what its one word index has: they must not be set for a document that changes meanwhile."""
    index = EmbeddedIndex(tmp_path / "home", None)
    other = EmbeddedIndex(tmp_path / "home", None)
    lease = Lease("run", WHOLE, 1)
    with index.beside_others(lease):
        with pytest.raises(StoreError, match="another ingest is at work"):
            other.lock(0.0)
        with other.beside_others(lease):
            pass
    other.lock(0.0)
    other.close()
    index.close()


def test_a_report_is_kept_whole() -> None:
    report = IngestReport(1, 2, 3, 4, (Refusal("d", "empty", "no text"),), 5, 6, "kb-1", 0.5, ("o",), "c", {"x": 1})
    fields = {
        **{f: getattr(report, f) for f in report.__dataclass_fields__},
        "refused": [{"doc": "d", "code": "empty", "reason": "no text"}],
    }
    assert report_of(json.dumps(fields)) == report


def test_a_lost_lease_is_told_in_a_line() -> None:
    assert issubclass(LeaseLost, StoreError)
