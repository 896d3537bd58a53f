"""Which names of the knowledge base a conversation asks about, and the query that is made of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.embedded.summarizer import CentralitySummarizer
from grounding.errors import InputError
from grounding.query.conversation import last_turn_query
from grounding.query.gazetteer import Gazetteer, key_of, names_of
from grounding.query.linking import (
    LOOK_BACK,
    MOST,
    TAKE_AT,
    WEIGHTS,
    Mention,
    QueryBuilder,
    features,
    mentions,
    with_names,
)
from grounding.records import LEAD_IN, Access, Linked, Role, Turn
from tests.tables import Tables

TABLES = Tables(__file__)

TITLES = TABLES.texts("titles")
KB = Gazetteer(names_of(TITLES))


class Names:
    """Linker over titles that everyone may see; `known` are further names that only texts hold."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        self.known = known
        self.asked: list[str] = []

    async def link(self, texts: Sequence[str], access: Access) -> list[list[Linked]]:
        """Names in each text."""
        self.asked += texts
        return [KB.link(text) for text in texts]

    async def knows(self, name: str, access: Access) -> bool:
        """True for the further names."""
        return name in self.known

    async def whole(self, name: str, access: Access) -> str:
        return ""


def talk(*texts: str, answers: Role = "agent") -> list[Turn]:
    """Turns of customer and answerer by turns, the last one the customer's."""
    roles: list[Role] = ["customer", answers]
    return [Turn(roles[(len(texts) - 1 - i) % 2], text) for i, text in enumerate(texts)]


def places(turns: Sequence[Turn]) -> list[tuple[int, Linked]]:
    """Every name with its turn."""
    return [(i, name) for i, turn in enumerate(turns) for name in KB.link(turn.text)]


def taken(turns: Sequence[Turn]) -> list[str]:
    """Names that are asked about, as the turns spell them, oldest first."""
    found = [m for m in mentions(turns, len(turns) - 1, places(turns)) if m.probability >= TAKE_AT]
    return [m.text for m in sorted(found, key=lambda m: (m.turn, m.start))]


@TABLES.each("conversations")
def test_what_is_asked_about(texts: list[str], names: list[str]) -> None:
    """Whoever said it, the customer, the agent or we ourselves."""
    assert taken(talk(*texts)) == names
    assert taken(talk(*texts, answers="assistant")) == names


def test_a_name_in_the_question_leaves_older_ones_behind() -> None:
    turns = talk("Is Meghna open?", "It is.", "And does the Ashley Hotel have wifi?")
    by_name = {m.text: m.probability for m in mentions(turns, 2, places(turns))}
    assert by_name["Meghna"] < TAKE_AT < 2 * by_name["Ashley Hotel"]
    assert by_name["Meghna"] < by_name["Ashley Hotel"]


def test_old_names_fade() -> None:
    """The same name in the same words, longer and longer ago, while others are spoken of."""
    chances = []
    for between in range(4):
        turns = talk("Is Meghna open?", *["It is.", "And the Ashley Hotel?"] * between, "It is.", "Does it have wifi?")
        chances.append({m.text: m.probability for m in mentions(turns, len(turns) - 1, places(turns))}["Meghna"])
    assert chances == sorted(chances, reverse=True)
    assert chances[0] > TAKE_AT > chances[1]


def test_mentions_stand_where_they_are_said_to() -> None:
    """The newest place of each name, in the words of the turn, most probable first."""
    turns = talk("The gonvile hotel?", "Gonville Hotel, yes, or Meghna.", "Is it open?")
    found = mentions(turns, 2, places(turns))
    assert {(m.turn, m.text) for m in found} == {(1, "Gonville Hotel"), (1, "Meghna")}
    for m in found:
        assert turns[m.turn].text[m.start : m.end] == m.text
        assert 0 <= m.probability <= 1
    assert [m.probability for m in found] == sorted((m.probability for m in found), reverse=True)


@pytest.mark.parametrize(
    ("turn", "why"), [(4, "named in the question"), (3, "named last"), (1, "named 3 turns before")]
)
def test_a_mention_says_why(turn: int, why: str) -> None:
    texts = ["Hello.", "Hello.", "Well.", "Yes?", "Is it open?"]
    texts[turn] += " Meghna."
    turns = talk(*texts)
    assert [m.why for m in mentions(turns, 4, places(turns))] == [why]


SAID = st.lists(
    st.sampled_from([*TITLES, "both", "is it open", "which of these", "gonvile hotel", "?", "hello", "the price"]),
    max_size=5,
).map(" ".join)


