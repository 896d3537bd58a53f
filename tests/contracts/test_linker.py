"""What every Linker promises, run over each implementation, and what the query builder promises over each of them and each Summarizer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from grounding.embedded.store_names import StoreNames
from grounding.embedded.summarizer import CentralitySummarizer
from grounding.errors import InputError
from grounding.ports import Linker, Summarizer
from grounding.query.linking import QueryBuilder
from grounding.records import Access, Document, Turn
from tests.fakes.embedder import HashEmbedder
from tests.grounding.embedded.kb import open_kb

LEGAL = Access("lea", frozenset({"legal"}))
DOCUMENTS = (
    Document("g", "Gonville Hotel", "Breakfast is at eight."),
    Document("a", "Ashley Hotel", "Breakfast is at nine."),
    Document("n", "Project Nightjar", "The merger with Quillon Partners.", None, ("legal",)),
)
TEXTS = ["Gonvile hotel or the ASHLEY HOTEL?", "", "project nightjar", "nothing", "\x00 ?! 𝔘"]


@pytest.fixture(params=["store"])
async def linker(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Linker]:
    index = await open_kb(tmp_path / "index", DOCUMENTS, None)
    yield StoreNames(index.store, index.words)
    index.close()


@pytest.fixture(params=["centrality", "last turn"])
def summarizer(request: pytest.FixtureRequest) -> Summarizer:
    return CentralitySummarizer(HashEmbedder() if request.param == "centrality" else None)


async def test_each_text_has_its_names_in_their_order(linker: Linker) -> None:
    """One list for each text; places are exact and do not overlap."""
    found = await linker.link(TEXTS, LEGAL)
    assert [[name.name for name in names] for names in found] == [
        ["Gonville Hotel", "Ashley Hotel"],
        [],
        ["Project Nightjar"],
        [],
        [],
    ]
    for text, names in zip(TEXTS, found, strict=True):
        end = 0
        for name in names:
            assert end <= name.start < name.end <= len(text)
            assert 0 < name.score <= 1
            end = name.end
    assert await linker.link([], LEGAL) == []


async def test_nobody_learns_of_what_they_may_not_see(linker: Linker) -> None:
    for access in (Access(), Access("u", frozenset({"*", "", "g:legal", "billing"})), Access("lea", frozenset(), None)):
        assert (await linker.link(["project nightjar"], access)) == [[]]
        assert not await linker.knows("Quillon Partners", access)
    assert await linker.knows("Quillon Partners", LEGAL)


async def test_a_query_is_made_of_what_was_said(linker: Linker, summarizer: Summarizer) -> None:
    """The question whole after the names it needs, all of it as the turns spell it, with a reason for each turn used."""
    turns = [
        Turn("customer", "I am at the gonvile hotel."),
        Turn("agent", "Yes?"),
        Turn("customer", "Does it have parking?"),
    ]
    query = await QueryBuilder(summarizer, linker).build(turns, Access())
    assert query.text == "gonvile hotel Does it have parking?"
    assert all(turns[s.turn].text[s.start : s.end] == s.text for s in query.sentences)
    assert [reason.split(":")[0] for reason in query.why] == ["turn 3", "turn 1"]


async def test_a_restricted_name_moves_no_query(linker: Linker, summarizer: Summarizer) -> None:
    """Of a name that its reader may not see the query is that of a name nobody knows."""
    builder = QueryBuilder(summarizer, linker)
    for name, other in (("project nightjar", "project nightowl"), ("quillon partners", "quillon painters")):
        turns = [
            [Turn("customer", f"We talk about {n}."), Turn("agent", "Yes?"), Turn("customer", "When is it?")]
            for n in (name, other)
        ]
        one, two = [await builder.build(t, Access()) for t in turns]
        assert (one.text, one.entities) == (two.text.replace(other, name), two.entities)


@pytest.mark.parametrize("turns", [[], [Turn("customer", "")], [Turn("customer", " \n"), Turn("agent", "")]])
async def test_a_conversation_without_text_is_refused(
    linker: Linker, summarizer: Summarizer, turns: list[Turn]
) -> None:
    with pytest.raises(InputError):
        await QueryBuilder(summarizer, linker).build(turns, Access())
