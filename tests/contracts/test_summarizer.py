"""What every Summarizer promises, run over embeddings, over none, and over Azure AI Language."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest

from grounding.azure.language.summarizer import LanguageSummarizer
from grounding.embedded.summarizer import CentralitySummarizer
from grounding.errors import InputError
from grounding.ports import Summarizer
from grounding.query.conversation import MAX_LAST, last_asked, turn_sentences
from grounding.records import Role, Turn
from grounding.services.remote import Remote
from tests.fakes.embedder import HashEmbedder
from tests.fakes.language_server import LanguageServer

ROLES: tuple[Role, ...] = ("customer", "agent", "user", "assistant")
PIECES = (
    "Hello.",
    "My Wren X2 blinks red.",
    "And why?",
    "😀 It is the 2nd one!",
    "I bought it on 3 May\nin Lyon",
    "Does it float?",
    "- the lid\n- the base",
    "“Quoted.”",
    "\ud800 odd",
    "Ça marche… non ?",
    "ok",
    " ",
    "No. 5 is with Dr. Lee.",
    "How long is its warranty?",
)
LONG = (
    "I bought a hub last week. It blinks red since Monday. My router stands upstairs. The cable is a new one. What does the red light mean? "
    "I pressed the button twice. My neighbour has the same. Thanks for your help."
)


@pytest.fixture(params=["centrality", "last turn", "service"])
async def summarizer(request: pytest.FixtureRequest) -> AsyncIterator[Summarizer]:
    if request.param != "service":
        yield CentralitySummarizer(HashEmbedder() if request.param == "centrality" else None)
        return
    async with LanguageServer(pending=1) as server:
        service = LanguageSummarizer(server.endpoint, "key", Remote("language", retries=0), poll_s=0)
        yield service
        await service.aclose()


def conversations() -> list[list[Turn]]:
    """Two hundred conversations of up to six turns; some turns are long, some say nothing."""
    dice = Random(7)
    return [
        [
            Turn(dice.choice(ROLES), " ".join(dice.choices(PIECES, k=dice.choice((0, 1, 2, 7)))))
            for _ in range(dice.randint(1, 6))
        ]
        for _ in range(200)
    ]


@pytest.mark.row("4-17")
async def test_a_query_is_made_of_sentences_at_their_offsets(summarizer: Summarizer) -> None:
    for turns in conversations():
        if not any(t.text.strip() for t in turns):
            continue
        query = await summarizer.summarize(turns)
        assert query.text.strip()
        rest = query.text
        for s in query.sentences:
            assert turns[s.turn].text[s.start : s.end] == s.text
            assert 0.0 <= s.rank_score <= 1.0
        assert [(s.turn, s.start) for s in query.sentences] == sorted({(s.turn, s.start) for s in query.sentences})
        for piece in [*query.entities, *(s.text for s in query.sentences)]:
            assert any(piece in t.text for t in turns)
            assert piece in rest
            rest = rest.replace(piece, "", 1)
        assert not rest.strip()


async def test_a_short_question_is_the_query_whole(summarizer: Summarizer) -> None:
    turns = [
        Turn("customer", "My hub blinks."),
        Turn("customer", "Hi. The light is red. What does the red light mean?"),
    ]
    query = await summarizer.summarize(turns)
    assert query.text == "The light is red. What does the red light mean?"
    assert {s.rank_score for s in query.sentences} == {1.0}


async def test_the_service_changes_no_query_in_which_nothing_is_to_be_chosen() -> None:
    """Where the last turn has one to four sentences the query is that of the embedded summarizer, names and all."""
    compared = 0
    async with LanguageServer() as server:
        service = LanguageSummarizer(server.endpoint, "key", Remote("language", retries=0))
        for turns in conversations():
            if any(t.text.strip() for t in turns) and 1 <= len(turn_sentences(turns, last_asked(turns))) <= MAX_LAST:
                assert await service.summarize(turns) == await CentralitySummarizer(HashEmbedder()).summarize(turns)
                compared += 1
        await service.aclose()
        assert server.bodies == []
    assert compared > 50


async def test_a_question_that_hangs_on_a_name_gets_it(summarizer: Summarizer) -> None:
    turns = [
        Turn("customer", "I have a Wren X2."),
        Turn("agent", "Yes?"),
        Turn("customer", "How long is its warranty?"),
    ]
    assert (await summarizer.summarize(turns)).text == "Wren X2 How long is its warranty?"


async def test_a_long_turn_is_cut_to_a_few_sentences(summarizer: Summarizer) -> None:
    query = await summarizer.summarize([Turn("customer", LONG)])
    assert len(query.sentences) == MAX_LAST
    assert len(query.text) < len(LONG)


async def test_a_turn_without_a_term_stands_after_what_was_said(summarizer: Summarizer) -> None:
    turns = [Turn("customer", "My hub blinks red."), Turn("agent", "Did you reset it?"), Turn("customer", "And why?")]
    assert (await summarizer.summarize(turns)).text == "My hub blinks red. And why?"


@pytest.mark.parametrize("turns", [[], [Turn("customer", "")], [Turn("agent", " \n"), Turn("user", "\t")]])
async def test_a_conversation_without_text_is_refused(summarizer: Summarizer, turns: list[Turn]) -> None:
    with pytest.raises(InputError):
        await summarizer.summarize(turns)