@given(st.lists(SAID, min_size=1, max_size=8))
def test_features_are_shares_and_have_a_weight_each(texts: list[str]) -> None:
    turns = talk(*texts)
    for values in features(turns, len(turns) - 1, places(turns)).values():
        assert values.keys() == WEIGHTS.keys()
        assert all(0 <= value <= 1 for value in values.values())


# --- the query


def mention(turn: int, text: str, chance: float = 0.9, why: str = "named last") -> Mention:
    return Mention(turn, 0, len(text), text, key_of(text), chance, why)


async def test_a_turn_without_a_term_keeps_the_sentence_that_it_follows_beside_the_name() -> None:
    turns = talk("Hi.", "The Gonville Hotel has no parking.", "That is a pity, I come by car.", "I see.", "But why?")
    query = await QueryBuilder(CentralitySummarizer(None), Names()).build(turns, Access())
    assert query.text == "Gonville Hotel That is a pity, I come by car. But why?"
    assert [reason.split(":")[0] for reason in query.why] == ["turn 5", "turn 3", "turn 2"]


def test_names_come_before_the_question() -> None:
    turns = talk("Is the Gonville Hotel open?", "Yes.", "And the price?")
    query = last_turn_query(turns, "")
    named = with_names(query, 2, [mention(0, "Gonville Hotel")])
    assert named.text == "Gonville Hotel And the price?"
    assert named.entities == ("Gonville Hotel",)
    assert named.why == ("turn 3: the question", "turn 1: “Gonville Hotel”, named last")
    assert {s.turn for s in named.sentences} == {2}


def test_what_the_question_says_is_not_said_twice() -> None:
    query = last_turn_query(talk("Is GONVILLE HOTEL open?"), "")
    assert with_names(query, 0, [mention(-1, "gonville  hotel")]) is query


def test_a_name_is_missed_only_as_words() -> None:
    """The letters of a name inside another word do not say it."""
    query = last_turn_query(talk("Vin?", "Yes.", "Am I saving money there?"), "")
    assert with_names(query, 2, [mention(0, "Vin")]).entities == ("Vin",)


def test_improbable_names_stay_behind() -> None:
    query = last_turn_query(talk("Vin?", "Yes.", "Is it open?"), "")
    assert with_names(query, 2, [mention(0, "Vin", TAKE_AT - 0.01)]) is query
    assert with_names(query, 2, []) is query


def test_no_more_names_than_the_most_probable() -> None:
    names = [mention(i, f"Name {i}", 0.99 - i / 100) for i in range(MOST + 3)]
    query = last_turn_query(talk(*"abcdefgh", "Which one?"), "")
    assert with_names(query, 8, names).entities == tuple(f"Name {i}" for i in range(MOST))


async def test_the_query_says_which_turns_it_used() -> None:
    turns = talk("I am at gonvile hotel.", "What can I do for you?", "Does it have parking?")
    query = await QueryBuilder(CentralitySummarizer(None), Names()).build(turns, Access())
    assert query.entities == ("gonvile hotel",)
    assert query.text == "gonvile hotel Does it have parking?"
    assert query.why == ("turn 3: the question", "turn 1: “gonvile hotel”, named 2 turns before")


async def test_a_change_of_topic_takes_nothing_along() -> None:
    turns = talk("Is Meghna open?", "It is.", "And does the Ashley Hotel have wifi in every room?")
    query = await QueryBuilder(CentralitySummarizer(None), Names()).build(turns, Access())
    assert "Meghna" not in query.text
    assert query.text == turns[2].text


async def test_a_name_that_only_texts_hold() -> None:
    """No title has it, the knowledge base speaks of it: it is taken along; one that nothing speaks of is not."""
    turns = talk("My Quill Nine hums.", "Since when?", "Can I return it within two weeks of the day I bought it?")
    for known in (["Quill Nine"], []):
        query = await QueryBuilder(CentralitySummarizer(None), Names(known)).build(turns, Access())
        assert query.entities == tuple(known)
        assert any("the newest name of the talk" in reason for reason in query.why) is bool(known)


async def test_of_siblings_the_newest_stands_for_those_before() -> None:
    """KB has siblings of one brand; what goes on after two of them means the second."""
    turns = [Turn("user", text) for text in ("price of the Ashley Hotel?", "and the Gonville Hotel?", "and on Sunday?")]
    query = await QueryBuilder(CentralitySummarizer(None), Names()).build(turns, Access())
    assert "Ashley" not in query.text
    assert query.text.count("Gonville Hotel") == 2
    assert query.text.endswith("and on Sunday?")
    assert query.sentences == ()


