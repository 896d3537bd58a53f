"""What a model imagines of a passage leads to the passage, to nobody who may not read it, and only while it says so."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from grounding.database.postgres import Postgres
from grounding.embedded.hypotheticals import AT_ONCE, BATCH, PART, Hypotheticals, fingerprints, indexes
from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.indexes.vector_index import VectorIndex
from grounding.embedded.retriever import EmbeddedRetriever
from grounding.errors import ContentFiltered, PromptBlocked, ServiceUnavailable
from grounding.ingest.chunk_paragraphs import split
from grounding.ports import ChatModel
from grounding.records import Access, Completion, Document, Progress, Query
from tests.fakes.embedder import HashEmbedder
from tests.fakes.model import ScriptedModel
from tests.grounding.embedded.kb import open_kb
from tests.postgres.faults import LosesAnAnswer, run
from tests.postgres.side import Places, made, places

STAFF = Access("lea", frozenset({"staff"}))
PETS = Document("pets", "Animals", "Four-legged guests are welcome in every chamber.", groups=("staff",))
POOL = Document("pool", "Swimming", "The basin opens at dawn.")
OTHERS = [Document(f"o{n}", f"Lamp {n}", f"Lamp number {n} burns for hours.") for n in range(40)]
ASKED = "may my dog sleep over"
_NUMBERED = re.compile(r"^\[(\d+)\]\n<<<\w+\n(.*?)\n\w+>>>$", re.MULTILINE | re.DOTALL)


class Imagining:
    """A model that asks of each passage what `of` says for a word of it; of the rest something about their first line.

    Calls that hold `poison` raise `error`. `asked` are the passages of every call.
    """

    name = "imagining"

    def __init__(self, of: dict[str, str], poison: str = "\x00", error: Exception | None = None) -> None:
        self.of, self.poison, self.error = of, poison, error
        self.asked: list[list[str]] = []

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        passages = _NUMBERED.findall(system)
        self.asked.append([text for _, text in passages])
        await asyncio.sleep(0)
        if self.error and self.poison in system:
            raise self.error
        lines = [f"[{n}] {self._line(text)}" for n, text in passages]
        return Completion("\n".join(lines), self.name)

    def _line(self, text: str) -> str:
        return next((line for word, line in self.of.items() if word in text), f"What of {text.splitlines()[0]}?")


def retriever_over(index: EmbeddedIndex, embedder: HashEmbedder) -> EmbeddedRetriever:
    vectors = VectorIndex(index.store, embedder.fingerprint, embedder.width)
    imagined = indexes(index.store, embedder.fingerprint, embedder.width)
    return EmbeddedRetriever(index.store, index.words, vectors, embedder, hypotheticals=imagined)


def put(index: EmbeddedIndex, *documents: Document) -> None:
    index.put([(d, split(d), "test", "2") for d in documents])
    index.catch_up(lambda *_: None)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Places]:
    with places(request, tmp_path / "index" / "hyde.db", PART) as of:
        yield of


@pytest.fixture
def file(place: Places) -> Hypotheticals:
    return Hypotheticals(place())


@pytest.mark.row("3-13")
@pytest.mark.parametrize("by", ["meaning", "hybrid"])
async def test_a_hit_on_a_hypothetical_is_a_hit_on_its_passage(tmp_path: Path, file: Hypotheticals, by: str) -> None:
    """The question shares no word with the passage; it is found by what was imagined, and shows itself alone."""
    embedder = HashEmbedder()
    index = await open_kb(tmp_path / "index", [PETS, POOL, *OTHERS], embedder)
    retriever = retriever_over(index, embedder)
    query = Query(ASKED, by=by)  # type: ignore[arg-type]  # one of the literals
    before = await retriever.retrieve(query, STAFF, 5)
    assert before.passages[0].doc_id != "pets" if before.passages else True
    assert await file.follow(index.store, embedder, Imagining({"Four-legged": "May my dog sleep over?"})) == 42
    found = (await retriever.retrieve(query, STAFF, 5)).passages
    assert found[0].doc_id == "pets"
    assert (found[0].title, found[0].text) == (PETS.title, PETS.text)
    assert found[0].semantic is not None
    assert found[0].semantic < 0.5 < found[0].score
    assert len({p.chunk_id for p in found}) == len(found)
    index.close()


@pytest.mark.row("3-13")
async def test_who_may_not_read_the_passage_gets_nothing_by_it(tmp_path: Path, file: Hypotheticals) -> None:
    embedder = HashEmbedder()
    index = await open_kb(tmp_path / "index", [PETS, POOL, *OTHERS], embedder)
    await file.follow(index.store, embedder, Imagining({"Four-legged": "May my dog sleep over?"}))
    retriever = retriever_over(index, embedder)
    for access in (Access(), Access("u", frozenset({"*", "billing"}))):
        found = await retriever.retrieve(Query(ASKED, by="meaning"), access, 100)
        assert len(found.passages) == 41
        assert "pets" not in {p.doc_id for p in found.passages}
    index.close()


@pytest.mark.row("3-13")
async def test_the_hypothetical_of_a_text_goes_with_the_text(tmp_path: Path, file: Hypotheticals) -> None:
    """Changed, it maps to nothing, and the new text gets its own; brought back, the old one is there without a call; removed, gone."""
    embedder = HashEmbedder()
    index = await open_kb(tmp_path / "index", [PETS, POOL], embedder)
    model = Imagining({"Four-legged": "May my dog sleep over?", "Parrots": "Can birds fly?"})
    await file.follow(index.store, embedder, model)
    retriever = retriever_over(index, embedder)

    async def best() -> float:
        found = (await retriever.retrieve(Query(ASKED, by="meaning"), STAFF, 5)).passages
        return max((p.score for p in found), default=0.0)

    assert await best() > 0.9
    put(index, Document("pets", "Animals", "Parrots must stay outside.", groups=("staff",)))
    await index.embed_missing(8, lambda *_: None)
    assert await best() < 0.5
    assert await file.follow(index.store, embedder, model) == 1
    assert await best() < 0.5
    assert (await retriever.retrieve(Query("can birds fly", by="meaning"), STAFF, 1)).passages[0].doc_id == "pets"
    put(index, PETS)
    calls = len(model.asked)
    assert await file.follow(index.store, embedder, model) == 0
    assert (len(model.asked), await best() > 0.9) == (calls, True)
    await index.remove("pets")
    assert await best() < 0.5
    index.close()


async def test_an_ingest_that_was_cut_goes_on_where_it_stopped(tmp_path: Path, file: Hypotheticals) -> None:
    """A round that is done is kept; the next run asks for the rest alone, and each passage is asked once."""
    embedder, size = HashEmbedder(), BATCH * AT_ONCE
    index = await open_kb(tmp_path / "index", OTHERS, embedder)
    model = Imagining({})

    class Cut(BaseException):
        """What a kill looks like from inside."""

    def cut(at: Progress) -> None:
        assert (at.stage, at.done, at.total) == ("hyde", size, len(OTHERS))
        raise Cut

    with pytest.raises(Cut):
        await file.follow(index.store, embedder, model, cut)
    assert len(index.store.vector_keys(fingerprints(embedder.fingerprint)[0])) == size
    seen: list[Progress] = []
    assert await file.follow(index.store, embedder, model, seen.append) == len(OTHERS) - size
    assert seen[-1] == Progress("hyde", len(OTHERS) - size, len(OTHERS) - size)
    asked = [text for call in model.asked for text in call]
    assert len(asked) == len(set(asked)) == len(OTHERS)
    assert await file.follow(index.store, embedder, model) == 0
    index.close()


async def test_another_embedder_needs_no_model(tmp_path: Path, file: Hypotheticals) -> None:
    """What was written is embedded again; so is what a kill left without vectors."""
    embedder = HashEmbedder()
    index = await open_kb(tmp_path / "index", [PETS, POOL], embedder)
    await file.follow(index.store, embedder, Imagining({"Four-legged": "May my dog sleep over?"}))
    other = HashEmbedder("hash-2")
    assert await file.follow(index.store, other, ScriptedModel()) == 0
    assert len(index.store.vector_keys(fingerprints("hash-2")[0])) == 2
    index.close()


MISBEHAVING: dict[str, ChatModel] = {
    "away": ScriptedModel(*[ServiceUnavailable("openai", "away")] * 9),
    "filters everything": Imagining({}, "", ContentFiltered("no")),
    "screen away": Imagining({}, "", PromptBlocked(None, unavailable=True)),
    "broken": Imagining({}, "", RuntimeError("secret text")),
    "silent": ScriptedModel(otherwise=""),
    "refusing": ScriptedModel(otherwise="I'm sorry, I can't help with that."),
    "talking": ScriptedModel(otherwise="Lamps are wonderful. Let me tell you more about lamps and their history."),
    "wrong numbers": ScriptedModel(otherwise="[77] What of lamps?\n[99] And of pools?"),
    "wrong form": ScriptedModel(otherwise='{"questions": [{"id": 1, "q": "What'),
}


@pytest.mark.parametrize("how", MISBEHAVING)
async def test_a_model_that_misbehaves_costs_one_round_and_no_ingest(
    tmp_path: Path, file: Hypotheticals, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is kept, nothing is raised, and the next ingest begins with what was not tried."""
    embedder = HashEmbedder()
    index = await open_kb(tmp_path / "index", OTHERS, embedder)
    with caplog.at_level(logging.WARNING, "attest"):
        assert await file.follow(index.store, embedder, MISBEHAVING[how]) == 0
    assert "next ingest" in caplog.text
    assert "secret text" not in caplog.text
    assert index.store.vector_keys(fingerprints(embedder.fingerprint)[0]) == []
    model = Imagining({})
    assert await file.follow(index.store, embedder, model) == len(OTHERS)
    fresh = len(OTHERS) - BATCH * AT_ONCE
    assert len(index.store.vector_keys(fingerprints(embedder.fingerprint)[0])) == len(OTHERS)
    assert fresh > 0
    index.close()


