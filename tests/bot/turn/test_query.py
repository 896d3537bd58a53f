"""What a turn searches for: countries as the documents call them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bot.records import Ask
from bot.turn.pipeline import answer_turn
from grounding.policy import Policy
from grounding.records import Access, Document, Linked, Turn
from tests.e2e.support import ScriptedGrader, world
from tests.fakes.embedder import HashEmbedder

RATES = Document(
    "rates.md", "Rates", "To: United Kingdom | Fee: £4.00\nTo: Canada | Fee: CA$6.00\nTo: France | Fee: €5.00"
)


class Names:
    """Knows the words of one text."""

    async def knows(self, name: str, access: Access) -> bool:
        return name.lower() in RATES.text.lower()

    async def whole(self, name: str, access: Access) -> str:
        return {"x2": "Wren X2"}.get(name.lower(), "")

    async def link(self, texts: Sequence[str], access: Access) -> list[list[Linked]]:
        return [[] for _ in texts]


async def asked(folder: Path, question: str, *history: Turn) -> tuple[str, tuple[str, ...]]:
    w = await world(folder, [RATES], HashEmbedder(), grader=ScriptedGrader({"rates.md": 0.9}))
    reply = await answer_turn(Ask(question, history=history), replace(w.seams, linker=Names()), Policy())
    await w.ledger.close()
    return reply.record.query.text, reply.record.notes


async def test_an_abbreviation_and_another_language_are_read_as_what_the_documents_say(tmp_path: Path) -> None:
    query, notes = await asked(tmp_path / "a", "What is the fee to the UK?")
    assert "United Kingdom" in query
    assert "“UK” was read as “United Kingdom”" in notes
    query, _ = await asked(tmp_path / "b", "Was kostet es nach Kanada?")
    assert "Canada" in query
    query, notes = await asked(tmp_path / "c", "Was kostet es nach Belgien?")
    assert "Belgien" in query
    assert not any("read as" in note for note in notes)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("how much is the x2", "how much is the Wren X2"),
        ("X2, price?", "Wren X2, price?"),
        ("how much is the wren x2", "how much is the wren x2"),
        ("how much is x2-b or 4x2", "how much is x2-b or 4x2"),
    ],
)
async def test_a_short_name_is_read_as_the_documents_have_it(tmp_path: Path, question: str, query: str) -> None:
    assert (await asked(tmp_path, question))[0] == query


async def test_a_short_name_of_a_follow_up_is_read_so_too_and_as_the_last_question(tmp_path: Path) -> None:
    w = await world(tmp_path, [RATES], HashEmbedder(), grader=ScriptedGrader({"rates.md": 0.9}))
    ask = Ask("and the x2?", history=(Turn("user", "what does the x2 lamp cost"),))
    reply = await answer_turn(ask, replace(w.seams, linker=Names()), Policy())
    await w.ledger.close()
    query = reply.record.query
    assert query.text == "what does the Wren X2 lamp cost and the Wren X2?"
    assert query.asked == "and the Wren X2?"
    assert query.sentences == ()


@pytest.mark.parametrize(
    ("question", "query", "noted"),
    [
        ("phone no france", "phone number france", True),
        ("whats the ETA to Canada", "whats the delivery time to Canada", True),
        ("whats the return window", "whats the how many days to return", True),
        ("fee to canada", "fee to canada", False),
        ("how much is temperance", "how much is temperance", False),
    ],
)
async def test_shorthand_is_written_out(tmp_path: Path, question: str, query: str, noted: bool) -> None:
    told, notes = await asked(tmp_path, question)
    assert told == query
    assert any("was read as" in note for note in notes) is noted


@pytest.mark.parametrize(
    ("said", "question", "query"),
    [
        (["what is the fee to Canada?", "and to France?"], "was kostet das Etikett dort?", "Etikett in France?"),
        (["a canadian customer asks"], "what does a label cost there?", "label cost in Canada?"),
        (["shipping to France?", "label fee there?"], "how long does a parcel take there?", "parcel take in France?"),
        (["what is the fee to France?"], "is the label sent there from Canada?", "sent there from Canada?"),
        (["what is a fee?"], "what does a label cost there?", "label cost there?"),
    ],
    ids=["newest", "people", "points-twice", "names-one-itself", "none-spoken-of"],
)
async def test_there_is_the_country_that_was_spoken_of_last(
    tmp_path: Path, said: list[str], question: str, query: str
) -> None:
    history = [turn for text in said for turn in (Turn("user", text), Turn("assistant", "Germany: €1.00"))]
    assert query in (await asked(tmp_path, question, *history))[0]


class Knowing(Names):
    """Knows every word."""

    async def knows(self, name: str, access: Access) -> bool:
        return True


class Shipping(Names):
    """Knows what is shipped, and by which word."""

    async def knows(self, name: str, access: Access) -> bool:
        return name.lower() in ("shipping", "canada", "parcel", "phone")


class Lamps(Names):
    """Knows two lamps, and what they weigh."""

    async def knows(self, name: str, access: Access) -> bool:
        return name == "weight"

    async def link(self, texts: Sequence[str], access: Access) -> list[list[Linked]]:
        return [
            [
                Linked(text.index(name), text.index(name) + len(name), name, (*name.lower().split(),), 1.0)
                for name in ("Lamp One", "Lamp Two")
                if name in text
            ]
            for text in texts
        ]


@pytest.mark.parametrize(
    ("question", "names", "query"),
    [
        ("phone no france", Knowing(), "phone no france"),
        ("postage to Canada", Shipping(), "shipping to Canada"),
        ("Delivery of a parcel to Canada", Shipping(), "shipping of a parcel to Canada"),
        ("is there a guarantee", Shipping(), "is there a guarantee"),
        ("postage to Canada", Knowing(), "postage to Canada"),
        ("my customer wants to send a parcel", Shipping(), "how to send a parcel"),
        ("Lamp One vs Lamp Two", Lamps(), "comparison Lamp One Lamp Two"),
        ("what's the difference between Lamp One and Lamp Two", Lamps(), "comparison Lamp One Lamp Two"),
        ("Lamp One vs Lamp Two, weight", Lamps(), "Lamp One vs Lamp Two, weight"),
        ("Lamp One vs other lamps", Lamps(), "Lamp One vs other lamps"),
        ("is Lamp Two heavier than Lamp One", Lamps(), "comparison Lamp One Lamp Two weight"),
        ("is Lamp Two faster than Lamp One", Lamps(), "is Lamp Two faster than Lamp One"),
    ],
)
async def test_what_documents_have_stays_and_bare_names_are_compared(
    tmp_path: Path, question: str, names: Names, query: str
) -> None:
    w = await world(tmp_path, [RATES], HashEmbedder(), grader=ScriptedGrader({"rates.md": 0.9}))
    reply = await answer_turn(Ask(question), replace(w.seams, linker=names), Policy())
    await w.ledger.close()
    assert reply.record.query.text == query


@pytest.mark.parametrize(
    ("question", "general"),
    [
        ("how do I return the Lamp Two", "how do I return the"),
        ("how heavy is Lamp Two", ""),
        ("how is the Lamp Two", ""),
        ("how do I return a lamp", ""),
    ],
)
async def test_how_something_is_done_with_a_thing_is_also_looked_for_without_the_thing(
    tmp_path: Path, question: str, general: str
) -> None:
    w = await world(tmp_path, [RATES], HashEmbedder(), grader=ScriptedGrader({"rates.md": 0.9}))
    reply = await answer_turn(Ask(question), replace(w.seams, linker=Lamps()), Policy())
    await w.ledger.close()
    assert (reply.record.query.text, reply.record.query.general) == (question, general)


async def test_a_question_that_goes_on_with_another_country_is_not_about_the_one_before(tmp_path: Path) -> None:
    said = Turn("customer", "What is the fee to Canada?")
    query, _ = await asked(tmp_path, "And to the UK?", said)
    assert "United Kingdom" in query
    assert "Canada" not in query


async def test_people_of_another_country_stand_for_it(tmp_path: Path) -> None:
    said = Turn("user", "What is the fee for a canadian customer?")
    query, _ = await asked(tmp_path, "oh no, she lives in France", said)
    assert "fee for a France customer" in query
    assert "canadian" not in query


async def test_what_was_said_by_mistake_is_put_right(tmp_path: Path) -> None:
    said = Turn("user", "What is the fee for parcels to Canada?")
    for n, text in enumerate(("sorry, the letters not the parcels", "I mean letters, not parcels")):
        query, _ = await asked(tmp_path / str(n), text, said)
        assert query == "What is the fee for letters to Canada?"
    query, _ = await asked(tmp_path / "other", "letters, not boats", said)
    assert "parcels" in query


async def test_a_follow_up_in_another_language_has_no_slips_of_english(tmp_path: Path) -> None:
    class Corrects:
        async def spelled(self, text: str, access: Access) -> dict[str, str]:
            return {"combien": "combine"}

    w = await world(tmp_path, [RATES], HashEmbedder(), grader=ScriptedGrader({"rates.md": 0.9}))
    history = (Turn("user", "C'est combien le tarif pour la France ?"),)
    seams = replace(w.seams, linker=Names(), speller=Corrects())
    reply = await answer_turn(Ask("et au canada ?", history=history), seams, Policy())
    assert "combine" not in reply.record.query.text
    english = await answer_turn(Ask("combien is the fee to Canada"), seams, Policy())
    assert "combine" in english.record.query.text
    await w.ledger.close()


async def test_a_question_that_leans_on_what_is_known_of_the_case_is_asked_with_it(tmp_path: Path) -> None:
    """What a file says counts for quotes too; a question that stands alone needs none of it."""
    known = "Ticket 4411: the customer sends letters to France every week."
    for n, (question, leans) in enumerate(
        (("What does that cost?", True), ("What is the fee for a parcel to Canada?", False))
    ):
        w = await world(tmp_path / str(n), [RATES], HashEmbedder(), grader=ScriptedGrader({"rates.md": 0.9}))
        reply = await answer_turn(Ask(question, context=known), replace(w.seams, linker=Names()), Policy())
        await w.ledger.close()
        assert ("France" in reply.record.query.text) is leans


async def test_a_question_of_another_language_is_also_looked_for_in_english_with_the_words_that_documents_have(
    tmp_path: Path,
) -> None:
    w = await world(tmp_path, [RATES], HashEmbedder(), grader=ScriptedGrader({"rates.md": 0.9}))
    ask = Ask("Was kostet der Versand nach France?")
    reply = await answer_turn(ask, replace(w.seams, linker=Names()), Policy())
    await w.ledger.close()
    assert reply.record.query.english == "France cost shipping delivery"
    assert reply.record.query.text == f"{ask.question} cost shipping delivery"