async def test_names_are_looked_for_in_the_last_turns() -> None:
    turns = talk("Is Meghna open?", *["Well.", "Hm."] * LOOK_BACK, "Yes?", "Is it open?")
    linker = Names()
    await QueryBuilder(CentralitySummarizer(None), linker).build(turns, Access())
    looked_in = [t.text for t in turns[-LOOK_BACK - 1 :]]
    assert "Is Meghna open?" not in linker.asked
    assert set(linker.asked) == set(looked_in)


async def test_what_the_agent_says_after_the_question_is_not_asked() -> None:
    turns = [*talk("Is the Ashley Hotel open?", "Yes.", "Does it have wifi?"), Turn("agent", "Let me ask Meghna.")]
    query = await QueryBuilder(CentralitySummarizer(None), Names()).build(turns, Access())
    assert query.entities == ("Ashley Hotel",)


async def test_without_a_linker_the_summarizer_decides() -> None:
    turns = talk("Is Meghna open?", "It is.", "Does it have wifi?")
    summarizer = CentralitySummarizer(None)
    assert await QueryBuilder(summarizer).build(turns, Access()) == await summarizer.summarize(turns)


async def test_a_conversation_without_text_is_refused() -> None:
    with pytest.raises(InputError):
        await QueryBuilder(CentralitySummarizer(None), Names()).build([Turn("customer", " ")], Access())


@pytest.mark.parametrize(
    "question",
    [
        "Thanks, that worked. Another thing: can gift cards be returned?",
        "ok fine. different question, when do you open",
        "Forget the router. What does parking cost?",
        "By the way, do you sell batteries?",
        "thx. other customer: is Cork open on Saturdays?",
        "ok other thing. Cork on Christmas Eve, till when?",
    ],
)
async def test_a_question_that_turns_away_takes_no_name_along(question: str) -> None:
    """Neither of titles nor of texts; one that only mentions a second thing does."""
    turns = talk("My Wren X2 is slow and the Blue Lamp is dark.", "I am sorry.", question)
    builder = QueryBuilder(CentralitySummarizer(None), Names(known=["Blue Lamp"]))
    assert (await builder.build(turns, Access())).entities == ()
    leaning = talk("My Wren X2 is slow and the Blue Lamp is dark.", "I am sorry.", "How do I reset it?")
    assert (await builder.build(leaning, Access())).entities == ("Wren X2",)


async def test_a_turn_without_a_term_comes_after_what_was_said() -> None:
    turns = talk("Gift cards cannot be returned, my sister says.", "That is right.", "But why?")
    query = await CentralitySummarizer(None).summarize(turns)
    assert query.text == "Gift cards cannot be returned, my sister says. But why?"
    assert query.why == ("turn 3: the question", "turn 1: the question says too little by itself")


async def test_of_our_own_quotes_only_the_first_names_what_is_spoken_of() -> None:
    names = Names()
    quoted = f"{LEAD_IN}\n- The first of them [1].\n- Another one [2]."
    await QueryBuilder(CentralitySummarizer(None), names).build(
        talk(quoted, "how much is it", answers="assistant"), Access()
    )
    assert names.asked[0] == f"{LEAD_IN}\n- The first of them [1]."


async def test_of_a_quoted_row_only_what_it_is_about_names_what_is_spoken_of() -> None:
    names = Names()
    quoted = f"{LEAD_IN}\n- Old device: Wren X1 | Credit: $42 | Towards: Wren X2 [1]."
    await QueryBuilder(CentralitySummarizer(None), names).build(
        talk(quoted, "how much is it", answers="assistant"), Access()
    )
    assert names.asked[0] == f"{LEAD_IN}\n- Old device: Wren X1"


async def test_what_our_answer_names_beside_what_a_person_named_is_not_spoken_of() -> None:
    builder = QueryBuilder(CentralitySummarizer(None), Names())
    quoted = f"{LEAD_IN}\n- Product: Acorn Guest House, Worth House | Warranty: 36 months [1]"
    named = talk("warranty of the Acorn Guest House", quoted, "how heavy is it", answers="assistant")
    assert (await builder.build(named, Access())).entities == ("Acorn Guest House",)
    unnamed = talk(
        "how long is the warranty",
        f"{LEAD_IN}\n- Product: Worth House | Warranty: 36 months [1]",
        "is it red",
        answers="assistant",
    )
    assert (await builder.build(unnamed, Access())).entities == ("Worth House",)