async def test_what_fails_again_and_again_stands_in_nobodys_way(tmp_path: Path, file: Hypotheticals) -> None:
    """More passages than one round holds are refused: the others come first at the next ingest."""
    refused = [Document(f"p{n}", "Poison", f"Poison number {n}.") for n in range(BATCH * AT_ONCE)]
    embedder = HashEmbedder()
    index = await open_kb(tmp_path / "index", refused, embedder)
    model = Imagining({}, "Poison", PromptBlocked("injection"))
    assert await file.follow(index.store, embedder, model) == 0
    put(index, *OTHERS)
    assert await file.follow(index.store, embedder, model) == len(OTHERS)
    index.close()


@pytest.mark.parametrize("error", [PromptBlocked("injection"), ContentFiltered("no")])
async def test_a_refused_passage_costs_its_neighbours_nothing(
    tmp_path: Path, file: Hypotheticals, error: Exception
) -> None:
    embedder = HashEmbedder()
    index = await open_kb(tmp_path / "index", [PETS, *OTHERS[:5]], embedder)
    assert await file.follow(index.store, embedder, Imagining({}, "Four-legged", error)) == 5
    index.close()


async def test_a_passage_that_answers_nothing_is_asked_about_once(tmp_path: Path, file: Hypotheticals) -> None:
    embedder = HashEmbedder()
    index = await open_kb(tmp_path / "index", [POOL], embedder)
    assert await file.follow(index.store, embedder, ScriptedModel("[1] none")) == 0
    assert await file.follow(index.store, embedder, ScriptedModel()) == 0
    index.close()


