"""The names of a store's documents, for one reader at a time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.store_names import StoreNames
from grounding.embedded.vectors.vocabulary import OFTEN, Vocabulary
from grounding.ingest.chunk_paragraphs import split
from grounding.records import Access, Document
from tests.grounding.embedded.kb import open_kb

LEGAL = Access("lea", frozenset({"legal"}))
DOCUMENTS = (
    Document("open", "Gonville Hotel", "Breakfast is at eight, says Priya Raman.", None, None, None),
    Document(
        "legal", "Project Nightjar", "The merger with Quillon Partners is planned for May.", None, ("legal",), None
    ),
    Document("nobody", "Project Halberd", "Nobody reads of Osric Vane.", None, (), None),
    Document("wren", "Set up the lamp", "Press the button.", None, None, "Wren X2"),
    Document("roost", "Set up the hub", "Press the other button.", None, ("legal",), "Roost H1"),
    *(
        Document(f"q{n}", f"Sandling Inn: {topic}", "Yes.", None, ("legal",) if n < 2 else None, None)
        for n, topic in enumerate(
            ("may I smoke in the rooms", "parking in front of the house", "breakfast on days of the week")
        )
    ),
)


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    index = await open_kb(tmp_path / "index", DOCUMENTS, None)
    yield index
    index.close()


async def linked(names: StoreNames, text: str, access: Access) -> list[str]:
    return [found.name for found in (await names.link([text], access))[0]]


def put(index: EmbeddedIndex, *documents: Document) -> None:
    """Ingest as another process does."""
    index.lock()
    index.put([(d, split(d), "test", "1") for d in documents])
    index.catch_up(lambda *_: None)
    index.unlock()


@pytest.mark.parametrize(
    ("typed", "whole"),
    [
        ("x2", "Wren X2"),
        ("X2", "Wren X2"),
        ("c421", "C-421"),
        ("C421", "C-421"),
        ("z9", ""),  # two have it
        ("s1", ""),  # a line of its own, no part of a name
        ("v7", ""),  # another may read of it
        ("q8", ""),  # none has it
        ("x", ""),
        ("wren", ""),
        ("2026", ""),
    ],
)
async def test_what_a_short_name_or_a_code_stands_for(index: EmbeddedIndex, typed: str, whole: str) -> None:
    text = (
        "The Wren X2 costs $219. A Wren X2 has two ports, and the X2 a socket.\n\nCode: C-421 | Meaning: too cold\n\nLine: S1 | Last: 18:10\n\n"
        "The Lumo Z9 is white. The Kano Z9 is black. Our Wren X2 is new. Buy a Wren X2."
    )
    put(
        index,
        Document("models", "Models", text, None, None, None),
        Document("secret", "Vault", "The Vault V7 opens at night. The Vault V7 is dear.", None, ("legal",), None),
    )
    assert await StoreNames(index.store, index.words).whole(typed, Access()) == whole


async def test_a_month_and_its_year_are_no_name(index: EmbeddedIndex) -> None:
    """Else a question after one that named them would be about what held then."""
    put(index, Document("lots", "Lots", "Made in October 2024. Sold since October 2024.", None, None, None))
    assert await linked(StoreNames(index.store, index.words), "made in october 2024", Access()) == []


async def test_what_is_written_without_its_apostrophe_is_no_slip(index: EmbeddedIndex) -> None:
    vocabulary = Vocabulary([("whose", 1), ("didn", 2), ("breakfast", 3)])
    names = StoreNames(index.store, index.words, vocabulary)
    assert await names.spelled("whos there, it didnt ring at brekfast", Access()) == {"brekfast": "breakfast"}


async def test_two_words_that_passages_write_as_a_name_are_one(index: EmbeddedIndex) -> None:
    """Neither a title nor a product, but a row of a table; "opening hours" is written small elsewhere, and what another may read tells nobody."""
    plans = "Plan: Watch Pro | Price: $9\nPlan: Watch Plus | Price: $5\n\nOpening Hours\n\nThe opening hours are on the door."
    secret = Document("secret", "Notes", "Plan: Vault Prime | Price: $1", None, ("legal",), None)
    put(index, Document("plans", "Prices", plans, None, None, None), secret)
    names = StoreNames(index.store, index.words)
    assert await linked(names, "how much is watch pro in france", Access()) == ["Watch Pro"]
    assert await linked(names, "what are the opening hours", Access()) == []
    assert await linked(names, "watch, pro or plus", Access()) == []
    assert await linked(names, "price of vault prime", Access()) == []
    assert await linked(names, "price of vault prime", LEGAL) == ["Vault Prime"]
    assert await linked(names, "pro " * 200 + "watch pro", Access()) == []
    assert await linked(names, "how much is lantern max", Access()) == []
    put(index, Document("later", "Notes", "Plan: Lantern Max | Price: $2", None, None, None))
    assert await linked(names, "how much is lantern max", Access()) == ["Lantern Max"], (
        "what was looked up before is looked up anew"
    )


@pytest.mark.parametrize(
    ("text", "everyone", "legal"),
    [
        ("is gonville hotel open", ["Gonville Hotel"], ["Gonville Hotel"]),
        ("what is project nightjar", [], ["Project Nightjar"]),
        ("what is projcet nightjra", [], ["Project Nightjar"]),
        ("what is project halberd", [], []),
        ("my wren x2 is dark", ["Wren X2"], ["Wren X2"]),
        ("my roost h1 is dark", [], ["Roost H1"]),
        ("parking at sandling inn", ["Sandling Inn"], ["Sandling Inn"]),
    ],
)
async def test_names_are_those_of_documents_that_the_reader_may_see(
    index: EmbeddedIndex, text: str, everyone: list[str], legal: list[str]
) -> None:
    """Titles, products and the beginnings that titles share; a shared one if any of its documents may be read."""
    names = StoreNames(index.store, index.words)
    assert await linked(names, text, Access()) == everyone
    assert await linked(names, text, LEGAL) == legal


async def test_a_reader_of_one_product_links_no_other(index: EmbeddedIndex) -> None:
    names = StoreNames(index.store, index.words)
    for product, seen in (("Wren X2", ["Gonville Hotel", "Wren X2"]), ("Roost H1", ["Gonville Hotel", "Roost H1"])):
        access = Access("lea", frozenset({"legal"}), product)
        assert await linked(names, "gonville hotel, wren x2 and roost h1", access) == seen


async def test_every_reader_against_a_plain_reference(tmp_path: Path) -> None:
    """Random rights: a whole title is linked exactly for those who may read one of its documents."""
    rng = random.Random(5)
    groups = ["a", "b", "c", "*", "everyone"]
    titles = [f"{first} {second}" for first in ("Amber", "Cobalt", "Velvet") for second in ("Otter", "Heron", "Lynx")]
    documents = [
        Document(
            f"d{n}",
            title,
            f"Text {n}.",
            None,
            rng.choice([None, (), tuple(rng.sample(groups, 2))]),
            rng.choice([None, "x1", "y1"]),
        )
        for n, title in enumerate(titles * 2)
    ]
    index = await open_kb(tmp_path / "index", documents, None)
    names = StoreNames(index.store, index.words)
    try:
        for _ in range(60):
            access = Access("u", frozenset(rng.sample(groups, rng.randint(0, 3))), rng.choice([None, "x1", "y1"]))
            may = {
                d.title
                for d in documents
                if access.may_read(d.groups) and (access.product is None or d.product in (None, access.product))
            }
            assert set(await linked(names, "; ".join(titles), access)) == may
    finally:
        index.close()


async def test_names_follow_what_is_ingested_removed_and_restricted(index: EmbeddedIndex) -> None:
    """A change counts from the next question on."""
    names = StoreNames(index.store, index.words)
    inn = Document("inn", "Marlow Inn", "Ask for Tamsin Ford.", None, None, None)
    assert await linked(names, "the marlow inn", Access()) == []
    put(index, inn)
    assert await linked(names, "the marlow inn", Access()) == ["Marlow Inn"]
    assert await names.knows("Tamsin Ford", Access())
    put(index, Document("inn", "Marlow Inn", inn.text, None, ("legal",), None))
    assert await linked(names, "the marlow inn", Access()) == []
    assert not await names.knows("Tamsin Ford", Access())
    assert await linked(names, "the marlow inn", LEGAL) == ["Marlow Inn"]
    index.store.drop(["inn"])
    assert await linked(names, "the marlow inn", LEGAL) == []


async def test_another_process_ingests(index: EmbeddedIndex, tmp_path: Path) -> None:
    """What is known follows too, though nobody has searched since."""
    other = EmbeddedIndex(tmp_path / "index", None)
    try:
        names = StoreNames(other.store, other.words)
        assert not await names.knows("Tamsin Ford", Access())
        put(index, Document("inn", "Marlow Inn", "Ask for Tamsin Ford.", None, None, None))
        assert await names.knows("Tamsin Ford", Access())
    finally:
        other.close()


@pytest.mark.parametrize(
    ("name", "everyone", "legal"),
    [
        ("Priya Raman", True, True),
        ("priya raman", True, True),
        ("Raman Priya", False, False),
        ("Quillon Partners", False, True),
        ("Project Nightjar", False, True),
        ("Osric Vane", False, False),
        ("Nobody Else", False, False),
        ("", False, False),
        ("?!", False, False),
    ],
)
async def test_what_is_known(index: EmbeddedIndex, name: str, everyone: bool, legal: bool) -> None:
    """Words one after the other in a title or text that this reader may see."""
    names = StoreNames(index.store, index.words)
    assert await names.knows(name, Access()) is everyone
    assert await names.knows(name, LEGAL) is legal


async def test_many_ask_at_once(index: EmbeddedIndex) -> None:
    """Readers with other rights, the first of them while the names are collected."""
    names = StoreNames(index.store, index.words)
    found = await asyncio.gather(*(linked(names, "project nightjar", LEGAL if n % 2 else Access()) for n in range(40)))
    assert found == [["Project Nightjar"] if n % 2 else [] for n in range(40)]


# --- slips of the hand


@pytest.mark.parametrize(
    ("text", "slips"),
    [
        ("brekfast at eihgt", {"brekfast": "breakfast", "eihgt": "eight"}),
        ("breakfast at eight", {}),
        ("merger plannd", {}),  # of a document that this reader may not see
        ("Brekfast", {}),  # a capital letter: it may be a name
        ("quarks", {}),
    ],
)
async def test_slips_are_read_as_words_that_the_reader_may_see(
    index: EmbeddedIndex, text: str, slips: dict[str, str]
) -> None:
    assert await StoreNames(index.store, index.words).spelled(text, Access()) == slips


async def test_a_word_of_the_language_is_no_slip_and_four_letters_only_change_places(index: EmbeddedIndex) -> None:
    known = StoreNames(index.store, index.words, Vocabulary([("brakfast", 9)]))
    assert await known.spelled("brakfast", Access()) == {}
    names = StoreNames(index.store, index.words)
    assert await names.spelled("lapm", Access()) == {"lapm": "lamp"}
    assert await names.spelled("lamb", Access()) == {}


async def test_a_word_that_the_passages_lack_is_mended_by_the_language_behind_them(index: EmbeddedIndex) -> None:
    known = StoreNames(index.store, index.words, Vocabulary([("when", 40), ("opening", 50), ("brekfart", OFTEN)]))
    slips = await known.spelled("whn is brekfast openig", Access())
    assert slips == {"whn": "when", "brekfast": "breakfast", "openig": "opening"}