async def test_of_siblings_the_newest_is_in_view_and_of_one_turn_all() -> None:
    builder = QueryBuilder(CentralitySummarizer(None), Names())
    two = [Turn("user", "how much is the wren x2"), Turn("user", "and the wren x3")]
    assert await builder.in_view([*two, Turn("user", "is worth house open")], Access()) == ("Worth House", "Wren X3")
    assert set(await builder.in_view([Turn("user", "wren x2 or wren x3")], Access())) == {"Wren X2", "Wren X3"}


class Plans(Names):
    """Titles of plans and of a page that is called by a sentence."""

    async def link(self, texts: Sequence[str], access: Access) -> list[list[Linked]]:
        kb = Gazetteer(
            names_of(["Watch Plus", "Watch Pro", "Perch Pro", "Roost Pro", "Cancel a plan", "Lyra 5 R", "Lyra 7 R"])
        )
        return [kb.link(text) for text in texts]


@pytest.mark.parametrize(
    ("said", "last"),
    [
        (["watch plus price", "and what bout pro"], "and what bout Watch Pro"),
        (["watch plus price", "and monthly?"], "and monthly?"),
        (["how long does a lyra 5 R run", "and the 7 r?"], "and the 7 r?"),
        (["pro?"], "pro?"),
        (
            ["watch plus price", "is the pro plan recorded on a camera that stands outside"],
            "is the pro plan recorded on a camera that stands outside",
        ),
    ],
)
async def test_a_sibling_is_said_by_its_last_word(said: list[str], last: str) -> None:
    builder = QueryBuilder(CentralitySummarizer(None), Plans())
    turns = await builder.completed([Turn("user", text) for text in said], Access())
    assert [turn.text for turn in turns] == [*said[:-1], last]


async def test_what_is_in_view_is_a_name_and_the_newest_sibling() -> None:
    builder = QueryBuilder(CentralitySummarizer(None), Plans())
    turns = [Turn("user", text) for text in ("how do I cancel a plan", "watch plus", "and pro?")]
    assert await builder.in_view(turns, Access()) == ("Watch Pro",)
    assert await builder.in_view(turns[:1], Access()) == ()
    assert await builder.in_view(turns[:1], Access(), of_titles=True) == ("Cancel a plan",)


async def test_what_our_answer_names_beside_what_a_question_points_at_is_not_spoken_of() -> None:
    builder = QueryBuilder(CentralitySummarizer(None), Plans())
    quoted = f"{LEAD_IN}\n- Roost Pro, Perch Pro: exchange, no repair [1]."
    turns = [
        Turn("user", "Can I return a Perch Pro?"),
        Turn("assistant", f"{LEAD_IN}\n- Within 45 days [1]."),
        Turn("user", "and if it is faulty?"),
        Turn("assistant", quoted),
        Turn("user", "how long is the warranty on it"),
    ]
    assert (await builder.build(turns, Access())).entities == ("Perch Pro",)


@pytest.mark.parametrize(
    ("said", "query"),
    [
        (["How do I mount the Perch Pro?", "and how much is it?"], "Perch Pro and how much is it?"),
        (["How do I mount the Perch Pro?", "What is the price?"], "Perch Pro What is the price?"),
        (["How much is Watch Plus?", "and how do I cancel it"], "Watch Plus and how do I cancel it"),
        (
            ["How do I cancel Watch Plus?", "and does it cost anything?"],
            "How do I cancel Watch Plus? and does it cost anything?",
        ),
        (["How long does Watch Plus keep clips?", "How long?"], "How long does Watch Plus keep clips? How long?"),
        (["How do I mount the Perch Pro?", "What does Watch Plus cost?"], "What does Watch Plus cost?"),
        (
            ["How do I mount the Perch Pro?", "Is there a student discount here?"],
            "Perch Pro Is there a student discount here?",
        ),
    ],
)
async def test_what_is_asked_of_a_thing_is_looked_for_with_its_name_and_not_with_what_was_asked_before(
    said: list[str], query: str
) -> None:
    builder = QueryBuilder(CentralitySummarizer(None), Plans())
    turns = [turn for text in said for turn in (Turn("user", text), Turn("assistant", "As the page says."))]
    assert (await builder.build(turns[:-1], Access())).text == query
