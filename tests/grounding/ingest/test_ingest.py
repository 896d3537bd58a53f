"""Incremental ingest over real folders: what is added, changed, deleted, refused, removed by hand, and opened."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from grounding.embedded.index import EmbeddedIndex
from grounding.errors import StoreError
from grounding.ingest.chunk_paragraphs import split
from grounding.ingest.chunk_settings import DEFAULT, Chunking
from grounding.ingest.ingest import ingest, plan, restore
from grounding.records import Access, Document, IngestPlan, IngestReport, Progress
from grounding.tokens import count_tokens
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
    tmp_path: Path,
    *paths: Path,
    embedder: HashEmbedder | None = None,
    acl: Path | None = None,
    chunking: Chunking = DEFAULT,
    lexical_only: bool = False,
) -> IngestReport:
    index = EmbeddedIndex(tmp_path / "index", embedder or HashEmbedder())
    try:
        return await ingest(index, paths, acl=acl, chunking=chunking, lexical_only=lexical_only)
    finally:
        index.close()


async def foreseen(tmp_path: Path, *paths: Path, embedder: HashEmbedder | None = None, **more: Any) -> IngestPlan:
    index = EmbeddedIndex(tmp_path / "index", embedder or HashEmbedder())
    try:
        before = index.kb_version(), index.counts(), index.stamps()
        made = await plan(index, paths, **more)
        assert (index.kb_version(), index.counts(), index.stamps()) == before, "a plan changes nothing"
        return made
    finally:
        index.close()


async def test_a_plan_says_what_an_ingest_then_does(tmp_path: Path, kb: Path) -> None:
    """New, the same again, changed and gone, refused; with vectors that are there already, and some that wait."""
    for step in ("new", "same", "changed", "cut anew"):
        if step == "changed":
            (kb / "a.md").write_text("# About a\n\nA new text.\n\n# More\n\nAnd another one of it.\n", "utf-8")
            (kb / "b.md").unlink()
            (kb / "bad.pdf").write_bytes(b"%PDF-1.7 no")
        chunking = Chunking("tokens", 20, 0) if step == "cut anew" else DEFAULT
        said = await foreseen(tmp_path, kb, chunking=chunking)
        embedder = HashEmbedder()
        done = await run(tmp_path, kb, embedder=embedder, chunking=chunking)
        assert counts(done) == (said.added, said.changed, said.unchanged, said.deleted), step
        assert (len(said.refused), said.rechunked, said.opened) == (len(done.refused), done.rechunked, done.opened)
        assert said.embedded == done.embedded == embedder.seen, step
        assert bool(said.tokens) == bool(said.embedded)


async def test_a_plan_counts_what_waits_for_vectors_but_not_what_goes(tmp_path: Path, kb: Path) -> None:
    await run(tmp_path, kb, lexical_only=True)
    said = await foreseen(tmp_path, kb)
    assert (said.chunks, said.embedded) == (0, 3)
    (kb / "b.md").unlink()
    (kb / "a.md").write_text("# About a\n\nA new text.\n", "utf-8")
    said = await foreseen(tmp_path, kb)
    assert (said.chunks, said.embedded) == (1, 2)
    assert said.tokens >= count_tokens("A new text.")
    assert said.text_bytes == len("# About a\n\nA new text.")
    bare = await foreseen(tmp_path, kb, lexical_only=True)
    assert (bare.chunks, bare.embedded, bare.tokens) == (1, 0, 0)


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


async def test_documents_of_a_folder_that_was_moved_are_taken_over_as_they_are(tmp_path: Path, kb: Path) -> None:
    await run(tmp_path, kb)
    moved = kb.rename(tmp_path / "moved")
    embedder = HashEmbedder()
    assert counts(await run(tmp_path, moved, embedder=embedder)) == (0, 3, 0, 0)
    assert embedder.seen == 0
    assert counts(await run(tmp_path, moved)) == (0, 0, 3, 0)


async def test_a_document_whose_folder_is_away_is_not_replaced_by_another(tmp_path: Path, kb: Path) -> None:
    """Neither its text nor its rights; whoever takes it out makes room."""
    acl = tmp_path / "acl.yaml"
    acl.write_text('"**": [hr]\n', "utf-8")
    await run(tmp_path, kb, acl=acl)
    other = shutil.copytree(kb, tmp_path / "other")
    (other / "a.md").write_text("# Another\n\nText of another.\n", "utf-8")
    away = kb.rename(tmp_path / "away")
    report = await run(tmp_path, other)
    assert (counts(report), report.opened) == ((0, 0, 0, 0), ())
    assert [r.doc for r in report.refused] == ["a.md", "b.md", "hr/pay.md"], "two have the same text for everyone"
    assert report.refused[0].reason == (
        f"the id is taken by a document of other content or rights ingested from {kb}, which is not here now;"
        " attest documents remove a.md makes room for this one"
    )
    await removed(tmp_path, "a.md")
    assert counts(await run(tmp_path, other)) == (1, 0, 0, 0)
    away.rename(kb)
    report = await run(tmp_path, kb, acl=acl)
    assert (counts(report), [r.doc for r in report.refused]) == ((0, 0, 2, 0), ["a.md"])


async def test_a_line_that_is_gone_is_deleted_whatever_the_case_of_the_name(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.JSONL"
    lines = [f'{{"doc_id": "{name}", "title": "T", "text": "Text of {name}."}}\n' for name in "ab"]
    corpus.write_text("".join(lines), "utf-8")
    await run(tmp_path, corpus)
    corpus.write_text(lines[0], "utf-8")
    assert counts(await run(tmp_path, corpus)) == (0, 0, 1, 1)
    corpus.write_text("", "utf-8")
    assert counts(await run(tmp_path, corpus)) == (0, 0, 0, 1)


async def test_a_single_file_deletes_nothing_of_its_folder_whatever_that_is_called(tmp_path: Path, kb: Path) -> None:
    folder = kb.rename(tmp_path / "kb.jsonl")
    await run(tmp_path, folder)
    assert counts(await run(tmp_path, folder / "a.md")) == (0, 0, 1, 0)


async def test_a_document_stays_when_another_folder_of_the_run_has_its_id(tmp_path: Path, kb: Path) -> None:
    """Whichever of the two is read first."""
    first, last = tmp_path / "first", tmp_path / "last"
    for folder in (first, last):
        folder.mkdir()
        (folder / "a.md").write_text(f"# Another\n\nText of {folder.name}.\n", "utf-8")
    await run(tmp_path, kb)
    report = await run(tmp_path, first, kb, last)
    assert counts(report) == (0, 0, 3, 0)
    assert [(r.doc, r.code) for r in report.refused] == [("a.md", "duplicate_id")] * 2
    assert said(tmp_path, "a.md") == "# About a.md\n\nThe word of a.md is apple, and it costs $5."


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


@pytest.mark.row("4-16")
async def test_progress_tells_each_stage_to_its_end(tmp_path: Path, kb: Path) -> None:
    seen: list[Progress] = []
    index = EmbeddedIndex(tmp_path / "index", HashEmbedder())
    await ingest(index, [kb], on_progress=seen.append)
    index.close()
    last = {p.stage: p for p in seen}
    assert last.keys() == {"read", "words", "vectors"}
    assert all(p.done == p.total for p in last.values())


async def removed(tmp_path: Path, doc_id: str) -> None:
    index = EmbeddedIndex(tmp_path / "index", None)
    assert await index.remove(doc_id)
    index.close()


def live(tmp_path: Path) -> set[str]:
    index = EmbeddedIndex(tmp_path / "index", None)
    try:
        return {info.doc_id for info in index.store.documents()}
    finally:
        index.close()


def said(tmp_path: Path, doc_id: str) -> str:
    index = EmbeddedIndex(tmp_path / "index", None)
    try:
        document = index.store.document(doc_id)
        assert document is not None
        return document.text
    finally:
        index.close()


async def test_touching_a_removed_file_does_not_bring_it_back(tmp_path: Path, kb: Path) -> None:
    """The same content under a new time is no change; nor is another look, nor a move to another folder."""
    await run(tmp_path, kb)
    await removed(tmp_path, "a.md")
    for _ in range(2):
        (kb / "a.md").write_text((kb / "a.md").read_text("utf-8"), "utf-8")
        report = await run(tmp_path, kb)
        assert [(r.doc, r.code) for r in report.refused] == [("a.md", "removed")]
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text((kb / "a.md").read_text("utf-8"), "utf-8")
    assert [r.code for r in (await run(tmp_path, other)).refused] == ["removed"]
    assert live(tmp_path) == {"b.md", "hr/pay.md"}


async def test_new_rights_bring_a_removed_document_back(tmp_path: Path, kb: Path) -> None:
    await run(tmp_path, kb)
    await removed(tmp_path, "a.md")
    acl = tmp_path / "acl.yaml"
    acl.write_text('"a.md": [hr]\n', "utf-8")
    assert counts(await run(tmp_path, kb, acl=acl)) == (1, 0, 2, 0)


async def test_a_removed_document_can_be_restored(tmp_path: Path, kb: Path) -> None:
    """It is found again at once, and the next ingest finds it as the file says."""
    await run(tmp_path, kb)
    await removed(tmp_path, "a.md")
    index = EmbeddedIndex(tmp_path / "index", HashEmbedder())
    assert await restore(index, "a.md")
    assert not await restore(index, "a.md")
    assert not await restore(index, "never there")
    assert [pk for pk, _ in index.words.search("apple", Access(), 5)]
    assert index.store.without_vectors("hash-1") == []
    index.close()
    assert counts(await run(tmp_path, kb)) == (0, 0, 3, 0)


async def test_what_is_removed_while_an_ingest_reads_stays_out(tmp_path: Path, kb: Path) -> None:
    await run(tmp_path, kb)
    for name in ("a.md", "b.md"):
        (kb / name).write_text(f"# About {name}\n\nA new text of {name}.\n", "utf-8")
    index = EmbeddedIndex(tmp_path / "index", None)
    beside = EmbeddedIndex(tmp_path / "index", None)

    def on_progress(at: Progress) -> None:
        if at.stage == "read" and at.total is None:
            beside.store.drop(["a.md"], pulled=True)

    for n in range(20):
        (kb / f"c{n}.md").write_text(f"# C{n}\n\nText {n}.\n", "utf-8")
    report = await ingest(index, [kb], on_progress=on_progress)
    index.close()
    beside.close()
    assert [(r.doc, r.code) for r in report.refused] == [("a.md", "removed")]
    assert counts(report) == (20, 1, 1, 0)
    assert "a.md" not in live(tmp_path)


class Overtaken(EmbeddedIndex):
    """An index beside which somebody removes a document at the last moment before others are stored or deleted."""

    def _removed_beside(self) -> None:
        if "a.md" in self.stamps():
            self.store.drop(["a.md"], pulled=True)

    def put(self, *args: Any, **more: Any) -> set[str]:
        self._removed_beside()
        return super().put(*args, **more)

    def drop(self, *args: Any, **more: Any) -> None:
        self._removed_beside()
        super().drop(*args, **more)


async def test_what_is_removed_just_before_others_are_stored_stays_out(tmp_path: Path, kb: Path) -> None:
    await run(tmp_path, kb)
    for name in ("a.md", "b.md"):
        (kb / name).write_text(f"# About {name}\n\nA new text of {name}.\n", "utf-8")
    index = Overtaken(tmp_path / "index", None)
    report = await ingest(index, [kb])
    assert list(index.pulled()) == ["a.md"]
    index.close()
    assert [(r.doc, r.code) for r in report.refused] == [("a.md", "removed")]
    assert (counts(report), live(tmp_path)) == ((0, 1, 1, 0), {"b.md", "hr/pay.md"})


async def test_what_is_removed_while_its_file_goes_stays_out_when_the_file_comes_back(tmp_path: Path, kb: Path) -> None:
    await run(tmp_path, kb)
    (kb / "a.md").rename(tmp_path / "a.md")
    index = Overtaken(tmp_path / "index", None)
    await ingest(index, [kb])
    index.close()
    (tmp_path / "a.md").rename(kb / "a.md")
    assert [(r.doc, r.code) for r in (await run(tmp_path, kb)).refused] == [("a.md", "removed")]


async def test_writers_at_the_same_time_agree_on_the_version(tmp_path: Path, kb: Path) -> None:
    """The digest of the whole is what one undisturbed ingest of the same documents makes."""
    await run(tmp_path, kb)
    index, beside = EmbeddedIndex(tmp_path / "index", None), EmbeddedIndex(tmp_path / "index", None)
    documents = [Document(f"x{n}.md", f"X{n}", f"Text {n}.") for n in range(40)]
    index.put([(d, split(d), "x", "1") for d in documents])
    await asyncio.gather(
        *(asyncio.to_thread(beside.store.drop, [d.doc_id], pulled=True) for d in documents[:20]),
        *(asyncio.to_thread(index.put, [(d, split(d), "x", "2")]) for d in documents[20:]),
    )
    await asyncio.to_thread(index.store.drop, [d.doc_id for d in documents[20:]])
    now = index.kb_version()
    index.close()
    beside.close()
    other = EmbeddedIndex(tmp_path / "other", None)
    await ingest(other, [kb])
    assert now.partition("-g")[0] == other.kb_version().partition("-g")[0]
    other.close()


async def test_a_word_index_that_was_opened_empty_is_filled(tmp_path: Path, kb: Path) -> None:
    """It was lost, and who opened it first was killed before it could be filled."""
    await run(tmp_path, kb)
    shutil.rmtree(tmp_path / "index" / "words")
    EmbeddedIndex(tmp_path / "index", None).close()
    await run(tmp_path, kb)
    index = EmbeddedIndex(tmp_path / "index", None)
    assert len(index.words.search("costs", Access(), 9)) == 3
    index.close()


async def test_changes_are_told_when_they_can_be_found(tmp_path: Path, kb: Path) -> None:
    told: list[tuple[str, str]] = []
    index = EmbeddedIndex(tmp_path / "index", None)
    await ingest(index, [kb], on_change=lambda kind, doc_id: told.append((kind, doc_id)))
    assert told == [("added", "a.md"), ("added", "b.md"), ("added", "hr/pay.md")]
    told.clear()
    (kb / "a.md").write_text("# About a\n\nA new text.\n", "utf-8")
    (kb / "b.md").unlink()
    await ingest(index, [kb], on_change=lambda kind, doc_id: told.append((kind, doc_id)))
    assert told == [("changed", "a.md"), ("deleted", "b.md")]
    index.close()


_CHARACTERS = Chunking("characters", 40, 20)


async def _standing(tmp_path: Path) -> dict[str, tuple[str, int]]:
    """Way and number of chunks of each live document."""
    index = EmbeddedIndex(tmp_path / "index", None)
    try:
        return {d.doc_id: (d.chunking, d.chunks) for d in await index.documents()}
    finally:
        index.close()


@pytest.mark.row("2-02")
@pytest.mark.row("C-08")
async def test_another_way_to_cut_cuts_anew_what_is_unchanged(tmp_path: Path, kb: Path) -> None:
    """And says so; the same way again costs nothing; the way back finds the first chunks again."""
    await run(tmp_path, kb)
    first = await _standing(tmp_path)
    assert first == dict.fromkeys(("a.md", "b.md", "hr/pay.md"), ("paragraphs 24-200", 1))
    report = await run(tmp_path, kb, chunking=_CHARACTERS)
    assert counts(report) == (0, 0, 3, 0)
    assert (report.chunking, dict(report.rechunked)) == ("characters 40/20", {"paragraphs 24-200": 3})
    assert report.embedded > 0
    cut_anew = await _standing(tmp_path)
    assert {way for way, _ in cut_anew.values()} == {"characters 40/20"}
    assert all(chunks > 1 for _, chunks in cut_anew.values())
    again = HashEmbedder()
    report = await run(tmp_path, kb, chunking=_CHARACTERS, embedder=again)
    assert (report.rechunked, again.seen) == ({}, 0)
    other_overlap = await run(tmp_path, kb, chunking=Chunking("characters", 40, 10))
    assert dict(other_overlap.rechunked) == {"characters 40/20": 3}
    await run(tmp_path, kb, embedder=again)
    assert (await _standing(tmp_path), again.seen) == (first, 0)


@pytest.mark.row("2-02")
async def test_only_the_folder_that_is_given_is_cut_anew(tmp_path: Path, kb: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.md").write_text("# C\n\nElsewhere.\n", "utf-8")
    await run(tmp_path, kb, other)
    await run(tmp_path, kb, chunking=_CHARACTERS)
    assert (await _standing(tmp_path))["c.md"][0] == "paragraphs 24-200"


async def test_a_touched_file_keeps_the_way_it_was_cut(tmp_path: Path, kb: Path) -> None:
    await run(tmp_path, kb, chunking=_CHARACTERS)
    (kb / "a.md").write_text((kb / "a.md").read_text("utf-8"), "utf-8")
    assert (await run(tmp_path, kb, chunking=_CHARACTERS)).rechunked == {}
    assert (await _standing(tmp_path))["a.md"][0] == "characters 40/20"


async def test_what_was_removed_stays_out_whatever_the_way_and_comes_back_in_the_newest(
    tmp_path: Path, kb: Path
) -> None:
    await run(tmp_path, kb)
    index = EmbeddedIndex(tmp_path / "index", HashEmbedder())
    assert await index.remove("a.md")
    report = await ingest(index, [kb], chunking=_CHARACTERS)
    assert [(r.doc, r.code) for r in report.refused] == [("a.md", "removed")]
    assert await restore(index, "a.md", chunking=_CHARACTERS)
    assert (await ingest(index, [kb], chunking=_CHARACTERS)).rechunked == {}
    index.close()
    assert (await _standing(tmp_path))["a.md"][0] == "characters 40/20"


async def test_chunks_that_the_model_reads_in_parts_are_counted(tmp_path: Path, kb: Path) -> None:
    (kb / "a.md").write_text("The Pro plan costs $90 a month. " * 60, "utf-8")
    assert (await run(tmp_path, kb)).long_chunks == 0
    assert (await run(tmp_path, kb, chunking=Chunking("tokens", 250))).long_chunks == 2


async def test_what_is_removed_while_it_is_cut_anew_stays_out(tmp_path: Path, kb: Path) -> None:
    for n in range(20):
        (kb / f"c{n}.md").write_text(f"# C{n}\n\nText {n}.\n", "utf-8")
    await run(tmp_path, kb)
    index, beside = (EmbeddedIndex(tmp_path / "index", None) for _ in range(2))

    def on_progress(at: Progress) -> None:
        if at.stage == "read" and at.total is None:
            beside.store.drop(["a.md"], pulled=True)

    report = await ingest(index, [kb], chunking=_CHARACTERS, on_progress=on_progress)
    index.close()
    beside.close()
    assert [(r.doc, r.code) for r in report.refused] == [("a.md", "removed")]
    assert (counts(report), dict(report.rechunked)) == ((0, 0, 22, 0), {"paragraphs 24-200": 22})
    assert "a.md" not in live(tmp_path)
