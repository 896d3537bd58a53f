"""Incremental ingest over real folders: what is added, changed, deleted, refused, removed by hand, and opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from grounding.embedded.index import EmbeddedIndex
from grounding.errors import StoreError
from grounding.ingest import ingest
from grounding.records import IngestReport, Progress
from tests.fakes.embedder import HashEmbedder


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    folder = tmp_path / "kb"
    (folder / "hr").mkdir(parents=True)
    for name in ("a.md", "b.md", "hr/pay.md"):
        (folder / name).write_text(
            f"# About {name}\n\nThe word of {name} is {name[0]}pple, and it costs $5.\n", "utf-8"
        )
    return folder


async def run(
    tmp_path: Path, *paths: Path, embedder: HashEmbedder | None = None, acl: Path | None = None
) -> IngestReport:
    index = EmbeddedIndex(tmp_path / "index", embedder or HashEmbedder())
    try:
        return await ingest(index, paths, acl=acl)
    finally:
        index.close()


def counts(report: IngestReport) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.unchanged, report.deleted


@pytest.mark.row("4-15")
async def test_only_what_changed_costs_work(tmp_path: Path, kb: Path) -> None:
    """Added, then unchanged without one embedding, then changed and deleted."""
    assert counts(await run(tmp_path, kb)) == (3, 0, 0, 0)
    again = HashEmbedder()
    assert counts(await run(tmp_path, kb, embedder=again)) == (0, 0, 3, 0)
    assert again.seen == 0
    (kb / "a.md").write_text("# About a\n\nA new text.\n", "utf-8")
    (kb / "b.md").unlink()
    assert counts(await run(tmp_path, kb)) == (0, 1, 1, 1)


async def test_a_touched_file_with_the_same_text_is_unchanged(tmp_path: Path, kb: Path) -> None:
    await run(tmp_path, kb)
    (kb / "a.md").write_text((kb / "a.md").read_text("utf-8"), "utf-8")
    embedder = HashEmbedder()
    assert counts(await run(tmp_path, kb, embedder=embedder)) == (0, 0, 3, 0)
    assert embedder.seen == 0


async def test_deletions_are_scoped_to_what_was_given(tmp_path: Path, kb: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.md").write_text("# C\n\nElsewhere.\n", "utf-8")
    await run(tmp_path, kb, other)
    (kb / "a.md").unlink()
    report = await run(tmp_path, other)
    assert counts(report) == (0, 0, 1, 0)
    assert counts(await run(tmp_path, kb)) == (0, 0, 2, 1)


async def test_a_document_that_cannot_be_read_any_more_is_gone(tmp_path: Path, kb: Path) -> None:
    """What it said before may no longer be true, so it is refused with its reason and leaves the answers."""
    await run(tmp_path, kb)
    (kb / "a.md").write_bytes(b"%PDF-1.7 broken")
    report = await run(tmp_path, kb)
    assert [(r.doc, bool(r.reason)) for r in report.refused] == [("a.md", True)]
    assert report.deleted == 1


async def test_what_a_person_removed_stays_out_until_it_changes(tmp_path: Path, kb: Path) -> None:
    await run(tmp_path, kb)
    index = EmbeddedIndex(tmp_path / "index", None)
    assert await index.remove("a.md")
    index.close()
    report = await run(tmp_path, kb)
    assert [(r.doc, r.code) for r in report.refused] == [("a.md", "removed")]
    (kb / "a.md").write_text("# About a\n\nCorrected.\n", "utf-8")
    assert counts(await run(tmp_path, kb)) == (1, 0, 2, 0)


async def test_a_forgotten_acl_is_said(tmp_path: Path, kb: Path) -> None:
    """Documents that more people may read than before are named; narrowing is no news."""
    acl = tmp_path / "acl.yaml"
    acl.write_text('"hr/**": [hr]\n', "utf-8")
    assert (await run(tmp_path, kb)).opened == ()
    assert (await run(tmp_path, kb, acl=acl)).opened == ()
    assert (await run(tmp_path, kb)).opened == ("hr/pay.md",)


async def test_one_ingest_at_a_time(tmp_path: Path, kb: Path) -> None:
    index = EmbeddedIndex(tmp_path / "index", None)
    index.lock()
    with pytest.raises(StoreError, match="another ingest is at work"):
        await run(tmp_path, kb)
    index.close()


async def test_progress_tells_each_stage_to_its_end(tmp_path: Path, kb: Path) -> None:
    seen: list[Progress] = []
    index = EmbeddedIndex(tmp_path / "index", HashEmbedder())
    await ingest(index, [kb], on_progress=seen.append)
    index.close()
    last = {p.stage: p for p in seen}
    assert last.keys() == {"read", "words", "vectors"}
    assert all(p.done == p.total for p in last.values())