async def test_two_workers_write_at_once_and_each_has_what_the_other_wrote(tmp_path: Path, place: Places) -> None:
    """Of a passage that both asked about one text is kept."""
    embedder = HashEmbedder()
    indexes_of = [await open_kb(tmp_path / name, OTHERS, embedder) for name in ("here", "there")]
    workers = [Hypotheticals(place()) for _ in indexes_of]
    await asyncio.gather(
        *(w.follow(i.store, embedder, Imagining({})) for w, i in zip(workers, indexes_of, strict=True))
    )
    ids = [row.chunk.chunk_id for row in indexes_of[0].store.chunks_of([d.doc_id for d in OTHERS])]
    found = [w.texts([*ids, "none"]) for w in (*workers, Hypotheticals(place()))]
    assert found[0] == found[1] == found[2]
    assert found[0].keys() == set(ids)
    third = await open_kb(tmp_path / "third", OTHERS, embedder)
    assert await workers[0].follow(third.store, embedder, ScriptedModel()) == 0
    assert len(third.store.vector_keys(fingerprints(embedder.fingerprint)[0])) == len(OTHERS)
    for index in (*indexes_of, third):
        index.close()


async def test_text_that_no_database_keeps_is_written_all_the_same(tmp_path: Path, file: Hypotheticals) -> None:
    embedder = HashEmbedder()
    index = await open_kb(tmp_path / "index", [POOL], embedder)
    assert await file.follow(index.store, embedder, Imagining({"basin": "When \ud83d does it open?"})) == 1
    [row] = index.store.chunks_of(["pool"])
    assert list(file.texts([row.chunk.chunk_id]).values()) == [("When \ufffd does it open?",)]
    index.close()


async def test_a_worker_writes_and_can_change_nothing_else(tmp_path: Path, database_url: str, worker_url: str) -> None:
    made(database_url, PART, make_url(worker_url).username).close()
    file, embedder = Hypotheticals(Postgres(worker_url)), HashEmbedder()
    index = await open_kb(tmp_path / "index", [PETS, POOL], embedder)
    assert await file.follow(index.store, embedder, Imagining({}, "", ContentFiltered("no"))) == 0
    assert await file.follow(index.store, embedder, Imagining({})) == 2
    assert set(run(database_url, "SELECT tries FROM hypotheticals")) == {(2,)}
    for statement in ("DELETE FROM hypotheticals", "TRUNCATE hypotheticals", "DROP TABLE hypotheticals"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            run(worker_url, statement)
    index.close()


@pytest.mark.parametrize("stored", [True, False])
async def test_a_database_that_fails_costs_no_ingest(
    tmp_path: Path, database_url: str, stored: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """No tables, and then a commit without an answer: told in the log, and made good at the next ingest."""
    database, embedder = LosesAnAnswer(database_url, stored=stored), HashEmbedder()
    file = Hypotheticals(database)
    index = await open_kb(tmp_path / "index", [PETS, POOL], embedder)
    assert await file.follow(index.store, embedder, Imagining({})) == 0
    assert (
        "the database has no tables for the hypotheticals yet; its owner makes them: attest database upgrade"
        in caplog.text
    )
    made(database_url, PART).close()
    database.armed = True
    assert await file.follow(index.store, embedder, Imagining({})) == 0
    assert "the record of hypothetical questions cannot be used" in caplog.text
    model = Imagining({})
    assert await file.follow(index.store, embedder, model) == 2 * (not stored)
    assert len(model.asked) == (not stored)
    assert len(index.store.vector_keys(fingerprints(embedder.fingerprint)[0])) == 2
    index.close()
