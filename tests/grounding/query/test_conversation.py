"""Which sentences of a conversation become the query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.embedded.summarizer import CentralitySummarizer
from grounding.errors import InputError
from grounding.query.conversation import (
    asks,
    focus,
    goes_on,
    last_asked,
    last_turn_query,
    leans,
    missing_names,
    names,
    question_of,
    resumed,
    with_story,
    with_words,
    without_names,
)
from grounding.records import Query, Role, Turn
from tests.fakes.embedder import HashEmbedder

TALK = (
    Turn("agent", "Hello, how may I help you?"),
    Turn("customer", "Hi, I bought a Wren X2 last month."),
    Turn("agent", "Great choice. What is the matter?"),
    Turn("customer", "How long is its warranty?"),
)


def test_the_question_is_the_last_turn_of_whoever_asks() -> None:
    assert last_asked(TALK) == 3
    assert last_asked((*TALK, Turn("agent", "Let me see."), Turn("agent", ""))) == 3
    assert last_asked([Turn("agent", "only me")]) == 0


def test_a_conversation_without_text_is_refused() -> None:
    with pytest.raises(InputError, match="no text"):
        last_asked([Turn("customer", "  ")])


@pytest.mark.parametrize(
    "text", ["How long is its warranty?", "And the price?", "what about the other one", "why?", "Does it float?"]
)
def test_questions_that_lean(text: str) -> None:
    assert leans(text)


@pytest.mark.parametrize(
    "text", ["How do I reset the Wren X2 router to factory settings?", "What does express shipping to Germany cost?"]
)
def test_questions_that_stand_alone(text: str) -> None:
    assert not leans(text)


def test_names_are_found_as_they_stand() -> None:
    assert names("I bought a Wren X2 and talked to Priya Raman about error E-42.") == ["Wren X2", "Priya Raman", "E-42"]
    assert names("Hello, how are you? Thanks.") == []


def test_a_leaning_question_takes_the_name_along() -> None:
    assert missing_names(TALK, 3)[0] == "Wren X2"
    assert (
        missing_names((Turn("customer", "The Wren X2 is broken."), Turn("customer", "Is the Wren X2 covered?")), 1)
        == ()
    )


def test_our_own_quotes_are_no_topic() -> None:
    """An answer of ours names products that nobody spoke of."""
    talk = (
        Turn("user", "What does it cost?"),
        Turn("assistant", "Price | Watch Pro: $14.99 [1]"),
        Turn("user", "And for a year?"),
    )
    assert missing_names(talk, 2) == ()
    assert names("Open at 8 and at 9.") == []


async def test_the_query_holds_question_and_entity() -> None:
    query = await CentralitySummarizer(HashEmbedder()).summarize(TALK)
    assert "How long is its warranty?" in query.text
    assert "Wren X2" in query.text
    assert query.entities == ("Wren X2",)


async def test_a_question_that_stands_alone_is_the_query() -> None:
    turns = (*TALK[:3], Turn("customer", "Thanks! How do I reset the Roost H1 hub to factory settings?"))
    query = await CentralitySummarizer(HashEmbedder()).summarize(turns)
    assert query.text == "How do I reset the Roost H1 hub to factory settings?"


async def test_without_a_model_the_last_turn_is_the_query_and_it_says_so() -> None:
    query = await CentralitySummarizer(None).summarize(TALK)
    assert query.note
    assert "warranty" in query.text


ROLES: list[Role] = ["customer", "agent", "user", "assistant"]
TURNS = st.lists(
    st.builds(Turn, st.sampled_from(ROLES), st.text(st.sampled_from("aAbB .?!\nX2é-’it "), max_size=60)), max_size=6
)


@pytest.mark.row("4-17")
@given(TURNS)
async def test_every_sentence_stands_verbatim_at_its_offsets(turns: list[Turn]) -> None:
    """Requirement 4-17: the query is made of sentences of the conversation, and of names of it."""
    if not any(t.text.strip() for t in turns):
        return
    for query in (await CentralitySummarizer(HashEmbedder()).summarize(turns), last_turn_query(turns, "note")):
        for s in query.sentences:
            assert turns[s.turn].text[s.start : s.end] == s.text
            assert s.text in query.text
            assert 0.0 <= s.rank_score <= 1.0
        rest = query.text
        for piece in [*query.entities, *(s.text for s in query.sentences)]:
            assert any(piece in t.text for t in turns)
            rest = rest.replace(piece, "", 1)
        assert not rest.strip()


# --- questions that go on with the one before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("and the X2?", True),
        ("what about Sundays?", True),
        ("same but for Germany", True),
        ("he has Ridge", True),
        ("till when do they keep it there", True),
        ("ok and what does Max have", True),
        ("how much is that then for 4 days", True),
        ("sorry i meant canada", True),
        ("oh no, she lives in france", True),
        ("no wait, the customer is in France", True),
        ("nein, in Frankreich", True),
        ("to Canada?", True),
        ("no wait, how long do refunds take", False),
        ("And does the Ashley Hotel have wifi in every room?", False),
        ("how long do refunds take", False),
        ("which shops are open on Sunday", False),
    ],
)
def test_what_goes_on_with_the_question_before(text: str, expected: bool) -> None:
    assert goes_on(text) is expected


def resumed_text(*said: str) -> str:
    turns = [Turn("user" if n % 2 == 0 else "assistant", text) for n, text in enumerate(said)]
    last = len(turns) - 1
    query = resumed(last_turn_query(turns, ""), turns, last)
    for s in query.sentences:
        assert turns[s.turn].text[s.start : s.end] == s.text
    return query.text


def test_a_question_that_goes_on_is_searched_for_after_the_one_before() -> None:
    assert (
        resumed_text("packed weight of the Vinda 3", "2.9 kg.", "and the XL?")
        == "packed weight of the Vinda 3 and the XL?"
    )


def test_questions_that_go_on_with_each_other_are_taken_back_to_the_first() -> None:
    assert resumed_text("Vinda rental, total?", "$46.", "any discount?", "Which level?", "he has Ridge").endswith(
        "he has Ridge"
    )
    assert "Vinda rental" in resumed_text(
        "Vinda rental for a week", "$46.", "and a discount?", "Which level?", "he has Ridge"
    )


def test_a_question_that_stands_alone_or_turns_away_stays_as_it_is() -> None:
    assert (
        resumed_text("weight of the Vinda", "3 kg.", "which shops are open on Sunday")
        == "which shops are open on Sunday"
    )
    away = "Another question: and the shops?"
    assert resumed_text("weight of the Vinda", "3 kg.", away) == away


def test_the_first_question_goes_on_with_nothing() -> None:
    assert resumed_text("and the XL?") == "and the XL?"


def test_words_are_put_in_the_place_of_slips() -> None:
    query = last_turn_query([Turn("user", "expres shiping, express or not")], "")
    mended = with_words(query, {"expres": "express", "shiping": "shipping"})
    assert mended.text == "express shipping, express or not"
    assert mended.sentences == ()
    assert with_words(query, {}) is query


@pytest.mark.parametrize(
    ("sentence", "is_one"),
    [
        ("have you got it in red", True),
        ("has it arrived", True),
        ("do I get a refund", True),
        ("will it fit", True),
        ("have to go, write to me please, bye", False),
        ("have a nice day", False),
        ("will do", False),
        ("do let me know", False),
    ],
)
def test_what_asks_is_told_from_what_only_begins_so(sentence: str, *, is_one: bool) -> None:
    assert asks(sentence) is is_one


def told(last: str, *said: tuple[Role, str]) -> str:
    turns = [*(Turn(role, text) for role, text in said), Turn("user", last)]
    asked = len(turns) - 1
    return with_story(last_turn_query(turns, ""), turns, asked).text


ROPE: tuple[tuple[Role, str], ...] = (
    ("customer", "I have a Summit card."),
    ("customer", "Bought a rope on 3 June, and the sticker on the bag is torn already."),
    ("agent", "What would you like to do with the rope in the torn bag on Friday?"),
)


def test_words_that_ask_little_rest_on_what_the_customer_told() -> None:
    assert told("Is that still 100 days?", *ROPE) == (
        "Bought a rope on 3 June, and the sticker on the bag is torn already. Is that still 100 days?"
    )
    assert "torn" in told("Can I still return it?", *ROPE)


def test_the_two_sentences_that_tell_most_are_taken_in_their_order() -> None:
    more: tuple[Role, str] = ("customer", "The shop in Arnhem said that the seal decides it.")
    assert told("So can I or not?", *ROPE, more) == (
        "Bought a rope on 3 June, and the sticker on the bag is torn already. The shop in Arnhem said that the seal decides it. So can I or not?"
    )


@pytest.mark.parametrize(
    "last",
    [
        "How long does the return of a rope with an opened seal take for holders of a Summit card in Belgium?",
        "Another question: is it open?",
        "Which shops sell ropes",
    ],
)
def test_a_question_that_stands_alone_or_turns_away_takes_no_story(last: str) -> None:
    assert told(last, *ROPE) == last


def test_only_what_a_customer_told_is_a_story() -> None:
    ours: tuple[tuple[Role, str], ...] = tuple(
        ("user" if role == "customer" else "assistant", text) for role, text in ROPE
    )
    assert told("Is that still 100 days?", *ours) == "Is that still 100 days?"
    assert told("Is that still 100 days?", ("customer", "Hello there!")) == "Is that still 100 days?"


def test_an_article_before_a_model_is_no_part_of_its_name() -> None:
    assert names("und der x2?") == []
    assert names("how much is the wren x2") == ["wren x2"]
    assert goes_on("und der x2?")


def test_a_question_whose_words_were_replaced_is_still_told_from_the_names_before_it() -> None:
    """Shorthand that is written out leaves no sentence as it was typed; the topic may have changed all the same."""
    query = Query("roost h1 phone number france", entities=("roost h1",), asked="phone number france")
    assert question_of(query) == "phone number france"
    assert without_names(query).text == "phone number france"
    assert question_of(Query("roost h1", entities=("roost h1",))) == "roost h1"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("My Perch C2 shows a red light. And how much is Watch Plus?", "And how much is Watch Plus?"),
        ("I have a Perch C2. Does Watch Plus cover it?", "Perch C2 Does Watch Plus cover it?"),
        ("I have a Perch C2. How long is the warranty?", "Perch C2 How long is the warranty?"),
    ],
)
def test_the_question_needs_the_names_beside_it_only_where_it_has_none_of_its_own(query: str, expected: str) -> None:
    assert focus(query) == expected
